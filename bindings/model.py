"""The functions of netlib.api.json as calls without details of C. The generators of the bindings use this model.

A call has inputs and outputs in the sense of the bindings: a length is part of its text, `err` is part of the result,
and `ctx` and `ctx_free` are part of their callback. `Call.arguments` states, for each parameter of the C function, the
input or output that it belongs to.
"""

import json
import re
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PROGRESS = range(100, 200)  # the statuses of NETLIB_CLASS_PROGRESS


@dataclass
class Input:
    """A value that the caller passes. `kind` is a kind of docs/reference/bindings.md, or "buffer" for writable memory
    that the function fills."""

    name: str
    kind: str
    c_type: str
    nullable: bool = False
    handle: str = None  # the handle of the kind "handle"
    enum: str = None  # the enum of the kinds "enum" and "bits"
    element: str = None  # the C type of the elements of the kind "array"
    callback: str = None  # the type of the kind "callback"
    has_length: bool = False  # text or bytes with a length; text without a length must not contain a NUL
    is_pointer: bool = False  # a pointer to one number, which may be absent
    is_inout: bool = False  # the function replaces the number
    doc: str = None


@dataclass
class Output:
    """A value that the function returns or stores."""

    name: str  # "return" for the result of the C function
    kind: str
    c_type: str  # without the pointer through which the function stores the value
    handle: str = None
    enum: str = None
    element: str = None
    length: str = None  # the C parameter with the length; None for text that ends at its NUL
    is_owned: bool = False  # the caller frees the handle or closes the descriptor
    borrowed_from: tuple = ()  # the inputs that must live as long as the value; "" if the value is constant
    clone: str = None  # the function that copies the borrowed handle, because a call may change its lender
    nullable: bool = False
    doc: str = None


@dataclass
class Argument:
    """One parameter of the C function. `role` is one of: "self", "input", "length" (of the input), "inout", "output"
    (the address of a variable), "length_out" (the address of a variable for the length of an output), "error", "ctx",
    "ctx_free"."""

    role: str
    c_name: str
    c_type: str
    input: Input = None
    output: Output = None


@dataclass
class Call:
    c_name: str
    name: str  # in snake case, without netlib_ and the name of the class
    owner: str  # the handle to whose class the call belongs; None for a function of the module
    is_member: bool  # the first parameter is the handle of `owner`
    makes: bool  # not a member, and the first handle that the call makes is an `owner`
    inputs: list
    outputs: list
    arguments: list
    fails: bool  # returns a status and stores an error
    progress: list  # the names of the statuses that are results: NETLIB_WANT_READ, for example
    is_setter: bool  # a member of an options class without a result
    item: dict = field(repr=False, default=None)  # the function in netlib.api.json

    @property
    def new_outputs(self):
        """The outputs without those that replace an input."""
        replaced = [argument.output for argument in self.arguments if argument.role == "inout"]
        return [output for output in self.outputs if not any(output is other for other in replaced)]

    def lends(self, given):
        """True for bytes to which an output refers, so that the bytes must outlive the C call."""
        return given.kind in ("bytes", "buffer") and any(given.name in output.borrowed_from for output in self.outputs)

    @property
    def doc(self):
        return self.item["doc"]

    @property
    def blocks(self):
        return self.item["may_block"]


