"""The names of Python for the items of netlib.h, and the comments of netlib.h in the words of Python."""

import keyword
import re
import textwrap

from dynamic import truth_words, words
from model import camel, class_name

# Classes whose obvious name has another meaning in Python: `netlib.Error` is the exception.
CLASSES = {"netlib_error": "ErrorInfo"}
ENUMS = {"netlib_status_code": "Status", "netlib_class": "StatusClass"}


class Names:
    """The Python names of the C items, also for the text of comments."""

    def __init__(self, api):
        self.enums = {name: ENUMS.get(name, class_name(name)) for name in api.enums}
        self.classes = {name: CLASSES.get(name, class_name(name)) for name in api.handles}
        self.values, self.constants, python = {}, {}, {}
        for name, enum in api.enums.items():
            for value, member in self.members(enum).items():
                self.values[value] = f"{self.enums[name]}.{member}"
        for name, value in {**api.constants, **api.macros}.items():
            if name not in self.values:
                self.constants[name] = (name.removeprefix("NETLIB_"), value)
        python.update(self.values, **{name: item[0] for name, item in self.constants.items()}, NULL="None")
        python.update(self.enums, **self.classes)
        for call in api.calls:
            name = python_name(call)
            python[call.c_name] = f"{self.classes[call.owner]}.{name}" if call.owner else name
            if name == "__init__":
                python[call.c_name] = self.classes[call.owner]
        python.update({item["free"]: f"{self.classes[name]}.close" for name, item in api.handles.items()})
        python.update({name: callback_name(name) for name in api.callbacks})
        # Other macros have a function with their value.
        python.update({name: python[name.lower()] for name in api.macros if name.lower() in python})
        python.update(netlib_status="Status", netlib_header_field="tuple", netlib_slice="bytes")
        self.python = python

    @staticmethod
    def members(enum):
        """Maps the C names of the values to names without the common prefix. The limits are constants of the module."""
        names = [value["name"] for value in enum["values"]]
        prefix = f"NETLIB_{enum['name'].removeprefix('netlib_').upper()}_"
        if any(name.startswith(prefix) for name in names):
            names = [name for name in names if name.startswith(prefix)]
        else:
            parts = list(zip(*(name.split("_")[:-1] for name in names)))
            same = [part[0] for part in parts if len(set(part)) == 1]
            shared = 0
            while shared < len(same) and all(name.split("_")[shared] == same[shared] for name in names):
                shared += 1
            prefix = "_".join(same[:shared]) + "_"
        members = {name: name.removeprefix(prefix) for name in names}
        return {name: f"V{member}" if member[0].isdigit() else member for name, member in members.items()}

    def text(self, text):
        """A comment of netlib.h in the words of Python."""
        # Functions return and raise what a C function stores.
        text = re.sub(r"\s*netlib (?:presets|sets) `[^`]*` to [^.]*\.", "", text or "")
        text = re.sub(r"(the )?`ctx`", "the object", words(text, self.python))
        return re.sub(r", &\w+(?=[,)])", "", text)

    def truth(self, text):
        """A comment about a truth value."""
        return re.sub(r"\b(true|false)\b", lambda found: found[0].title(), truth_words(self.text(text)))

    def of(self, value):
        """The comment of a parameter or a result."""
        return self.truth(value["doc"]) if value["kind"] == "truth_value" else self.text(value["doc"])


def with_lengths(text, params):
    """A comment that mentions the length of a parameter as Python computes it."""
    for param in params:
        if param["kind"] == "length" and param["direction"] == "in":
            text = text.replace(f"`{param['name']}`", f"`len({safe(param['length_of'])})`")
    return text


def callback_name(c_name):
    """Converts "netlib_wall_clock_fn" to "WallClockCallback"."""
    return camel(c_name.removeprefix("netlib_").removesuffix("_fn"), first_upper=True) + "Callback"


def python_name(call):
    if call.makes and call.name == "new":
        return "__init__"
    return safe(call.name)


def safe(name):
    return name + "_" if keyword.iskeyword(name) else name


def docstring(text, indent):
    """The lines of the docstring for a comment."""
    text = text.replace("\\", "\\\\").replace('"""', "'''").strip()
    # The names in Python may be longer or shorter than in C, so the lines of a paragraph are joined.
    text = re.sub(r"(?<=\S)\n(?=[^\s-]|-\S)(?!\w+: )", " ", text)
    lines = []
    for paragraph in text.split("\n"):
        start = re.match(r" *(- )?", paragraph)[0]
        wrapped = textwrap.wrap(
            paragraph, 116 - indent, subsequent_indent=" " * len(start), break_long_words=False, break_on_hyphens=False
        )
        lines += wrapped or [""]
    if len(lines) == 1 and len(lines[0]) + indent <= 112:
        return [f'"""{lines[0]}"""']
    return [f'"""{lines[0]}', *lines[1:], '"""']
