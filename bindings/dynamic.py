"""The part that the generators for LuaJIT, PHP and Ruby share. It writes the steps of each call in their order. A
subclass of Writer contains the syntax of the language, and the names of the functions in its runtime. `comment_of`
makes the comments in the words of the language."""

import os.path
import re
import textwrap
from dataclasses import dataclass

from model import class_name, in_language, pointed

CLASSES = {"netlib_error": "ErrorInfo"}  # Error is the exception
AS_BYTES = {"netlib_bytes_data", "netlib_headers_to_wire", "netlib_request_to_wire"}
LIMITED_STREAMS = {"netlib_stream_connect", "netlib_tls_wrap_stream", "netlib_tls_accept_stream"}
ARRAYS = {
    "char *const": "texts",
    "char *": "texts",
    "int32_t": "ints",
    "netlib_header_field": "fields",
    "netlib_slice": "slices",
}


def class_of(handle):
    return CLASSES.get(handle, class_name(handle))


def constant_name(c_name):
    return c_name.removeprefix("NETLIB_")


def used_of(call, output):
    """The name of the buffer whose number of written bytes is the output, or None."""
    params = call.item["params"]
    return next((item["name"] for item in params if item["kind"] == "buffer" and item.get("used") == output.name), None)


def results_of(call):
    """The results, each an output or the name of a buffer whose content is the result."""
    results = [used_of(call, output) or output for output in call.outputs]
    for value in call.inputs:
        is_used = value.name in results or any(value.name in output.borrowed_from for output in call.outputs)
        if value.kind == "buffer" and not is_used:
            results.append(value.name)
    return results


