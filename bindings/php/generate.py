"""Writes the generated layer of the PHP package: a class for each handle, the functions, the constants, the callbacks,
and the declarations for PHP's FFI.

usage: generate.py DIRECTORY DIRECTORY_WITH_HEADERS
"""

import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from dynamic import Writer, class_of, constant_name, one_line, results_of  # noqa: E402
from model import Api, callback_decision, callback_inputs, callback_outputs, camel  # noqa: E402

HEAD = """<?php
// bindings/php/generate.py writes this file from netlib.api.json.

declare(strict_types=1);

namespace Netlib;
"""
# The traits of src/natural.php, which contain the methods written by hand.
NATURAL = {"netlib_url": "UrlMethods", "netlib_stream": "StreamMethods"}


class Php(Writer):
    this, null, strict = "$this", "null", True

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

    def set(self, name, expression):
        self.line(f"{name} = {expression};")

    def new_cell(self, c_type, value=None):
        c_type = c_type.replace("const ", "").replace("uint8_t", "char")
        return f"Runtime::cell('{c_type}'{', ' + value if value else ''})"

    def address(self, variable, c_type):
        return f"\\FFI::addr({variable})"

    def content(self, variable, c_type):
        return variable if c_type.endswith("*") else f"{variable}->cdata"

    def or_zero(self, name):
        return f"{name} ?? 0"

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
        return f"Runtime::own({class_of(handle)}::class, {value}{', ' + keep[0] if keep else ''})"

    def new_limit(self, name):
        self.line(f"{name} ??= new Limit(null);")

    def with_limit(self, made):
        return f"Runtime::withLimit({made})"

    def borrow(self, handle, value, lenders):
        return f"Runtime::borrow({class_of(handle)}::class, {value}, [{', '.join(lenders)}])"

    def adopt(self, call, cells, keep):
        output = next(item for item in call.outputs if item.kind == "handle")
        value = "$result" if output.name == "return" else self.var(f"{output.name}_out")
        self.line(f"$this->adopt({value}{', ' + keep[0] if keep else ''});")

    def give_back(self, results):
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

    def result_type(self, call, adopts):
        if adopts:
            return ""
        if call.is_setter:
            return ": static"
        results = results_of(call)
        count = len(results) + bool(call.progress)
        if count == 0:
            return ": void"
        if count > 1:
            return ": array"
        item = results[0] if results else None
        if item is None:
            return ": int"
        if isinstance(item, str):
            return ": string"
        kinds = {"text": "?string", "bytes": "?string", "truth_value": "bool", "array": "array", "ctx": "mixed"}
        if item.kind == "handle":
            always = item.name != "return" or item.is_owned
            return f": {'' if always else '?'}{class_of(item.handle)}"
        if item.kind == "descriptor" and item.is_owned:
            return ": ?int"
        return ": " + kinds.get(item.kind, "float" if item.c_type == "double" else "int")

    def function(self, call):
        if call.c_name.endswith("_free") and call.is_member:
            return
        adopts = call.makes and call.name == "new"
        params = [
            f"{self.input_type(value)} {self.parameter(value)}" + (" = null" if optional else "")
            for value, optional in self.parameters(call)
        ]
        name = "__construct" if adopts else camel(call.name) if call.owner else call.name
        kind = "function" if not call.owner else "public function" if call.is_member or adopts else "public static function"
        self.line(f"/** {one_line(call.doc).replace('*/', '* /')} */")
        self.line(f"{kind} {name}({', '.join(params)}){self.result_type(call, adopts)}")
        self.line("{")
        self.depth += 1
        self.body(call, adopts)
        self.depth -= 1
        self.line("}")
        self.line()

    def callback(self, item):
        name, decision = item["name"], callback_decision(item)
        if name == "netlib_ctx_free_fn":
            return
        given = []
        for param in callback_inputs(item):
            at = self.var(param["name"])
            given.append({
                "bytes": f"\\FFI::string({at}, {self.var(param.get('length') or '')})", "text": f"Runtime::toText({at}{', ' + self.var(param['length']) if param.get('length') else ''})",
                "handle": f"Runtime::borrow({class_of(param['handle'])}::class, {at}, [])" if param["kind"] == "handle" else "",
                "buffer": self.var(param.get("length") or ""),
            }.get(param["kind"], at))  # fmt: skip
        outputs = callback_outputs(item)
        buffers = [param for param in item["params"] if param["kind"] == "buffer"]
        params = ", ".join(self.var(param["name"]) for param in item["params"])
        if decision:
            # After an exception, `try` returns 0, which means failure.
            self.line(f"'{name}' => static function ({params}): void {{")
            self.depth += 1
            self.line(f"{self.var(decision['name'])}[0] = Runtime::try($ctx, '{name}', 0,")
        else:
            self.line(f"'{name}' => static fn ({params}): int => Runtime::try($ctx, '{name}', -1,")
        self.depth += 1
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
        self.line(f"{stores}{arguments});" if decision else f"{stores}{arguments}),")
        self.depth -= 1
        if decision:
            self.depth -= 1
            self.line("},")

    def file(self, path):
        path.write_text(re.sub(r"\n\n(\s*})", r"\n\1", HEAD + "\n" + "\n".join(self.lines) + "\n"), encoding="utf-8")
        self.lines = []

    def write(self, directory):
        api = self.api
        for handle, item in api.handles.items():
            self.line(f"/** A handle of the type {handle}. */")
            self.line(f"final class {class_of(handle)} extends Handle")
            self.line("{")
            self.depth += 1
            if handle in NATURAL:
                self.line(f"use {NATURAL[handle]};")
                self.line()
            self.line(f"protected const FREE = '{item['free']}';")
            self.line()
            for call in api.class_calls(handle):
                self.function(call)
            self.depth -= 1
            self.line("}")
            self.file(directory / f"{class_of(handle)}.php")
        for name, value in {**api.constants, **api.macros}.items():
            if isinstance(value, (int, float)) and not isinstance(value, bool) and constant_name(name) != "VERSION":
                self.line(f"const {constant_name(name)} = {value};")
        self.line(f"const VERSION = '{api.version}';")
        self.line()
        for call in api.calls:
            if not call.owner:
                self.function(call)
        self.file(directory / "functions.php")
        self.line("/** The functions that C calls. */")
        self.line("return [")
        self.depth += 1
        for item in api.callbacks.values():
            self.callback(item)
        self.depth -= 1
        self.line("];")
        self.file(directory / "callbacks.php")


def declarations(text):
    """The declarations as PHP's FFI needs them. PHP passes strings as `char *`, ends returned text of the type `const
    char *` at its NUL, and has numbers but no pointers as array keys."""
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    text = re.sub(r"const (char|void|uint8_t) \*", "char *", text)
    text = re.sub(r"\bconst ", "", text)
    text = text.replace("*const *", "**").replace("void *ctx", "intptr_t ctx")
    text = text.replace("void *netlib_error_user_data", "intptr_t netlib_error_user_data")
    return text


def main():
    directory, headers = Path(sys.argv[1]), Path(sys.argv[2])
    Php(Api(headers / "netlib.api.json")).write(directory)
    text = declarations((headers / "netlib.cdef.h").read_text(encoding="utf-8"))
    (directory / "netlib.h").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
