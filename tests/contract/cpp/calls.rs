//! Converts the parameters and the results of C functions: the declaration of a C++ function, and the body that calls
//! the C function.

use crate::cpp::names;
use crate::description::kinds::{self, Kind};
use crate::description::nulls::{self, Null};
use crate::description::{calls, direction, length, ownership, statuses};
use crate::model::{Function, Header, Param};

/// A parameter of a C++ function. "§" precedes the names of types of the namespace netlib.
pub struct CppParam {
    pub name: String,
    pub ctype: String,
    pub default: Option<&'static str>,
}

/// An output of a C function.
struct Output {
    name: String,
    /// The C++ type, and the expression that makes it from the local variables.
    cpp: String,
    value: String,
}

/// A C++ function, without its class.
pub struct Call {
    pub params: Vec<CppParam>,
    /// The types of the callables, which are template parameters.
    pub callables: Vec<String>,
    /// The type of the result, without "result" and "progress".
    pub value: String,
    /// The members of the struct of several results.
    pub members: Vec<(String, String)>,
    pub returns: String,
    pub body: Vec<String>,
    pub is_noexcept: bool,
}

/// Converts a function. `this` is the handle of the class whose member function it becomes; `result` is the name of
/// the struct for several results.
pub fn convert(header: &Header, function: &Function, this: Option<&str>, result: &str) -> Call {
    let mut builder = Builder {
        header,
        function,
        params: vec![],
        callables: vec![],
        before: vec![],
        args: vec![],
        outputs: vec![],
    };
    for (at, param) in function.params.iter().enumerate() {
        let is_self = at == 0 && this.is_some();
        builder.add(param, is_self);
    }
    builder.finish(this, result)
}

struct Builder<'a> {
    header: &'a Header,
    function: &'a Function,
    params: Vec<CppParam>,
    callables: Vec<(String, String)>,
    before: Vec<String>,
    args: Vec<String>,
    outputs: Vec<Output>,
}

impl<'a> Builder<'a> {
    fn has_callbacks(&self) -> bool {
        let mut params = self.function.params.iter();
        params.any(|param| matches!(kinds::of_param(self.header, self.function, param), Kind::Callback(_)))
    }

    fn input(&mut self, name: &str, ctype: impl Into<String>, arg: impl Into<String>) {
        self.params.push(CppParam { name: name.to_owned(), ctype: ctype.into(), default: None });
        self.args.push(arg.into());
    }

    fn output(&mut self, name: &str, local: &str, cpp: impl Into<String>, value: impl Into<String>) {
        self.before.push(local.to_owned());
        self.args.push(format!("&{name}"));
        self.outputs.push(Output { name: name.to_owned(), cpp: cpp.into(), value: value.into() });
    }

    fn add(&mut self, param: &Param, is_self: bool) {
        let (header, function) = (self.header, self.function);
        if is_self {
            return self.args.push("handle()".to_owned());
        }
        let kind = kinds::of_param(header, function, param);
        let name = param.name.as_str();
        match (direction(header, function, param), &kind) {
            (_, Kind::Error) => {
                self.before.push("netlib_error *err = nullptr;".to_owned());
                self.args.push("&err".to_owned());
            }
            ("inout", _) => {
                self.input(name, scalar(names::pointed(&param.ctype)) + " *", name);
                self.params.last_mut().expect("just added").default = Some("nullptr");
            }
            ("in", _) => self.add_input(param, &kind),
            (_, Kind::Buffer) => {
                let data = format!("{name}.data()");
                let arg = if param.ctype == "char*" { format!("reinterpret_cast<char *>({data})") } else { data };
                self.input(name, "§span<std::uint8_t>", arg);
            }
            _ => self.add_output(param, &kind),
        }
    }

