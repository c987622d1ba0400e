//! Writes the classes and functions of netlib.hpp: the declarations, and the definitions that follow all classes.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use crate::cpp::calls::{self, Call};
use crate::cpp::{names, wrap};
use crate::description::threads_of;
use crate::model::{Function, Header, Item};

pub struct Written {
    pub classes: String,
    /// The structs of several results, which need complete classes.
    pub structs: String,
    pub functions: String,
    pub definitions: String,
}

/// A C++ function and the C function that it calls.
pub struct CppFunction<'a> {
    pub c: &'a Function,
    pub name: String,
    pub call: Call,
    pub is_member: bool,
}

/// Returns the functions of a class, or those of the namespace. The functions for `free` and `clone` are not among
/// them, and neither are functions without arguments that make the handle: the special members call these functions.
pub fn functions<'a>(header: &'a Header, class: Option<&str>) -> Vec<CppFunction<'a>> {
    let mut found = Vec::new();
    for c in &header.functions {
        if names::class_of(header, c) != class || is_special(header, c) {
            continue;
        }
        let name = names::of_function(header, c);
        let this = class.filter(|handle| names::is_member(handle, c));
        let call = calls::convert(header, c, this, &format!("{}_result", name.trim_end_matches('_')));
        found.push(CppFunction { c, name, call, is_member: this.is_some() });
    }
    found
}

/// Returns true for the functions that a constructor, an assignment or a destructor calls.
pub fn is_special(header: &Header, function: &Function) -> bool {
    let Some(handle) = names::class_of(header, function) else { return false };
    match &function.name[handle.len()..] {
        "_free" => true,
        "_clone" => is_copyable(header.handles.iter().find(|item| item.name == handle).expect("it is a handle")),
        "_new" => function.params.is_empty(),
        _ => false,
    }
}

fn is_copyable(handle: &Item) -> bool {
    handle.name.ends_with("_options") || matches!(threads_of(handle), Some("immutable" | "thread-safe"))
}

pub fn write(header: &Header) -> Written {
    let mut written = Written {
        classes: String::new(),
        structs: String::new(),
        functions: String::new(),
        definitions: String::new(),
    };
    for handle in &header.handles {
        let _ = writeln!(written.classes, "class {};", names::of(&handle.name));
    }
    for handle in &header.handles {
        add_class(header, handle, &mut written);
    }
    for function in functions(header, None) {
        add_result(&function, "", &BTreeSet::new(), &mut written);
        let scope = scope_of(&function.call, &BTreeSet::new());
        add_declaration(&function, "", false, &scope, &mut written.functions);
        add_definition(&function, "", &scope, &mut written.definitions);
    }
    written
}

fn add_class(header: &Header, handle: &Item, written: &mut Written) {
    let class = names::of(&handle.name);
    let functions = functions(header, Some(&handle.name));
    let ranges = ranges(&functions);
    let mut members: BTreeSet<String> = functions.iter().map(|function| function.name.clone()).collect();
    members.extend(ranges.iter().map(|range| range.name.clone()));
    let has = |end: &str| header.function(&format!("{}{end}", handle.name)).is_some();
    let (owner, clone) = match is_copyable(handle) {
        true => ("copyable", format!(", {}_clone", handle.name)),
        false => ("unique", String::new()),
    };
    let base = format!("detail::{owner}<{0}, {0}_free{clone}>", handle.name);
    let exception = if class == "error" { ", public std::exception" } else { "" };
    let text = &mut written.classes;
    let _ = writeln!(text, "\n/** The handle {}. */", handle.name);
    wrap(&format!("class {class} : public {base}{exception} {{"), text);
    text.push_str("  public:\n");
    let _ = writeln!(text, "    using {owner}::{owner};");
    if has("_new") && header.function(&format!("{}_new", handle.name)).is_some_and(|new| new.params.is_empty()) {
        let _ = writeln!(text, "    {class}() : {owner}(detail::checked({}_new())) {{}}", handle.name);
    }
    if class == "error" {
        text.push_str("    /** Returns the message. */\n    const char *what() const noexcept override;\n");
    }
    if header
        .handles
        .iter()
        .any(|other| format!("{}_options", handle.name.trim_end_matches("_context")) == other.name)
        && !class.ends_with("_options")
    {
        let options = names::of(&format!("{}_options", handle.name.trim_end_matches("_context")));
        let _ = writeln!(text, "    using options = netlib::{options};");
    }
    for function in &functions {
        let scope = scope_of(&function.call, &members);
        add_result(function, &class, &members, written);
        let text = &mut written.classes;
        add_declaration(function, "    ", true, &scope, text);
        add_definition(function, &class, &scope, &mut written.definitions);
        if function.name == "make" && function.call.callables.is_empty() {
            add_constructor(function, &class, &scope, text, &mut written.definitions);
        }
    }
    for range in &ranges {
        range.add(&class, &members, written);
    }
    written.classes.push_str("};\n");
}

