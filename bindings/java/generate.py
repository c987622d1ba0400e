"""Generates the Java classes of the binding from netlib.api.json: the native functions in two variants (see native.py),
a class for each handle and enum, the callbacks, and the class Netlib with the functions that belong to no handle.

usage: generate.py DIRECTORY

DIRECTORY/netlib receives the classes and the names of C, DIRECTORY/jna and DIRECTORY/ffm the variants of the native
functions.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from callbacks import Callback, index_of
from enums import enum_class
from java_names import class_name, number_constants
from javadoc import Javadoc
from methods import KEEPING_MADE, NO_LIMIT, WAITING, Method
from model import Api
from native import HEAD, ffm_classes, jna_classes

# The classes that inherit methods that are written by hand.
NATURAL = {"netlib_stream": "StreamMethods", "netlib_url": "UrlMethods"}


# Text that is data for the network, or that may be any bytes.
AS_BYTES = {"netlib_bytes_data", "netlib_headers_to_wire", "netlib_request_to_wire"}


class Generator:
    def __init__(self):
        self.api = Api()
        for call in self.api.calls:
            if call.c_name in AS_BYTES:
                call.outputs[0].kind = "bytes"
        self.doc = Javadoc(self.api)

    @staticmethod
    def class_file(text):
        """A class with the imports that it uses."""
        imports = [found for needed, found in (("Objects.", "java.util.Objects"), ("Set<", "java.util.Set")) if needed in text]
        lines = "".join(f"import {found};\n" for found in imports)
        return HEAD + lines + ("\n" if lines else "") + text

    def handle(self, name):
        item, java = self.api.handles[name], class_name(name)
        methods = [Method(call, self.doc).code for call in self.api.class_calls(name) if call.c_name != item["free"]]
        parent = NATURAL.get(name) or ("WaitingHandle" if name in WAITING else "Handle")
        inner = []
        if name in NO_LIMIT:
            inner.append(
                f"    /** Gives an object without a limit one of its own. */\n"
                f"    static {java} waiting({java} made) {{\n        made.setLimit(null);\n        return made;\n    }}\n"
            )
        if any(output.handle == name for call in self.api.calls if call.c_name in KEEPING_MADE for output in call.outputs):
            inner.append(
                f"    static {java} keeping({java} made, Limit own, Limit given) {{\n"
                "        made.keepLimit(own, given);\n        return made;\n    }\n"
            )
        return self.class_file(
            self.doc.comment(self.doc.words(item["doc"]), "")
            + '@SuppressWarnings({"deprecation", "unused", "try"})\n'
            + f"public final class {java} extends {parent} {{\n"
            f"    private {java}(long pointer, Object[] lenders) {{\n"
            f"        super(pointer, lenders, Native::{item['free']});\n    }}\n\n"
            f"    static {java} of(long pointer, Object[] lenders) {{\n"
            f"        return pointer == 0 ? null : new {java}(pointer, lenders);\n    }}\n\n"
            + "\n".join([*inner, *methods]) + "}\n"
        )  # fmt: skip

    def trampolines(self, callbacks):
        functions = [
            "    static void ctxFree(long ctx) {\n        Held.free(ctx);\n    }\n",
            *(callback.trampoline for callback in callbacks),
        ]
        return HEAD + (
            "/** The methods that C calls. They call the application's callbacks, and keep their exceptions. */\n"
            "final class Trampolines {\n"
            "    private static final int CALLBACK_FAILED = (int) Status.CALLBACK_FAILED.number();\n\n"
            "    private Trampolines() {}\n\n" + "\n".join(functions) + "}\n"
        )  # fmt: skip

    def module(self):
        constants = "".join(
            self.doc.comment(self.doc.words(comment), "    ") + f"    public static final {java_constant(c_name, value)};\n\n"
            for c_name, value, comment in number_constants(self.api)
        )  # fmt: skip
        functions = [Method(call, self.doc).code for call in self.api.calls if not call.owner]
        return self.class_file(
            "/** The functions that belong to no handle. */\n"
            '@SuppressWarnings({"deprecation", "unused", "try"})\n'
            "public final class Netlib {\n    private Netlib() {}\n\n" + constants + "\n".join(functions) + "}\n"
        )

    def names(self):
        """The names that messages of C contain, as properties."""
        rows = [f"{c_name}={java}" for c_name, java in sorted(self.doc.names.items()) if c_name != "NULL"]
        return "\n".join(rows) + "\n"

    def write(self, directory):
        callbacks = [
            Callback(item, index_of(self.api, item), self.doc)
            for name, item in self.api.callbacks.items()
            if name != "netlib_ctx_free_fn"
        ]
        files = dict(enum_class(self.api, self.doc, item) for item in self.api.enums.values())
        files |= {callback.java: callback.interface for callback in callbacks}
        files |= {class_name(name): self.handle(name) for name in self.api.handles}
        files |= {"Trampolines": self.trampolines(callbacks), "Netlib": self.module()}
        for variant, classes in (("netlib", files), ("jna", jna_classes(self.api)), ("ffm", ffm_classes(self.api))):
            (directory / variant).mkdir(parents=True, exist_ok=True)
            for name, text in classes.items():
                (directory / variant / f"{name}.java").write_text(text, encoding="utf-8")
        (directory / "netlib/names.properties").write_text(self.names(), encoding="utf-8")


def java_constant(c_name, value):
    name = c_name.removeprefix("NETLIB_")
    if isinstance(value, str):
        return f'String {name} = "{value}"'
    if isinstance(value, float):
        return f"double {name} = {'Double.POSITIVE_INFINITY' if value == float('inf') else value}"
    return f"int {name} = {value}"


if __name__ == "__main__":
    Generator().write(Path(sys.argv[1]))
