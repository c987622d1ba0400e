//! Finds the kinds of parameters and results from their types, their names and the documentation, by the conventions on
//! the first page of netlib.h.

use crate::model::{Function, Header, Param};

#[derive(Clone, Debug, PartialEq)]
pub enum Kind {
    Void,
    Status,
    /// A handle of the named type.
    Handle(String),
    /// The error that a function stores.
    Error,
    /// Text that ends at a NUL or has a length.
    Text,
    /// Bytes with a length.
    Bytes,
    /// Memory of the caller that a function fills.
    Buffer,
    /// An array whose elements have the named type.
    Array(String),
    /// The number of bytes or elements of another parameter, or of the result.
    Length(String),
    Count,
    Index,
    Number,
    Seconds,
    TruthValue,
    Enum(String),
    /// A sum of values of the named enum.
    Bits(String),
    Descriptor,
    /// A callback of the named type.
    Callback(String),
    /// The pointer that netlib passes to a callback, or the user data of an error.
    Ctx,
    /// The callback that releases a `ctx`.
    CtxFree,
    Unknown,
}

impl Kind {
    pub fn name(&self) -> &'static str {
        match self {
            Kind::Void => "void",
            Kind::Status => "status",
            Kind::Handle(_) => "handle",
            Kind::Error => "error",
            Kind::Text => "text",
            Kind::Bytes => "bytes",
            Kind::Buffer => "buffer",
            Kind::Array(_) => "array",
            Kind::Length(_) => "length",
            Kind::Count => "count",
            Kind::Index => "index",
            Kind::Number => "number",
            Kind::Seconds => "seconds",
            Kind::TruthValue => "truth_value",
            Kind::Enum(_) => "enum",
            Kind::Bits(_) => "bits",
            Kind::Descriptor => "descriptor",
            Kind::Callback(_) => "callback",
            Kind::Ctx => "ctx",
            Kind::CtxFree => "ctx_free",
            Kind::Unknown => "unknown",
        }
    }

    /// Returns true for pointers to data whose size another parameter may contain.
    pub fn is_data(&self) -> bool {
        matches!(self, Kind::Text | Kind::Bytes | Kind::Buffer | Kind::Array(_))
    }
}

/// Returns the kind of a parameter of a function or callback.
pub fn of_param(header: &Header, function: &Function, param: &Param) -> Kind {
    let handle = |ctype: &str| header.handles.iter().find(|handle| handle.name == ctype).map(|h| h.name.clone());
    let ctype = param.ctype.as_str();
    let pointed = ctype.trim_start_matches("const ").trim_end_matches('*');
    match (param.name.as_str(), ctype) {
        ("err", "netlib_error**") => return Kind::Error,
        ("ctx", "void*") => return Kind::Ctx,
        ("ctx_free", _) => return Kind::CtxFree,
        _ => {}
    }
    if let Some(of) = length_of(header, function, param) {
        return Kind::Length(of);
    }
    if let Some(handle) = handle(pointed) {
        return Kind::Handle(handle);
    }
    match ctype {
        "const char*" | "const char**" => Kind::Text,
        "const void*" | "const uint8_t*" | "const uint8_t**" => Kind::Bytes,
        "void*" | "char*" | "uint8_t*" => Kind::Buffer,
        "const char*const*" => Kind::Array("const char*".to_owned()),
        _ if ctype.starts_with("const ") && has_length(function, param) => Kind::Array(pointed.to_owned()),
        _ => {
            let text = function.doc.param(&param.name).unwrap_or("");
            let text = text.trim_start_matches("in/").trim_start_matches("out: ");
            let is_switch = function.doc.summary.starts_with("Sets whether ") && ctype == "int32_t";
            if is_switch && text.is_empty() {
                Kind::TruthValue
            } else {
                of_number(header, pointed, &param.name, text)
            }
        }
    }
}

/// Returns the name of the output in which a callback stores its decision, and the name of the decision's enum. Returns
/// None for a callback that does not decide.
pub fn decision_of<'a>(header: &Header, callback: &'a Function) -> Option<(&'a str, String)> {
    callback.params.iter().find_map(|param| match of_param(header, callback, param) {
        Kind::Enum(listed) if param.ctype.ends_with('*') => Some((param.name.as_str(), listed)),
        _ => None,
    })
}

/// Returns the kind of the result of a function or callback.
pub fn of_result(header: &Header, function: &Function) -> Kind {
    let ctype = function.returns.as_str();
    let pointed = ctype.trim_start_matches("const ").trim_end_matches('*');
    let text = function.doc.returns.as_deref().unwrap_or(&function.doc.summary);
    if header.handles.iter().any(|handle| handle.name == pointed) {
        return Kind::Handle(pointed.to_owned());
    }
    match ctype {
        "void" => Kind::Void,
        "void*" => Kind::Ctx,
        "const char*" => Kind::Text,
        "const uint8_t*" | "const void*" => Kind::Bytes,
        "const char*const*" => Kind::Array("const char*".to_owned()),
        _ if ctype.ends_with('*') => Kind::Array(pointed.to_owned()),
        _ => match text.strip_prefix("Returns the same for an engine as `") {
            Some(rest) => {
                let of_stream = rest.split('`').next().and_then(|name| header.function(name));
                of_stream.map_or(Kind::Unknown, |function| of_result(header, function))
            }
            // A callback that returns 0 or `NETLIB_OK` on success returns a status.
            None if text.starts_with("0 on success") || text.starts_with("`NETLIB_OK`") => Kind::Status,
            None => of_number(header, ctype, "", text.trim_start_matches("Returns ")),
        },
    }
}

