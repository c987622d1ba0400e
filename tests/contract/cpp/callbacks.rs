//! Writes the C functions through which netlib invokes callable objects of C++.

use std::fmt::Write as _;

use crate::cpp::calls::{callback_name, scalar};
use crate::cpp::{names, wrap};
use crate::description::kinds::{self, Kind};
use crate::model::{Function, Header};

pub fn write(header: &Header) -> String {
    let callbacks = header.callbacks.iter().filter(|callback| callback.name != "netlib_ctx_free_fn");
    callbacks.map(|callback| write_one(header, callback)).collect::<Vec<_>>().join("\n")
}

fn write_one(header: &Header, callback: &Function) -> String {
    let (mut before, mut after) = (Vec::new(), String::new());
    let (mut args, mut signature) = (Vec::new(), Vec::new());
    let mut output = None;
    let decision = kinds::decision_of(header, callback);
    for param in &callback.params {
        let name = &param.name;
        let (ctype, arg) = match kinds::of_param(header, callback, param) {
            Kind::Ctx => continue,
            Kind::Length(_) if !param.ctype.ends_with('*') => continue,
            Kind::Buffer => ("§span<std::uint8_t>".to_owned(), format!("detail::bytes_of({name}, len)")),
            Kind::Bytes => ("§span<const std::uint8_t>".to_owned(), format!("detail::bytes_of({name}, len)")),
            Kind::Text => {
                let length = callback.params.iter().find(
                    |other| matches!(kinds::of_param(header, callback, other), Kind::Length(of) if of == *name),
                );
                // A text with a length is not NUL-terminated.
                let arg = length.map_or(name.clone(), |length| format!("{name}, {}", length.name));
                ("§text".to_owned(), format!("§text({arg})"))
            }
            Kind::Handle(handle) if param.ctype.ends_with("**") => {
                let class = names::of(&handle);
                before.push(format!("§{class} {name}_owned(nullptr);"));
                after = format!("*{name} = {name}_owned.release();");
                (format!("{class} &{name}"), format!("{name}_owned"))
            }
            Kind::Handle(handle) => {
                let class = names::of(&handle);
                before.push(format!("detail::lent<§{class}> {name}_lent({name});"));
                (format!("{class} &{name}"), format!("{name}_lent.object"))
            }
            Kind::Enum(_) if param.ctype.ends_with('*') => continue,
            // A callback that decides stores its other outputs itself.
            _ if param.ctype.ends_with('*') && decision.is_some() => {
                (format!("{} &{name}", scalar(names::pointed(&param.ctype))), format!("*{name}"))
            }
            kind if param.ctype.ends_with('*') => {
                output = Some((name.clone(), kind, scalar(names::pointed(&param.ctype))));
                continue;
            }
            Kind::Seconds => ("§seconds".to_owned(), format!("§seconds({name})")),
            Kind::Bits(listed) => {
                let class = names::of(&listed);
                (format!("§{class}"), format!("static_cast<§{class}>({name})"))
            }
            _ => (scalar(&param.ctype), name.clone()),
        };
        let named = if ctype.ends_with(name.as_str()) { ctype } else { format!("{ctype} {name}") };
        signature.push(named);
        args.push(arg);
    }
    let call = format!("detail::callable<Held, at>(ctx)({})", args.join(", "));
    let (returns, mut body) = match (&decision, &output) {
        (Some((_, listed)), _) => (names::of(listed), vec![format!("auto decided = {call};")]),
        (_, Some((name, Kind::Seconds, _))) => {
            ("seconds".to_owned(), vec![format!("return detail::store(§seconds({call}).count(), {name});")])
        }
        (_, Some((name, kind, ctype))) => {
            let ctype = if *kind == Kind::TruthValue { "bool" } else { ctype };
            let progress = if callback.doc.whole.contains("NETLIB_WANT_") {
                format!("{ctype} or progress<{ctype}>")
            } else {
                ctype.to_owned()
            };
            (progress, vec![format!("return detail::store({call}, {name});")])
        }
        (_, None) => ("void".to_owned(), vec![format!("{call};"), "return std::int32_t{NETLIB_OK};".to_owned()]),
    };
    if let Some((name, listed)) = &decision {
        if !after.is_empty() {
            body.push(after);
        }
        body.push(format!("*{name} = static_cast<enum {listed}>(decided);"));
    }
    let c_returns = if decision.is_some() { "void" } else { "std::int32_t" };
    let params: Vec<String> = callback.params.iter().map(crate::cdef::declare).collect();
    let mut text = String::new();
    let scope = callback.params.iter().map(|param| param.name.clone()).collect();
    let signature = signature.join(", ").replace('§', "");
    wrap(&format!("/** {}: {returns} ({signature}) */", callback.name), &mut text);
    let _ = writeln!(text, "template <class Held, std::size_t at>");
    let name = callback_name(&callback.name);
    wrap(&format!("{c_returns} {name}({}) noexcept {{", params.join(", ")), &mut text);
    // After an exception, a callback that decides stores no decision, which means failure.
    let guard = if decision.is_some() {
        "detail::guarded([&] {"
    } else {
        "return detail::guarded(std::int32_t{NETLIB_CALLBACK_FAILED}, [&] {"
    };
    let _ = writeln!(text, "    {guard}");
    for line in before.iter().chain(&body) {
        wrap(&format!("        {}", names::resolve(line, &scope)), &mut text);
    }
    text.push_str("    });\n}\n");
    text
}
