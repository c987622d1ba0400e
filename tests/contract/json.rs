//! Writes JSON.

use std::fmt::Write as _;

pub enum Json {
    Null,
    Bool(bool),
    /// A number, in JSON's syntax.
    Number(String),
    Text(String),
    List(Vec<Json>),
    Object(Vec<(&'static str, Json)>),
}

/// The maximum width of a list or object on one line.
const WIDEST: usize = 118;

impl Json {
    pub fn text(text: impl Into<String>) -> Json {
        Json::Text(text.into())
    }

    pub fn list(items: impl IntoIterator<Item = impl Into<String>>) -> Json {
        Json::List(items.into_iter().map(Json::text).collect())
    }

    /// Returns the text, or null.
    pub fn optional(text: Option<impl Into<String>>) -> Json {
        text.map_or(Json::Null, Json::text)
    }

    /// Returns the JSON text. A list or object that fits on one line is written on one line.
    pub fn write(&self) -> String {
        let mut out = String::new();
        self.write_at(0, &mut out);
        out.push('\n');
        out
    }

    fn write_at(&self, depth: usize, out: &mut String) {
        let column = out.len() - out.rfind('\n').map_or(0, |at| at + 1);
        let line = self.line();
        let (open, close) = match self {
            Json::List(_) => ('[', ']'),
            Json::Object(_) => ('{', '}'),
            _ => return out.push_str(&line),
        };
        if column + line.len() <= WIDEST {
            return out.push_str(&line);
        }
        let new_line = |depth: usize| format!("\n{}", " ".repeat(depth));
        out.push(open);
        // In a list of texts and numbers, each line holds as many items as fit.
        if let Json::List(items) = self
            && items.iter().all(|item| matches!(item, Json::Text(_) | Json::Number(_)))
        {
            let mut width = WIDEST;
            for (at, item) in items.iter().map(Json::line).enumerate() {
                out.push_str(if at == 0 { "" } else { "," });
                if width + item.len() + 2 > WIDEST {
                    out.push_str(&new_line(depth + 1));
                    width = depth + 1;
                } else {
                    out.push(' ');
                    width += 1;
                }
                width += item.len() + 1;
                out.push_str(&item);
            }
            out.push_str(&new_line(depth));
            return out.push(close);
        }
        let add = |name: Option<&str>, value: &Json, is_first: bool, out: &mut String| {
            out.push_str(if is_first { "" } else { "," });
            out.push_str(&new_line(depth + 1));
            if let Some(name) = name {
                let _ = write!(out, "\"{name}\": ");
            }
            value.write_at(depth + 1, out);
        };
        match self {
            Json::List(items) => items.iter().enumerate().for_each(|(at, item)| add(None, item, at == 0, out)),
            Json::Object(fields) => {
                fields.iter().enumerate().for_each(|(at, (name, value))| add(Some(name), value, at == 0, out));
            }
            _ => {}
        }
        out.push_str(&new_line(depth));
        out.push(close);
    }

    fn line(&self) -> String {
        match self {
            Json::Null => "null".to_owned(),
            Json::Bool(value) => value.to_string(),
            Json::Number(number) => number.clone(),
            Json::Text(text) => quoted(text),
            Json::List(items) => format!("[{}]", items.iter().map(Json::line).collect::<Vec<_>>().join(", ")),
            Json::Object(fields) => {
                let fields = fields.iter().map(|(name, value)| format!("\"{name}\": {}", value.line()));
                format!("{{{}}}", fields.collect::<Vec<_>>().join(", "))
            }
        }
    }
}

fn quoted(text: &str) -> String {
    let mut out = String::from('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            c if c.is_control() => {
                let _ = write!(out, "\\u{:04x}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out + "\""
}
