"""The names of netlib.h in Go, and its comments as doc comments."""

import re
import sys
import textwrap
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from model import callback_decision, callback_inputs, callback_outputs, camel, in_language

# The parameters, results and variables of generated functions have no such name.
KEYWORDS = {
    "break", "case", "chan", "const", "continue", "default", "defer", "else", "fallthrough", "for", "func", "go",
    "goto", "if", "import", "interface", "map", "package", "range", "return", "select", "struct", "switch", "type",
    "var", "self", "err", "error", "status", "string", "byte", "len", "raised", "cErr", "code", "result", "new",
}  # fmt: skip

# Words that Go programs write in capitals.
INITIALISMS = {
    "alpn", "aws", "ca", "crl", "der", "dns", "ech", "eof", "fd", "grpc", "http", "https", "io", "ip", "npn", "oid",
    "ok", "os", "pem", "rdn", "rfc3986", "ssl", "tls", "uri", "url", "utf8",
}  # fmt: skip
SPELLINGS = {"ipv4": "IPv4", "ipv6": "IPv6", "openssl": "OpenSSL"}

# Sentences about the context of callbacks, which is a number in the Go package.
SENTENCES = [
    (r"; `netlib_\w+_free` calls no callback except `ctx_free`", ""),
    (r"`ctx_free` releases(.*?),\s+on\s+the\s+thread\s+that\s+releases\s+this\s+holder:\s+see\s+`netlib_ctx_free_fn`",
     r"netlib releases\1"),
    (r"So\s+`ctx`\s+is\s+released\s+only\s+when", "netlib releases them only when"),
    (r"the\s+data\s+behind\s+`ctx`\s+must", "the data that they use must"),
    (r"the\s+callback's\s+address\s+and\s+its\s+`ctx`;\s+each\s+setter\s+call\s+that\s+passes\s+a\s+`ctx_free`",
     "the call of its setter; each such call"),
    (r"the\s+address\s+and\s+the\s+`ctx`\s+of\s+callbacks", "the calls that have set callbacks"),
]  # fmt: skip

# The package fmt calls String. The function Report of this package returns the report of an error.
FUNCTIONS = {"netlib_url_to_string": "String", "netlib_query_to_string": "String"}
ENUMS = {"netlib_status_code": "Status", "netlib_report": "Reported"}


NUMBERS = {
    "int": "int", "int32_t": "int32", "int64_t": "int64", "uint64_t": "uint64", "uint32_t": "uint32", "size_t": "int",
    "double": "float64", "netlib_status": "Status",
}  # fmt: skip


def title(name):
    words = name.lower().split("_")
    return "".join(SPELLINGS.get(w) or (w.upper() if w in INITIALISMS else w[:1].upper() + w[1:]) for w in words)


def class_name(handle):
    return title(handle.removeprefix("netlib_"))


def local(name):
    name = camel(name)
    return name + "_" if name in KEYWORDS else name


def enum_name(enum):
    return ENUMS.get(enum) or class_name(enum)


def constant_name(enum, value):
    own = title(value.removeprefix("NETLIB_"))
    return "Status" + own if enum == "netlib_status_code" else own


def callback_type(callback):
    return title(callback.removeprefix("netlib_").removesuffix("_fn")) + "Func"


def callback_field(callback):
    return camel(callback.removeprefix("netlib_").removesuffix("_fn"))


def c_type(text):
    text = text.replace("const ", "").strip()
    return "C." + text.replace("enum ", "enum_")


def function_name(call):
    """The name without the receiver."""
    if call.c_name in FUNCTIONS:
        return FUNCTIONS[call.c_name]
    if call.owner and not call.is_member:
        own = class_name(call.owner)
        if call.name == "new" or call.name.startswith("new_"):
            return "New" + own + title(call.name[4:])
        return own + title(call.name)
    return title(call.name)


def macros(api):
    """The macros that become constants: a number that no function returns."""
    functions = {call.c_name for call in api.calls}
    return {
        name: value
        for name, value in api.macros.items()
        if isinstance(value, (int, float)) and "VERSION" not in name and name.lower() not in functions
    }


def functions(api):
    """The Go name of each function of netlib.h, such as "TLSOptions.AddCAFile"."""
    frees = {item["free"]: class_name(name) + ".Close" for name, item in api.handles.items()}
    return {
        call.c_name: frees.get(call.c_name)
        or (class_name(call.owner) + "." if call.is_member else "") + function_name(call)
        for call in api.calls
    }


def types(api):
    found = {name: class_name(name) for name in api.handles}
    found |= {name: callback_type(name) for name in api.callbacks}
    found |= {name: enum_name(name) for name in api.enums}
    return found | {"netlib_status": "Status", "netlib_header_field": "HeaderField"}


def constants(api):
    found = {name: title(name.removeprefix("NETLIB_")) for name in macros(api)}
    for enum in api.data["enums"]:
        found |= {value["name"]: constant_name(enum["name"], value["name"]) for value in enum["values"]}
    return found


