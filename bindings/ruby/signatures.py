"""The types and the comments of the gem: YARD comments for generated.rb, and signatures for sig/generated.rbs."""

import re

from dynamic import Writer, callback_name, class_of, comment_of, members_of, names_of, results_of, truth_words, words, wrapped
from model import callback_decision, callback_inputs, callback_outputs

KEYWORDS = {"end", "next", "class", "begin", "raise", "retry", "when", "then", "in", "module", "self", "redo", "rescue"}
ARRAYS = {"char": "string", "int32_t": "Integer", "netlib_slice": "string"}
FIELDS = "Hash[string, string] | Array[[string, string]]"


def parameter_name(text):
    return f"{text}_" if text in KEYWORDS else text


def method_name(call):
    results = results_of(call)
    is_truth = len(results) == 1 and not isinstance(results[0], str) and results[0].kind == "truth_value"
    return call.name.removeprefix("is_") + "?" if is_truth and not call.progress else call.name


def path_of(call):
    """The name of a function as the reader calls it."""
    if call.owner and call.name == "free":
        return f"Netlib::{class_of(call.owner)}#close"
    if call.owner:
        return f"Netlib::{class_of(call.owner)}{'#' if call.is_member else '.'}{method_name(call)}"
    return f"Netlib.{method_name(call)}"


def ruby_names(api):
    return names_of(api, "nil", path_of, constant="Netlib::%s", handle="Netlib::%s", callback="%s")


def optional(type_name):
    return f"({type_name})?" if "|" in type_name or "->" in type_name else f"{type_name}?"


# ---- Types, in the syntax of RBS.


def input_type(value):
    kind = value.kind
    if kind == "handle":
        type_name = "Error | ErrorInfo" if value.handle == "netlib_error" else class_of(value.handle)
    elif kind == "array":
        element = value.element.removeprefix("const ").rstrip(" *").removesuffix(" *const")
        type_name = FIELDS if element == "netlib_header_field" else f"Array[{ARRAYS[element]}]"
    elif kind == "seconds":
        return "Numeric?"
    else:
        type_name = {
            "text": "string" if value.has_length or not value.name.endswith("path") else "string | _ToPath",
            "bytes": "string",
            "truth_value": "bool",
            "ctx": "untyped",
            "descriptor": "Integer | ::IO",
            "callback": callback_name(value.callback) if value.callback else "",
        }.get(kind) or ("Numeric" if "double" in value.c_type else "Integer")
    return optional(type_name) if value.nullable and type_name != "untyped" else type_name


def is_absent_sometimes(call, output):
    """True for a result that may be nil for another reason than a lack of memory."""
    if output.name != "return":
        return output.nullable
    if not output.nullable or output.is_owned:
        return False
    doc = call.doc.replace("\n", " ")
    doc = re.sub(r"NULL when memory is short|,? and for NULL|(?:for|returns) NULL", "", doc)
    return "NULL" in doc or bool(call.inputs) or call.owner in ("netlib_decision", "netlib_tls_engine", "netlib_tls_session")


def output_type(call, output):
    if isinstance(output, str):
        return "String?" if call.progress else "String"
    kind = output.kind
    if kind == "handle":
        type_name = class_of(output.handle)
        return optional(type_name) if call.progress or is_absent_sometimes(call, output) else type_name
    if kind in ("text", "bytes"):
        return "String?" if is_absent_sometimes(call, output) else "String"
    if kind == "array":
        return "Array[String]" if "char" in output.element else "Array[Integer]"
    if kind == "descriptor" and output.is_owned:
        return "Integer?" if call.progress else "Integer"
    return {"truth_value": "bool", "ctx": "untyped"}.get(kind) or ("Float" if output.c_type == "double" else "Integer")


def result_type(call):
    if call.is_setter:
        return "self"
    types = [output_type(call, item) for item in results_of(call)] + (["Integer"] if call.progress else [])
    if len(types) > 1:
        return f"[{', '.join(types)}]"
    return types[0] if types else "void"


def parameters_of(api, call):
    return Writer(api).parameters(call)


def signature(api, call):
    given = parameters_of(api, call)
    has_block = bool(given) and given[-1][0].kind == "callback"
    parts = []
    for at, (value, is_optional) in enumerate(given):
        mark = "?" if is_optional or has_block and at == len(given) - 1 else ""
        parts.append(f"{mark}{input_type(value)} {parameter_name(value.name)}")
    adopts = call.makes and call.name == "new"
    name = "initialize" if adopts else method_name(call)
    prefix = "" if call.is_member or adopts else "self."
    block = ""
    if has_block:
        item = api.callbacks[given[-1][0].callback]
        block = f"?{{ {callback_type(item).removeprefix('^')} }} "
    return f"def {prefix}{name}: ({', '.join(parts)}) {block}-> {'void' if adopts else result_type(call)}"


