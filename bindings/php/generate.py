"""Writes the generated layer of the PHP package: a class for each handle, the functions, the constants, the callbacks,
and the declarations for PHP's FFI.

usage: generate.py DIRECTORY DIRECTORY_WITH_HEADERS
"""

import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from dynamic import AS_BYTES, Writer, class_of, constant_name, results_of  # noqa: E402
from model import Api, callback_decision, callback_inputs, callback_outputs, camel  # noqa: E402
from phpdoc import WIDTH, Comments  # noqa: E402

HEAD = """<?php

// bindings/php/generate.py writes this file from netlib.api.json.

declare(strict_types=1);

namespace Netlib;
"""
# The traits in src, which contain the methods written by hand, with the interfaces that they implement.
NATURAL = {
    "netlib_headers": ("PairMethods", "\\IteratorAggregate, \\Countable"),
    "netlib_query": ("PairMethods", "\\IteratorAggregate, \\Countable"),
    "netlib_stream": ("StreamMethods", ""),
    "netlib_url": ("UrlMethods", "\\Stringable"),
}
# The text of these handles contains no NUL: see their comments in netlib.h. PHP's FFI makes a string of such text, and
# of text without a length, without the help of the binding.
WITHOUT_NUL = {"netlib_certificate", "netlib_headers", "netlib_url"}
# The parameters that PHP 8.2 and later hide in the stack trace of an exception. A key of other classes is no secret.
SECRETS = {"auth", "credentials", "password"}
SECRET_KEYS = {"netlib_tls_options"}


def ends_at_nul(call):
    """True if PHP's FFI converts the text that a function returns."""
    output = next((output for output in call.outputs if output.name == "return"), None)
    is_text = output is not None and output.kind == "text" and call.c_name not in AS_BYTES
    return is_text and (not output.length or call.owner in WITHOUT_NUL)


def is_secret(call, value):
    return value.name in SECRETS or value.name == "key" and call.owner in SECRET_KEYS


def broken(line, width):
    """The lines of a statement that is too long: each argument of its longest call is on a line of its own."""
    groups, starts = [], []
    quoted = False
    for at, char in enumerate(line):
        quoted ^= char == "'"
        if not quoted and char in "([":
            starts.append(at)
        elif not quoted and char in ")]" and starts:
            start = starts.pop()
            if not starts and at > start + 1:
                groups.append((start, at))
    if len(line) <= width or not groups:
        return [line]
    start, end = max(groups, key=lambda group: group[1] - group[0])
    parts, depth, last = [], 0, start + 1
    for at in range(start + 1, end):
        depth += (line[at] in "([") - (line[at] in ")]")
        if line[at] == "," and depth == 0:
            parts.append(line[last : at + 1].strip())
            last = at + 1
    parts.append(line[last:end].strip() + ("," if parts else ""))
    inner = [text for part in parts for text in broken(part, width - 4)]
    return broken(line[: start + 1], width) + ["    " + text for text in inner] + broken(line[end:], width)