class Writer:
    indent = "    "
    null = "nil"
    # Child limits need no entry, because a child has the interrupt check of its parent.
    interruptible = {"netlib_limit_new": "netlib_limit_new_interruptible"}

    def __init__(self, api):
        self.api, self.lines, self.depth = api, [], 0

    def line(self, text=""):
        self.lines.append(self.indent * self.depth + text if text else "")

    # ---- Syntax that a subclass may replace.

    def var(self, name):
        return name

    def name(self, text):
        return text

    def helper(self, function, *arguments):
        raise NotImplementedError

    def assign(self, name, expression):
        raise NotImplementedError

    def new_cell(self, c_type, value=None):
        """A variable whose address C gets."""
        raise NotImplementedError

    def address(self, variable, c_type):
        raise NotImplementedError

    def content(self, variable, c_type):
        raise NotImplementedError

    def parameter(self, value):
        return self.var(self.name(value.name))

    def own_descriptor(self, value):
        return self.helper("own_descriptor", value)

    def own_pointer(self, _call):
        """The pointer of the object whose method is called."""
        return self.helper("pointer", self.this)

    def handle_pointer(self, function, name, _value):
        """The pointer of an object that is an argument."""
        return self.helper(function, name)

    def own(self, handle, value, keep):
        raise NotImplementedError

    def borrow(self, handle, value, keep):
        raise NotImplementedError

    # ---- The steps of a call.

    def body(self, call, adopts=False):
        """The code of a call. `adopts` is true if the call is a constructor."""
        passed, keep = [], []
        cells = {}  # variables whose address C gets, with their types
        for argument in call.arguments:
            role, value = argument.role, argument.input
            if role == "self":
                self.assign("me", self.own_pointer(call))
                passed.append(self.var("me"))
            elif role == "error":
                self.cell(cells, "err", "netlib_error *")
                passed.append(self.address(self.var("err"), "netlib_error *"))
            elif role in ("output", "length_out"):
                c_type = pointed(argument.c_type)
                cell = f"{argument.c_name}_out"
                self.cell(
                    cells, cell, c_type, "-1" if argument.output and argument.output.kind == "descriptor" else None
                )
                passed.append(self.address(self.var(cell), c_type))
            elif role == "inout":
                c_type, cell = pointed(argument.c_type), f"{argument.c_name}_out"
                self.cell(
                    cells,
                    cell,
                    c_type,
                    self.or_zero(self.parameter(value)) if value.nullable else self.parameter(value),
                )
                passed.append(self.address(self.var(cell), c_type))
            elif role == "length":
                passed.append(self.length(value))
            elif role == "ctx":
                # Follows the conversions of the earlier arguments: if one of them fails, no callback is kept alive.
                names = [item for item in call.inputs if item.kind == "callback"]
                passed.append(self.hold({item.callback: self.parameter(item) for item in names}))
            elif role == "ctx_free" or value.kind == "ctx_free":
                passed.append(self.callback_pointer("netlib_ctx_free_fn"))
            elif value.kind == "ctx":
                passed.append(self.helper("hold", self.parameter(value)))
            else:
                passed.append(self.convert(value, call))
                if value.kind == "descriptor" and any(item.kind == "handle" for item in call.outputs):
                    keep.append(self.parameter(value))
        self.invoke(call, passed)
        if call.is_setter:
            self.line(self.statement(f"{self.method(self.this, 'check')}"))
            self.line(self.statement(f"return {self.this}"))
            return
        results = [self.result(item, call, cells, keep) for item in results_of(call)]
        if call.progress:
            results.append(self.var("code"))
        callbacks = set(call.item["callbacks"]) - {"netlib_ctx_free_fn"}
        if adopts:
            self.adopt(call, cells, keep)
        elif results and callbacks:
            names = [f"result{at + 1}" for at in range(len(results))]
            for name, expression in zip(names, results):
                self.assign(name, expression)
            self.line(self.statement(self.helper("reraise")))
            self.give_back([self.var(name) for name in names])
        elif results:
            self.give_back(results)
        elif callbacks:
            self.line(self.statement(self.helper("reraise")))

    def cell(self, cells, name, c_type, value=None):
        cells[name] = c_type
        self.assign(name, self.new_cell(c_type, value))

    def invoke(self, call, passed):
        target = self.c_call(call.c_name, passed)
        if call.c_name in self.interruptible:
            inner = passed[:-2] + [self.callback_pointer("netlib_interrupt_fn"), "0", self.null] + passed[-2:]
            target = self.choose(
                self.parameter(call.inputs[-1]), target, self.c_call(self.interruptible[call.c_name], inner)
            )
        if call.fails:
            self.assign("code", target)
            allowed = ["0"] + [str(self.api.statuses[status]) for status in call.progress]
            self.guard(allowed, self.helper("fail", self.var("code"), self.var("err")))
        elif any(output.name == "return" for output in call.outputs):
            self.assign("result", target)
        else:
            self.line(self.statement(target))

    def convert(self, value, call):
        """The C value of an input."""
        name, kind = self.parameter(value), value.kind
        quoted = f'"{value.name}"' if self.__class__.__name__ == "Lua" else f"'{value.name}'"
        if kind == "handle" and value.handle == "netlib_limit" and value.name == "limit":
            if call.c_name == "netlib_attempts_new":
                self.new_limit(name)  # for the getter, instead of the default limit of all calls
            return self.handle_pointer("limit_pointer", name, value)
        if kind == "handle" and value.handle == "netlib_error":
            return self.handle_pointer("error_pointer", name, value)
        if kind == "handle":
            return self.handle_pointer("optional_pointer" if value.nullable else "pointer", name, value)
        if kind == "text" and value.has_length or kind == "bytes":
            self.set(name, self.helper("optional_data" if value.nullable else "data", name, quoted))
            return self.data_pointer(name)
        if kind == "text":
            return self.helper("optional_text" if value.nullable else "text", name, quoted)
        if kind == "buffer":
            self.assign(f"{value.name}_buf", self.new_buffer(name))
            return self.var(f"{value.name}_buf")
        if kind == "array":
            element = value.element.removeprefix("const ").strip()
            self.assign(f"{value.name}_array", self.helper(ARRAYS[element], name))
            return self.array_pointer(self.var(f"{value.name}_array"))
        if kind == "callback":
            pointer = self.callback_pointer(value.callback)
            return self.choose(name, pointer, self.null) if value.nullable else pointer
        if kind == "truth_value":
            return self.helper("truth", name, quoted)
        if kind == "seconds" and value.is_pointer:
            return self.helper("number_or_null", name)
        if kind == "seconds":
            return self.helper("seconds", name)
        if kind == "descriptor":
            return self.helper("descriptor", name)
        return name

    def result(self, item, call, cells, keep):
        """The expression of a result."""
        if isinstance(item, str):
            used = next((param["used"] for param in call.item["params"] if param["name"] == item), None)
            buffer = self.var(f"{item}_buf")
            length = self.content(self.var(f"{used}_out"), "size_t") if used else self.var(self.name(item))
            expression = self.helper("buffer_text", buffer, length)
            return self.choose_ok(self.var("code"), expression) if call.progress else expression
        kind = item.kind
        value = self.var("result") if item.name == "return" else self.content(self.var(f"{item.name}_out"), item.c_type)
        length = [self.content(self.var(f"{item.length}_out"), "size_t")] if item.length else []
        if kind == "handle":
            if item.is_owned:
                made = self.own(item.handle, value, keep)
                # The limit of netlib_stream_connect also applies to the stream, and a stream inside another one has the
                # limit of that one. Other streams get the default limit, which the language can interrupt.
                has_limit = call.c_name in LIMITED_STREAMS
                return self.with_limit(made) if item.handle == "netlib_stream" and not has_limit else made
            if item.clone:
                return self.own(item.handle, self.c_call(item.clone, [value]), [])
            lenders = [self.lender(name, call) for name in item.borrowed_from]
            return self.borrow(item.handle, value, lenders)
        if kind == "text":
            return self.helper("to_bytes" if call.c_name in AS_BYTES else "to_text", value, *length)
        if kind == "bytes":
            return self.helper("to_bytes", value, *length)
        if kind == "truth_value":
            return f"{value} == 1" if not self.strict else f"{value} === 1"
        if kind == "array":
            return self.helper("to_texts" if "char" in item.element else "to_ints", value, *length)
        if kind == "descriptor" and item.is_owned:
            return self.own_descriptor(value)
        if kind == "ctx":
            return self.helper("held_value", value)
        return self.number(value, item.c_type)

    def number(self, value, _c_type):
        return value

    def with_limit(self, made):
        return made

    def new_limit(self, name):
        """Replaces an absent limit."""

    def lender(self, name, call):
        if call.is_member and call.arguments[0].c_name == name:
            return self.this
        return self.var(self.name(name))

    def data_pointer(self, name):
        return name

    def array_pointer(self, variable):
        return variable

    # ---- Parameters.

    def parameters(self, call):
        """Pairs of an input and a truth value: True if the input has a default."""
        inputs = [value for value in call.inputs if value.kind != "ctx_free"]
        optional = len(inputs)
        while optional and (inputs[optional - 1].nullable or inputs[optional - 1].is_pointer):
            optional -= 1
        return [(value, at >= optional) for at, value in enumerate(inputs)]


