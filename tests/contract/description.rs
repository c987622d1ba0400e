//! Generates `include/netlib.api.json`: every fact of netlib.h that a binding to another language needs, as data. The
//! facts come from the declarations, from the conventions on the first page of netlib.h, and from the documentation,
//! which states the exceptions. docs/reference/bindings.md describes the format.

pub mod calls;
pub mod check;
pub mod kinds;
pub mod nulls;
pub mod statuses;

use crate::cdef::{declare, integer};
use crate::json::Json;
use crate::model::{Enum, Function, Header, Item, Param};
use kinds::Kind;
use nulls::Null;

/// The version of the format, which changes when a program that reads the file must change.
const FORMAT: u32 = 1;

/// The version of the first release, whose functions need no @since.
pub const FIRST_RELEASE: &str = "0.1.0";

/// Returns the whole text of `include/netlib.api.json`.
pub fn generate(header: &Header) -> String {
    let public = header.macros.iter().filter(|item| !is_attribute(item));
    Json::Object(vec![
        ("format", Json::Number(FORMAT.to_string())),
        ("version", Json::text(env!("CARGO_PKG_VERSION"))),
        ("common_statuses", Json::list(statuses::COMMON.iter().copied())),
        ("macros", Json::List(public.map(describe_macro).collect())),
        ("enums", Json::List(header.enums.iter().map(|listed| describe_enum(header, listed)).collect())),
        ("handles", Json::List(header.handles.iter().map(|handle| describe_handle(header, handle)).collect())),
        ("typedefs", Json::List(header.typedefs.iter().map(describe_typedef).collect())),
        ("structs", describe_structs(header)),
        ("callbacks", Json::List(header.callbacks.iter().map(|item| describe_callback(header, item)).collect())),
        ("functions", Json::List(header.functions.iter().map(|item| describe_function(header, item)).collect())),
    ])
    .write()
}

/// Returns true for a macro that changes how a C compiler reads netlib.h.
fn is_attribute(item: &Item) -> bool {
    ["NETLIB_MUST_USE", "NETLIB_DEPRECATED_NOTE", "NETLIB_INT32"].contains(&item.name.as_str())
}

fn describe_macro(item: &Item) -> Json {
    let number = |text: &str| text.trim_matches(['(', ')']).parse::<f64>().is_ok();
    let literal = |text: &str| match text.trim() {
        text if number(text) => Json::Number(text.trim_matches(['(', ')']).to_owned()),
        text if text.starts_with('"') && text.ends_with('"') => Json::text(text.trim_matches('"')),
        _ => Json::Null,
    };
    let parts: Vec<&str> = item.value.split(',').map(str::trim).collect();
    let is_list = parts.len() > 1 || item.doc.whole.contains("The request headers that are");
    let value =
        if is_list { Json::List(parts.iter().map(|part| literal(part)).collect()) } else { literal(&item.value) };
    Json::Object(vec![
        ("name", Json::text(&item.name)),
        ("c", Json::text(&item.value)),
        ("value", value),
        ("doc", Json::text(item.doc.text.as_str())),
    ])
}

fn describe_enum(header: &Header, listed: &Enum) -> Json {
    let is_named = listed.values.iter().all(|value| value.name != listed.name);
    let is_sum = |kind: &Kind| *kind == Kind::Bits(listed.name.clone());
    let used_as_bits = header.functions.iter().chain(&header.callbacks).any(|function| {
        let mut params = function.params.iter();
        is_sum(&kinds::of_result(header, function))
            || params.any(|param| is_sum(&kinds::of_param(header, function, param)))
    });
    let values = listed.values.iter().map(|item| {
        Json::Object(vec![
            ("name", Json::text(&item.name)),
            ("value", Json::Number(integer(&item.value).to_string())),
            ("doc", Json::text(item.doc.text.as_str())),
        ])
    });
    Json::Object(vec![
        ("name", Json::optional(is_named.then_some(&listed.name))),
        ("bits", Json::Bool(used_as_bits)),
        ("doc", Json::text(listed.doc.text.as_str())),
        ("values", Json::List(values.collect())),
    ])
}