class Php(Writer):
    this, null, strict = "$this", "null", True

    def __init__(self, api):
        super().__init__(api)
        self.comments = Comments(api)
        self.unused = None  # the variable for the length of text that ends at its NUL

    def line(self, text=""):
        for part in broken(text, WIDTH - len(self.indent) * self.depth):
            super().line(part)

    def comment(self, lines):
        for text in lines:
            super().line(text)

    def var(self, name):
        return "$" + camel(name)

    def name(self, text):
        return camel(text)

    def statement(self, text):
        return text + ";"

    def helper(self, function, *arguments):
        return f"Runtime::{camel(function)}({', '.join(arguments)})"

    def assign(self, name, expression):
        self.line(f"{self.var(name)} = {expression};")

    def cell(self, cells, name, c_type, value=None):
        if name != self.unused:
            super().cell(cells, name, c_type, value)

    def new_cell(self, c_type, value=None):
        """An array with one element. Each call makes its own, because a signal handler or a destructor can interrupt
        the call with another call of the same function."""
        c_type = c_type.replace("const ", "").replace("uint8_t", "char") + "[1]"
        if value:
            return f"Runtime::cell('{c_type}', {value})"
        return f"Runtime::$c->new(Runtime::$types['{c_type}'] ?? Runtime::type('{c_type}'))"

    def address(self, variable, c_type):
        return self.null if self.unused and variable == self.var(self.unused) else variable

    def content(self, variable, c_type):
        return f"{variable}[0]"

    def or_zero(self, name):
        return f"{name} ?? 0"

    def own_pointer(self, call):
        return "$this->pointer ?? $this->pointer()"

    def handle_pointer(self, function, name, value):
        if function in ("limit_pointer", "error_pointer"):
            return self.helper(function, name)
        return f"{name}->pointer()" if function == "pointer" else f"{name}?->pointer()"

    def convert(self, value, call):
        name = self.parameter(value)
        if value.kind == "bytes" or value.kind == "text" and value.has_length:
            return name
        if value.kind == "truth_value":
            return f"(int) {name}"
        if value.kind == "seconds" and not value.is_pointer:
            return f"{name} ?? \\INF"
        if value.kind == "descriptor":
            return name
        return super().convert(value, call)

    def result(self, item, call, cells, keep):
        if not isinstance(item, str) and item.name == "return" and item.kind in ("text", "bytes"):
            if ends_at_nul(call):
                return "$result"
            length = self.content(self.var(item.length + "_out"), "")
            text = f"$result === null ? null : \\FFI::string($result, {length})"
            is_message = call.owner == "netlib_error" and call.name in ("message", "advice", "report")
            return self.helper("words", text) if is_message else text
        return super().result(item, call, cells, keep)

    def length(self, value):
        name = self.parameter(value)
        if value.kind == "buffer":
            return name
        if value.kind == "array":
            return f"\\count({name})"
        return f"\\strlen({name} ?? '')" if value.nullable else f"\\strlen({name})"

    def array_pointer(self, variable):
        return f"{variable}->pointer"

    def new_buffer(self, name):
        return f"Runtime::buffer({name})"

    def hold(self, callbacks):
        return "Runtime::hold([" + ", ".join(f"'{name}' => {value}" for name, value in callbacks.items()) + "])"

    def callback_pointer(self, name):
        return f"Runtime::callback('{name}')"

    def c_call(self, name, passed):
        return f"Runtime::$c->{name}({', '.join(passed)})"

    def choose(self, condition, one, other):
        return f"{condition} !== null ? {one} : {other}"

    def choose_ok(self, status, expression):
        return f"{status} === 0 ? {expression} : null"

    def guard(self, allowed, fail):
        self.line(f"if ({' && '.join(f'$code !== {status}' for status in allowed)}) {{")
        self.line(f"    {fail};")
        self.line("}")

    def method(self, target, name):
        return f"{target}->{name}()"

    def own(self, handle, value, keep):
        return f"{class_of(handle)}::own({value}{', ' + keep[0] if keep else ''})"

    def new_limit(self, name):
        self.line(f"{name} ??= new Limit(null);")

    def with_limit(self, made):
        return f"Runtime::withLimit({made})"

    def borrow(self, handle, value, lenders):
        return f"{class_of(handle)}::borrow({value}, [{', '.join(lenders)}])"

    def adopt(self, call, cells, keep):
        output = next(item for item in call.outputs if item.kind == "handle")
        value = "$result" if output.name == "return" else self.content(self.var(f"{output.name}_out"), "")
        self.line(f"$this->adopt({value}{', ' + keep[0] if keep else ''});")

    def give_back(self, results):
        if results == ["$result"]:  # returns the result of the C function without a variable
            prefix = self.indent * self.depth
            at = max(at for at, line in enumerate(self.lines) if line.startswith(f"{prefix}$result = "))
            self.lines[at] = self.lines[at].replace("$result = ", "return ", 1)
            return
        self.line(f"return {results[0] if len(results) == 1 else '[' + ', '.join(results) + ']'};")

    def input_type(self, value):
        kinds = {"truth_value": "bool", "seconds": "?float", "callback": "callable", "array": "array", "ctx": "mixed"}
        if value.kind == "handle":
            name = "Error|ErrorInfo" if value.handle == "netlib_error" else class_of(value.handle)
        elif value.kind in ("text", "bytes"):
            name = "string"
        else:
            name = kinds.get(value.kind, "float" if "double" in value.c_type else "int")
        if not value.nullable or name[0] == "?" or name == "mixed":
            return name
        return name + "|null" if "|" in name else "?" + name

    def result_types(self, call):
        """The types of the results, the status included. None for a setter, which returns its object."""
        if call.is_setter:
            return None
        return [self.output_type(item) for item in results_of(call)] + ["int"] * bool(call.progress)

    def output_type(self, item):
        if isinstance(item, str):
            return "string"
        kinds = {"text": "?string", "bytes": "?string", "truth_value": "bool", "array": "array", "ctx": "mixed"}
        if item.kind == "handle":
            always = not item.nullable if item.name != "return" else item.is_owned
            return f"{'' if always else '?'}{class_of(item.handle)}"
        if item.kind == "descriptor" and item.is_owned:
            return "?int"
        return kinds.get(item.kind, "float" if item.c_type == "double" else "int")

    def function(self, call):
        if call.c_name.endswith("_free") and call.is_member:
            return
        adopts = call.makes and call.name == "new"
        params = [(value, self.input_type(value)) for value, _ in self.parameters(call)]
        results = self.result_types(call)
        signature = [
            ("#[\\SensitiveParameter] " if is_secret(call, value) else "")
            + f"{self.input_type(value)} {self.parameter(value)}"
            + (" = null" if optional else "")
            for value, optional in self.parameters(call)
        ]
        name = "__construct" if adopts else camel(call.name) if call.owner else call.name
        is_static = call.owner and not call.is_member and not adopts
        kind = f"{'public ' if call.owner else ''}{'static ' if is_static else ''}function"
        kinds = {0: ["void"], 1: results}.get(len(results), ["array"]) if results is not None else ["static"]
        returned = "" if adopts else ": " + kinds[0]
        documented = [] if adopts else results and self.documented_types(call, results)
        self.comment(self.comments.function(call, params, results and documented, self.depth))
        head = f"{kind} {name}({', '.join(signature)}){returned}"
        if len(head) + len(self.indent) * self.depth <= WIDTH:
            self.line(head)
            self.line("{")
        else:
            self.line(f"{kind} {name}(")
            for text in signature:
                self.line(f"    {text},")
            self.line(f"){returned} {{")
        self.depth += 1
        self.unused = f"{call.outputs[0].length}_out" if ends_at_nul(call) and call.outputs[0].length else None
        self.body(call, adopts)
        self.depth -= 1
        self.line("}")
        self.line()

    def documented_types(self, call, results):
        """The types for PHPDoc: the element type of a list; a handle that is absent after an early end."""
        kinds = []
        for item, kind in zip([*results_of(call), None], results):
            if kind == "array":
                kind = "list<string>" if "char" in item.element else "list<int>"
            elif call.progress and (isinstance(item, str) or item is not None and kind[0].isupper()):
                kind = f"?{kind}"  # null after an early end
            kinds.append(kind)
        return kinds

    def callback(self, item):
        name, decision = item["name"], callback_decision(item)
        if name == "netlib_ctx_free_fn":
            return
        given = []
        for param in callback_inputs(item):
            at = self.var(param["name"])
            given.append({
                "bytes": f"\\FFI::string({at}, {self.var(param.get('length') or '')})", "text": f"Runtime::toText({at}{', ' + self.var(param['length']) if param.get('length') else ''})",
                "handle": f"{class_of(param['handle'])}::borrow({at}, [])" if param["kind"] == "handle" else "",
                "buffer": self.var(param.get("length") or ""),
            }.get(param["kind"], at))  # fmt: skip
        outputs = callback_outputs(item)
        buffers = [param for param in item["params"] if param["kind"] == "buffer"]
        params = ", ".join(self.var(param["name"]) for param in item["params"])
        stores = "null"
        if decision and decision["enum"] == "netlib_outcome":
            stores = "static fn (mixed $result): int => 1"
        elif decision and outputs and "handle" not in outputs[0]:
            cells = "".join(", " + self.var(output["name"]) for output in outputs)
            stores = f"static fn (int|array $result): int => Runtime::storeValues($result{cells})"
        elif decision and outputs:
            stores = f"static fn (int|{class_of(outputs[0]['handle'])} $result): int => Runtime::storeHandle({self.var(outputs[0]['name'])}, $result)"
        elif decision:
            stores = "static fn (int $result): int => $result"
        elif buffers:
            stores = f"static fn (?string $result): int => Runtime::store($buf, {self.var(buffers[0]['length'])}, $n, $result)"
        elif outputs:
            kind = {"truth_value": "bool"}.get(outputs[0]["kind"], "float" if "double" in outputs[0]["type"] else "int")
            stores = f"static fn ({kind} $result): int => Runtime::storeNumber({self.var(outputs[0]['name'])}, (int) $result)"
            if kind != "bool":
                stores = stores.replace("(int) ", "")
        else:
            stores = "static fn (mixed $result): int => 0"
        arguments = "".join(", " + value for value in given)
        if decision:
            # After an exception, `try` returns 0, which means failure.
            self.line(f"'{name}' => static function ({params}): void {{")
            self.depth += 1
            self.line(f"{self.var(decision['name'])}[0] = Runtime::try($ctx, '{name}', 0, {stores}{arguments});")
            self.depth -= 1
            self.line("},")
        else:
            self.line(
                f"'{name}' => static fn ({params}): int => Runtime::try($ctx, '{name}', -1, {stores}{arguments}),"
            )

    def file(self, path):
        text = re.sub(r"\n\n(\s*})", r"\n\1", HEAD + "\n" + "\n".join(self.lines)).rstrip()
        path.write_text(text + "\n", encoding="utf-8")
        self.lines = []

    def write(self, directory):
        api = self.api
        names = self.comments.names
        for handle, item in api.handles.items():
            trait, interfaces = NATURAL.get(handle, ("", ""))
            self.comment(self.comments.text(item["doc"]))
            self.line(
                f"final class {class_of(handle)} extends Handle" + (f" implements {interfaces}" if interfaces else "")
            )
            self.line("{")
            self.depth += 1
            if trait:
                self.line(f"use {trait};")
                self.line()
            self.line(f"protected const FREE = '{item['free']}';")
            self.line()
            for call in api.class_calls(handle):
                self.function(call)
            self.depth -= 1
            self.line("}")
            self.file(directory / f"{class_of(handle)}.php")
        docs = {value["name"]: value["doc"] for item in api.data["enums"] for value in item["values"]}
        self.line(f"const VERSION = '{api.version}';")
        for name, value in {**api.constants, **api.macros}.items():
            if isinstance(value, (int, float)) and not isinstance(value, bool):
                self.comment(self.comments.text(docs[name]) if docs.get(name) else [])
                self.line(f"const {constant_name(name)} = {value};")
        self.line()
        for call in api.calls:
            if not call.owner:
                self.function(call)
        self.file(directory / "functions.php")
        self.line("// The name in PHP of each name of C that an error's text may contain.")
        self.line()
        self.line("return [")
        for c_name, name in names.items():
            if c_name.startswith("netlib_"):
                self.line(f"    '{c_name}' => '{name}',")
        self.line("];")
        self.file(directory / "names.php")
        self.line("// The functions that C calls.")
        self.line()
        self.line("return [")
        self.depth += 1
        for item in api.callbacks.values():
            self.callback(item)
        self.depth -= 1
        self.line("];")
        self.file(directory / "callbacks.php")


def declarations(text, calls):
    """The declarations as PHP's FFI needs them. PHP passes strings as `char *`, ends returned text of the type `const
    char *` at its NUL, and has numbers but no pointers as array keys."""
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    text = re.sub(r"const (char|void|uint8_t) \*", "char *", text)
    text = re.sub(r"\bconst ", "", text)
    text = text.replace("*const *", "**").replace("void *ctx", "intptr_t ctx")
    text = text.replace("void *netlib_error_user_data", "intptr_t netlib_error_user_data")
    for call in filter(ends_at_nul, calls):
        text = text.replace(f"char *{call.c_name}(", f"const char *{call.c_name}(")
    return text


def main():
    directory, headers = Path(sys.argv[1]), Path(sys.argv[2])
    api = Api(headers / "netlib.api.json")
    Php(api).write(directory)
    text = declarations((headers / "netlib.cdef.h").read_text(encoding="utf-8"), api.calls)
    (directory / "netlib.h").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