# ---- Comments.


def names_of(api, null, path_of, **paths):
    """The table of `in_language`. `path_of` maps a call to the function's name as the reader calls it. `paths` contains
    the name patterns of a "constant", a "handle" and a "callback", such as "Netlib::%s" for a constant."""
    constant = paths["constant"]
    names = {call.c_name: path_of(call) for call in api.calls}
    for c_name, value in api.macros.items():
        function = c_name.lower()
        if function in names:
            names[c_name] = names[function]
        elif isinstance(value, (int, float, str)):
            names[c_name] = constant % constant_name(c_name)
    names |= {c_name: constant % constant_name(c_name) for c_name in api.constants}
    names |= {c_name: constant % members_of(item) for c_name, item in api.enums.items()}
    names |= {c_name: paths["handle"] % class_of(c_name) for c_name in api.handles}
    names |= {c_name: paths["callback"] % callback_name(c_name) for c_name in api.callbacks}
    # A function has the same name as this enum, and a comment names the function.
    names["netlib_certificate_name_kind"] = path_of(
        next(call for call in api.calls if call.c_name == "netlib_certificate_name_kind")
    )
    return names | {"NULL": null, "NETLIB_TIMEOUT_NONE": null}


def members_of(enum):
    """The name pattern of an enum's constants: "ACTION_*"."""
    members = [constant_name(value["name"]) for value in enum["values"]]
    prefix = re.sub(r"[^_]*$", "", os.path.commonprefix(members))
    return f"{prefix}*" if prefix else members[0]