fn describe_handle(header: &Header, handle: &Item) -> Json {
    let function = |end: &str| {
        let name = format!("{}{end}", handle.name);
        Json::optional(header.function(&name).map(|function| &function.name))
    };
    Json::Object(vec![
        ("name", Json::text(&handle.name)),
        ("threads", Json::optional(threads_of(handle))),
        ("free", function("_free")),
        ("clone", function("_clone")),
        ("check", function("_check")),
        ("doc", Json::text(handle.doc.text.as_str())),
    ])
}

/// The thread tags of handles, strictest first.
const TAGS: &[&str] = &["one call at a time", "concurrent", "thread-safe", "immutable"];

/// Returns the thread tag of a handle.
pub fn threads_of(handle: &Item) -> Option<&'static str> {
    let doc = handle.doc.whole.to_lowercase().replace('\n', " ");
    TAGS.iter().copied().find(|tag| doc.contains(&format!("**{tag}")))
}

/// Returns the thread rule of a function: its tag `@threads`, or the strictest tag of its handles.
pub fn threads(header: &Header, function: &Function) -> String {
    if let Some(text) = &function.doc.threads {
        return text.clone();
    }
    let handle = |param: &Param| match kinds::of_param(header, function, param) {
        Kind::Handle(name) if !param.ctype.ends_with("**") => header.handles.iter().find(|item| item.name == name),
        _ => None,
    };
    let tags: Vec<&str> = function.params.iter().filter_map(handle).filter_map(threads_of).collect();
    TAGS.iter().find(|tag| tags.contains(tag)).map_or("any", |tag| tag).to_owned()
}

fn describe_typedef(item: &Item) -> Json {
    Json::Object(vec![
        ("name", Json::text(&item.name)),
        ("type", Json::text(&item.value)),
        ("doc", Json::text(item.doc.text.as_str())),
    ])
}

fn describe_structs(header: &Header) -> Json {
    let fields = |fields: &[Param]| {
        let field =
            |field: &Param| Json::Object(vec![("name", Json::text(&field.name)), ("type", Json::text(ctype(field)))]);
        Json::List(fields.iter().map(field).collect())
    };
    let describe = |item: &crate::model::Struct| {
        Json::Object(vec![
            ("name", Json::text(&item.name)),
            ("fields", fields(&item.fields)),
            ("doc", Json::text(item.doc.text.as_str())),
        ])
    };
    Json::List(header.structs.iter().map(describe).collect())
}

fn describe_callback(header: &Header, callback: &Function) -> Json {
    Json::Object(vec![
        ("name", Json::text(&callback.name)),
        ("section", Json::text(&callback.place.section)),
        ("returns", describe_result(header, callback)),
        ("params", describe_params(header, callback)),
        ("called_by", Json::optional(callback.doc.called_by.as_ref())),
        ("doc", Json::text(callback.doc.text.as_str())),
    ])
}

fn describe_function(header: &Header, function: &Function) -> Json {
    let can_fail = function.returns_status();
    let found = statuses::of(header, function);
    Json::Object(vec![
        ("name", Json::text(&function.name)),
        ("section", Json::text(&function.place.section)),
        ("chapter", Json::optional(Some(&function.place.chapter).filter(|chapter| !chapter.is_empty()))),
        ("returns", describe_result(header, function)),
        ("params", describe_params(header, function)),
        ("statuses", if can_fail { Json::list(&found.names) } else { Json::Null }),
        ("other_statuses", Json::Bool(can_fail && found.and_others)),
        ("may_block", Json::Bool(calls::may_block(function))),
        ("blocks", Json::optional(function.doc.blocks.as_ref())),
        ("callbacks", Json::list(calls::callbacks(header, function))),
        ("threads", Json::text(threads(header, function))),
        ("since", Json::text(function.doc.since.as_deref().unwrap_or(FIRST_RELEASE))),
        ("deprecated", Json::optional(function.deprecated.as_ref())),
        ("must_use", Json::Bool(function.must_use)),
        ("doc", Json::text(function.doc.text.as_str())),
    ])
}

