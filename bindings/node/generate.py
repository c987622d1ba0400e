"""Writes the generated layer of the Node.js package: lib/api.cjs with the enums, the constants, a class for each handle
and every function of netlib.h; index.mjs, which exports the same names; and the types in index.d.cts.

usage: generate.py DIRECTORY [netlib.api.json]
"""

import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from declarations import AS_BYTES, Declarations  # noqa: E402
from model import Api, callback_decision, callback_inputs, callback_outputs, camel, pointed  # noqa: E402
from names import method_name, parameter  # noqa: E402

HERE = Path(__file__).resolve().parent

# Functions whose promise lib/natural.cjs makes with the event loop instead of a thread.
BY_EVENT_LOOP = {
    "netlib_attempts_next", "netlib_connect_run", "netlib_decision_sleep", "netlib_retry_sleep",
    "netlib_retry_sleep_for_retry", "netlib_stream_connect", "netlib_stream_handshake", "netlib_stream_read",
    "netlib_stream_discard_body", "netlib_stream_read_next_response", "netlib_stream_read_body",
    "netlib_stream_read_response", "netlib_stream_read_whole_body", "netlib_stream_shutdown",
    "netlib_stream_shutdown_both", "netlib_stream_write", "netlib_stream_write_early_data", "netlib_stream_writev",
    "netlib_wait", "netlib_wait_for_read", "netlib_wait_for_write",
}  # fmt: skip

EXCEPTIONS = [
    "NetlibError", "ArgumentError", "StateError", "SystemError", "TimeError", "UrlError", "ConnectError", "TlsError",
    "HttpError", "RetryError", "ApplicationError",
]  # fmt: skip
OTHER_EXPORTS = ["HttpAgent", "HttpsAgent", "connector", "textToBytes"]

NUMBERS = {
    "int": "i32", "int32_t": "i32", "netlib_status": "i32", "uint32_t": "i32", "int64_t": "i64", "uint64_t": "u64",
    "size_t": "size", "double": "f64",
}  # fmt: skip


class Slots:
    """The variables of one call to which C stores outputs. A call on another thread has its own; a call that may invoke
    callbacks, which may make further calls, takes a part of `shared`; all other calls use `fixed`."""

    def __init__(self, is_promise, callbacks):
        self.names, self.is_promise, self.is_nested = [], is_promise, bool(callbacks) and not is_promise

    def add(self, name):
        self.names.append(name)
        return f"s.address[{self.index(name)}]"

    def index(self, name):
        at = self.names.index(name)
        return f"at + {at}" if self.is_nested and at else "at" if self.is_nested else str(at)

    def get(self, name, store):
        """The content of a variable; u32 is the lower half."""
        index = self.index(name)
        if store in ("i32", "u32"):
            index = f"2 * ({index})" if self.is_nested else str(2 * int(index))
        return f"s.{store}[{index}]"

    def declare(self, cleared):
        if self.is_promise:
            return [f"const s = new $.Slots({len(self.names)});"]
        if self.is_nested:
            return [f"const s = $.shared, at = s.open({len(self.names)});"]
        return ["const s = $.fixed;", *(f"s.u64[{self.index(name)}] = 0n;" for name in cleared)]


