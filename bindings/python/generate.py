"""Writes the generated layer of the Python package: netlib/_api.py with the enums, the constants, a class for each
handle, and every function of netlib.h, and netlib/_names.py with the names of the functions.

usage: generate.py DIRECTORY [netlib.api.json]
"""

import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from model import Api, callback_decision, callback_inputs, callback_outputs, pointed
from names import Names, callback_name, docstring, python_name, safe, with_lengths

# A function that keeps its limit for a getter gets a limit of its own instead of the default limit of all calls.
KEEPS_LIMIT = "netlib_attempts_new"
# The classes of netlib/_natural.py, which contain the methods written by hand.
NATURAL = {
    "netlib_bytes": "BytesMethods",
    "netlib_error": "ErrorMethods",
    "netlib_headers": "HeadersMethods",
    "netlib_query": "QueryMethods",
    "netlib_stream": "StreamMethods",
    "netlib_url": "UrlMethods",
}

# Text that is data for the network, or that may be any bytes.
AS_BYTES = {"netlib_bytes_data", "netlib_headers_to_wire", "netlib_request_to_wire"}

# Texts that mention functions of C.
MENTIONS_C = {"netlib_error_message", "netlib_error_advice", "netlib_error_report"}

# Child limits need no entry, because a child has the interrupt check of its parent.
INTERRUPTIBLE = {"netlib_limit_new": "netlib_limit_new_interruptible"}

INTEGERS = re.compile(r"u?int\d+_t|int|size_t|netlib_status")