class Docs:
    def __init__(self, api):
        of_functions = functions(api)
        self.names = of_functions | types(api) | constants(api)
        # Other macros have a function with their value.
        self.names |= {
            name: of_functions[name.lower()] for name in api.macros if name.lower() in of_functions
        }  # fmt: skip
        self.names |= {"NETLIB_TIMEOUT_NONE": "TimeoutNone", "NETLIB_NTS": "Nts"}
        self.names |= {"NETLIB_VERSION_NUMBER": "VersionNumber"}
        # A name in brackets is a link.
        self.names = {name: f"[{go}]" for name, go in self.names.items()}
        self.names |= {"netlib_slice": "[]byte", "NULL": "nil"}

    def text(self, text, parameters=()):
        text = re.sub(r"\benum (?=netlib_)", "", without_code(text))
        for pattern, replacement in SENTENCES:
            text = re.sub(pattern, replacement, text, flags=re.S)
        text = in_language(text, self.names)
        for name, go in dict(parameters).items():
            text = text.replace(f"`{name}`", go)
        return re.sub(r"`|\*\*", "", text)

    def comment(self, name, doc, more=(), parameters=(), is_function=False):
        """A doc comment that begins with the name of the item. `more` contains further paragraphs and lists."""
        text = self.text(doc, parameters) if doc else ""
        verb = is_function and re.match(r"[A-Z][a-z]+s\b", text)
        noun = re.match(r"(An?|The) (\w[^.:]*)(?=: )", text)
        if verb:
            text = f"{name} {text[:1].lower()}{text[1:]}"
        elif noun:
            text = f"{name} is {text[:1].lower()}{text[1:]}"
        else:
            text = f"{name}: {text}"
        return lines("\n\n".join([text, *(part for part in more if part)]))

    def items(self, head, docs, parameters):
        """A list of parameters or results: pairs of a name and a comment."""
        listed = [
            f"  - {'value' if name == 'ctx' else local(name)}: {self.text(doc, parameters)}"
            for name, doc in docs
            if doc
        ]
        return "\n".join([head, *listed]) if listed else ""

    def call(self, name, call):
        """The doc comment of a function."""
        item, parameters = call.item, go_parameters(call.item["params"])
        inputs = [(given.name, given.doc) for given in call.inputs if given.kind != "ctx_free"]
        outputs = [(output.name, output.doc) for output in call.new_outputs if output.name != "return"]
        returns = item["returns"]["doc"]
        more = [
            self.items("Parameters:", inputs, parameters),
            self.items("Results:", outputs, parameters),
            f"Returns {self.text(returns, parameters)}" if returns else "",
            f"Waits {self.text(item['blocks'], parameters)}" if item["blocks"] else "",
            f"Deprecated: {self.text(item['deprecated'])}" if item["deprecated"] else "",
        ]
        return self.comment(name, item["doc"], more, parameters, is_function=True)

    def callback(self, name, item):
        """The doc comment of a callback's type."""
        parameters = go_parameters(item["params"])
        inputs = [(param["name"], param["doc"]) for param in callback_inputs(item)]
        # A callback returns its results, so netlib does not preset them for the callback.
        outputs = [
            (param["name"], re.sub(r" netlib (pre)?sets [^.]*\.", "", param["doc"] or ""))
            for param in [*callback_outputs(item), callback_decision(item)]
            if param
        ]
        more = [
            self.items("Parameters:", inputs, parameters),
            self.items("Results:", outputs, parameters),
            "An error ends the call that invoked the callback, and the call returns the error. A panic also ends the "
            "call, and continues in the caller.",
            f"Called by {self.text(item['called_by'])}" if item["called_by"] else "",
        ]
        return self.comment(name, item["doc"], more, parameters, is_function=True)


def go_parameters(params):
    """The Go text for each parameter that a comment mentions. A length is that of another parameter."""
    return {
        param["name"]: f"len({local(param['length_of'])})"
        if param["kind"] == "length" and param["direction"] == "in" and param.get("length_of")
        else local(param["name"]).rstrip("_")
        for param in params
    }


def lines(text):
    wrapped = "\n\n".join(wrap(part) for part in text.split("\n\n"))
    return "".join(f"// {line}".rstrip() + "\n" for line in wrapped.split("\n"))


def wrap(paragraph):
    """Wraps a paragraph or a list, but not code."""
    if re.match(r"( {4}|\t)", paragraph):
        return paragraph
    items = re.split(r"\n(?=\s*- )", paragraph)
    return "\n".join(
        textwrap.fill(
            re.sub(r"\s+", " ", item).strip(), 117, break_long_words=False, break_on_hyphens=False,
            initial_indent="  " if item.lstrip().startswith("- ") else "",
            subsequent_indent="    " if item.lstrip().startswith("- ") else "",
        )
        for item in items
    )  # fmt: skip


def without_code(text):
    """A comment without its programs in C and the sentences that introduce them."""
    paragraphs = []
    for paragraph in re.split(r"\n\n", text):
        if re.match(r" {4}", paragraph) and re.search(r"[;{]\s*(//.*)?$|\);", paragraph, re.M):
            if paragraphs:
                paragraphs[-1] = without_introduction(paragraphs[-1])
        else:
            paragraphs.append(paragraph)
    return "\n\n".join(part for part in paragraphs if part)


def without_introduction(paragraph):
    sentences = re.split(r"(?<=\.)\s+", paragraph)
    for at, sentence in enumerate(sentences):
        if re.search(r"following\s+(loop|code|two)", sentence):
            return " ".join(sentences[:at])
    if re.match(r"(To|In|Send) ", sentences[-1]) and paragraph.endswith(":"):
        return " ".join(sentences[:-1])
    return re.sub(r":$", ".", paragraph)
