"""The declarations in index.d.cts: the types of the functions, with their documentation."""

import re

from model import callback_decision, callback_inputs, callback_outputs, camel
from names import Names, comment, method_name, parameter

# The functions whose text is returned as bytes, because it is data for the network.
AS_BYTES = {"netlib_bytes_data", "netlib_headers_to_wire", "netlib_request_to_wire"}


class Declarations:
    def __init__(self, api):
        self.api, self.names, self.types = api, Names(api), []

    def type_line(self, text="", indent=0):
        self.types.append(" " * indent + text if text else "")

    def doc(self, text, indent):
        self.types += [" " * indent + line for line in comment(self.names.text(text), indent)]

    def input_type(self, value):
        kinds = {
            "text": "Text" if value.has_length else "string", "bytes": "Data", "buffer": "Uint8Array",
            "truth_value": "boolean", "seconds": "number | null", "ctx": "unknown", "status": "number",
        }  # fmt: skip
        if value.kind == "handle":
            name = self.names.classes[value.handle]
            name = {"netlib_limit": "Limit | AbortSignal", "netlib_error": "NetlibError | ErrorInfo"}.get(
                value.handle, name
            )
        elif value.kind == "enum":
            name = self.names.enums[value.enum]
        elif value.kind == "array":
            element = value.element.removeprefix("const ").strip()
            name = {"netlib_header_field": "Fields", "netlib_slice": "readonly Data[]", "int32_t": "readonly number[]"}
            name = name.get(element, "readonly string[]")
        elif value.kind == "callback":
            name = self.names.callbacks[value.callback]
        elif value.kind in kinds:
            name = kinds[value.kind]
        else:
            name = "number | bigint" if "int64_t" in value.c_type else "number"
        return name + " | null" if value.nullable and not name.endswith("null") and value.kind != "ctx" else name

    def output_type(self, output, call):
        kinds = {"bytes": "Buffer", "truth_value": "boolean", "seconds": "number", "ctx": "unknown", "status": "Status"}
        if output.kind == "handle":
            name = self.names.classes[output.handle]
        elif output.kind == "text":
            name = "Buffer" if call.c_name in AS_BYTES else "string"
        elif output.kind == "enum":
            name = self.names.enums[output.enum]
        elif output.kind == "array":
            name = "string[]" if "char" in output.element else "number[]"
        else:
            name = kinds.get(output.kind, "number | bigint" if "int64_t" in output.c_type else "number")
        if call.c_name == "netlib_error_status":
            name = "Status"
        return name + " | null" if self.is_optional(output, call) else name

    @staticmethod
    def is_optional(output, call):
        if output.kind not in ("handle", "text", "bytes"):
            return False
        if call.progress:
            return True
        if output.name != "return" or output.is_owned:
            return output.name != "return" and output.nullable
        # Getters return NULL for a NULL handle, which an object of JavaScript never has.
        text = " ".join(filter(None, [call.doc, call.item["returns"]["doc"]])).replace("\n", " ")
        text = re.sub(r"(NULL|nothing)(,? and)? for NULL\b|\bfor NULL\b", "", text)
        return output.nullable and ("NULL" in text or any(value.kind == "index" for value in call.inputs))

    @staticmethod
    def result_name(output):
        return "result" if output.name == "return" else camel(output.name)

    def result_type(self, call):
        if call.is_setter:
            return "this"
        fields = [("status", "Status")] if call.progress else []
        fields += [(self.result_name(output), self.output_type(output, call)) for output in call.outputs]
        if len(fields) <= 1:
            return fields[0][1] if fields else "void"
        return "{ " + "; ".join(f"{name}: {kind}" for name, kind in fields) + " }"

    def callback_types(self):
        """The types of the callbacks, with their documentation."""
        for name, item in self.api.callbacks.items():
            if name == "netlib_ctx_free_fn":
                continue
            text = self.names.text
            tags = [f"@param {camel(param['name'])} {text(param['doc'])}" for param in callback_inputs(item) if param["doc"]]
            self.types += comment("\n\n".join([text(item["doc"])] + ["\n".join(tags)] * bool(tags)), 0)
            self.type_line(f"export type {self.names.callbacks[name]} = {self.callback_signature(name)};")
            self.type_line()

    def callback_signature(self, name):
        item = self.api.callbacks[name]
        kinds = {"buffer": "Uint8Array", "bytes": "Buffer", "text": "string"}
        arguments = []
        for param in callback_inputs(item):
            kind = self.names.classes[param["handle"]] if param["kind"] == "handle" else kinds.get(param["kind"])
            absent = " | null" if param["kind"] == "text" and param["nullable"] else ""
            arguments.append(f"{camel(param['name'])}: {kind or self.number_type(param['type'])}{absent}")
        outputs, enum = callback_outputs(item), (callback_decision(item) or {}).get("enum")
        if enum == "netlib_outcome":
            result = "void"
        elif enum and outputs and "handle" not in outputs[0]:
            values = [self.number_type(output["type"]) for output in outputs]
            result = f"{self.names.enums[enum]} | [{', '.join([self.names.enums[enum], *values])}]"
        elif enum:
            handles = [self.names.classes[output["handle"]] for output in outputs]
            result = " | ".join([self.names.enums[enum], *handles])
        elif not outputs:
            result = "void"
        elif outputs[0]["kind"] == "length":
            result = "number | { status: Status }"
        else:
            result = "boolean" if outputs[0]["kind"] == "truth_value" else self.number_type(outputs[0]["type"])
        return f"({', '.join(arguments)}) => {result}"

    @staticmethod
    def number_type(c_type):
        return "number | bigint" if "int64_t" in c_type else "number"

    def parameters(self, call):
        """The parameters, and the number of those that must be present."""
        inputs = [value for value in call.inputs if value.kind != "ctx_free"]
        required = len(inputs)
        while required and (inputs[required - 1].nullable or inputs[required - 1].is_pointer):
            required -= 1
        return inputs, required

    def declare(self, call, is_promise, indent):
        inputs, required = self.parameters(call)
        names = [
            f"{parameter(value)}{'?' if at >= required else ''}: {self.input_type(value)}"
            for at, value in enumerate(inputs)
        ]
        text = self.names.text
        parts = [text(call.doc)]
        if call.blocks and not is_promise:
            parts.append("Blocks the event loop.")
        tags = [f"@param {parameter(value)} {text(value.doc)}" for value in inputs if value.doc]
        outputs = [output for output in call.outputs if output.doc and output.name != "return"]
        returns = [text(output.doc) if len(call.outputs) == 1 else f"{camel(output.name)}: {text(output.doc)}" for output in outputs]
        statuses = text(call.item["returns"]["doc"] or "")
        if call.fails and statuses and "Status.OK" not in statuses and not call.progress:
            thrown = [f"@throws {{NetlibError}} {statuses}"]
        else:
            thrown, returns = [], returns + [statuses] * bool(statuses)
        tags += ["@returns " + "; ".join(line.rstrip(".") for line in returns) + "."] if returns else []
        tags += thrown
        tags += ["@deprecated " + text(call.item["deprecated"])] if call.item["deprecated"] else []
        self.types += [" " * indent + line for line in comment("\n\n".join(parts + ["\n".join(tags)] * bool(tags)), indent)]
        name, result = method_name(call, is_promise), self.result_type(call)
        result = f": Promise<{result}>" if is_promise else "" if name == "constructor" else f": {result}"
        start = "" if call.owner else "export declare function "
        if call.owner and not call.is_member and name != "constructor":
            start = "static "
        self.type_line(f"{start}{name}({', '.join(names)}){result};", indent)
