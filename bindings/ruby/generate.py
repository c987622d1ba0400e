"""Writes the generated layer of the gem: lib/netlib/generated.rb with the prototypes, the constants, a class for each
handle, the functions and the callbacks; lib/netlib/names.rb with the names of the functions; and sig/generated.rbs with
the types.

usage: generate.py DIRECTORY netlib.api.json
"""

import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from dynamic import Writer, callback_name, class_of, constant_name, words, wrapped  # noqa: E402
from model import Api, callback_decision, callback_inputs, callback_outputs  # noqa: E402
from signatures import (  # noqa: E402
    callback_lines, callback_type, comment_lines, method_name, parameter_name, ruby_names, signature,
)  # fmt: skip

TYPES = {"void": "void", "double": "double", "size_t": "size_t", "int": "int", "netlib_status": "int32"}


class Ruby(Writer):
    indent = "  "
    this, null, strict = "self", "nil", False

    def __init__(self, api):
        super().__init__(api)
        self.names = ruby_names(api)

    def name(self, text):
        return parameter_name(text)

    def comment(self, lines):
        for line in lines:
            self.line(f"# {line}".rstrip())

    @property
    def width(self):
        return 118 - len(self.indent) * self.depth

    def statement(self, text):
        return text.removeprefix("return ")

    def helper(self, function, *arguments):
        return f"Runtime.{function}({', '.join(arguments)})" if arguments else f"Runtime.{function}"

    def assign(self, name, expression):
        self.line(f"{name} = {expression}")

    def set(self, name, expression):
        self.line(f"{name} = {expression}")

    def read_type(self, c_type):
        return "pointer" if c_type.endswith("*") else self.ffi_type(c_type)

    @staticmethod
    def ffi_type(c_type):
        if c_type.endswith("*") or c_type.endswith("_fn"):
            return "pointer"
        return TYPES.get(c_type) or ("int32" if c_type.startswith("enum ") else c_type.removesuffix("_t"))

    def new_cell(self, c_type, value=None):
        return f"Runtime.cell(:{self.read_type(c_type)}{', ' + value if value else ''})"

    def address(self, variable, c_type):
        return variable

    def content(self, variable, c_type):
        return f"{variable}.get(:{self.read_type(c_type)}, 0)"

    def or_zero(self, name):
        return f"{name} || 0"

    def length(self, value):
        name = self.parameter(value)
        if value.kind == "buffer":
            return name
        if value.kind == "array":
            return f"{value.name}_array.elements"
        return f"({name}&.bytesize || 0)" if value.nullable else f"{name}.bytesize"

    def array_pointer(self, variable):
        return f"{variable}.pointer"

    def new_buffer(self, name):
        return f"Runtime.buffer({name})"

    def hold(self, callbacks):
        return "Runtime.hold({ " + ", ".join(f"{name}: {value}" for name, value in callbacks.items()) + " })"

    def callback_pointer(self, name):
        return f"Runtime.callback(:{name})"

    def own_descriptor(self, value):
        return self.helper("own_descriptor", value, "opened")

    def own_pointer(self, call):
        return self.helper("pointer", self.this, class_of(call.owner))

    def handle_pointer(self, function, name, value):
        is_general = function in ("pointer", "optional_pointer")
        return self.helper(function, name, *([class_of(value.handle)] if is_general else []))

    def c_call(self, name, passed):
        return f"C.{name}({', '.join(passed)})" if passed else f"C.{name}"

    def body(self, call, adopts=False):
        """The code of a call. While the call waits or calls back, another thread may close its objects."""
        calls_back = set(call.item["callbacks"]) - {"netlib_ctx_free_fn"}
        if not (call.blocks or calls_back):
            super().body(call, adopts)
            return
        used = [self.this] if call.is_member else []
        used += [self.parameter(value) for value in call.inputs if value.kind == "handle"]
        opens = any(output.kind == "descriptor" and output.is_owned for output in call.outputs)
        function = "opening" if opens else "waiting" if call.blocks else "using"
        self.line(f"{self.helper(function, *used)} do{' |opened|' if opens else ''}")
        self.depth += 1
        super().body(call, adopts)
        self.depth -= 1
        self.line("end")

    def choose(self, condition, one, other):
        return f"({condition} ? {one} : {other})"

    def choose_ok(self, status, expression):
        return f"({status}.zero? ? {expression} : nil)"

    def guard(self, allowed, fail):
        if len(allowed) == 1:
            self.line(f"{fail} unless code.zero?")
        else:
            self.line(f"{fail} unless [{', '.join(allowed)}].include?(code)")

    def method(self, target, name):
        return name

    def own(self, handle, value, keep):
        return f"Runtime.own({class_of(handle)}, {value}{', ' + keep[0] if keep else ''})"

    def new_limit(self, name):
        self.line(f"{name} ||= Limit.new(nil)")

    def with_limit(self, made):
        return f"Runtime.with_limit({made})"

    def borrow(self, handle, value, lenders):
        return f"Runtime.borrow({class_of(handle)}, {value}, [{', '.join(lenders)}])"

    def adopt(self, call, cells, keep):
        output = next(item for item in call.outputs if item.kind == "handle")
        value = "result" if output.name == "return" else self.content(f"{output.name}_out", output.c_type)
        self.line(f"adopt({value}{', ' + keep[0] if keep else ''})")

    def give_back(self, results):
        start = f"{self.indent * self.depth}{results[0]} = "
        if len(results) == 1 and self.lines[-1].startswith(start):
            self.line(self.lines.pop().removeprefix(start))
        else:
            self.line(results[0] if len(results) == 1 else f"[{', '.join(results)}]")

    def function(self, call):
        if call.c_name.endswith("_free") and call.is_member:
            return
        adopts = call.makes and call.name == "new"
        given = self.parameters(call)
        params = [self.parameter(value) + (" = nil" if optional else "") for value, optional in given]
        # The last callback may be a block.
        block = given and given[-1][0].kind == "callback"
        if block:
            params = [self.parameter(value) + (" = nil" if optional or at == len(given) - 1 else "")
                      for at, (value, optional) in enumerate(given)] + ["&block"]  # fmt: skip
        name = "initialize" if adopts else method_name(call)
        prefix = "" if call.is_member or adopts else "self."
        self.comment(comment_lines(self.api, call, self.names, self.width))
        self.line(f"def {prefix}{name}{'(' + ', '.join(params) + ')' if params else ''}")
        self.depth += 1
        if adopts:
            self.line("super()")
        if block:
            self.line(f"{self.parameter(given[-1][0])} ||= block")
        self.body(call, adopts)
        self.depth -= 1
        self.line("end")
        self.line()

    def callback(self, item):
        name, decision = item["name"], callback_decision(item)
        if name == "netlib_ctx_free_fn":
            return
        given = []
        for param in callback_inputs(item):
            at = self.name(param["name"])
            given.append({
                "bytes": f"{at}.read_bytes({param.get('length')})", "text": f"Runtime.to_text({at}{', ' + param['length'] if param.get('length') else ''})",
                "handle": f"Runtime.borrow({class_of(param['handle'])}, {at}, [])" if param["kind"] == "handle" else "",
                "buffer": param.get("length"),
            }.get(param["kind"], at))  # fmt: skip
        outputs = callback_outputs(item)
        buffers = [param for param in item["params"] if param["kind"] == "buffer"]
        params = [self.name(param["name"]) for param in item["params"]]
        types = ["size_t" if param["kind"] == "ctx" else self.ffi_type(param["type"]) for param in item["params"]]
        self.line(f"Runtime.define(:{name}, {symbols(types)}{', :void' if decision else ''}) do |{', '.join(params)}|")
        self.depth += 1
        is_outcome = decision and decision["enum"] == "netlib_outcome"
        ignores = is_outcome or not (decision or outputs)
        arguments = "".join(", " + value for value in given)
        result = "_result" if ignores else "result"
        # After an exception, `try` returns 0 for a decision, which means failure.
        assigned, failure = ("stored = ", 0) if decision else ("", -1)
        self.line(f"{assigned}Runtime.try(ctx, :{name}, {failure}{arguments}) do |{result}|")
        self.depth += 1
        if is_outcome:
            self.line("1")
        elif decision and outputs and "handle" not in outputs[0]:
            types = [self.ffi_type(output["type"].removesuffix("*").strip()) for output in outputs]
            cells = "".join(f", [{output['name']}, :{kind}]" for output, kind in zip(outputs, types))
            self.line(f"Runtime.store_values(result{cells})")
        elif decision and outputs:
            self.line(f"Runtime.store_handle({outputs[0]['name']}, {class_of(outputs[0]['handle'])}, result)")
        elif decision:
            self.line("Integer(result)")
        elif buffers:
            self.line(f"Runtime.store({buffers[0]['name']}, {buffers[0]['length']}, n, result)")
        elif outputs:
            output = outputs[0]
            if output["kind"] == "truth_value":
                self.line(f"Runtime.store_number({output['name']}, :int32, Runtime.truth(result, 'the result'))")
            elif "double" in output["type"]:
                self.line(f"Runtime.store_number({output['name']}, :double, Float(result))")
            else:
                kind = self.ffi_type(output["type"].removesuffix("*").strip())
                self.line(f"Runtime.store_number({output['name']}, :{kind}, Integer(result))")
        else:
            self.line("0")
        self.depth -= 1
        self.line("end")
        if decision:
            self.line(f"{self.name(decision['name'])}.write_int32(stored)")
        self.depth -= 1
        self.line("end")
        self.line()

    def prototype(self, call):
        types = []
        for argument in call.arguments:
            value = argument.input
            if argument.role == "ctx" or (value and value.kind == "ctx"):
                types.append("size_t")
            elif argument.role == "input" and value.kind == "text" and not value.has_length:
                types.append("string")
            else:
                types.append(self.ffi_type(argument.c_type))
        returns = call.item["returns"]
        result = "size_t" if returns["kind"] == "ctx" else self.ffi_type(returns["type"])
        options = ", blocking: true" if call.blocks else ""
        self.line(f"attach_function :{call.c_name}, {symbols(types)}, :{result}{options}")

    def constants(self):
        macros = {name: value for name, value in self.api.macros.items() if is_number(value) and name != "NETLIB_VERSION"}
        for name, value in macros.items():
            self.line(f"{constant_name(name)} = {number(value)}")
        for item in self.api.data["enums"]:
            self.line()
            if item["name"]:
                self.comment(wrapped(words(item["doc"], self.names), self.width))
                self.line()
            for value in item["values"]:
                self.comment(wrapped(words(value["doc"], self.names), self.width))
                self.line(f"{constant_name(value['name'])} = {number(value['value'])}")
        self.line()

    def callback_types(self):
        """The comment about the types of callbacks."""
        self.comment(["The types of callbacks:"])
        for item in self.api.callbacks.values():
            if item["name"] != "netlib_ctx_free_fn":
                self.comment(["", f"== {callback_name(item['name'])}", ""])
                self.comment(callback_lines(item, self.names, self.width))

    def signatures(self):
        api, self.lines = self.api, []
        self.comment(["bindings/ruby/generate.py writes this file from netlib.api.json."])
        self.line("module Netlib")
        self.depth += 1
        self.line("VERSION: String")
        values = {**api.macros, **api.constants}
        for name, value in values.items():
            if is_number(value) and name != "NETLIB_VERSION":
                self.line(f"{constant_name(name)}: {'Float' if isinstance(value, float) else 'Integer'}")
        self.line()
        for item in api.callbacks.values():
            if item["name"] != "netlib_ctx_free_fn":
                self.line(f"type {callback_name(item['name'])} = {callback_type(item)}")
        for handle in api.handles:
            self.line()
            self.line(f"class {class_of(handle)} < Handle")
            self.depth += 1
            for call in api.class_calls(handle):
                if call.name != "free":
                    self.line(signature(api, call))
            self.depth -= 1
            self.line("end")
        self.line()
        for call in api.calls:
            if not call.owner:
                self.line(signature(api, call))
        self.depth -= 1
        self.line("end")
        return self.lines

    def names_file(self):
        """The names of the functions and enums of C, which messages of errors contain."""
        self.lines = []
        self.line("# frozen_string_literal: true")
        self.line()
        self.line("# bindings/ruby/generate.py writes this file from netlib.api.json.")
        self.line("module Netlib")
        self.depth += 1
        self.comment(["The names of the functions, types and enums of C."])
        self.line("C_NAMES = {")
        self.depth += 1
        for c_name, name in self.names.items():
            if c_name.startswith("netlib_"):
                self.line(f"{c_name}: '{name}',")
        self.lines[-1] = self.lines[-1].removesuffix(",")
        self.depth -= 1
        self.line("}.freeze")
        self.depth -= 1
        self.line("end")
        return self.lines

    def module(self):
        api = self.api
        self.line("# frozen_string_literal: true")
        self.line()
        self.line("# bindings/ruby/generate.py writes this file from netlib.api.json.")
        self.line()
        self.callback_types()
        self.line("module Netlib")
        self.depth += 1
        self.line(f"VERSION = '{api.version}' unless const_defined?(:VERSION)")
        self.line("Runtime.load_library(VERSION)")
        self.constants()
        self.line("# The functions of netlib.h.")
        self.line("module C")
        self.depth += 1
        for call in api.calls:
            self.prototype(call)
        self.depth -= 1
        self.line("end")
        self.line()
        for handle, item in api.handles.items():
            self.line(f"class {class_of(handle)} < Handle; end")
        for handle, item in api.handles.items():
            self.line()
            self.comment(wrapped(words(item["doc"], self.names), self.width))
            self.line(f"class {class_of(handle)}")
            self.depth += 1
            self.line(f"FREE = C.method(:{item['free']})")
            self.line()
            for call in api.class_calls(handle):
                self.function(call)
            self.depth -= 1
            self.line("end")
        self.line()
        for call in api.calls:
            if not call.owner:
                self.function(call)
        for item in api.callbacks.values():
            self.callback(item)
        self.depth -= 1
        self.line("end")
        return self.lines


def symbols(names):
    """An array of symbols."""
    return f"%i[{' '.join(names)}]" if len(names) > 1 else f"[{''.join(':' + name for name in names)}]"


def number(value):
    return f"{value:_}" if abs(value) > 9999 else str(value)


def is_number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def main():
    directory, ruby = Path(sys.argv[1]), Ruby(Api(sys.argv[2]))
    for path, lines in [
        ("lib/netlib/generated.rb", ruby.module()),
        ("lib/netlib/names.rb", ruby.names_file()),
        ("sig/generated.rbs", ruby.signatures()),
    ]:
        text = re.sub(r"\n\n( *end)\b", r"\n\1", "\n".join(lines) + "\n")
        (directory / path).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