    fn add_input(&mut self, param: &Param, kind: &Kind) {
        let (header, function, name) = (self.header, self.function, param.name.as_str());
        let has_length = length(header, function, name, false).is_some();
        match kind {
            Kind::Handle(handle) => {
                let class = names::of(handle);
                let may_be_null = matches!(nulls::null(header, function, param), Ok(Null::Allowed(_)));
                match (param.ctype.starts_with("const "), may_be_null) {
                    (true, true) => {
                        self.input(name, format!("§optional_ref<§{class}>"), format!("{name}.handle()"));
                        // Most calls need no options and no limit.
                        let is_often_absent = handle.ends_with("_options") || handle == "netlib_limit";
                        let default = Some("{}").filter(|_| is_often_absent && function.returns_status());
                        self.params.last_mut().expect("just added").default = default;
                    }
                    (true, false) => self.input(name, format!("const §{class} &"), format!("{name}.handle()")),
                    (false, _) => self.input(name, format!("§{class} &"), format!("{name}.handle()")),
                }
            }
            Kind::Text if has_length => self.input(name, "std::string_view", format!("{name}.data()")),
            Kind::Text if ["credentials", "username", "password"].contains(&name) => {
                self.input(name, "const §c_text &", format!("detail::credentials({name})"));
            }
            Kind::Text => self.input(name, "const §c_text &", format!("{name}.c_str()")),
            Kind::Bytes => self.input(name, "§span<const std::uint8_t>", format!("{name}.data()")),
            Kind::Array(element) if element == "const char*" => {
                self.input(name, "const §texts &", format!("{name}.data()"));
            }
            Kind::Array(element) => {
                let element = format!("§span<const {}>", scalar(element));
                self.input(name, element, format!("{name}.data()"));
            }
            Kind::Length(of) => self.args.push(format!("{of}.size()")),
            Kind::Seconds if param.ctype.ends_with('*') => {
                self.before.push(format!("double {name}_value = {name} ? {name}->count() : 0.0;"));
                self.input(name, "std::optional<§seconds>", format!("{name} ? &{name}_value : nullptr"));
                self.params.last_mut().expect("just added").default = Some("{}");
            }
            Kind::Seconds => self.input(name, "§seconds", format!("{name}.count()")),
            Kind::TruthValue => self.input(name, "bool", name),
            Kind::Enum(listed) => {
                self.input(name, format!("§{}", names::of(listed)), format!("static_cast<enum {listed}>({name})"));
            }
            Kind::Bits(listed) if param.ctype == "int32_t" => {
                self.input(name, format!("§{}", names::of(listed)), format!("static_cast<std::int32_t>({name})"));
            }
            Kind::Status => self.input(name, "§status", format!("static_cast<netlib_status>({name})")),
            Kind::Callback(callback) => {
                let callable = camel_case(callback);
                let at = self.callables.len();
                self.before.push(format!("{callback} {name}_c = nullptr;"));
                self.before.push(format!(
                    "if constexpr (!std::is_null_pointer_v<{callable}>) {name}_c = callbacks::{}<Held, {at}>;",
                    callback_name(callback)
                ));
                self.callables.push((callable.clone(), name.to_owned()));
                self.input(name, callable, format!("{name}_c"));
            }
            Kind::Ctx if self.has_callbacks() => self.args.push("held".to_owned()),
            Kind::CtxFree if self.has_callbacks() => self.args.push("detail::free_held<Held>".to_owned()),
            Kind::Ctx => self.input(name, "void *", name),
            Kind::CtxFree => self.input(name, "netlib_ctx_free_fn", name),
            _ => self.input(name, scalar(&param.ctype), name),
        }
    }

