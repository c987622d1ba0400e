"""The PHPDoc comments of the generated layer."""

import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from dynamic import callback_name, class_of, comment_of, members_of, names_of, results_of, used_of, words, wrapped  # noqa: E402
from model import callback_decision, callback_inputs, callback_outputs, camel  # noqa: E402

WIDTH = 120
FIELDS = "array<string, string>|list<array{string, string}>"


def path_of(call):
    """The name of a function as the reader calls it: "TlsOptions::addCaFile"."""
    if not call.owner:
        return call.name
    if call.makes and call.name == "new":
        return f"new {class_of(call.owner)}"
    return f"{class_of(call.owner)}::{'close' if call.name == 'free' else camel(call.name)}"


def names_in_php(api):
    """The name in PHP of each name in netlib.h."""
    names = names_of(api, "null", path_of, constant="%s", handle="%s", callback="%s")
    return names | {"netlib_status": "int", "netlib_header_field": "array", "netlib_slice": "string"}


def block(sections, depth=0):
    """A comment. Blank lines separate its sections, each of which is a list of lines."""
    lines = []
    for section in filter(None, sections):
        lines += ([""] if lines else []) + section
    lines = [line.replace("*/", "* /") for line in lines]
    if len(lines) == 1 and len(lines[0]) + 7 + 4 * depth <= WIDTH and not lines[0].startswith("@"):
        return [f"/** {lines[0]} */"]
    return ["/**"] + [f" * {line}".rstrip() for line in lines] + [" */"]


def lines_of(text, depth):
    """The lines of a text. In netlib.h, the further lines of a list item begin with two blanks."""
    return wrapped(re.sub(r"(?<=\S)\n {2}(?=\S)", "\n", text), WIDTH - 3 - 4 * depth)


def tag(text, depth):
    """A tag whose further lines are indented."""
    first, *more = wrapped(" ".join(text.split()), WIDTH - 7 - 4 * depth)
    return [first] + [f"    {line}" for line in more]


def list_type(value):
    element = value.element or ""
    return FIELDS if "header_field" in element else "list<int>" if "int32_t" in element else "list<string>"


class Comments:
    def __init__(self, api):
        self.api, self.names = api, names_in_php(api)

    def text(self, text, depth=0):
        """The comment of a class or a constant."""
        return block([lines_of(self.in_camel_case(words(text, self.names)), depth)], depth)

    def function(self, call, params, results, depth):
        """The comment of a function. `params` contains the inputs with their types, `results` the types of the results,
        the status included; None for a setter, which returns its object."""
        comment = comment_of(call, self.names)
        waits = re.sub(r"^never(, except|: )", lambda found: "Does not wait" + found[1], comment.waits)
        waits = waits if not waits or waits.startswith("Does not") else f"Waits {waits}"

        sizes = {param["length"]: param["name"] for param in call.item["params"] if param["kind"] == "buffer"}
        local_names = {value.name: value.name for value in call.inputs} | sizes

        def local(text):
            for c_name, name in local_names.items():
                text = text.replace(f"`{c_name}`", f"`${camel(name)}`")
            return self.in_camel_case(text)

        tags = []
        for value, kind in params:
            text = local(comment.params[value.name])
            if value.kind == "callback":
                item = self.api.callbacks[value.callback]
                kind = callback_type(item) if not value.nullable else f"({callback_type(item)})|null"
                text = f"{text} {self.callback(item)}"
            elif value.enum:
                text = self.constants(value, text)
            elif value.kind == "array":
                kind = list_type(value) + ("|null" if value.nullable else "")
            elif value.kind == "buffer":
                text = f"the maximum number of bytes. {text}"
            tags += tag(f"@param {kind} ${camel(value.name)} {text}", depth)
        docs = [
            local(doc) if isinstance(item, str) or not item.enum else self.constants(item, local(doc))
            for item, doc in zip(results_of(call), comment.results)
        ]
        if results is None:
            tags += ["@return $this"]
        elif len(results) == 1:
            text = docs[0] if docs else self.progress(call)
            if text or "<" in results[0]:
                tags += tag(f"@return {results[0]} {text}", depth)
        elif results:
            given = [
                f"`{camel('result' if output.name == 'return' else used_of(call, output) or output.name)}`: {doc}"
                for output, doc in zip(call.outputs, docs)
                if doc
            ]
            given += [f"the status: {self.progress(call)}"] if call.progress else []
            tags += tag(f"@return array{{{', '.join(results)}}} {'; '.join(given)}", depth)
        if call.fails:
            others = "for the statuses that are no results: " if call.progress else ""
            tags += tag(f"@throws Error {others}{local(comment.errors)}", depth)
        text = re.sub(r"^Stores ", "Returns ", comment.text) if results else comment.text
        return block([lines_of(local(text), depth), lines_of(waits, depth) if waits else [], tags], depth)

    def constants(self, value, text):
        """The comment of a number that is a constant, or a sum of constants."""
        item = self.api.enums[value.enum]
        count = "a sum of" if value.kind == "bits" else "one of"
        return f"{count} `{members_of(item)}`: {text}".removesuffix(": ")

    def progress(self, call):
        return ", ".join(f"`{self.names[status]}`" for status in ["NETLIB_OK"] + call.progress)

    def callback(self, item):
        """The comment of a callback, for the parameter that takes it. The sentences about C are left out."""
        sentences = re.split(r"(?<=[.])\s+", " ".join(words(item["doc"], self.names).split()))
        text = " ".join(part for part in sentences if "`ctx`" not in part and "`*" not in part)
        # A callback of C stores what a callback of PHP returns.
        text = re.sub(r"^Stores ", "Returns ", text)
        return self.in_camel_case(f"The type `{callback_name(item['name'])}`: {text}")

    def in_camel_case(self, text):
        """The text with the names of options and parameters in PHP: "raiseOnStatus"."""
        functions = {call.name for call in self.api.calls if not call.owner}

        def name(found):
            is_function = found[1] in functions or found[1].endswith("_callback")
            return found[0] if is_function else f"`{camel(found[1])}`"

        return re.sub(r"`([a-z]+(?:_[a-z0-9]+)+)`", name, text)


def callback_type(item):
    """The types of the arguments and of the result of a callback."""
    kinds = {"bytes": "string", "text": "?string", "truth_value": "bool", "seconds": "float"}
    given = []
    for param in callback_inputs(item):
        name = param["length"] if param["kind"] == "buffer" else param["name"]
        kind = class_of(param["handle"]) if param["kind"] == "handle" else kinds.get(param["kind"], "int")
        given.append(f"{kind} ${camel(name)}")
    return f"callable({', '.join(given)}): {callback_result(item)}"


def callback_result(item):
    decision, outputs = callback_decision(item), callback_outputs(item)
    if decision and decision["enum"] == "netlib_outcome":
        return "mixed"
    if decision and outputs and "handle" in outputs[0]:
        return f"int|{class_of(outputs[0]['handle'])}"
    if decision:
        return "int|list<int|float>" if outputs else "int"
    if any(param["kind"] == "buffer" for param in item["params"]):
        return "?string"
    if not outputs:
        return "mixed"
    return {"truth_value": "bool"}.get(outputs[0]["kind"], "float" if "double" in outputs[0]["type"] else "int")