fn describe_result(header: &Header, function: &Function) -> Json {
    let kind = kinds::of_result(header, function);
    let mut fields = vec![("type", Json::text(spelled(&function.returns))), ("kind", Json::text(kind.name()))];
    fields.extend(named_type(&kind));
    if function.returns.ends_with('*') {
        let is_owned = function.must_use;
        fields.push(("ownership", Json::text(if is_owned { "caller" } else { "borrowed" })));
        if !is_owned {
            fields.push(("borrowed_from", Json::list(lenders_of_result(header, function))));
        }
        fields.push(("nullable", Json::Bool(!function.doc.whole.replace('\n', " ").contains("Never NULL"))));
    }
    if kind.is_data() {
        fields.push(("length", Json::optional(length(header, function, "return", false))));
    }
    let first = function.params.first().filter(|_| !function.returns_status() && kind != Kind::Void);
    if let Some(Ok(Null::Allowed(Some(value)))) = first.map(|first| nulls::null(header, function, first)) {
        fields.push(("for_null", Json::text(value)));
    }
    fields.push(("doc", Json::optional(function.doc.returns.as_ref())));
    Json::Object(fields)
}

fn describe_params(header: &Header, function: &Function) -> Json {
    Json::List(function.params.iter().map(|param| describe_param(header, function, param)).collect())
}

fn describe_param(header: &Header, function: &Function, param: &Param) -> Json {
    let kind = kinds::of_param(header, function, param);
    let direction = direction(header, function, param);
    let mut fields = vec![
        ("name", Json::text(&param.name)),
        ("type", Json::text(ctype(param))),
        ("direction", Json::text(direction)),
        ("kind", Json::text(kind.name())),
    ];
    fields.extend(named_type(&kind));
    if let Some(owner) = ownership(header, function, param, &kind) {
        fields.push(("ownership", Json::text(owner)));
        if owner == "borrowed" && param.ctype.ends_with("**") && direction == "out" {
            fields.push(("borrowed_from", Json::list(lender(header, function, param))));
        }
    }
    if header.is_pointer(param) {
        let may_be_null = match direction == "out" && param.ctype.ends_with("**") && kind != Kind::Error {
            true => stores_null(function.doc.param(&param.name)),
            false => matches!(nulls::null(header, function, param), Ok(Null::Allowed(_))),
        };
        fields.push(("nullable", Json::Bool(may_be_null)));
    }
    if kind.is_data() {
        fields.push(("length", Json::optional(length(header, function, &param.name, false))));
        // For an input or a buffer, a length that the function stores is the number of bytes that the function used or
        // wrote.
        if !param.ctype.ends_with("**") {
            fields.push(("used", Json::optional(length(header, function, &param.name, true))));
        }
    }
    fields.push(("doc", Json::optional(function.doc.param(&param.name))));
    Json::Object(fields)
}

/// Returns whether the comment of an output states that a function that succeeds may store NULL.
fn stores_null(doc: Option<&str>) -> bool {
    doc.is_some_and(|doc| doc.contains("NULL if ") || doc.contains("NULL when "))
}

/// Returns the field that names the type, or the parameter with a length, to which a kind refers.
fn named_type(kind: &Kind) -> Option<(&'static str, Json)> {
    match kind {
        Kind::Handle(name) => Some(("handle", Json::text(name))),
        Kind::Error => Some(("handle", Json::text("netlib_error"))),
        Kind::Enum(name) | Kind::Bits(name) => Some(("enum", Json::text(name))),
        Kind::Callback(name) => Some(("callback", Json::text(name))),
        Kind::Array(element) => Some(("element", Json::text(spelled(element)))),
        Kind::Length(of) => Some(("length_of", Json::text(of))),
        _ => None,
    }
}