/// Returns the names that hide types of the namespace in a declaration.
fn scope_of(call: &Call, members: &BTreeSet<String>) -> BTreeSet<String> {
    members.iter().cloned().chain(call.params.iter().map(|param| param.name.clone())).collect()
}

fn spaced(ctype: &str, name: &str) -> String {
    if ctype.ends_with(['&', '*']) { format!("{ctype}{name}") } else { format!("{ctype} {name}") }
}

fn template_of(call: &Call) -> String {
    if call.callables.is_empty() {
        return String::new();
    }
    let params: Vec<String> = call.callables.iter().map(|name| format!("class {name}")).collect();
    format!("template <{}> ", params.join(", "))
}

fn params_of(call: &Call, with_defaults: bool) -> String {
    let param = |param: &calls::CppParam| {
        let default = param.default.filter(|_| with_defaults).map_or(String::new(), |text| format!(" = {text}"));
        spaced(&param.ctype, &param.name) + &default
    };
    call.params.iter().map(param).collect::<Vec<_>>().join(", ")
}

/// Adds the struct of several results or fields: its declaration in the class, and its definition.
fn add_struct(
    class: &str,
    name: &str,
    doc: &str,
    fields: &[(String, String)],
    members: &BTreeSet<String>,
    written: &mut Written,
) {
    let scope = fields.iter().map(|field| field.1.clone()).chain(members.iter().cloned()).collect();
    let qualified = if class.is_empty() { name.to_owned() } else { format!("{class}::{name}") };
    if !class.is_empty() {
        let _ = writeln!(written.classes, "    struct {name};");
    }
    let _ = writeln!(written.structs, "\n/** {doc} */\nstruct {qualified} {{");
    for (ctype, field) in fields {
        let _ = writeln!(written.structs, "    {};", spaced(&names::resolve(ctype, &scope), field));
    }
    written.structs.push_str("};\n");
}

/// Adds the struct of a function with several results.
fn add_result(function: &CppFunction, class: &str, members: &BTreeSet<String>, written: &mut Written) {
    if !function.call.members.is_empty() {
        let name = function.call.value.trim_start_matches('§');
        let doc = format!("The results of {}.", function.c.name);
        add_struct(class, name, &doc, &function.call.members, members, written);
    }
}

