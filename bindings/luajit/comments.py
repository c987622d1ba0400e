"""The comments of the module, for LDoc."""

import re

from dynamic import (
    Writer, callback_name, class_of, comment_of, members_of, names_of, results_of, truth_words, words,
    wrapped,
)  # fmt: skip
from model import callback_decision, callback_inputs, callback_outputs

KEYWORDS = {"end", "function", "local", "nil", "not", "or", "repeat", "then", "until", "and", "in"}
WIDTH = 117


def lua_name(text):
    return f"{text}_" if text in KEYWORDS else text


def path_of(call):
    """The name of a function as the reader calls it."""
    if call.owner and call.name == "free":
        return f"netlib.{class_of(call.owner)}:close"
    if call.owner:
        return f"netlib.{class_of(call.owner)}{':' if call.is_member else '.'}{lua_name(call.name)}"
    return f"netlib.{call.name}"


def lua_names(api):
    return names_of(api, "nil", path_of, constant="netlib.%s", handle="netlib.%s", callback="%s")


def type_of(value):
    """The type of an input or output."""
    if value.kind == "handle":
        return "netlib.Error" if value.handle == "netlib_error" else f"netlib.{class_of(value.handle)}"
    kinds = {"text": "string", "bytes": "string", "truth_value": "boolean", "array": "table", "callback": "function"}
    return kinds.get(value.kind) or ("any" if value.kind == "ctx" else "number")


def comment_lines(api, call, names):
    comment = comment_of(call, names)
    lines = wrapped(comment.text, WIDTH)
    if comment.waits and not comment.waits.startswith("never"):
        lines += ["", *wrapped(f"Waits {comment.waits}", WIDTH)]
    for value, is_optional in Writer(api).parameters(call):
        text = comment.params[value.name]
        if value.kind in ("enum", "bits") and "`netlib." not in text:
            text += f" (`netlib.{members_of(api.enums[value.enum])}`)"
        if value.kind == "callback":
            text += f" A `{callback_name(value.callback)}`."
        lines += tag(f"@{'tparam[opt]' if is_optional else 'tparam'} {type_of(value)} {lua_name(value.name)}", text)
    if call.is_setter:
        lines += tag("@return the options", "")
    for output, text in zip(results_of(call), comment.results):
        lines += tag(f"@treturn {'string' if isinstance(output, str) else type_of(output)}", text)
    if call.progress:
        statuses = ", ".join(f"`netlib.{status.removeprefix('NETLIB_')}`" for status in ["NETLIB_OK", *call.progress])
        lines += tag("@treturn number", f"the status: {statuses}")
    if call.fails or call.is_setter:
        lines += tag("@raise netlib.Error:", re.sub(r"^`netlib\.OK`(?:; |, or )", "", comment.errors))
    return lines


def tag(head, text):
    lines = wrapped(f"{head} {text}".strip().removesuffix(":"), WIDTH - 2)
    return lines[:1] + ["  " + line for line in lines[1:]]


def callback_lines(item, names):
    """The comment of a callback's type."""
    lines = wrapped(words(item["doc"], names), WIDTH) + [f"@function {callback_name(item['name'])}"]
    for param in callback_inputs(item):
        text = words(param["doc"], names)
        text = "the maximum size of the result in bytes." if param["kind"] == "buffer" else text
        lines += tag(f"@param {lua_name(param['name'])}", text)
    decision, outputs = callback_decision(item), callback_outputs(item)
    if decision and decision["enum"] != "netlib_outcome":
        lines += tag("@return", f"`{names[decision['enum']]}`: {words(decision['doc'], names)}")
    if any(param["kind"] == "buffer" for param in item["params"]):
        return lines + ["@return a string, or nil at the end"]
    for output in outputs:
        text = words(output["doc"], names)
        lines += tag("@return", truth_words(text) if output["kind"] == "truth_value" else text)
    return lines
