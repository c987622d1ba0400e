//! Writes a library that records the name of each C function that is called, and a C++ program that calls each function
//! of netlib.hpp and checks that the library has recorded the C function which that call stands for.

use std::fmt::Write as _;

use crate::cdef;
use crate::cpp::classes::{self, CppFunction};
use crate::cpp::{calls, names};
use crate::description::kinds;
use crate::model::{Function, Header};

/// Returns the C source of the recording library. Its functions do nothing else: a handle is never NULL, text is empty,
/// and each number is 0.
pub fn recorder(header: &Header) -> String {
    let mut text = "#include <netlib.h>\n\
        #ifndef RECORDED_VERSION\n#define RECORDED_VERSION NETLIB_VERSION_NUMBER\n#endif\n\
        const char *recorded[64];\nsize_t recorded_count;\nstatic char object[8];\n\
        static void record(const char *name) { recorded[recorded_count++ % 64] = name; }\n"
        .to_owned();
    for function in &header.functions {
        let _ = writeln!(text, "{} {{", cdef::signature(function, &function.name));
        for param in &function.params {
            let _ = writeln!(text, "    (void){};", param.name);
        }
        let _ = writeln!(text, "    record(\"{}\");", function.name);
        let result = match function.returns.as_str() {
            "void" => continue_with("}\n", &mut text),
            "const char*" => "\"\"",
            returns if returns.contains("netlib_") && returns.ends_with('*') => "(void *)object",
            _ if function.name == "netlib_version_number" => "RECORDED_VERSION",
            _ => "0",
        };
        if !result.is_empty() {
            let _ = writeln!(text, "    return {result};\n}}");
        }
    }
    text
}

fn continue_with(end: &str, text: &mut String) -> &'static str {
    text.push_str(end);
    ""
}

/// Returns the C++ source of the program, which ends with "calls: N passed, M failed".
pub fn caller(header: &Header) -> String {
    let mut text = "#include <netlib.hpp>\n#include <cstring>\n\
        extern \"C\" const char *recorded[];\nextern \"C\" std::size_t recorded_count;\n\
        static char fake[8];\nstatic int passed, failed;\n\
        /* The first call must be the expected one. The others only free the results. */\n\
        template <class Call> static void expect(const char *name, Call call) {\n\
        \x20   recorded_count = 0;\n    call();\n    bool right = recorded_count > 0 && std::strcmp(recorded[0], name) == 0;\n\
        \x20   for (std::size_t at = 1; at < recorded_count; at++) {\n\
        \x20       std::size_t len = std::strlen(recorded[at]);\n\
        \x20       right = right && len > 5 && std::strcmp(recorded[at] + len - 5, \"_free\") == 0;\n    }\n\
        \x20   right ? ++passed : ++failed;\n    if (!right) std::printf(\"%s is not called, or not first\\n\", name);\n}\n\
        int main() {\n"
        .to_owned();
    for handle in &header.handles {
        let (class, c) = (names::of(&handle.name), &handle.name);
        let _ = writeln!(text, "    netlib::{class} {class}_object(reinterpret_cast<{c} *>(fake));");
    }
    for class in std::iter::once(None).chain(header.handles.iter().map(|handle| Some(handle.name.as_str()))) {
        for function in classes::functions(header, class) {
            let _ = writeln!(
                text,
                "    expect(\"{}\", [&] {{ (void){}; }});",
                function.c.name,
                sample_call(header, class, &function)
            );
        }
    }
    for function in header.functions.iter().filter(|function| classes::is_special(header, function)) {
        let handle = names::class_of(header, function).expect("it belongs to a class");
        let class = names::of(handle);
        let call = match &function.name[handle.len()..] {
            "_free" => format!("netlib::{class} object(reinterpret_cast<{handle} *>(fake))"),
            "_clone" => format!("netlib::{class} copy({class}_object)"),
            _ => format!("netlib::{class} object"),
        };
        let _ = writeln!(text, "    expect(\"{}\", [&] {{ {call}; }});", function.name);
    }
    for handle in &header.handles {
        let _ = writeln!(text, "    {}_object.release();", names::of(&handle.name));
    }
    text.push_str(
        "    std::printf(\"calls: %d passed, %d failed\\n\", passed, failed);\n    return failed != 0;\n}\n",
    );
    text
}

fn sample_call(header: &Header, class: Option<&str>, function: &CppFunction) -> String {
    let scope = match class.map(names::of) {
        Some(class) if function.is_member => format!("{class}_object."),
        Some(class) => format!("netlib::{class}::"),
        None => "netlib::".to_owned(),
    };
    let args: Vec<String> =
        function.call.params.iter().map(|param| sample(header, function.c, &param.ctype)).collect();
    format!("{scope}{}({})", function.name, args.join(", "))
}

fn sample(header: &Header, function: &Function, ctype: &str) -> String {
    let class = |name: &str| format!("{}_object", name.trim_matches(['§', '>', ' ', '&']));
    match ctype {
        "bool" => "true".to_owned(),
        "std::string_view" | "const §c_text &" => "\"a\"".to_owned(),
        "const §texts &" => "{\"a\", \"b\"}".to_owned(),
        "§seconds" | "std::optional<§seconds>" => "netlib::seconds(1)".to_owned(),
        "netlib_ctx_free_fn" => "nullptr".to_owned(),
        _ if ctype.ends_with(" *") => "nullptr".to_owned(),
        _ if ctype.starts_with("§span") => format!("{}()", ctype.replace('§', "netlib::")),
        _ if ctype.starts_with("§optional_ref<") => class(&ctype["§optional_ref<".len()..]),
        _ if ctype.ends_with('&') => class(ctype.trim_start_matches("const ")),
        _ if ctype.starts_with('§') => format!("{}{{}}", ctype.replace('§', "netlib::")),
        _ if ctype.starts_with("std::") || ["int", "double"].contains(&ctype) => "1".to_owned(),
        callable => sample_callable(header, function, callable),
    }
}

/// Returns a lambda for a callback, named as its template parameter.
fn sample_callable(header: &Header, function: &Function, callable: &str) -> String {
    let callback = header.callbacks.iter().find(|callback| calls::camel_case(&callback.name) == callable);
    let callback = callback.unwrap_or_else(|| panic!("{}: what is the sample of \"{callable}\"?", function.name));
    let is_number = |ctype: &str| {
        ctype.ends_with('*') && !["void*", "const void*"].contains(&ctype) && !ctype.contains("netlib_")
    };
    let output = callback.params.iter().find(|param| is_number(&param.ctype));
    let result = match kinds::decision_of(header, callback) {
        Some((_, listed)) => format!("return netlib::{}{{}};", names::of(&listed)),
        _ => match output.filter(|param| !param.ctype.starts_with("const ")) {
            Some(param) if param.ctype == "double*" => "return 0.0;".to_owned(),
            Some(_) => "return 0;".to_owned(),
            None => String::new(),
        },
    };
    format!("[](auto &&...) {{ {result} }}")
}