fn add_declaration(
    function: &CppFunction,
    indent: &str,
    in_class: bool,
    scope: &BTreeSet<String>,
    text: &mut String,
) {
    let call = &function.call;
    let is_static = if in_class && !function.is_member { "static " } else { "" };
    if let Some(note) = &function.c.deprecated {
        let _ = writeln!(text, "{indent}[[deprecated(\"{}\")]]", note.trim_matches('"'));
    }
    let line = format!(
        "{}{is_static}{}{};",
        template_of(call),
        names::resolve(&spaced(&call.returns, &function.name), scope),
        names::resolve(&format!("({}){}", params_of(call, true), qualifiers(function)), scope)
    );
    wrap(&(indent.to_owned() + &line), text);
    if lends(function) {
        // A deleted function for const temporaries also refuses other temporaries.
        let line = format!(
            "{}{}({}) const && = delete;",
            template_of(call),
            names::resolve(&spaced(&call.returns, &function.name), scope),
            names::resolve(&params_of(call, true), scope)
        );
        wrap(&(indent.to_owned() + &line), text);
    }
}

/// Returns true for a member function whose result refers to memory of the object.
fn lends(function: &CppFunction) -> bool {
    let members = function.call.members.iter().map(|member| &member.0);
    function.is_member && members.chain([&function.call.returns]).any(|ctype| is_view(ctype))
}

fn is_view(ctype: &str) -> bool {
    let views = ["text", "span", "borrowed", "netlib_slice", "netlib_header_field"];
    ctype.split(|c: char| !(c.is_alphanumeric() || c == '_')).any(|word| views.contains(&word))
}

fn qualifiers(function: &CppFunction) -> String {
    let is_const = function.is_member && function.c.params[0].ctype.starts_with("const ");
    let lvalue = if lends(function) { " &" } else { "" };
    let noexcept = if function.call.is_noexcept { " noexcept" } else { "" };
    format!("{}{lvalue}{noexcept}", if is_const { " const" } else { "" })
}

fn add_definition(function: &CppFunction, class: &str, scope: &BTreeSet<String>, text: &mut String) {
    let call = &function.call;
    let prefix = if class.is_empty() { String::new() } else { format!("{class}::") };
    // The struct of several results is a member of the class.
    let mut returns = call.returns.clone();
    if !call.members.is_empty() {
        returns = returns.replace(&call.value, &format!("{prefix}{}", call.value.trim_start_matches('§')));
    }
    let line = format!(
        "{}inline {}{} {{",
        template_of(call),
        names::resolve(&spaced(&returns, &format!("{prefix}{}", function.name)), scope),
        names::resolve(&format!("({}){}", params_of(call, false), qualifiers(function)), scope)
    );
    wrap(&line, text);
    // The local variables have the names of the C parameters.
    let locals = scope.iter().cloned().chain(function.c.params.iter().map(|param| param.name.clone())).collect();
    for line in &call.body {
        wrap(&format!("    {}", names::resolve(line, &locals)), text);
    }
    text.push_str("}\n");
}

fn add_constructor(
    function: &CppFunction,
    class: &str,
    scope: &BTreeSet<String>,
    text: &mut String,
    definitions: &mut String,
) {
    let call = &function.call;
    text.push_str("#if NETLIB_HPP_THROWS\n");
    let explicit =
        if call.params.iter().filter(|param| param.default.is_none()).count() < 2 { "explicit " } else { "" };
    wrap(&names::resolve(&format!("    {explicit}{class}({});", params_of(call, true)), scope), text);
    text.push_str("#endif\n");
    let args: Vec<&str> = call.params.iter().map(|param| param.name.as_str()).collect();
    definitions.push_str("#if NETLIB_HPP_THROWS\n");
    let line = format!("inline {class}::{class}({})", params_of(call, false));
    let made = format!("    : {class}(make({})) {{}}", args.join(", "));
    wrap(&names::resolve(&line, scope), definitions);
    definitions.push_str(&made);
    definitions.push_str("\n#endif\n");
}

/// The elements that the functions X_count() and X_y(index) describe.
struct Range {
    name: String,
    /// The function that returns the number of elements.
    count: String,
    /// The name of a field, its type, and the member function that returns its value.
    fields: Vec<(String, String, String)>,
}