    fn add_output(&mut self, param: &Param, kind: &Kind) {
        let (header, function, name) = (self.header, self.function, param.name.as_str());
        match kind {
            Kind::Length(of) => {
                let mut pointers = function.params.iter().filter(|other| other.name == *of);
                if of == "return" || pointers.any(|other| other.ctype.ends_with("**")) {
                    self.before.push(format!("std::size_t {name} = 0;"));
                    self.args.push(format!("&{name}"));
                } else {
                    self.output(name, &format!("std::size_t {name} = 0;"), "std::size_t", name);
                }
            }
            Kind::Handle(handle) => {
                let class = names::of(handle);
                let local = format!("{handle} *{name} = nullptr;");
                self.output(name, &local, format!("§{class}"), format!("§{class}({name})"));
            }
            Kind::Text | Kind::Bytes => {
                let (element, cpp) =
                    if *kind == Kind::Text { ("char", "§text") } else { ("uint8_t", "§span<const std::uint8_t>") };
                let len = length(header, function, name, true).expect("an output has a length");
                let local = format!("const {element} *{name} = nullptr;");
                self.output(name, &local, cpp, format!("{cpp}({name}, {len})"));
            }
            Kind::Seconds => {
                self.output(name, &format!("double {name} = 0.0;"), "§seconds", format!("§seconds({name})"))
            }
            Kind::TruthValue => {
                self.output(name, &format!("std::int32_t {name} = 0;"), "bool", format!("{name} != 0"));
            }
            Kind::Enum(listed) => {
                let class = names::of(listed);
                let value = format!("static_cast<§{class}>({name})");
                self.output(name, &format!("enum {listed} {name} = {{}};"), format!("§{class}"), value);
            }
            Kind::Bits(listed) => {
                let class = names::of(listed);
                let value = format!("static_cast<§{class}>({name})");
                self.output(name, &format!("std::int32_t {name} = 0;"), format!("§{class}"), value);
            }
            Kind::Status => {
                let value = format!("static_cast<§status>({name})");
                self.output(name, &format!("netlib_status {name} = NETLIB_OK;"), "§status", value);
            }
            Kind::Descriptor if ownership(header, function, param, kind) == Some("borrowed") => {
                self.output(name, &format!("int {name} = -1;"), "int", name);
            }
            Kind::Descriptor => {
                self.output(name, &format!("int {name} = -1;"), "§descriptor", format!("§descriptor({name})"));
            }
            _ => {
                let ctype = scalar(names::pointed(&param.ctype));
                self.output(name, &format!("{ctype} {name} = 0;"), ctype, name);
            }
        }
    }

    fn finish(mut self, this: Option<&str>, result: &str) -> Call {
        let (header, function) = (self.header, self.function);
        // Only the last parameters of a C++ function can have default arguments.
        let last = self.params.iter().rposition(|param| param.default.is_none());
        for param in self.params.iter_mut().take(last.map_or(0, |at| at + 1)) {
            param.default = None;
        }
        let mut body = Vec::new();
        if !self.callables.is_empty() {
            let list = |field: fn(&(String, String)) -> &String| {
                self.callables.iter().map(field).cloned().collect::<Vec<_>>()
            };
            let moved = list(|item| &item.1).iter().map(|name| format!("std::move({name})")).collect::<Vec<_>>();
            body.push(format!("using Held = std::tuple<{}>;", list(|item| &item.0).join(", ")));
            self.before.push(format!("Held *held = new Held({});", moved.join(", ")));
        }
        body.append(&mut self.before);
        let c_call = format!("{}({})", function.name, self.args.join(", "));
        let invokes = !calls::callbacks(header, function).is_empty();
        let (value, expression, members) = match &self.outputs[..] {
            [] => ("void".to_owned(), String::new(), vec![]),
            [one] => (one.cpp.clone(), one.value.clone(), vec![]),
            several => {
                let values: Vec<&str> = several.iter().map(|output| output.value.as_str()).collect();
                let members = several.iter().map(|output| (output.cpp.clone(), output.name.clone())).collect();
                (format!("§{result}"), format!("§{result}{{{}}}", values.join(", ")), members)
            }
        };
        let (value, returns) = if function.returns_status() {
            let mut names = statuses::of(header, function).names.into_iter();
            let is_progress = names.any(|name| is_progress(header, &name));
            let finish = if is_progress { "finish_progress" } else { "finish" };
            let comma = if expression.is_empty() { "" } else { ", " };
            body.push(format!("netlib_status status_c = {c_call};"));
            body.push(format!("return detail::{finish}<{invokes}>(status_c, err{comma}{expression});"));
            match (is_progress, value.as_str()) {
                (false, _) => (value.clone(), format!("§result<{value}>")),
                (true, "void") => (value, "§result<§status>".to_owned()),
                (true, _) => (value.clone(), format!("§result<§progress<{value}>>")),
            }
        } else {
            let returns = self.direct(&c_call, this, invokes, &mut body);
            (returns.clone(), returns)
        };
        Call {
            callables: self.callables.into_iter().map(|(callable, _)| callable).collect(),
            is_noexcept: !function.returns_status()
                && !invokes
                && !body
                    .iter()
                    .any(|line| ["checked(", "unless_refused(", "new "].iter().any(|call| line.contains(call))),
            params: self.params,
            value,
            members,
            returns,
            body,
        }
    }