/// Returns the parameter that contains the length of the data at the pointer `of`, or of the result if `of` is
/// "return". If the caller passes one length and the function stores another one, `written` selects the stored one.
pub fn length(header: &Header, function: &Function, of: &str, written: bool) -> Option<String> {
    let has_own_length = |param: &&Param| kinds::length_of(header, function, param).as_deref() == Some(of);
    let pointer = function.params.iter().find(|param| param.name == of);
    let stored_by_function = written || pointer.is_none_or(|param| param.ctype.ends_with("**"));
    let ctype = if stored_by_function { "size_t*" } else { "size_t" };
    let mut lengths = function.params.iter().filter(has_own_length).filter(|param| param.ctype == ctype);
    lengths.next().map(|param| param.name.clone())
}

/// Returns "in", "out" or "inout". The out parameters of a callback are those through which the callback stores a
/// value.
pub fn direction(header: &Header, function: &Function, param: &Param) -> &'static str {
    let text = function.doc.param(&param.name).unwrap_or("");
    let kind = kinds::of_param(header, function, param);
    match kind {
        _ if text.starts_with("in/out") => "inout",
        Kind::Buffer => "out",
        Kind::Ctx | Kind::CtxFree | Kind::Callback(_) => "in",
        Kind::Handle(_) if !param.ctype.ends_with("**") => "in",
        _ if param.ctype.ends_with("**") && !param.ctype.ends_with("const**") => "out",
        _ if param.ctype.starts_with("const ") => "in",
        _ if param.ctype.ends_with('*') => "out",
        _ => "in",
    }
}

/// Returns the owner of a pointer or descriptor after the call. "caller": the caller must release it. "borrowed": it
/// belongs to the caller (an input) or to another object (an output). "netlib": netlib releases it later, or has
/// released it.
pub fn ownership(header: &Header, function: &Function, param: &Param, kind: &Kind) -> Option<&'static str> {
    let is_callback = header.callbacks.iter().any(|callback| callback.name == function.name);
    let is_stored = param.ctype.ends_with("**") || param.ctype == "int*";
    match kind {
        Kind::Handle(_) | Kind::Error if is_stored => Some(if is_callback { "netlib" } else { "caller" }),
        Kind::Handle(_) if function.name.ends_with("_free") => Some("netlib"),
        Kind::Descriptor => {
            let text = function.doc.param(&param.name).unwrap_or("");
            Some(if is_stored && !text.contains("borrowed from") { "caller" } else { "borrowed" })
        }
        Kind::Ctx if function.params.iter().any(|param| param.name == "ctx_free") => Some("netlib"),
        Kind::Handle(_) | Kind::Text | Kind::Bytes | Kind::Buffer | Kind::Array(_) | Kind::Ctx => Some("borrowed"),
        _ => None,
    }
}

/// Returns the parameters that must stay alive as long as the result is used: the first argument, or all handles if the
/// documentation says that the result may be one of the arguments. The list is empty for constants.
fn lenders_of_result(header: &Header, function: &Function) -> Vec<String> {
    let may_be_any = function.doc.returns.as_ref().is_some_and(|text| text.contains("one of the two arguments"));
    let count = if may_be_any { function.params.len() } else { 1 };
    let handles = function.params.iter().take(count).filter(|param| nulls::is_handle(header, param));
    handles.map(|param| param.name.clone()).collect()
}

/// Returns the parameter on which a stored pointer depends: the one that the documentation names, or the first handle.
fn lender(header: &Header, function: &Function, param: &Param) -> Option<String> {
    let text = function.doc.param(&param.name).unwrap_or("");
    let named = ["inside `", "borrowed from `", "as long as `"]
        .iter()
        .find_map(|words| text.split_once(words)?.1.split('`').next())
        .filter(|name| function.params.iter().any(|param| param.name == *name));
    let handle =
        || function.params.iter().find(|param| nulls::is_handle(header, param)).map(|param| param.name.clone());
    named.map(str::to_owned).or_else(handle)
}

/// Writes the type of a parameter as C does.
fn ctype(param: &Param) -> String {
    let unnamed = Param { name: String::new(), ctype: param.ctype.clone() };
    declare(&unnamed).trim_end().to_owned()
}

fn spelled(ctype_: &str) -> String {
    ctype(&Param { name: String::new(), ctype: ctype_.to_owned() })
}