/// The parameters of type `double` that are not times: percentages, ratios, rates and numbers of tokens.
const NOT_SECONDS: &[&str] = &[
    "burst",
    "capacity",
    "floor",
    "fraction",
    "gain",
    "least_per_second",
    "max_open_percent",
    "max_probability",
    "multiplier",
    "n",
    "per_second",
    "percentile",
    "ratio",
    "throttling_cost",
    "transient_cost",
];

/// Returns the kind of a number. `text` is the documentation of the number.
fn of_number(header: &Header, ctype: &str, name: &str, text: &str) -> Kind {
    let begins = |starts: &[&str]| starts.iter().any(|start| text.starts_with(start));
    let contains = |words: &[&str]| words.iter().any(|word| text.to_lowercase().contains(word));
    match ctype {
        "netlib_status" => Kind::Status,
        "double" if NOT_SECONDS.contains(&name) || begins(&["the number of", "The number of"]) => Kind::Number,
        "double" if contains(&["second", "time", "limit", "backoff", "wait"]) || name != "value" => Kind::Seconds,
        "double" => Kind::Number,
        "int" => Kind::Descriptor,
        "size_t" if name == "index" || begins(&["the index"]) => Kind::Index,
        "size_t" if begins(&["the number of"]) => Kind::Count,
        "int32_t" if begins(&["0 or 1", "1 if", "0, because"]) => Kind::TruthValue,
        "int32_t"
            if text.strip_prefix("1 to ").is_some_and(|rest| !rest.starts_with(|c: char| c.is_ascii_digit())) =>
        {
            Kind::TruthValue
        }
        "int32_t" | "int64_t" | "uint32_t" | "uint64_t" => match bits(header, text) {
            Some(listed) => Kind::Bits(listed),
            None => Kind::Number,
        },
        "size_t" | "uint16_t" | "uint8_t" => Kind::Number,
        _ if header.callbacks.iter().any(|callback| callback.name == ctype) => Kind::Callback(ctype.to_owned()),
        _ => match ctype.strip_prefix("enum ") {
            Some(listed) => Kind::Enum(listed.to_owned()),
            None => Kind::Unknown,
        },
    }
}

/// Returns the name of an enum if the documentation says that a number is a sum of the enum's values, for example "bits
/// of `enum netlib_verify_flag`".
fn bits(header: &Header, text: &str) -> Option<String> {
    let is_sum = ["bits", "bit mask", "bit of", "sum of", "joined by"].iter().any(|words| text.contains(words));
    let quoted = text.split('`').skip(1).step_by(2).map(|name| name.trim_start_matches("enum "));
    let mut enums = quoted.filter(|name| header.enums.iter().any(|listed| listed.name == *name));
    if is_sum { enums.next().map(str::to_owned) } else { None }
}

/// Returns the name of the pointer whose length a parameter contains, or "return" for the length of the result.
pub fn length_of(header: &Header, function: &Function, param: &Param) -> Option<String> {
    let is_output = match param.ctype.as_str() {
        "size_t" => false,
        "size_t*" => true,
        _ => return None,
    };
    let name = param.name.as_str();
    let owner = ["_len", "_size", "_count"].iter().find_map(|end| name.strip_suffix(end));
    if let Some(owner) = owner {
        return function.params.iter().any(|other| other.name == owner).then(|| owner.to_owned());
    }
    let generic: &[&str] = if is_output { &["len", "count", "n", "consumed"] } else { &["len", "count", "size"] };
    if !generic.contains(&name) {
        return None;
    }
    if is_output && function.returns.ends_with('*') {
        return Some("return".to_owned());
    }
    let before = function.params.iter().take_while(|other| other.name != name);
    let is_pointer = |other: &&Param| {
        let pointed = other.ctype.trim_start_matches("const ").trim_end_matches('*');
        let is_handle = header.handles.iter().any(|handle| handle.name == pointed);
        let is_callback = header.callbacks.iter().any(|callback| callback.name == other.ctype);
        other.ctype.contains('*') && !is_handle && !is_callback && other.name != "ctx"
    };
    before.filter(is_pointer).last().map(|other| other.name.clone())
}

/// Returns true if the parameter after this pointer is a length.
fn has_length(function: &Function, param: &Param) -> bool {
    let mut after = function.params.iter().skip_while(|other| other.name != param.name).skip(1);
    after.next().is_some_and(|next| next.ctype == "size_t")
}