def callback_type(item):
    types = []
    for param in callback_inputs(item):
        types.append({
            "bytes": "String", "text": "String" + ("?" if param.get("nullable") else ""), "buffer": "Integer",
            "handle": class_of(param["handle"]) if param["kind"] == "handle" else "", "seconds": "Float",
        }.get(param["kind"], "Integer"))  # fmt: skip
    decision, outputs = callback_decision(item), callback_outputs(item)
    if any(param["kind"] == "buffer" for param in item["params"]):
        result = "String?"
    elif decision and decision["enum"] == "netlib_outcome" or not (decision or outputs):
        result = "void"
    elif decision and outputs and "handle" in outputs[0]:
        result = f"{class_of(outputs[0]['handle'])} | Integer"
    elif decision and outputs:
        result = "untyped"
    elif outputs and outputs[0]["kind"] == "truth_value":
        result = "bool"
    else:
        result = "Numeric" if outputs and "double" in outputs[0]["type"] else "Integer"
    return f"^({', '.join(types)}) -> {'(' + result + ')' if '|' in result else result}"


def yard_type(rbs):
    """The types of a YARD tag for a type of RBS."""
    if rbs == "self":
        return "self"
    if rbs.startswith("["):
        return "Array(" + ", ".join(yard_type(part) for part in rbs[1:-1].split(", ")) + ")"
    is_optional = rbs.endswith("?")
    text = rbs.removesuffix("?").strip("()") if is_optional else rbs
    text = {"bool": "Boolean", "untyped": "Object", FIELDS: "Hash, Array", "string | _ToPath": "String, Pathname"}.get(text, text)
    text = re.sub(r"\[(\w+)\]", r"<\1>", text).replace("string", "String").replace(" | ", ", ").replace("::IO", "IO")
    return ("Proc" if text.endswith("_callback") else text) + (", nil" if is_optional else "")


# ---- Comments.


def comment_lines(api, call, names, width):
    """The YARD comment of a method."""
    comment = comment_of(call, names)
    lines = wrapped(comment.text, width)
    if comment.waits and not comment.waits.startswith("never"):
        lines += ["", *wrapped(f"Waits {comment.waits}", width)]
    tags = []
    given = parameters_of(api, call)
    for value, _ in given:
        text = comment.params[value.name]
        if value.kind in ("enum", "bits") and "Netlib::" not in text:
            text += f" (`Netlib::{members_of(api.enums[value.enum])}`)"
        if value.kind == "callback":
            text += f" A `{callback_name(value.callback)}`."
        tags.append(tag(f"@param {parameter_name(value.name)} [{yard_type(input_type(value))}]", text, width))
    if given and given[-1][0].kind == "callback":
        tags.append(tag("@yield", f"instead of the argument `{parameter_name(given[-1][0].name)}`", width))
    if not (call.makes and call.name == "new"):
        text = " ".join(result_words(call, comment))
        type_name = yard_type(result_type(call))
        if type_name != "void":
            tags.append(tag(f"@return [{type_name}]", text, width))
    if call.fails or call.is_setter:
        tags.append(tag("@raise [Netlib::Error]", re.sub(r"^`Netlib::OK`(?:; |, or )", "", comment.errors), width))
    if tags:
        lines.append("")
    return lines + [line for lines_of_tag in tags for line in lines_of_tag]


def result_words(call, comment):
    """The comments of the results. Several results have numbers."""
    parts = [text for text in comment.results]
    if call.progress:
        statuses = [f"`Netlib::{status.removeprefix('NETLIB_')}`" for status in ["NETLIB_OK", *call.progress]]
        parts.append(f"the status: {', '.join(statuses[:-1])} or {statuses[-1]}.")
    return [f"{at + 1}. {text}" for at, text in enumerate(parts) if text] if len(parts) > 1 else parts


def tag(head, text, width):
    lines = wrapped(f"{head} {text}".strip(), width - 2)
    return lines[:1] + ["  " + line for line in lines[1:]]


def callback_lines(item, names, width):
    """The comment of a callback's type."""
    lines = wrapped(words(item["doc"], names), width)
    for param in callback_inputs(item):
        text = words(param["doc"], names)
        if param["kind"] == "buffer":
            text = "the maximum size of the result in bytes."
        if text:
            lines += ["", *wrapped(f"Argument `{parameter_name(param['name'])}`: {text}", width)]
    decision, outputs = callback_decision(item), callback_outputs(item)
    if decision and decision["enum"] != "netlib_outcome":
        lines += ["", *wrapped(f"Returns `{names[decision['enum']]}`: {words(decision['doc'], names)}", width)]
    if any(param["kind"] == "buffer" for param in item["params"]):
        return lines + ["", "Returns a string, or nil at the end."]
    for output in outputs:
        text = words(output["doc"], names)
        text = truth_words(text) if output["kind"] == "truth_value" else text
        lines += ["", *wrapped(f"Returns `{output['name']}`: {text}", width)]
    return lines
