//! Makes the page of a function.

use super::examples::{self, Example};
use super::text::{Block, blocks};
use super::{Page, Part, first_sentence, page_of_section, roff};
use crate::cdef;
use crate::description::kinds::{self, Kind};
use crate::description::nulls::{self, Null};
use crate::description::{calls, length, statuses, threads};
use crate::model::{Function, Header, Param};

pub fn page(header: &Header, function: &Function, examples: &[Example]) -> Page {
    let mut parts = vec![Part::new("DESCRIPTION", description(function))];
    let params =
        function.params.iter().map(|param| Block::Term(quoted(&param.name), param_text(header, function, param)));
    if !function.params.is_empty() {
        parts.push(Part::new("PARAMETERS", params.collect()));
    }
    parts.push(Part::new("RETURN VALUE", return_value(header, function)));
    let errors = errors(header, function);
    if !errors.is_empty() {
        parts.push(Part::new("ERRORS", errors));
    }
    parts.push(Part::new("THREADS", threads_and_waits(header, function)));
    if let Some(example) = examples::of(examples, &function.name) {
        let source = Block::Paragraph(format!("From {}:", example.file));
        parts.push(Part::new("EXAMPLE", vec![source, Block::Code(example.code.clone())]));
    }
    let declaration = roff::declaration(&format!("{};", cdef::signature(function, &function.name)));
    Page {
        name: function.name.clone(),
        volume: "3",
        summary: summary(&function.doc.summary),
        synopsis: format!("#include <netlib.h>\n\n{declaration}"),
        parts,
        see_also: see_also(header, function),
        types: Vec::new(),
    }
}

/// Returns the first sentence of a text as a phrase: without marks, the capital of its first word, and its full stop.
pub fn summary(text: &str) -> String {
    let sentence = first_sentence(text).replace(['`', '*'], "");
    let phrase = sentence.trim_end_matches(['.', ':']);
    let mut letters = phrase.chars();
    match (letters.next(), letters.next()) {
        (Some(first), Some(second)) if second.is_lowercase() => {
            format!("{}{}", first.to_lowercase(), &phrase[first.len_utf8()..])
        }
        _ => phrase.to_owned(),
    }
}

fn quoted(name: &str) -> String {
    format!("`{name}`")
}

fn description(function: &Function) -> Vec<Block> {
    let mut text = blocks(&function.doc.text);
    if let Some(note) = &function.deprecated {
        text.insert(0, Block::Paragraph(format!("This function is deprecated: {note}.")));
    }
    if let Some(version) = &function.doc.since {
        text.push(Block::Paragraph(format!("The function was introduced in netlib {version}.")));
    }
    text
}

/// Returns the documentation of a parameter, or the convention on the first page of netlib.h that describes the
/// parameter.
pub fn param_text(header: &Header, function: &Function, param: &Param) -> String {
    if let Some(text) = function.doc.param(&param.name) {
        return text.to_owned();
    }
    let is_output = param.ctype.ends_with("**") && !param.ctype.ends_with("const**");
    let is_first = function.params.first().is_some_and(|first| first.name == param.name);
    let text = match kinds::of_param(header, function, param) {
        Kind::Error => {
            "out: the error, which the caller releases with `netlib_error_free`; NULL on success.".to_owned()
        }
        Kind::Ctx => "the first argument of the callback.".to_owned(),
        Kind::CtxFree => "the function that releases `ctx`: see `netlib_ctx_free_fn`.".to_owned(),
        Kind::Length(of) if param.ctype == "size_t*" && of == "return" => "out: the length of the result.".to_owned(),
        Kind::Length(of) if param.ctype == "size_t*" => format!("out: the number of bytes in `{of}`."),
        Kind::Length(of) => {
            let owner = function.params.iter().find(|param| param.name == of);
            match owner.map(|owner| kinds::of_param(header, function, owner)) {
                Some(Kind::Array(_)) => format!("the number of elements of `{of}`."),
                Some(Kind::Buffer) => format!("the size of `{of}` in bytes."),
                _ => format!("the length of `{of}` in bytes; `NETLIB_NTS` for NUL-terminated text."),
            }
        }
        Kind::Handle(name) if is_output => match header.function(&format!("{name}_free")) {
            Some(free) => format!("out: the new `{name}`, which the caller releases with `{}`.", free.name),
            None => format!("out: the `{name}`."),
        },
        Kind::Handle(name) if name == "netlib_limit" && !is_first => "the limit of the call.".to_owned(),
        Kind::Handle(name) => format!("the `{name}`."),
        Kind::Index => "the index, from 0.".to_owned(),
        Kind::TruthValue => "0 or 1.".to_owned(),
        Kind::Enum(name) => format!("a value of `enum {name}`."),
        Kind::Descriptor => "the descriptor, which is borrowed.".to_owned(),
        Kind::Buffer => "the memory that the function fills.".to_owned(),
        _ => "see DESCRIPTION.".to_owned(),
    };
    let may_be_null =
        header.is_pointer(param) && matches!(nulls::null(header, function, param), Ok(Null::Allowed(_)));
    match (may_be_null, param.ctype.as_str()) {
        (true, "const netlib_limit*") if !is_first => text + " May be NULL: no limit.",
        (true, ctype) if ctype.starts_with("const ") && ctype.ends_with("_options*") && !is_first => {
            text + " May be NULL: the defaults."
        }
        (true, _) => text + " May be NULL.",
        _ => text,
    }
}

