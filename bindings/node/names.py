"""The JavaScript names of the items of netlib.h, and its comments in terms of JavaScript."""

import re
import textwrap

from model import camel, class_name, in_language

# Classes whose obvious name has another meaning: `NetlibError` is the exception.
CLASSES = {"netlib_error": "ErrorInfo", "netlib_headers": "Headers"}
ENUMS = {"netlib_status_code": "Status", "netlib_class": "StatusClass"}

RESERVED = {"arguments", "class", "default", "delete", "export", "function", "in", "new", "this", "with"}


def safe(name):
    return name + "_" if name in RESERVED else name


def parameter(value):
    return "value" if value.kind == "ctx" else safe(camel(value.name))


def is_constructor(call):
    return call.makes and call.name == "new"


def method_name(call, is_promise=False):
    """The name of a method. A blocking function has a promise, and a method that blocks, whose name ends with Sync."""
    if is_constructor(call):
        return "create" if is_promise else "constructor"
    return camel(call.name) + ("Sync" if call.blocks and not is_promise else "")


# Sentences that only concern C.
OF_C = re.compile(r"`(?:ctx|ctx_free|err)`|`NETLIB_VERSION|following (?:loop|code|two limits)")


def without_c(text):
    """A comment of netlib.h without code in C and without the sentences that only concern C."""
    blocks, kept = re.split(r"\n\n(?=\S)|\n\n(?=    )", text), []
    for block in blocks:
        if not block.startswith("    "):
            kept.append(block)
        elif ";" not in block:
            kept.append(block)  # a table
        elif kept and kept[-1].endswith(":"):
            # The sentence that introduces the code.
            kept[-1] = re.sub(r"(?:^|(?<=\.)\s)[^.]*:$", "", kept[-1]) or kept[-1][:-1] + "."
    sentences = re.compile(r"(?<=[.;])\s+(?=[A-Z`])|(?<=;)\s")
    for at, block in enumerate(kept):
        if not block.startswith("    ") and OF_C.search(block):
            kept[at] = " ".join(part for part in sentences.split(block) if not OF_C.search(part)).rstrip("; ")
    return "\n\n".join(block for block in kept if block)


class Names:
    """The JavaScript names of the C items, also for the text of comments."""

    def __init__(self, api):
        self.enums = {name: ENUMS.get(name, class_name(name)) for name in api.enums}
        self.classes = {name: CLASSES.get(name, class_name(name)) for name in api.handles}
        self.constants, self.js = {}, {"NULL": "null"}
        for name, enum in api.enums.items():
            for value, member in self.members(enum).items():
                self.js[value] = f"{self.enums[name]}.{member}"
        for name, value in {**api.constants, **api.macros}.items():
            if name not in self.js and value is not None and not name.startswith("NETLIB_VERSION"):
                self.constants[name.removeprefix("NETLIB_")] = value
                self.js[name] = name.removeprefix("NETLIB_")
        # The parameters and the settings that comments name. Settings of TLS have the names of Python there.
        self.variables = {value.name: camel(value.name) for call in api.calls for value in call.inputs + call.outputs}
        self.variables.update({call.name: camel(call.name) for call in api.calls if call.is_setter and call.owner != "netlib_tls_options"})
        self.js.update(self.enums, **self.classes)
        self.callbacks = {name: class_name(name.removesuffix("_fn")) + "Callback" for name in api.callbacks}
        self.js.update(self.callbacks)
        self.js.update({
            "netlib_status": "Status", "netlib_header_field": "Fields", "netlib_slice": "Data", "NETLIB_NTS": "nts()",
            "NETLIB_TIMEOUT_NONE": "Infinity",
        })  # fmt: skip
        for call in api.calls:
            name = method_name(call, call.blocks and not is_constructor(call))
            if name == "free":
                self.js[call.c_name] = f"{self.classes[call.owner]}.close"
            elif name == "constructor":
                self.js[call.c_name] = f"new {self.classes[call.owner]}"
            else:
                self.js[call.c_name] = f"{self.classes[call.owner]}.{name}" if call.owner else name

    @staticmethod
    def members(enum):
        """Maps the C names of the values to names without the common prefix. The limits are constants of the module."""
        is_limit = re.compile(r"NETLIB_\w+_MAX_").match
        names = [value["name"] for value in enum["values"] if not is_limit(value["name"])]
        prefix = f"NETLIB_{enum['name'].removeprefix('netlib_').upper()}_"
        if not all(name.startswith(prefix) for name in names):
            parts = list(zip(*(name.split("_")[:-1] for name in names)))
            shared = 0
            while shared < len(parts) and len(set(parts[shared])) == 1:
                shared += 1
            prefix = "_".join(part[0] for part in parts[:shared]) + "_"
        members = {name: name.removeprefix(prefix) for name in names}
        return {name: f"V{member}" if member[0].isdigit() else member for name, member in members.items()}

    def text(self, text):
        """A comment of netlib.h with the names of JavaScript."""
        text = re.sub(r"`enum (\w+)`", r"`\1`", in_language(without_c(text), self.js))
        return re.sub(r"`(\w+)`", lambda found: f"`{self.variables.get(found[1], found[1])}`", text)


def comment(text, indent):
    """A documentation comment."""
    text, width = text.strip().replace("*/", "* /"), 117 - indent
    # A list item, a tag and a line of a table begin a line; other lines continue the line before.
    text = re.sub(r"(?<=\S)\n(?! {4}|- |@|\n)(?: {2})?(?=\S)", " ", text)
    options = {"break_long_words": False, "break_on_hyphens": False}
    lines = []
    for line in text.split("\n"):
        if line.startswith("    "):
            lines.append(line)
        else:
            lines += textwrap.wrap(line, width, subsequent_indent="  " if line.startswith("- ") else "", **options) or [""]
    if len(lines) == 1:
        return [f"/** {lines[0]} */"]
    return [f"/** {lines[0]}", *(f" * {line}".rstrip() for line in lines[1:]), " */"]