    /// Completes the body of a function that returns its result directly. Returns the type of the result.
    fn direct(&self, c_call: &str, this: Option<&str>, invokes: bool, body: &mut Vec<String>) -> String {
        let (header, function) = (self.header, self.function);
        let len = length(header, function, "return", false);
        let kind = kinds::of_result(header, function);
        let with_length = |ctype: &str, body: &mut Vec<String>| {
            let len = len.as_deref().expect("an array has a length");
            body.push(format!("auto *data = {c_call};"));
            body.push(format!("return {ctype}(data, {len});"));
            ctype.to_owned()
        };
        let (ctype, value) = match &kind {
            Kind::Void => {
                body.push(format!("{c_call};"));
                if invokes {
                    body.push("detail::rethrow();".to_owned());
                }
                let Some(options) = this.filter(|handle| handle.ends_with("_options")) else {
                    return "void".to_owned();
                };
                body.push("return *this;".to_owned());
                return format!("§{} &", names::of(options));
            }
            Kind::Text if len.is_some() => return with_length("§text", body),
            Kind::Text => ("§text".to_owned(), format!("§text({c_call})")),
            Kind::Bytes => return with_length("§span<const std::uint8_t>", body),
            Kind::Array(element) if element == "const char*" => return with_length("§span<const char *const>", body),
            Kind::Array(element) => return with_length(&format!("§span<const {}>", scalar(element)), body),
            Kind::Handle(handle) if function.returns.starts_with("const ") => {
                let ctype = format!("§borrowed<§{}>", names::of(handle));
                (ctype.clone(), format!("{ctype}({c_call})"))
            }
            Kind::Handle(handle) => {
                let class = format!("§{}", names::of(handle));
                (class.clone(), format!("{class}(detail::checked({c_call}))"))
            }
            Kind::Seconds => ("§seconds".to_owned(), format!("§seconds({c_call})")),
            Kind::TruthValue => ("bool".to_owned(), format!("{c_call} != 0")),
            Kind::Enum(listed) => cast(&names::of(listed), c_call),
            Kind::Bits(listed) if function.returns == "int32_t" => cast(&names::of(listed), c_call),
            Kind::Status => cast("status", c_call),
            Kind::Ctx => ("void *".to_owned(), c_call.to_owned()),
            _ => (scalar(&function.returns), c_call.to_owned()),
        };
        assert!(!invokes, "{}: a result that depends on a callback needs a status", function.name);
        // A member function finds nothing for a text with a NUL, which is the right answer.
        let text = self.params.iter().find(|param| this.is_none() && param.ctype == "const §c_text &");
        if let Some(text) = text {
            body.push(format!("return detail::unless_refused({}, {value});", text.name));
            return format!("§result<{ctype}>");
        }
        body.push(format!("return {value};"));
        ctype
    }
}

fn cast(class: &str, c_call: &str) -> (String, String) {
    (format!("§{class}"), format!("static_cast<§{class}>({c_call})"))
}

/// Returns true for the name of a status of NETLIB_CLASS_PROGRESS.
fn is_progress(header: &Header, name: &str) -> bool {
    let codes = header.enums.iter().filter(|listed| listed.name == "netlib_status_code");
    let code = codes.flat_map(|listed| &listed.values).find(|value| value.name == name);
    code.and_then(|value| value.value.parse().ok()).is_some_and(|value: i32| (100..200).contains(&value))
}

/// Returns the C++ spelling of a number type or of a struct.
pub fn scalar(ctype: &str) -> String {
    let ctype = ctype.trim_start_matches("const ");
    match ctype {
        "int" | "double" | "netlib_slice" | "netlib_header_field" => ctype.to_owned(),
        "size_t" | "int32_t" | "int64_t" | "uint32_t" | "uint64_t" | "uint16_t" | "uint8_t" => {
            format!("std::{ctype}")
        }
        other => panic!("netlib.hpp: what is the C++ type of \"{other}\"?"),
    }
}

/// Returns the name of a callback in the namespace `callbacks`.
pub fn callback_name(callback: &str) -> String {
    names::of(callback.trim_end_matches("_fn"))
}

/// Returns the name of the template parameter for a callback: "BodyRead" for "netlib_body_read_fn".
pub fn camel_case(callback: &str) -> String {
    let words = callback.trim_start_matches("netlib_").trim_end_matches("_fn").split('_');
    words.map(|word| word[..1].to_uppercase() + &word[1..]).collect()
}
