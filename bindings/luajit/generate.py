"""Writes the generated part of netlib.lua: the declarations of netlib.cdef.h, the constants, and a class for each
handle.

usage: generate.py FILE DIRECTORY_WITH_HEADERS
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from comments import WIDTH, callback_lines, comment_lines, lua_name, lua_names  # noqa: E402
from dynamic import Writer, class_of, constant_name, words, wrapped  # noqa: E402
from model import Api, callback_decision, callback_inputs, callback_outputs  # noqa: E402



class Lua(Writer):
    this, null, strict = "self", "nil", False
    interruptible = {}  # a debug hook, with which luajit handles Ctrl-C, must not raise an error in a callback

    def __init__(self, api):
        super().__init__(api)
        self.names = lua_names(api)

    def name(self, text):
        return lua_name(text)

    def comment(self, lines, start="---"):
        for line in lines:
            self.line(f"{start} {line}".rstrip())
            start = "--"

    def statement(self, text):
        return text

    def helper(self, function, *arguments):
        return f"rt.{function}({', '.join(arguments)})"

    def assign(self, name, expression):
        self.line(f"local {name} = {expression}")

    def set(self, name, expression):
        self.line(f"{name} = {expression}")

    def new_cell(self, c_type, value=None):
        cell = "cell_" + c_type.replace("const ", "").replace("enum ", "").replace("*", "p").replace(" ", "_")
        self.cells[cell] = c_type
        return f"{cell}({{ {value} }})" if value else f"{cell}()"

    def address(self, variable, c_type):
        return variable

    def content(self, variable, c_type):
        return f"{variable}[0]"

    def or_zero(self, name):
        return f"{name} or 0"

    def length(self, value):
        if value.kind == "buffer":
            return value.name
        if value.kind == "array":
            return f"{value.name}_array.n"
        return f"#({self.parameter(value)} or \"\")" if value.nullable else f"#{self.parameter(value)}"

    def array_pointer(self, variable):
        return f"{variable}.p"

    def new_buffer(self, name):
        return f"rt.buffer({name})"

    def hold(self, callbacks):
        return "rt.hold({" + ", ".join(f"{name} = {value}" for name, value in callbacks.items()) + "})"

    def callback_pointer(self, name):
        return f"rt.callbacks.{name}"

    def c_call(self, name, passed):
        return f"C.{name}({', '.join(passed)})"

    def choose(self, condition, one, other):
        if other == self.null:
            return f"{condition} and {one} or nil"
        return f"{condition} and {one} or {other}"

    def choose_ok(self, status, expression):
        return f"{status} == 0 and {expression} or nil"

    def guard(self, allowed, fail):
        condition = " and ".join(f"code ~= {status}" for status in allowed)
        self.line(f"if {condition} then {fail} end")

    def method(self, target, name):
        return f"{target}:{name}()"

    def own(self, handle, value, keep):
        return f"rt.own(class.{class_of(handle)}, {value}{', ' + keep[0] if keep else ''})"

    def borrow(self, handle, value, lenders):
        lenders = "{" + ", ".join(lenders) + "}" if lenders else "true"
        return f"rt.borrow(class.{class_of(handle)}, {value}, {lenders})"

    def give_back(self, results):
        self.line(f"return {', '.join(results)}")

    def number(self, value, c_type):
        return f"tonumber({value})"

    def function(self, call):
        if call.c_name.endswith("_free") and call.is_member:
            return
        params = [self.parameter(value) for value, _ in self.parameters(call)]
        owner = f"class.{class_of(call.owner)}" if call.owner else "netlib"
        separator = ":" if call.is_member else "."
        self.comment(comment_lines(self.api, call, self.names))
        self.line(f"function {owner}{separator}{self.name(call.name)}({', '.join(params)})")
        self.depth += 1
        self.body(call)
        self.depth -= 1
        self.line("end")
        # Code that LuaJIT has compiled must not call a C function that calls back.
        calls_back = call.item["callbacks"] or any(argument.role in ("ctx", "ctx_free") for argument in call.arguments)
        if calls_back or call.c_name in ("netlib_retry_new",) or call.is_setter:
            self.line(f"jit.off({owner}.{self.name(call.name)})")
        self.line()

    def callback(self, item):
        name, decision = item["name"], callback_decision(item)
        if name == "netlib_ctx_free_fn":
            return
        self.comment(callback_lines(item, self.names))
        params = [param["name"] for param in item["params"]]
        given = []
        for param in callback_inputs(item):
            at = param["name"]
            given.append({
                "bytes": f"ffi.string({at}, {param.get('length')})", "text": f"rt.to_text({at}, {param.get('length') or 'nil'})",
                "handle": f"rt.borrow(class.{class_of(param['handle'])}, {at}, true)" if param["kind"] == "handle" else "",
                "buffer": f"tonumber({param.get('length')})",
            }.get(param["kind"], at if "int64_t" in param["type"] else f"tonumber({at})"))  # fmt: skip
        outputs = callback_outputs(item)
        is_outcome = decision and decision["enum"] == "netlib_outcome"
        self.line(f'rt.define("{name}", {"nil" if decision else -1}, function({", ".join(params)})')
        self.depth += 1
        stores_values = decision and outputs and "handle" not in outputs[0]
        values = "".join(f", {output['name']}_value" for output in outputs) if stores_values else ""
        uses_result = decision and not is_outcome or outputs
        self.line(f'local good{", result" if uses_result else ""}{values} = rt.try(ctx, "{name}"{"".join(", " + value for value in given)})')
        self.line(f"if not good then return{'' if decision else ' -1'} end")
        buffers = [param for param in item["params"] if param["kind"] == "buffer"]
        stores = f"{decision['name']}[0] =" if decision else ""
        if is_outcome:
            self.line(f"{stores} 1")
        elif stores_values:
            cells = "".join(f", {output['name']}, {output['name']}_value" for output in outputs)
            self.line(f"{stores} rt.store_values(result{cells})")
        elif decision and outputs:
            self.line(f"{stores} rt.store_handle({outputs[0]['name']}, class.{class_of(outputs[0]['handle'])}, result)")
        elif decision:
            self.line(f"{stores} rt.expect(result, 0)")
        elif buffers:
            # A string is stored; a number is a status.
            self.line("if type(result) == \"number\" then return result end")
            self.line(f"return rt.store({buffers[0]['name']}, {buffers[0]['length']}, n, result)")
        elif outputs:
            number = {"truth_value": "truth"}.get(outputs[0]["kind"], "number")
            self.line(f"return rt.store_{number}({outputs[0]['name']}, result)")
        else:
            self.line("return 0")
        self.depth -= 1
        self.line("end)")
        self.line()

    def module(self, directory):
        self.cells = {}
        api = self.api
        self.line(f'rt.load("{api.version}")')
        self.line("ffi.cdef([[")
        self.lines += (Path(directory) / "netlib.cdef.h").read_text(encoding="utf-8").splitlines()
        self.line("]])")
        self.line(f'netlib.VERSION = "{api.version}"')
        for name, value in api.macros.items():
            if isinstance(value, (int, float)) and not isinstance(value, bool):
                self.line(f"netlib.{constant_name(name)} = {value}")
        for item in api.data["enums"]:
            self.line()
            if item["name"]:
                self.comment(wrapped(words(item["doc"], self.names), WIDTH), "--")
                self.line()
            for value in item["values"]:
                self.comment(wrapped(words(value["doc"], self.names), WIDTH))
                self.line(f"netlib.{constant_name(value['name'])} = {value['value']}")
        self.line()
        self.line("rt.names = {")
        for c_name, name in self.names.items():
            if c_name.startswith("netlib_"):
                self.line(f'    {c_name} = "{name}",')
        self.line("}")
        for handle, item in api.handles.items():
            self.comment(wrapped(words(item["doc"], self.names), WIDTH))
            self.line(f'class.{class_of(handle)} = rt.class("{class_of(handle)}", "{item["free"]}")')
        self.line()
        self.line("function rt.generated()")
        functions, self.lines = self.lines, []
        for call in api.calls:
            self.function(call)
        for item in api.callbacks.values():
            self.callback(item)
        body, self.lines = self.lines, functions
        for cell, c_type in sorted(self.cells.items()):
            self.line(f'local {cell} = ffi.typeof("{c_type}[1]")')
        self.lines += body
        self.line("end")
        return self.lines


def main():
    path, directory = Path(sys.argv[1]), sys.argv[2]
    lines = Lua(Api(Path(directory) / "netlib.api.json")).module(directory)
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