fn return_value(header: &Header, function: &Function) -> Vec<Block> {
    if function.returns_status() {
        return vec![Block::Paragraph(
            "Returns `NETLIB_OK` on success, and another status otherwise: see ERRORS.".to_owned(),
        )];
    }
    if function.returns == "void" {
        return vec![Block::Paragraph("None.".to_owned())];
    }
    let mut text = match &function.doc.returns {
        Some(text) => sentence(text),
        None => first_sentence(&function.doc.summary).to_owned(),
    };
    let result = kinds::of_result(header, function);
    if let Kind::Handle(name) = &result
        && function.must_use
    {
        text += &format!(" The caller releases the result with `{name}_free`.");
    }
    if result.is_data()
        && let Some(count) = length(header, function, "return", false)
    {
        text += &format!(" `{count}` receives the length of the result.");
    }
    let first = function.params.first().filter(|first| header.is_pointer(first));
    if let Some(Ok(Null::Allowed(Some(value)))) = first.map(|first| nulls::null(header, function, first))
        && !function.doc.whole.contains("for NULL")
    {
        text += &format!(" If `{}` is NULL, the result is {value}.", function.params[0].name);
    }
    vec![Block::Paragraph(text)]
}

/// Returns the text with a capital at its start and a full stop at its end.
fn sentence(text: &str) -> String {
    let mut letters = text.trim_end_matches('.').chars();
    letters.next().map_or(String::new(), |first| format!("{}{}.", first.to_uppercase(), letters.as_str()))
}

fn errors(header: &Header, function: &Function) -> Vec<Block> {
    if let Some(options) = recording_options(header, function) {
        return vec![Block::Paragraph(format!(
            "If a value is not allowed, the options record an error, and `{options}_check` and every function that \
             uses the options return its status. See OPTIONS in netlib(7)."
        ))];
    }
    if !function.returns_status() {
        return Vec::new();
    }
    let mut text = vec![];
    if let Some(returns) = &function.doc.returns {
        text.push(Block::Paragraph(format!("In addition to the statuses of every function: {returns}")));
    }
    let found = statuses::of(header, function);
    if found.and_others {
        text.push(Block::Paragraph(
            "The function may also return the status of an earlier failure, or of a callback.".to_owned(),
        ));
    }
    text.push(Block::Paragraph("The statuses have the following meanings:".to_owned()));
    let codes = header.enums.iter().find(|listed| listed.name == "netlib_status_code");
    let returned = |name: &str| found.names.contains(name) || statuses::COMMON.contains(&name);
    let listed = codes.into_iter().flat_map(|codes| &codes.values).filter(|code| returned(&code.name));
    text.extend(listed.map(|code| Block::Term(quoted(&code.name), code.doc.summary.clone())));
    text
}

/// Returns the type of the options that record the error of a setter.
fn recording_options<'a>(header: &Header, function: &'a Function) -> Option<&'a str> {
    let options = function.params.first()?.ctype.strip_suffix('*')?;
    let is_setter = function.returns == "void" && function.params.len() > 1 && options.ends_with("_options");
    (is_setter && header.function(&format!("{options}_check")).is_some()).then_some(options)
}

fn threads_and_waits(header: &Header, function: &Function) -> Vec<Block> {
    let rule = match threads(header, function).as_str() {
        "any" => "Any number of threads may call the function at once.".to_owned(),
        "immutable" | "thread-safe" => {
            "Any number of threads may call the function at once, also with the same handle.".to_owned()
        }
        "concurrent" => "One thread may read and one thread may write at once with the same handle.".to_owned(),
        "one call at a time" => {
            "Any thread may call the function, but the handle takes only one call at a time.".to_owned()
        }
        text => sentence(text),
    };
    let mut text = vec![Block::Paragraph(rule)];
    let wait = match &function.doc.blocks {
        Some(text) if text.starts_with("never") => Some("The function does not wait.".to_owned()),
        Some(text) => Some(format!("The function waits {text}")),
        None if calls::may_block(function) => Some("The function may wait; `limit` bounds the time.".to_owned()),
        None => None,
    };
    text.extend(wait.map(Block::Paragraph));
    let callbacks: Vec<String> = calls::callbacks(header, function).into_iter().map(quoted).collect();
    if !callbacks.is_empty() {
        text.push(Block::Paragraph(format!("The function may invoke the callbacks {}.", callbacks.join(", "))));
    }
    text
}

/// Returns the pages that the documentation of a function names, the function that releases its result, and the pages
/// of its section and of netlib.
fn see_also(header: &Header, function: &Function) -> Vec<String> {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let words = function.doc.whole.split(|c| !is_word(c));
    let mut names: Vec<String> = words.filter(|word| header.function(word).is_some()).map(str::to_owned).collect();
    let made = function.params.iter().filter(|param| param.ctype.ends_with("**")).map(|param| param.ctype.as_str());
    for ctype in made.chain(function.must_use.then_some(function.returns.as_str())) {
        let free = format!("{}_free", ctype.trim_start_matches("const ").trim_end_matches('*'));
        names.extend(header.function(&free).map(|function| function.name.clone()));
    }
    names.sort();
    names.dedup();
    names.retain(|name| *name != function.name);
    names.extend([page_of_section(&function.place.section), "netlib".to_owned()]);
    names
}