class Writer:
    def __init__(self, api):
        self.api, self.names, self.lines, self.types = api, Names(api), [], {}
        values = [value for enum in api.data["enums"] for value in enum["values"]]
        self.constant_docs = {item["name"]: item["doc"] for item in [*values, *api.data["macros"]]}

    def line(self, text="", indent=0):
        self.lines.append(" " * indent + text if text else "")

    def doc(self, text, indent):
        for line in docstring(text, indent):
            self.line(line, indent)

    def pointer_type(self, c_type):
        """The name of a constant with the C type of a variable."""
        c_type = c_type.replace("const ", "") if c_type.count("*") == 2 and "char" not in c_type else c_type
        name = "_" + re.sub(r"\W+", "_", c_type.replace("*", "p")).strip("_").upper()
        self.types[name] = c_type
        return name

    # ---- Enums and constants.

    def enum(self, enum):
        self.line(f"class {self.names.enums[enum['name']]}({'Flags' if enum['bits'] else 'Enum'}):")
        self.doc(self.names.text(enum["doc"]) or "An enum.", 4)
        values = {value["name"]: value for value in enum["values"]}
        for c_name, member in self.names.members(enum).items():
            self.line()
            self.line(f"{member} = {values[c_name]['value']}", 4)
            if values[c_name]["doc"]:
                self.doc(self.names.text(values[c_name]["doc"]), 4)
        self.line()
        self.line()

    # ---- The types of inputs and outputs in Python.

    def input_type(self, value, call):
        kinds = {
            "text": "Text" if value.has_length else "str",
            "bytes": "Data", "buffer": "WritableData", "truth_value": "bool", "seconds": "Seconds",
            "descriptor": "Descriptor", "ctx": "object",
        }  # fmt: skip
        if value.kind == "handle":
            name = "Error | ErrorInfo" if value.handle == "netlib_error" else self.names.classes[value.handle]
        elif value.kind in ("enum", "bits"):
            name = self.names.enums[value.enum] + (" | int" if value.kind == "bits" else "")
        elif value.kind == "array":
            name = {"const char *": "Iterable[str]", "int32_t": "Iterable[int]", "netlib_header_field": "Fields"}.get(
                value.element.strip(), "Iterable[Data]" if value.element.endswith("slice") else "Iterable[str]"
            )
        elif value.kind == "callback":
            name = callback_name(value.callback)
        elif self.is_path(value, call):
            name = "Path"
        elif value.kind == "status":
            name = "Status | int"
        elif value.kind in kinds:
            name = kinds[value.kind]
        else:
            name = "float" if pointed(value.c_type) == "double" else "int"
        return name + " | None" if self.may_be_none(value, call) and name not in ("Seconds", "object") else name

    @staticmethod
    def is_path(value, call):
        return call.owner == "netlib_tls_options" and value.kind == "text" and value.name.endswith("path")

    @staticmethod
    def may_be_none(value, _call):
        return value.nullable

    def output_type(self, output, call):
        kinds = {"bytes": "bytes", "truth_value": "bool", "seconds": "float", "ctx": "object", "status": "Status"}
        kind = output.kind
        if kind == "handle":
            name = self.names.classes[output.handle]
        elif kind == "text":
            name = "bytes" if call.c_name in AS_BYTES else "str"
        elif kind in ("enum", "bits"):
            name = self.names.enums[output.enum]
        elif kind == "array":
            name = "list[str]" if "char" in output.element else "list[int]"
        elif kind == "descriptor":
            name = "socket.socket" if output.is_owned else "int"
        elif kind == "bytes" and self.points_into(output, call):
            name = "memoryview"
        elif kind in kinds:
            name = kinds[kind]
        else:
            name = "float" if output.c_type == "double" else "int"
        return name + " | None" if self.is_optional(output, call) else name

    @staticmethod
    def points_into(output, call):
        """The input of bytes into which a borrowed output points."""
        found = (item for item in call.inputs if item.kind in ("bytes", "buffer") and item.name in output.borrowed_from)
        return next(found, None)

    def is_optional(self, output, call):
        kind = output.kind
        if kind not in ("handle", "text", "bytes", "descriptor"):
            return False
        if output.kind == "descriptor" and not output.is_owned:
            return False
        if call.progress:
            return True
        if output.name != "return":
            return output.nullable
        if output.is_owned:
            return False
        same = re.search(r"\b(?:as|what) `(netlib_\w+)`", call.doc)
        if same:
            other = next((item for item in self.api.calls if item.c_name == same[1]), None)
            if other and other.outputs and other.outputs[0].kind == kind and other is not call:
                return self.is_optional(other.outputs[0], other)
        # Getters return NULL for a NULL handle, which a Python object never has.
        text = " ".join(filter(None, [call.doc, call.item["returns"]["doc"]])).replace("\n", " ")
        text = re.sub(r"NULL( when memory is short)?( and)? for NULL\b|NULL when memory is short|for NULL\b", "", text)
        text = text.replace("or memory is short", "")
        return output.nullable and (
            "NULL" in text or any(value.kind == "index" or value.name == "n" for value in call.inputs)
        )

    def callback_alias(self, item):
        """The type of a callback, with its comment."""

        def union(name):
            # Python 3.9 does not evaluate "|" of types.
            return f"Union[{name.replace(' | ', ', ')}]" if " | " in name else name

        arguments = [union(self.callback_argument(param)[0]) for param in callback_inputs(item)]
        result = union(self.callback_result(item))
        self.line(f"{callback_name(item['name'])} = Callable[[{', '.join(arguments)}], {result}]")
        lines = [f"{safe(param['name'])}: {self.names.of(param)}" for param in callback_inputs(item) if param["doc"]]
        results = [*filter(None, [callback_decision(item)]), *callback_outputs(item)]
        lines += [f"Result: {self.names.of(param)}" for param in results if param["doc"]]
        text = re.sub(r"^Stores (.*?)( in `value`)?(?=\.)", r"Returns \1", self.names.text(item["doc"]))
        text = "\n\n".join(filter(None, [text, "\n".join(lines)]))
        self.doc(with_lengths(text, item["params"]), 0)
        self.line()

    def callback_argument(self, param):
        """The Python type of an argument of a callback, and the expression that makes it."""
        name, kind = param["name"], param["kind"]
        if kind == "buffer":
            return "memoryview", f"memoryview(ffi.buffer({name}, {param['length']}))"
        if kind == "bytes":
            return "bytes", f"ffi.unpack(ffi.cast(_CHAR_P, {name}), {param['length']})"
        if kind == "text":
            text = f"{name}, {param['length']}" if param.get("length") else name
            return ("str | None", f"to_optional_text({text})") if param["nullable"] else ("str", f"to_text({text})")
        if kind == "handle":
            return self.names.classes[param["handle"]], f"{self.names.classes[param['handle']]}._borrow({name})"
        if kind in ("enum", "bits"):
            return self.names.enums[param["enum"]], f"{self.names.enums[param['enum']]}({name})"
        return ("float" if param["type"] == "double" else "int"), name

    def callback_result(self, item):
        outputs = callback_outputs(item)
        decision = callback_decision(item)
        if decision and decision["enum"] == "netlib_outcome":
            return "None"
        if decision:
            name = self.names.enums[decision["enum"]]
            if outputs and "handle" not in outputs[0]:
                values = ["float" if output["type"] == "double *" else "int" for output in outputs]
                return f"{name} | tuple[{', '.join([name, *values])}]"
            return " | ".join([name] + [self.names.classes[output["handle"]] for output in outputs])
        if not outputs:
            return "None"
        kind = outputs[0]["kind"]
        if kind == "length":
            return "int"
        return {"truth_value": "bool"}.get(kind, "float" if outputs[0]["type"] == "double *" else "int")

    def callback(self, item):
        """The function that C calls. After an exception, the function stores no decision or returns -1, and the outer
        call raises the exception."""
        name, decision = item["name"], callback_decision(item)
        if name == "netlib_ctx_free_fn":
            return
        params = [param["name"] for param in item["params"]]
        arguments = ", ".join(self.callback_argument(param)[1] for param in callback_inputs(item))
        outputs = callback_outputs(item)
        self.line(f'@callback("{name}", {None if decision else -1})')
        result_type = "None" if decision else "int"
        given = ", ".join(f"{param}: Any" for param in params)
        self.line(f"def _on_{name.removeprefix('netlib_')}({given}) -> {result_type}:")
        # The callback must not use handles and buffers after it has returned.
        lent = [param for param in callback_inputs(item) if param["kind"] in ("handle", "buffer")]
        for param in lent:
            made = self.callback_argument(param)[1]
            arguments = arguments.replace(made, f"{param['name']}_h")
            self.line(f"with {made} as {param['name']}_h:", 4)
        is_outcome = decision and decision["enum"] == "netlib_outcome"
        is_used = outputs or (decision and not is_outcome)
        self.line(f'{"result = " if is_used else ""}held(ctx, "{name}")({arguments})', 8 if lent else 4)
        if is_outcome:
            self.line(f"{decision['name']}[0] = 1", 4)
        elif decision:
            values = [output["name"] for output in outputs if "handle" not in output]
            if values:
                self.line("if isinstance(result, tuple):", 4)
                self.line(f"result, {', '.join(f'{value}[0]' for value in values)} = result", 8)
            for output in outputs if not values else []:
                cls = self.names.classes[output["handle"]]
                self.line(f"if isinstance(result, {cls}):", 4)
                self.line(f"{output['name']}[0] = give(result.clone())", 8)
                self.line(f"result = {self.names.enums[decision['enum']]}.ALLOW", 8)
            self.line(f"{decision['name']}[0] = expect({self.names.enums[decision['enum']]}, result)", 4)
        elif outputs and outputs[0]["kind"] == "length":
            self.line("if isinstance(result, Status):", 4)
            self.line("return result", 8)
            self.line(f"{outputs[0]['name']}[0] = result", 4)
            self.line("return 0", 4)
        elif outputs:
            value = "truth(result)" if outputs[0]["kind"] == "truth_value" else "result"
            self.line(f"{outputs[0]['name']}[0] = {value}", 4)
            self.line("return 0", 4)
        else:
            self.line("return 0", 4)
        self.line()
        self.line()

    # ---- Functions.

    def parameters(self, call):
        """The parameters in Python. The last parameters have a default if they may be absent."""
        inputs = [value for value in call.inputs if value.kind != "ctx_free"]
        optional = len(inputs)
        while optional and self.has_default(inputs[optional - 1], call):
            optional -= 1
        return [
            f"{self.parameter(value)}: {self.input_type(value, call)}" + (" = None" if at >= optional else "")
            for at, value in enumerate(inputs)
        ]

    def has_default(self, value, call):
        return self.may_be_none(value, call) or value.is_pointer

    @staticmethod
    def parameter(value):
        if value.kind == "ctx":
            return "value"
        return safe(value.name)

    def function(self, call, indent):
        api, is_static = self.api, call.owner and not call.is_member
        is_init = python_name(call) == "__init__"
        results = [(output, self.output_type(output, call)) for output in call.outputs]
        if call.c_name == "netlib_error_status":
            results = [(results[0][0], "Status")]
        types = [kind for _, kind in results]
        if call.progress:
            types.insert(0, "Status")
        returns = "None" if not types or is_init else types[0] if len(types) == 1 else f"tuple[{', '.join(types)}]"
        if call.is_setter:
            returns = "Self"
        parameters = self.parameters(call)
        if is_static and not is_init:
            self.line("@staticmethod", indent)
        elif call.owner:
            parameters.insert(0, "self")
        head = f"def {python_name(call)}({', '.join(parameters)}) -> {returns}:"
        self.line(head, indent)
        self.doc(self.documentation(call), indent + 4)
        at = indent + 4
        has_lock = call.is_member and api.handles[call.owner]["threads"] == "one call at a time"
        if has_lock:
            self.line("with self._lock:", at)
            at += 4
        self.body(call, at, results, is_init)
        self.line()
        if not call.owner:
            self.line()

    def documentation(self, call):
        returns = call.item["returns"]
        is_truth = returns["kind"] == "truth_value" or (
            call.is_setter and call.inputs[:1] and call.inputs[0].kind == "truth_value"
        )
        parts = [self.names.truth(call.doc) if is_truth else self.names.text(call.doc)]
        text = self.names.of
        named = [(self.parameter(value), text(vars(value))) for value in call.inputs if value.kind != "ctx_free"]
        named += [(output.name, text(vars(output))) for output in call.new_outputs if output.name != "return"]
        parts.append("\n".join(f"{name}: {doc}" for name, doc in named if doc))
        result = self.names.truth(returns["doc"]) if is_truth else self.names.text(returns["doc"])
        if call.fails and not call.progress:
            result = re.sub(r"^`Status\.OK`[;,]? *", "", result)
        parts.append(result and ("Fails with: " if call.fails else "Result: ") + result)
        waits = self.names.text(call.item["blocks"])
        parts.append(waits and f"Waits {waits}")
        deprecated = self.names.text(call.item["deprecated"])
        parts.append(deprecated and f"Deprecated: {deprecated}")
        return with_lengths("\n\n".join(part for part in parts if part), call.item["params"])

    def body(self, call, at, results, is_init):
        passed, keep, has_ctx = [], [], any(argument.role == "ctx" for argument in call.arguments)
        if call.is_member:
            self.line("me = self._ptr or self._closed()", at)
        for argument in call.arguments:
            self.argument(argument, call, at, passed, keep)
        if has_ctx:
            names = [value for value in call.inputs if value.kind == "callback"]
            functions = ", ".join(f'"{value.callback}": {self.parameter(value)}' for value in names)
            self.line(f"ctx_c, ctx_free_c = hold({{{functions}}})", at)
        # A call that raises an exception first releases its buffers: see `release`.
        buffers = [f"{self.parameter(value)}_c" for value in call.inputs if value.kind in ("bytes", "buffer")]
        buffers += [f"_{self.parameter(value)}_keep" for value in call.inputs if value.kind == "array"]
        function = INTERRUPTIBLE.get(call.c_name)
        target = f"lib.{call.c_name}({', '.join(passed)})"
        if function:
            # The interrupt check of a limit also applies to its children.
            inner = ", ".join([*passed[:-2], "_on_interrupt_fn", "NULL", "NULL", *passed[-2:]])
            target = f"{target} if parent else lib.{function}({inner})"
        if call.fails:
            self.line(f"status = {target}", at)
            progress = [self.names.values[status] for status in call.progress]
            condition = "status" if not progress else f"status and status not in ({', '.join(progress)},)"
            self.line(f"if {condition}:", at)
            self.line(f"fail({', '.join(['status', 'err_c', *buffers])})", at + 4)
        elif any(output.name == "return" for output in call.outputs):
            self.line(f"result_c = {target}", at)
        else:
            self.line(target, at)
        reraise = f"reraise({', '.join(buffers)})"
        if call.is_setter:
            if buffers:
                self.line(f"release({', '.join(buffers)})", at)
            self.line("self.check()", at)
            self.line("return self", at)
            return
        values = []
        if call.progress:
            values.append("Status(status)")
        for output, _ in results:
            values.append(self.result(output, call, keep))
        callbacks = set(call.item["callbacks"]) - {"netlib_ctx_free_fn"}
        if is_init:
            output = results[0][0]
            variable = "result_c" if output.name == "return" else f"{output.name}_c[0]"
            self.line(f"self._adopt({variable}{self.kept(keep)})", at)
            if callbacks:
                self.line(reraise, at)
            return
        if not values:
            if callbacks:
                self.line(reraise, at)
            return
        expression = values[0] if len(values) == 1 else f"({', '.join(values)})"
        if callbacks:
            self.line(f"result = {expression}", at)
            self.line(reraise, at)
            self.line("return result", at)
        else:
            self.line(f"return {expression}", at)

    @staticmethod
    def kept(keep):
        return f", ({', '.join(keep)},)" if keep else ""

    def argument(self, argument, call, at, passed, keep):
        """Adds the C value of one parameter, and the lines that make it."""
        role, value, output = argument.role, argument.input, argument.output
        makes_handle = any(item.kind == "handle" and item.is_owned for item in call.outputs)
        if role == "self":
            passed.append("me")
        elif role in ("ctx", "ctx_free"):
            passed.append(f"{role}_c")
        elif role == "error":
            self.line(f"err_c = new({self.pointer_type('netlib_error **')})", at)
            passed.append("err_c")
        elif role == "length":
            passed.append(f"{self.parameter(value)}_n")
        elif role == "length_out":
            kind = self.pointer_type("size_t *")
            self.line(f"{argument.c_name}_c = new({kind})", at)
            passed.append(f"{argument.c_name}_c")
        elif role == "output":
            kind = self.pointer_type(argument.c_type)
            if output.kind == "descriptor":
                self.line(f"{output.name}_c = new({kind}, -1)", at)
            else:
                self.line(f"{output.name}_c = new({kind})", at)
            passed.append(f"{output.name}_c")
        elif role == "inout":
            name = self.parameter(value)
            absent = "NULL if {0} is None else " if value.nullable else ""
            self.line(f"{name}_c = {absent.format(name)}new({self.pointer_type(argument.c_type)}, {name})", at)
            passed.append(f"{name}_c")
        elif value.kind == "ctx_free":
            passed.append("ctx_free_c")
        else:
            self.convert(value, call, at)
            passed.append(f"{self.parameter(value)}_c" if value.kind != "ctx" else "ctx_c")
            if value.kind == "descriptor" and makes_handle:
                keep.append(self.parameter(value))

    def convert(self, value, call, at):
        name = self.parameter(value)
        c, kind, nullable = f"{name}_c", value.kind, self.may_be_none(value, call)
        if kind == "handle":
            if value.handle == "netlib_limit" and name == "limit":
                if call.c_name == KEEPS_LIMIT:
                    self.line(f"{name} = Limit(None) if {name} is None else {name}", at)
                self.line(f"{c} = limit_pointer({name})", at)
            elif value.handle == "netlib_error":
                self.line(f"{c} = error_pointer({name})", at)
            elif nullable:
                self.line(f"{c} = NULL if {name} is None else {name}._ptr or {name}._closed()", at)
            else:
                self.line(f"{c} = {name}._ptr or {name}._closed()", at)
        elif kind == "text" and value.has_length:
            function = "optional_data_text" if nullable else "data_text"
            self.line(f"{c}, {name}_n = {function}({name})", at)
        elif kind == "text":
            function = "optional_c_text" if nullable else "c_text"
            if self.is_path(value, call):
                function = function.replace("c_text", "c_path")
            self.line(f'{c} = {function}("{name}", {name})', at)
        elif kind == "bytes":
            function = "optional_data" if nullable else "data_bytes"
            self.line(f"{c}, {name}_n = {function}({name})", at)
        elif kind == "buffer":
            self.line(f"{c}, {name}_n = writable({name})", at)
        elif kind == "array":
            element = value.element.strip()
            function = {"netlib_header_field": "fields_array", "netlib_slice": "slices_array", "int32_t": "int_array"}
            keep = f"_{name}_keep"
            self.line(
                f"{c}, {name}_n, {keep} = {function.get(element.removeprefix('const '), 'text_array')}({name})", at
            )
        elif kind == "callback":
            absent = f"NULL if {name} is None else " if nullable else ""
            self.line(f"{c} = {absent}_on_{value.callback.removeprefix('netlib_')}", at)
        elif kind == "truth_value":
            self.line(f"{c} = truth({name})", at)
        elif kind == "seconds" and value.is_pointer:
            self.line(f"{c} = NULL if {name} is None else new({self.pointer_type('double *')}, {name})", at)
        elif kind == "seconds":
            self.line(f"{c} = seconds_or_none({name})", at)
        elif kind == "descriptor":
            self.line(f"{c} = to_descriptor({name})", at)
        elif kind == "ctx":
            self.line(f"ctx_c, ctx_free_c = hold({name})", at)
        else:
            self.line(f"{c} = {name}", at)

    def result(self, output, call, keep):
        kind = output.kind
        variable = "result_c" if output.name == "return" else f"{safe(output.name)}_c[0]"
        optional = self.is_optional(output, call)
        length = f", {output.length}_c[0]" if output.length else ""
        if kind == "handle":
            cls = self.names.classes[output.handle]
            if output.is_owned:
                made = f"{cls}._own({variable}{self.kept(keep)})"
            elif output.clone:
                made = f"{cls}._own(lib.{output.clone}({variable}))"
            else:
                lenders = [self.lender(name, call) for name in output.borrowed_from]
                made = f"{cls}._borrow({variable}{', ' + ', '.join(lenders) if lenders else ''})"
            return f"{made} if {variable} else None" if optional else made
        if kind == "text":
            function = "bytes" if call.c_name in AS_BYTES else "text"
            text = f"to_{'optional_' if optional else ''}{function}({variable}{length})"
            return f"in_python({text})" if call.c_name in MENTIONS_C else text
        if kind == "bytes":
            source = self.points_into(output, call)
            if source:
                name = self.parameter(source)
                return f"part_of({name}, {name}_c, {variable}{length})"
            return f"to_{'optional_' if optional else ''}bytes({variable}{length})"
        if kind == "truth_value":
            return f"bool({variable} == 1)"
        if kind in ("enum", "bits"):
            return f"{self.names.enums[output.enum]}({variable})"
        if kind == "status":
            return f"Status({variable})"
        if kind == "array":
            return f"array_of_{'texts' if 'char' in output.element else 'ints'}({variable}{length})"
        if kind == "descriptor" and output.is_owned:
            made = f"own_socket({variable})"
            return f"{made} if {variable} >= 0 else None" if optional else made
        if kind == "ctx":
            return f"held_value({variable})"
        argument = next(item for item in call.arguments if item.output is output) if output.name != "return" else None
        if argument and argument.role == "inout" and argument.input.nullable:
            name = self.parameter(argument.input)
            return f"int({variable}) if {name} is not None else 0"
        return f"{'float' if kind == 'seconds' or output.c_type == 'double' else 'int'}({variable})"

    @staticmethod
    def lender(name, call):
        """A value that keeps the memory of a lender alive."""
        if call.is_member and call.arguments[0].c_name == name:
            return "me, self._keep"
        return f"{safe(name)}_c, {safe(name)}"

    # ---- The module.

    def module(self):
        api, names = self.api, self.names
        for enum in api.enums.values():
            self.enum(enum)
        for c_name, (name, value) in names.constants.items():
            value = tuple(value) if isinstance(value, list) else value
            if name != "VERSION":
                self.constant(c_name, name, value)
        self.line()
        self.line()
        for handle, item in api.handles.items():
            base = f"_natural.{NATURAL[handle]}, Handle" if handle in NATURAL else "Handle"
            self.line(f"class {names.classes[handle]}({base}):")
            self.doc(self.names.text(item["doc"]), 4)
            self.line()
            self.line("__slots__ = ()", 4)
            self.line(f'_free = "{item["free"]}"', 4)
            if item["threads"] == "one call at a time":
                self.line("_has_lock = True", 4)
            self.line()
            calls = [call for call in api.class_calls(handle) if not call.c_name.endswith("_free")]
            for call in calls:
                self.function(call, 4)
            self.line()
        for call in api.calls:
            if not call.owner:
                self.function(call, 0)
        for item in api.callbacks.values():
            self.callback(item)
        callbacks = [item for item in api.callbacks.values() if item["name"] != "netlib_ctx_free_fn"]
        for item in callbacks:
            self.callback_alias(item)
        self.line()
        exported = [*names.enums.values(), *names.classes.values()]
        exported += [callback_name(item["name"]) for item in callbacks]
        exported += [item[0] for item in names.constants.values() if item[0] != "VERSION"]
        exported += [python_name(call) for call in api.calls if not call.owner]
        self.line("__all__ = [")
        for name in sorted(set(exported)):
            self.line(f'"{name}",', 4)
        self.line("]")

    def constant(self, c_name, name, value):
        self.line(f"{name} = {value!r}")
        self.doc(self.names.text(self.constant_docs.get(c_name)) or "A constant.", 0)

    def write(self, path):
        self.module()
        head = HEAD.replace("VERSION_TEXT", self.api.version).splitlines()
        types = [f'{name} = ffi.typeof("{c_type}")' for name, c_type in sorted(self.types.items())]
        text = "\n".join(line.rstrip() for line in head + types + ["", ""] + self.lines)
        path.write_text(re.sub(r"\n{4,}", "\n\n\n", text) + "\n", encoding="utf-8")