fn ranges(functions: &[CppFunction]) -> Vec<Range> {
    let is_getter = |function: &&CppFunction| {
        let params = &function.call.params;
        function.is_member && params.len() == 1 && params[0].name == "index" && function.c.deprecated.is_none()
    };
    let getters: Vec<&CppFunction> = functions.iter().filter(is_getter).collect();
    let is_count = |function: &&CppFunction| {
        let name = &function.name;
        function.is_member && function.call.params.is_empty() && (name == "count" || name.ends_with("_count"))
    };
    let counts: Vec<&CppFunction> = functions.iter().filter(is_count).collect();
    let others: Vec<&str> = counts.iter().filter_map(|function| function.name.strip_suffix("_count")).collect();
    let mut found = Vec::new();
    for count in counts {
        let item = count.name.strip_suffix("count").expect("it is a count").trim_end_matches('_');
        let field = |name: &str| -> Option<String> {
            // A longer count has its own getters: "cipher_suite_count" beside "count".
            let is_of_other =
                |other: &&str| other.len() > item.len() && (name == *other || name.starts_with(&format!("{other}_")));
            if others.iter().any(is_of_other) {
                None
            } else if item.is_empty() {
                Some(name.to_owned())
            } else if name == item || name.strip_prefix(item) == Some("_at") {
                Some(item.to_owned())
            } else {
                name.strip_prefix(item)?.strip_prefix('_').map(str::to_owned)
            }
        };
        let fields = getters.iter().filter_map(|getter| {
            let name = names::valid(&field(&getter.name)?);
            Some((name, getter.call.returns.clone(), getter.name.clone()))
        });
        let fields: Vec<(String, String, String)> = fields.collect();
        if !fields.is_empty() {
            found.push(Range { name: plural(item), count: count.name.clone(), fields });
        }
    }
    found
}

fn plural(item: &str) -> String {
    match item {
        "" => "items".to_owned(),
        item if item.ends_with("list") || item.ends_with("history") => item.to_owned(),
        item if item.ends_with('s') => format!("{item}es"),
        item => format!("{item}s"),
    }
}

impl Range {
    fn add(&self, class: &str, members: &BTreeSet<String>, written: &mut Written) {
        let item = match &self.fields[..] {
            [one] => names::resolve(&one.1, members),
            several => {
                let name = if self.name == "items" {
                    "item".to_owned()
                } else {
                    format!("{}_item", self.count.trim_end_matches("_count"))
                };
                let fields: Vec<(String, String)> =
                    several.iter().map(|field| (field.1.clone(), field.0.clone())).collect();
                let doc = format!("An element of {class}::{}.", self.name);
                add_struct(class, &name, &doc, &fields, members, written);
                name
            }
        };
        let (text, definitions) = (&mut written.classes, &mut written.definitions);
        let _ = writeln!(text, "    netlib::range<{class}, {item}> {}() const & noexcept;", self.name);
        let _ = writeln!(text, "    netlib::range<{class}, {item}> {}() const && = delete;", self.name);
        let qualified = if self.fields.len() > 1 { format!("{class}::{item}") } else { item.clone() };
        let getters: Vec<String> = self.fields.iter().map(|field| format!("self.{}(index)", field.2)).collect();
        let made =
            if self.fields.len() > 1 { format!("{qualified}{{{}}}", getters.join(", ")) } else { getters[0].clone() };
        wrap(
            &format!("inline netlib::range<{class}, {qualified}> {class}::{}() const & noexcept {{", self.name),
            definitions,
        );
        wrap(
            &format!("    return {{*this, {}(), [](const {class} &self, std::size_t index) {{", self.count),
            definitions,
        );
        wrap(&format!("        return {made};"), definitions);
        definitions.push_str("    }};\n}\n");
        if self.name == "items" {
            for name in ["begin", "end"] {
                let _ = writeln!(text, "    auto {name}() const & noexcept {{ return items().{name}(); }}");
                let _ = writeln!(text, "    auto {name}() const && = delete;");
            }
        }
    }
}