def callback_name(c_name):
    """Converts "netlib_wall_clock_fn" to "wall_clock_callback"."""
    return c_name.removeprefix("netlib_").removesuffix("_fn") + "_callback"


def words(text, names):
    """A comment of netlib.h in the words of the language. Examples in C, and parts about `ctx_free`, are left out."""
    if not text:
        return ""
    text = re.sub(
        r"(?:^    .*(?:\n|\Z)|^\n(?=    ))+", lambda found: "" if ";" in found[0] else found[0], text, flags=re.M
    )
    text = "\n\n".join(without_lead_in(part) for part in re.split(r"\n\n+(?!    )", text.strip()))
    text = re.sub(r"; [^.;]*`ctx_free`[^.;]*|(?<=[.])\s[^.]*`ctx_free`[^.]*[.]|^[^.]*`ctx_free`[^.]*[.]\s*", "", text)
    text = re.sub(r"\benum\s+(?=netlib_)", "", text)
    return in_language(text, names).strip()


def without_lead_in(paragraph):
    """A paragraph without the sentences that introduce the example after it. Text and lists stay."""
    if not paragraph.endswith(":"):
        return paragraph
    rest = re.sub(r"(?:^|(?<=[.])\s+)(?:The following [^.]*<[^>]*>[.]\s+)?[A-Z](?:[^.]|[.](?=\S))*:\Z", "", paragraph)
    return rest or paragraph[:-1] + "."


def truth_words(text):
    """A comment about a truth value with "true" and "false" for 1 and 0."""
    text = re.sub(r"\b0 or 1\b", "true or false", text)
    before = r"\b(?:[Rr]eturns|else|is|gives|With|Default:|Recommended:)\s"
    pattern = rf"({before})([01])\b|\b()([01])(?= (?:if|for|to|when)\b)"
    return re.sub(pattern, lambda found: (found[1] or "") + ("true" if "1" in found.groups() else "false"), text)


@dataclass
class Comment:
    """The parts of a function's comment in the words of the language. A part without a text is empty."""

    text: str
    params: dict  # by the name of the input
    results: list  # in the order of `results_of`
    errors: str  # the statuses of a failure
    waits: str  # when the function waits


def comment_of(call, names):
    returns = call.item["returns"]

    def value_words(value):
        text = words(value.doc, names)
        return truth_words(text) if value.kind == "truth_value" else text

    text = words(call.doc, names)
    if returns["kind"] == "truth_value" or call.is_setter and call.inputs and call.inputs[0].kind == "truth_value":
        text = truth_words(text)
    docs = {output.name: value_words(output) for output in call.outputs}
    docs |= {value.name: value_words(value) for value in call.inputs if value.kind == "buffer"}
    return Comment(
        text=text,
        params={value.name: value_words(value) for value in call.inputs if value.kind != "ctx_free"},
        results=[docs[item if isinstance(item, str) else item.name] for item in results_of(call)],
        errors=words(returns["doc"], names) if call.fails else "",
        waits=words(call.item["blocks"], names),
    )


def wrapped(text, width):
    """The lines of a comment. List items get hanging indents. Tables and examples, which are indented, stay."""
    lines = []
    for paragraph in re.split(r"\n\n+", text):
        lines += [""] if lines else []
        for part in re.split(r"\n(?=- )", paragraph):
            if part.startswith("    "):
                lines += part.splitlines()
                continue
            hanging = "  " if part.startswith("- ") else ""
            lines += textwrap.wrap(
                part, width, subsequent_indent=hanging, break_long_words=False, break_on_hyphens=False
            )
    return lines