class Writer(Declarations):
    def __init__(self, api):
        super().__init__(api)
        self.js = []
        self.as_text = {}  # the getters of text that are also declared with a string as result

    # ---- Enums and constants.

    def enum(self, enum):
        name, values = self.names.enums[enum["name"]], {value["name"]: value for value in enum["values"]}
        members = self.names.members(enum)
        self.js.append(f"const {name} = $.enumeration({{")
        self.js += [f"    {member}: {values[c_name]['value']}," for c_name, member in members.items()]
        self.js += ["});", ""]
        self.doc(enum["doc"] or f"The values of {enum['name']}.", 0)
        self.type_line(f"export declare enum {name} {{")
        for c_name, member in members.items():
            if values[c_name]["doc"]:
                self.doc(values[c_name]["doc"], 4)
            self.type_line(f"{member} = {values[c_name]['value']},", 4)
        self.type_line("}")
        self.type_line()

    def constant(self, name, value):
        text = f"Object.freeze({value!r})" if isinstance(value, list) else repr(value)
        self.js.append(f"const {name} = {text};")
        kind = "string" if isinstance(value, str) else "number"
        if isinstance(value, list):
            kind = f"readonly {'string' if isinstance(value[0], str) else 'number'}[]"
        self.type_line(f"export declare const {name}: {kind};")

    # ---- Callbacks.

    def koffi_type(self, c_type):
        if c_type == "const char *":
            return "str"  # also takes an array and null; faster for strings than void *
        if "*" in c_type or c_type.endswith("_fn"):
            return "void *"
        if c_type.startswith("enum ") or c_type == "netlib_status":
            return "int32_t"
        return c_type

    def result_type_of(self, call):
        c_type = call.item["returns"]["type"]
        return "void *" if "*" in c_type else self.koffi_type(c_type)

    def callback(self, item):
        """The function that C calls. An exception in it is a failure for C, and is thrown after the outer call."""
        name, decision = item["name"], callback_decision(item)
        if name == "netlib_ctx_free_fn":
            return
        params = [camel(param["name"]) for param in item["params"] if param["kind"] != "ctx" and param is not decision]
        types = ", ".join("'void *'" if "*" in param["type"] else f"'{self.koffi_type(param['type'])}'" for param in item["params"])
        convert = []
        for param in callback_inputs(item):
            at, length = camel(param["name"]), camel(param.get("length") or "")
            convert.append({
                "buffer": f"Buffer.alloc({length})", "bytes": f"$.bytes({at}, {length})",
                "text": f"$.text({at}, {length})" if length else f"$.text({at})",
                "handle": at,
            }.get(param["kind"], at))  # fmt: skip
        at = [param["name"] for param in item["params"]].index(decision["name"]) if decision else "null"
        self.js.append(f"const on_{name.removeprefix('netlib_')} = $.callback('{name}', [{types}], {at},")
        self.js.append(f"    ({', '.join(['call', *params])}) => {{")
        lines, outputs, enum = [], callback_outputs(item), decision["enum"] if decision else None
        handles = [param for param in callback_inputs(item) if param["kind"] == "handle"]
        buffers = [param for param in callback_inputs(item) if param["kind"] == "buffer"]
        for at, param in enumerate(callback_inputs(item)):
            if param in buffers:
                lines.append(f"const given_{camel(param['name'])} = {convert[at]};")
                convert[at] = f"given_{camel(param['name'])}"
        called = f"call({', '.join(convert)})"
        for param in handles:
            at, cls = camel(param["name"]), self.names.classes[param["handle"]]
            called = f"$.lend({cls}, {at}, ({at}) => {called})"
        lines.append(f"const result = {called};")
        if enum == "netlib_outcome":
            lines.append("return Outcome.DONE;")
        elif enum and outputs and "handle" not in outputs[0]:
            lines.append("const [member, ...values] = Array.isArray(result) ? result : [result];")
            for at, output in enumerate(outputs):
                kind = pointed(output["type"])
                value = f"$.{NUMBERS[kind]}('result[{at + 1}]', values[{at}])"
                lines.append(f"if (values.length > {at}) $.koffi.encode({camel(output['name'])}, '{kind}', {value});")
            lines.append(f"return $.member({self.names.enums[enum]}, member);")
        elif enum:
            for output in outputs:
                lines += [
                    f"if (result instanceof {self.names.classes[output['handle']]}) {{",
                    f"    $.koffi.encode({camel(output['name'])}, 'void *', $.give(result.clone()));",
                    f"    return {self.names.enums[enum]}.ALLOW;",
                    "}",
                ]
            lines.append(f"return $.member({self.names.enums[enum]}, result);")
        elif outputs and outputs[0]["kind"] == "length":
            lines.append("if (result !== null && typeof result === 'object') return $.member(Status, result.status);")
            if buffers:
                length = camel(buffers[0]["length"])
                lines.append(f"$.copyTo({camel(buffers[0]['name'])}, given_{camel(buffers[0]['name'])}, result, {length});")
            lines += [f"$.koffi.encode({camel(outputs[0]['name'])}, 'size_t', $.size('result', result));", "return 0;"]
        elif outputs:
            kind = pointed(outputs[0]["type"])
            value = "$.truth('result', result)" if outputs[0]["kind"] == "truth_value" else f"$.{NUMBERS[kind]}('result', result)"
            lines += [f"$.koffi.encode({camel(outputs[0]['name'])}, '{kind}', {value});", "return 0;"]
        else:
            lines.append("return 0;")
        if not any(re.search(r"\bresult\b", line) for line in lines if not line.startswith("const result")):
            lines = [line.removeprefix("const result = ") for line in lines]
        self.js += ["        " + line for line in lines] + ["    });", ""]

    # ---- Functions.

    def function(self, call, is_promise):
        indent = 4 if call.owner else 0
        self.declare(call, is_promise, indent)
        inputs, required = self.parameters(call)
        names = [parameter(value) + (" = null" if at >= required else "") for at, value in enumerate(inputs)]
        name = method_name(call, is_promise)
        start = "async " if is_promise else ""
        if not call.owner:
            start += "function "
        elif not call.is_member and name != "constructor":
            start = "static " + start
        callbacks = sorted(set(call.item["callbacks"]) - {"netlib_ctx_free_fn"})
        lines, passed, slots, handles = [], [], Slots(is_promise, callbacks), []
        if call.is_member:
            handles.append("this")
        if name == "constructor":
            names = names or ["unmade"]
            lines += ["super();", f"if ({names[0].split(' = ')[0]} === $.UNMADE) return;"]
        if is_promise and any(value.name == "limit" for value in call.inputs):
            lines.append("limit = $.limitOf(limit, true);")
        if any(argument.role == "ctx" for argument in call.arguments):
            callbacks = [value for value in call.inputs if value.kind == "callback"]
            checked = [f"{value.callback}: $.fn('{parameter(value)}', {parameter(value)}, {str(value.nullable).lower()})" for value in callbacks]
            has_ctx = [value for value in call.inputs if value.kind == "ctx"]
            lines.append(f"const held = {{ {', '.join(checked)} }};" if not has_ctx else "const held = value;")
        self.lent = [value for value in call.inputs if call.lends(value)]
        # Conversions of values may run code of the application, such as getters, which could close a handle. Therefore,
        # handles are converted last, and the object itself after all others.
        conversions = []
        for argument in call.arguments:
            made = []
            self.argument(argument, is_promise, made, passed, slots, handles)
            conversions.append((self.conversion_order(argument), made))
        lines += [line for _, made in sorted(conversions, key=lambda conversion: conversion[0]) for line in made]
        if call.is_member:
            lines.append("const me = $.pointer(this);")
        if any(argument.role == "ctx" or argument.input and argument.input.kind == "ctx" for argument in call.arguments):
            value = "value" if any(value.kind == "ctx" for value in call.inputs) else "held"
            lines = [line for line in lines if not line.startswith("const held = value")]
            lines.append("const ctx = $.hold(value);" if value == "value" else "const ctx = $.holdCallbacks(held);")
        if slots.names:
            inouts = [argument for argument in call.arguments if argument.role == "inout"]
            # A result that is not an error may leave outputs as they are.
            lines += slots.declare(slots.names if call.progress else ["err"] if call.fails else [])
            for argument in inouts:
                lines.append(f"{slots.get(argument.c_name, 'u64')} = c_{parameter(argument.input)};")
        body = self.call_lines(call, name, is_promise, passed, slots, handles, callbacks)
        if slots.names and slots.is_nested:
            lines += ["try {"] + ["    " + line for line in body] + ["} finally {", "    s.close(at);", "}"]
        else:
            lines += body
        pad = " " * indent
        self.js.append(f"{pad}{start}{name}({', '.join(names)}) {{")
        self.js += [f"{pad}    {line}" for line in lines]
        self.js += [pad + "}", ""]

    @staticmethod
    def conversion_order(argument):
        value = argument.input
        if value is None or value.kind != "handle":
            # Arrays run code of the application while they are converted. Plain values run none.
            return 0 if value is not None and value.kind == "array" else 1
        # An error may be an object with a getter, and a limit an AbortSignal.
        return {"netlib_error": 2, "netlib_limit": 3}.get(value.handle, 4)

    def call_lines(self, call, name, is_promise, passed, slots, handles, callbacks):
        target = f"{call.c_name}({', '.join(passed)})"
        # The objects whose callbacks the handle that the call makes or changes may invoke.
        sources = handles + ["ctx"] * any(argument.role == "ctx" for argument in call.arguments)
        if is_promise:
            target = f"await $.onThread({call.c_name}, [{', '.join(passed)}], [{', '.join(handles)}])"
        elif callbacks:
            target = f"$.outer({call.c_name}, [{', '.join(passed)}], [{', '.join(handles)}])"
        lines = []
        if call.fails:
            progress = "".join(f", Status.{status.removeprefix('NETLIB_')}" for status in call.progress)
            lines.append(f"const {'[got_status, thrown]' if is_promise else 'got_status'} = {target};")
            error = slots.get("err", "u64")
            raised = "thrown" if is_promise else "$.take()" if callbacks else "null"
            lines.append(f"if (got_status !== 0{' || $.hasRaised()' if callbacks and not is_promise else ''}) $.check(got_status, {error}, [{progress[2:]}], {raised}, [{', '.join(handles)}]);")
        elif any(output.name == "return" for output in call.outputs):
            lines.append(f"const {'[got_result]' if is_promise else 'got_result'} = {target};")
        else:
            lines.append(f"{target};")
        if callbacks and not call.fails:
            lines.append("$.raise();")
        changes = call.is_setter or call.is_member and call.name.startswith("set_")
        if call.name == "set_limit":
            lines.append("$.follow(this, limit);")
        elif changes and (gained := [source for source in sources if source != "this"]):
            lines.append(f"$.inherit(this, [{', '.join(gained)}]);")
        if call.is_setter:
            return lines + ["this.check();", "return this;"]
        if self.is_text_getter(call, is_promise):
            return self.text_getter(call, passed, slots)
        results = [(self.result_name(output), self.result(output, call, slots, sources)) for output in call.outputs]
        if name == "constructor":
            output = call.outputs[0]
            made = "got_result" if output.name == "return" else slots.get(output.name, "u64")
            return lines + [f"$.adopt(this, {made}{', null, [' + ', '.join(sources) + ']' if sources else ''});"]
        if call.progress:
            results.insert(0, ("status", "got_status"))
        if len(results) == 1:
            lines.append(f"return {results[0][1]};")
        elif results:
            lines.append("return { " + ", ".join(f"{key}: {value}" if key != value else key for key, value in results) + " };")
        return lines

    def is_text_getter(self, call, is_promise):
        """True for a getter whose only result is borrowed text."""
        output = call.outputs[0] if len(call.outputs) == 1 else None
        is_plain = not (is_promise or call.fails or set(call.item["callbacks"]) - {"netlib_ctx_free_fn"})
        return is_plain and call.is_member and output and output.name == "return" and output.kind == "text" and output.length and not call.blocks and call.c_name not in AS_BYTES

    def text_getter(self, call, passed, slots):
        """A conversion by koffi, which is fast, or, if that could lose bytes, by the package."""
        name, values = call.c_name, ", ".join(passed)
        self.as_text[name] = f"text_of_{name.removeprefix('netlib_')}"
        length = call.outputs[0].length
        return [
            f"const got_text = {self.as_text[name]}({values});",
            f"if ($.isExact(got_text, {slots.get(length, 'u32')})) return got_text;",
            f"const got_result = {name}({values});",
            f"return $.text(got_result, {slots.get(length, 'u64')});",
        ]

    def argument(self, argument, is_promise, lines, passed, slots, handles):
        """Adds the C value of one parameter, and the lines that make it."""
        role, value = argument.role, argument.input
        if role == "self":
            passed.append("me")
        elif role == "ctx":
            passed.append("ctx")
        elif role == "ctx_free" or (value and value.kind == "ctx_free"):
            passed.append("$.ctxFree(ctx)")
        elif role in ("output", "length_out", "error", "inout"):
            address = slots.add(argument.c_name)
            if role == "inout":
                # An invalid number throws before the call takes slots.
                given, kind = parameter(value), pointed(argument.c_type)
                lines.append(f"const c_{given} = BigInt({given} === null ? 0 : $.{NUMBERS[kind]}('{given}', {given}));")
            if role == "inout" and value.nullable:
                address = f"{parameter(value)} === null ? null : {address}"
            passed.append(address)
        elif role == "length":
            name = f"c_{parameter(value)}"
            passed.append(f"$.byteLength({name})" if self.is_input(value, is_promise) else f"{name}.length")
        elif value.kind == "ctx":
            passed.append("ctx")
        else:
            is_block = self.is_block(value) and not self.is_input(value, is_promise)
            lines.append(f"const c_{parameter(value)} = {self.convert(value, is_promise)};")
            passed.append(f"c_{parameter(value)}" + (".pointer" if is_block else ""))
            if value.kind == "handle":
                handles.append(parameter(value))

    @staticmethod
    def is_block(value):
        return value.kind in ("text", "bytes", "buffer", "array") and (value.has_length or value.kind != "text")

    def is_input(self, value, is_promise):
        """True for text and bytes that only a call on this thread reads."""
        return not is_promise and value.kind in ("text", "bytes") and value.has_length and value not in self.lent

    def convert(self, value, is_promise):
        name, kind = parameter(value), value.kind
        optional = str(bool(value.nullable)).lower()
        if kind == "handle":
            cls = self.names.classes[value.handle]
            if value.handle == "netlib_limit":
                return f"$.limitPointer({name})"
            if value.handle == "netlib_error":
                return f"$.errorPointer('{name}', {name}, {optional})"
            return f"$.argument('{name}', {name}, {cls}, {optional})"
        if self.is_input(value, is_promise):
            return f"$.input('{name}', {name}, {optional})"
        if kind == "text" and not value.has_length and not is_promise:
            return f"$.inputText('{name}', {name}, {optional})"
        if kind == "text":
            return f"$.{'dataOf' if value.has_length else 'cText'}('{name}', {name}, {optional})"
        if kind == "bytes":
            return f"$.dataOf('{name}', {name}, {optional})"
        if kind == "buffer":
            return f"$.bufferOf('{name}', {name})"
        if kind == "array":
            element = value.element.removeprefix("const ").strip()
            return "$." + {
                "netlib_header_field": "fieldsOf", "netlib_slice": "slicesOf", "int32_t": "integersOf",
            }.get(element, "textsOf") + f"('{name}', {name})"  # fmt: skip
        if kind == "callback":
            on = f"on_{value.callback.removeprefix('netlib_')}"
            return f"{name} === null ? null : {on}" if value.nullable else on
        if kind == "truth_value":
            return f"$.truth('{name}', {name})"
        if kind == "seconds":
            return f"$.seconds{'Pointer' if value.is_pointer else ''}('{name}', {name})"
        c_type = "int32_t" if value.c_type.startswith("enum ") else value.c_type
        return f"$.{NUMBERS[c_type]}('{name}', {name})"

    def result(self, output, call, slots, sources):
        kind = output.kind
        is_return = output.name == "return"
        pointer = "got_result" if is_return else slots.get(output.name, "u64")
        length = f", {slots.get(output.length, 'u64')}" if output.length else ""
        if kind == "handle":
            cls = self.names.classes[output.handle]
            keep = [parameter(value) for value in call.inputs if value.name in output.borrowed_from]
            if call.is_member and call.arguments[0].c_name in output.borrowed_from:
                keep.append("this")
            inherited = f", [{', '.join(sources)}]" if sources else ""
            if output.is_owned:
                return f"$.own({cls}, {pointer}{inherited})"
            if output.clone:
                return f"$.own({cls}, {output.clone}({pointer}){inherited})"
            return f"$.borrow({cls}, {pointer}, [{', '.join(keep)}]{inherited})"
        if kind == "text":
            return f"$.{'bytes' if call.c_name in AS_BYTES else 'text'}({pointer}{length})"
        if kind == "bytes":
            into = [value for value in call.inputs if value.kind in ("bytes", "buffer") and value.name in output.borrowed_from]
            return f"$.partOf(c_{parameter(into[0])}, {pointer}{length})" if into else f"$.bytes({pointer}{length})"
        if kind == "array":
            return f"$.{'texts' if 'char' in output.element else 'integers'}({pointer}{length})"
        if kind == "ctx":
            return f"$.heldValue({pointer})"
        kinds = {"double": "f64", "size_t": "u64", "int64_t": "i64", "uint64_t": "u64"}
        store = kinds.get(output.c_type, "i32")
        value = "got_result" if is_return else slots.get(output.name, store)
        if kind == "truth_value":
            return f"{value} === 1"
        if kind == "descriptor" and output.is_owned:
            owned = f"$.ownDescriptor({value})"
            return f"got_status === 0 ? {owned} : -1" if call.progress else owned
        if store in ("u64", "i64"):
            return f"$.number({value})"
        return value

    # ---- The module.

    def module(self):
        api, names = self.api, self.names
        for enum in api.enums.values():
            self.enum(enum)
        for name, value in names.constants.items():
            self.constant(name, value)
        self.js.append("")
        self.type_line()
        for handle, item in api.handles.items():
            cls = names.classes[handle]
            self.js.append(f"class {cls} extends $.Handle {{")
            self.doc(item.get("doc") or f"A handle of the type {handle}.", 0)
            self.type_line(f"export declare class {cls} extends Handle {{")
            for call in api.class_calls(handle):
                if not call.c_name.endswith("_free"):
                    self.variants(call)
            self.js += ["}", f"$.describe({cls}, {item['free']}, {str(item['threads'] == 'one call at a time').lower()});", ""]
            self.type_line("}")
            self.type_line()
        self.callback_types()
        for call in api.calls:
            if not call.owner:
                self.variants(call)
        for item in api.callbacks.values():
            self.callback(item)
        exported = [*names.enums.values(), *names.classes.values(), *names.constants]
        for call in api.calls:
            if not call.owner:
                exported.append(method_name(call))
                if call.blocks and call.c_name not in BY_EVENT_LOOP:
                    exported.append(method_name(call, True))
        exported = sorted(set(exported))
        self.js.append("module.exports = {")
        self.js += [f"    {name}," for name in exported] + ["};"]
        natural = {method_name(call, True) for call in api.calls if call.c_name in BY_EVENT_LOOP and not call.owner}
        return sorted({*exported, *natural, *EXCEPTIONS, *OTHER_EXPORTS})

    def variants(self, call):
        if call.blocks and call.c_name not in BY_EVENT_LOOP:
            self.function(call, True)
        self.function(call, False)

    def write(self, directory):
        exported = self.module()
        table = [
            f"    {call.c_name}: ['{self.result_type_of(call)}', ["
            + ", ".join(f"'{self.koffi_type(param['type'])}'" for param in call.item["params"])
            + "]],"
            for call in self.api.calls
        ]
        types = {call.c_name: [self.koffi_type(param["type"]) for param in call.item["params"]] for call in self.api.calls}
        texts = [f"    {name}: {types[name]}," for name in self.as_text]
        names = [f"    {call.c_name}," for call in self.api.calls]
        names_of_texts = [f"    {name}: {text}," for name, text in self.as_text.items()]
        # Variables are faster than the properties of a large object.
        code = "\n".join(self.js)
        helpers = sorted(set(re.findall(r"\$\.(\w+)", code)))
        code = re.sub(r"\$\.(\w+)", r"$\1", code)
        parts = {"HELPERS": [f"    {name}: ${name}," for name in helpers], "TABLE": table, "NAMES_OF_TEXTS": names_of_texts, "NAMES": names, "TEXTS": texts}
        head = HEAD.replace("VERSION_TEXT", self.api.version)
        for part, lines in parts.items():
            head = head.replace(part, "\n".join(lines))
        (directory / "lib").mkdir(parents=True, exist_ok=True)
        (directory / "lib/api.cjs").write_text(head + code + "\n", encoding="utf-8")
        names = [f"    {name}: '{js}'," for name, js in self.names.js.items() if name.startswith("netlib_")]
        (directory / "lib/names.cjs").write_text(NAMES.replace("TABLE", "\n".join(names)), encoding="utf-8")
        module = ["// The names that ES modules import. bindings/node/generate.py writes this file.",
                  "import netlib from './index.cjs';", "", "export const {", *(f"    {name}," for name in exported),
                  "} = netlib;", "export default netlib;", ""]  # fmt: skip
        (directory / "index.mjs").write_text("\n".join(module), encoding="utf-8")
        natural = (HERE / "types.d.ts").read_text(encoding="utf-8")
        (directory / "index.d.cts").write_text(natural + "\n" + "\n".join(self.types) + "\n", encoding="utf-8")
        (directory / "index.d.mts").write_text(
            "import * as netlib from './index.cjs';\nexport * from './index.cjs';\nexport default netlib;\n", encoding="utf-8"
        )


NAMES = """\
'use strict';
// The JavaScript names of the functions and types of netlib.h. bindings/node/generate.py writes this file.

module.exports = {
TABLE
};
"""

HEAD = """\
'use strict';
// The functions of netlib.h. bindings/node/generate.py writes this file from netlib.api.json.

const runtime = require('./runtime.cjs');

const {
HELPERS
} = runtime;

const {
NAMES
} = runtime.declare('VERSION_TEXT', {
TABLE
});

const {
NAMES_OF_TEXTS
} = runtime.declareText({
TEXTS
});

"""


def main():
    Writer(Api(*sys.argv[2:3])).write(Path(sys.argv[1]))


if __name__ == "__main__":
    main()
