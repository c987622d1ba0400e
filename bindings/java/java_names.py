"""The Java names of the functions, parameters and types of C."""

from model import camel
from model import class_name as plain_class_name

KEYWORDS = {
    *["abstract", "assert", "boolean", "break", "byte", "case", "catch", "char", "class", "const", "continue", "default", "do", "double", "else", "enum", "extends", "final", "finally", "float", "for", "goto", "if", "implements", "import", "instanceof", "int", "interface", "long", "native", "new", "package", "private", "protected", "public", "return", "short", "static", "strictfp", "super", "switch", "synchronized", "this", "throw", "throws", "transient", "try", "void", "volatile", "while"]
}  # fmt: skip
# Names that every object of Java, or every handle, has already.
METHODS = {"clone": "copy", "wait": "waitFor"}
LOCALS = {"status", "result", "err", "ctx"}
OBJECT_METHODS = {"clone", "finalize", "notify", "wait"}
# Names that java.lang has, too.
RENAMED = {"netlib_error": "NetlibError", "netlib_class": "StatusClass"}


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


def class_name(handle):
    return RENAMED.get(handle) or plain_class_name(handle)


def constant(callback):
    """Converts "netlib_stream_read_fn" to "STREAM_READ"."""
    return callback.removeprefix("netlib_").removesuffix("_fn").upper()