class Api:
    def __init__(self, path=ROOT / "include/netlib.api.json"):
        self.data = json.loads(Path(path).read_text(encoding="utf-8"))
        self.version = self.data["version"]
        self.minor = self.version.rsplit(".", 1)[0]  # equal in the binding and the library before version 1.0
        self.handles = {item["name"]: item for item in self.data["handles"]}
        self.callbacks = {item["name"]: item for item in self.data["callbacks"]}
        self.enums = {item["name"]: item for item in self.data["enums"] if item["name"]}
        self.constants = {value["name"]: value["value"] for item in self.data["enums"] for value in item["values"]}
        self.macros = {item["name"]: item["value"] for item in self.data["macros"] if "value" in item}
        self.statuses = {value["name"]: value["value"] for value in self.enums["netlib_status_code"]["values"]}
        self.calls = [self.call(item) for item in self.data["functions"]]

    def class_calls(self, handle):
        return [call for call in self.calls if call.owner == handle]

    def owner(self, item):
        """The longest handle name at the start of the function's name, if the function uses or makes that handle."""
        names = [name for name in self.handles if item["name"].startswith(name + "_")]
        if not names:
            return None, False
        handle = max(names, key=len)
        first = item["params"][0] if item["params"] else {}
        if first.get("handle") == handle and first["direction"] == "in" and first["kind"] == "handle":
            return handle, True
        made = [item["returns"]] + [param for param in item["params"] if param["direction"] == "out"]
        if any(value.get("handle") == handle and value["kind"] == "handle" for value in made):
            return handle, False
        return None, False

    def call(self, item):
        owner, is_member = self.owner(item)
        name = item["name"].removeprefix(owner + "_" if owner else "netlib_")
        is_options = bool(owner) and owner.endswith("_options")
        if is_options and name.startswith("set_"):
            name = name.removeprefix("set_")
        inputs, outputs, arguments = {}, [], []
        returns, params = item["returns"], item["params"]
        fails = returns["kind"] == "status" and any(param["kind"] == "error" for param in params)
        # Lengths of outputs and of the result are part of these values.
        kinds = {param["name"]: param for param in params}
        if returns["kind"] != "void" and not fails:
            outputs.append(self.output("return", returns, returns["type"]))
        for param in params:
            kind, direction, at = param["kind"], param["direction"], param["name"]
            argument = Argument("", at, param["type"])
            arguments.append(argument)
            if is_member and param is params[0]:
                argument.role = "self"
            elif kind == "error":
                argument.role = "error"
            elif kind in ("ctx", "ctx_free"):
                has_callback = any(other["kind"] == "callback" for other in params)
                argument.role = kind if has_callback else "input"
                if not has_callback:
                    argument.input = inputs[at] = self.input(param)
            elif kind == "length" and direction == "in":
                argument.role, argument.input = "length", inputs[param["length_of"]]
            elif kind == "length" and self.is_part_of_output(kinds, param):
                argument.role = "length_out"
            elif direction == "in" or kind == "buffer":
                argument.role, argument.input = "input", self.input(param)
                inputs[at] = argument.input
            elif direction == "inout":
                argument.role, argument.input = "inout", self.input(param)
                inputs[at] = argument.input
                argument.output = self.output(at, param, pointed(param["type"]))
                outputs.append(argument.output)
            else:
                argument.role = "output"
                argument.output = self.output(at, param, pointed(param["type"]))
                outputs.append(argument.output)
        for output in outputs:
            lenders = [
                self.handles[kinds[name]["handle"]] for name in output.borrowed_from if "handle" in kinds.get(name, {})
            ]
            if output.kind == "handle" and any(lender["threads"] == "one call at a time" for lender in lenders):
                output.clone = self.handles[output.handle]["clone"]
        statuses = item["statuses"] or []
        progress = [status for status in statuses if self.statuses[status] in PROGRESS] if fails else []
        if fails and not progress and returns["doc"]:
            # Without progress, a binding returns no status, and its comment lists only failures.
            failures = re.sub(r"^`NETLIB_OK`[^;]*; ", "", returns["doc"])
            item = {**item, "returns": {**returns, "doc": failures}}
        return Call(
            c_name=item["name"], name=name, owner=owner, is_member=is_member, makes=bool(owner) and not is_member,
            inputs=list(inputs.values()), outputs=outputs, arguments=arguments, fails=fails, progress=progress,
            is_setter=is_options and is_member and returns["kind"] == "void" and not name.startswith("free"), item=item,
        )  # fmt: skip

    @staticmethod
    def is_part_of_output(kinds, param):
        """True for the length of the result or of text that the function stores. False for the number of bytes that a
        call used from an input or wrote to a buffer, which is a separate result."""
        of = param["length_of"]
        return of == "return" or (kinds[of]["direction"] == "out" and kinds[of]["kind"] != "buffer")

    @staticmethod
    def input(param):
        return Input(
            name=param["name"], kind=param["kind"], c_type=param["type"], nullable=param.get("nullable", False),
            handle=param.get("handle"), enum=param.get("enum"), element=param.get("element"),
            callback=param.get("callback"), has_length=bool(param.get("length")),
            is_pointer=param["kind"] == "seconds" and param["type"].endswith("*"),
            is_inout=param["direction"] == "inout", doc=param["doc"],
        )  # fmt: skip

    @staticmethod
    def output(name, param, c_type):
        return Output(
            name=name, kind=param["kind"], c_type=c_type, handle=param.get("handle"), enum=param.get("enum"),
            element=param.get("element"), length=param.get("length"), is_owned=param.get("ownership") == "caller",
            borrowed_from=tuple(param.get("borrowed_from") or ()), nullable=param.get("nullable", False),
            doc=param["doc"],
        )  # fmt: skip


def callback_inputs(item):
    """The parameters of a callback that the application gets: a length is part of its text."""
    lengths = {param["name"] for param in item["params"] if param["kind"] == "length"}
    return [
        param
        for param in item["params"]
        if param["kind"] != "ctx"
        and param["name"] not in lengths
        and (param["direction"] == "in" or param["kind"] == "buffer")
    ]


def callback_decision(item):
    """The output in which a callback stores its decision, an enum. None for a callback that returns 0 for success."""
    return next((param for param in item["params"] if param["kind"] == "enum" and param["direction"] == "out"), None)


def callback_outputs(item):
    """The other parameters through which a callback returns values."""
    outputs = [param for param in item["params"] if param["direction"] != "in" and param["kind"] != "buffer"]
    return [param for param in outputs if param is not callback_decision(item)]


def in_language(text, names):
    """A comment of netlib.h without the terms of C. `names` maps each C name, and NULL, to its name in the language. A
    name in quotation marks is a value. If a comment mentions a function that the binding lacks, the generator ends with
    an error."""
    text = re.sub(r"^(in/)?out: |, borrowed from `\w+`|, borrowed from the \w+(?=;)", "", text)

    def name(found):
        if found[0] not in names:
            raise KeyError(f"a comment of netlib.h mentions {found[0]}, which has no name in the binding")
        return names[found[0]]

    return re.sub(r'(?<!")\b(?:netlib|NETLIB)_\w+|\bNULL\b', name, text)


def pointed(c_type):
    """The type to which a pointer type points: "netlib_url *" for "netlib_url **"."""
    return re.sub(r"\s*\*$", "", c_type)


def camel(name, first_upper=False):
    """Converts "add_ca_file" to "addCaFile" or "AddCaFile"."""
    words = name.split("_")
    return "".join(
        word if at == 0 and not first_upper else word[:1].upper() + word[1:] for at, word in enumerate(words)
    )


def class_name(handle):
    """Converts "netlib_tls_context" to "TlsContext"."""
    return camel(handle.removeprefix("netlib_"), first_upper=True)
