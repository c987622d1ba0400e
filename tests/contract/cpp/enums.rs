//! Writes the enums and constants of netlib.hpp.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use crate::cpp::names;
use crate::description::kinds::{self, Kind};
use crate::model::{Enum, Header};

pub fn write(header: &Header) -> String {
    let (mut text, mut limits) = (String::new(), Vec::new());
    let is_single = |listed: &&Enum| listed.values.iter().any(|value| value.name == listed.name);
    for listed in header.enums.iter().filter(|listed| !is_single(listed)) {
        let (values, constants) = names::of_values(listed);
        let _ = writeln!(text, "\n/** enum {} */", listed.name);
        let _ = writeln!(text, "enum class {} : std::int32_t {{", names::of(&listed.name));
        for (name, c_name) in &values {
            let _ = writeln!(text, "    {name} = {c_name},");
        }
        text.push_str("};\n");
        limits.extend(constants);
        if used_as_bits(header).contains(&listed.name) {
            add_operators(&names::of(&listed.name), &mut text);
        }
    }
    text.push('\n');
    let macros = header.macros.iter().filter_map(|item| Some((item.name.as_str(), item.value.parse::<i64>().ok()?)));
    let single = header.enums.iter().filter(is_single).map(|listed| listed.name.as_str());
    for (name, value) in macros {
        let ctype = if i32::try_from(value).is_ok() { "std::int32_t" } else { "std::int64_t" };
        let _ = writeln!(text, "inline constexpr {ctype} {} = {name};", names::of(name));
    }
    single.chain(limits).for_each(|name| add_constant(name, &mut text));
    text
}

fn add_constant(c_name: &str, text: &mut String) {
    let _ = writeln!(text, "inline constexpr std::int32_t {} = {c_name};", names::of(c_name));
}

/// Returns the enums whose values are summed.
fn used_as_bits(header: &Header) -> BTreeSet<String> {
    let functions = || header.functions.iter().chain(&header.callbacks);
    let results = functions().map(|function| kinds::of_result(header, function));
    let params =
        functions().flat_map(|function| function.params.iter().map(|param| kinds::of_param(header, function, param)));
    let listed = |kind| if let Kind::Bits(name) = kind { Some(name) } else { None };
    results.chain(params).filter_map(listed).collect()
}

fn add_operators(name: &str, text: &mut String) {
    for operator in ['|', '&'] {
        let _ = writeln!(text, "constexpr {name} operator{operator}({name} a, {name} b) noexcept {{");
        let _ = writeln!(
            text,
            "    return static_cast<{name}>(static_cast<std::int32_t>(a) {operator} static_cast<std::int32_t>(b));\n}}"
        );
    }
    let _ = writeln!(text, "constexpr {name} operator~({name} a) noexcept {{");
    let _ = writeln!(text, "    return static_cast<{name}>(~static_cast<std::int32_t>(a));\n}}");
}