HEAD = '''\
"""The functions of netlib.h. bindings/python/generate.py writes this file from netlib.api.json."""

# ruff: noqa: E501, I001, RUF022
from __future__ import annotations

import socket
from collections.abc import Callable, Iterable
from typing import Any, Union

from . import _natural
from ._errors import Error, error_pointer, fail
from ._runtime import (
    Data, Descriptor, Enum, Fields, Flags, Handle, NULL, Path, Seconds, Self, Text, WritableData, array_of_ints,
    array_of_texts, c_path, c_text, callback, data_bytes, data_text, expect, ffi, fields_array, give, held,
    held_value, hold, in_python, int_array, lib, limit_pointer, new, optional_c_path, optional_c_text,
    optional_data, optional_data_text, own_socket, part_of, release, reraise, seconds_or_none, slices_array,
    text_array, to_bytes, to_descriptor, to_optional_bytes, to_optional_text, to_text, truth, writable,
)

VERSION = "VERSION_TEXT"
"""The version of netlib.h from which this module was generated."""

_CHAR_P = ffi.typeof("char *")
'''


def main():
    directory = Path(sys.argv[1])
    api = Api(*sys.argv[2:3])
    directory.mkdir(parents=True, exist_ok=True)
    writer = Writer(api)
    writer.write(directory / "_api.py")
    lines = [f'    "{c_name}": "{name}",' for c_name, name in writer.names.python.items() if c_name != "NULL"]
    head = '"""The names of Python for the names of C. bindings/python/generate.py writes this file."""'
    text = "\n".join([head, "", "NAMES = {", *lines, "}", ""])
    (directory / "_names.py").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
