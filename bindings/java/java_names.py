"""The Java names of the functions, parameters and types of C."""

from model import camel
from model import class_name as plain_class_name

KEYWORDS = {
    *["abstract", "assert", "boolean", "break", "byte", "case", "catch", "char", "class", "const", "continue", "default", "do", "double", "else", "enum", "extends", "final", "finally", "float", "for", "goto", "if", "implements", "import", "instanceof", "int", "interface", "long", "native", "new", "package", "private", "protected", "public", "return", "short", "static", "strictfp", "super", "switch", "synchronized", "this", "throw", "throws", "transient", "try", "void", "volatile", "while"]
}  # fmt: skip
# Names that every object of Java, or every handle, has already.
METHODS = {"clone": "copy", "wait": "waitFor", "new": "make", "free": "close"}
LOCALS = {"returned", "err", "ctx", "use", "own"}  # the variables of a method
OBJECT_METHODS = {"clone", "finalize", "notify", "wait"}
# Names that java.lang has, too.
RENAMED = {"netlib_error": "NetlibError", "netlib_class": "StatusClass", "netlib_status_code": "Status"}
# Macros whose value belongs to an enum.
MEMBERS = {"NETLIB_OP_ALL": ("netlib_tls_option", "ALL")}
# The names of C for which Java has another word.
WORDS = {
    "NULL": "null",
    "NETLIB_NTS": "the length of the text",
    "NETLIB_VERSION_NUMBER": "Netlib.versionNumber",
    "netlib_status": "Status",
    "netlib_header_field": "HeaderField",
    "netlib_slice": "byte[]",
}


def local(name):
    name = camel(name)
    return name + "_" if name in KEYWORDS | LOCALS else name


def component(name):
    """The name of a component of a record, which must not be a method of Object."""
    if name == "status":
        return name
    return local(name) + "_" if name in OBJECT_METHODS else local(name)


def method_name(name):
    name = METHODS.get(name) or camel(name)
    return name + "_" if name in KEYWORDS else name


def class_name(c_name):
    """The name of the class for a handle or an enum."""
    return RENAMED.get(c_name) or plain_class_name(c_name)


def callback_class(c_name):
    return class_name(c_name.removesuffix("_fn")) + "Callback"


def call_name(call):
    """The name of a method with its class, such as "Url.host"."""
    return f"{class_name(call.owner) if call.owner else 'Netlib'}.{method_name(call.name)}"


def constant(callback):
    """Converts "netlib_stream_read_fn" to "STREAM_READ"."""
    return callback.removeprefix("netlib_").removesuffix("_fn").upper()


def member_names(enum):
    """Maps the C names of an enum's values to names without their common prefix. A name without the prefix that the
    others share is the name of a limit, which is a constant of the class Netlib."""
    names = [value["name"] for value in enum["values"]]
    own = enum["name"].upper() + "_"
    if any(name.startswith(own) for name in names):
        names = [name for name in names if name.startswith(own)]
    shared = names[0].split("_")[:-1]
    while any(name.split("_")[: len(shared)] != shared for name in names):
        shared.pop()
    members = {name: name.removeprefix("_".join(shared) + "_") for name in names}
    return {name: f"V{member}" if member[0].isdigit() else member for name, member in members.items()}


def number_constants(api):
    """The constants of the class Netlib: (C name, value, comment)."""
    found = []
    for enum in api.data["enums"]:
        members = member_names(enum) if enum["name"] else {}
        found += [(value["name"], value["value"], value["doc"]) for value in enum["values"] if value["name"] not in members]
    functions = {call.c_name.upper() for call in api.calls}
    for macro in api.data["macros"]:
        if macro["name"] not in functions | MEMBERS.keys() and type(macro.get("value")) in (int, float, str):
            found.append((macro["name"], macro["value"], macro["doc"]))
    found.append(("NETLIB_TIMEOUT_NONE", float("inf"), "The number of seconds that means no time limit."))
    return found


def all_names(api):
    """Maps each name of C to its name in Java, such as "Url.host"."""
    names = dict(WORDS)
    names |= {call.c_name.upper(): call_name(call) for call in api.calls if call.c_name.upper() in api.macros}
    for enum in api.enums.values():
        names[enum["name"]] = class_name(enum["name"])
        names |= {c_name: f"{class_name(enum['name'])}.{member}" for c_name, member in member_names(enum).items()}
    names |= {c_name: f"{class_name(enum)}.{member}" for c_name, (enum, member) in MEMBERS.items()}
    names |= {c_name: "Netlib." + c_name.removeprefix("NETLIB_") for c_name, _, _ in number_constants(api)}
    names |= {c_name: class_name(c_name) for c_name in api.handles}
    names |= {c_name: callback_class(c_name) for c_name in api.callbacks}
    names |= {call.c_name: call_name(call) for call in api.calls}
    return names
