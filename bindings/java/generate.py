"""Generates the Java classes of the binding from netlib.api.json: the native functions in two variants (see native.py),
a class for each handle, the constants, the callbacks, and the class Netlib with the functions that belong to no handle.

usage: generate.py DIRECTORY

DIRECTORY/netlib receives the classes, DIRECTORY/jna and DIRECTORY/ffm the variants of the native functions.
"""

import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from java_names import class_name, component, constant, local, method_name
from model import Api, callback_decision, camel
from native import HEAD, ffm_classes, jna_classes, native_type, trampoline


def document(text, indent):
    if not text:
        return ""
    text = (
        text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace("@", "&#64;").replace("*/", "* /")
    )
    text = re.sub(r"`([^`]*)`", r"{@code \1}", text)
    lines = [f"{indent} * {line}".rstrip() for line in text.split("\n")]
    return f"{indent}/**\n" + "\n".join(lines) + f"\n{indent} */\n"


class Generator:
    def __init__(self):
        self.api = Api()

    def enum_class(self, item):
        name = "Status" if item["name"] == "netlib_status_code" else class_name(item["name"])
        own = item["name"].upper() + "_"
        values = [value["name"] for value in item["values"]]
        prefix = own if sum(value.startswith(own) for value in values) > 1 else "NETLIB_"
        base = "long" if any(abs(value["value"]) >= 2**31 for value in item["values"]) else "int"
        lines = []
        for value in item["values"]:
            constant = value["name"].removeprefix(prefix).removeprefix("NETLIB_")
            constant = constant if not constant[0].isdigit() else "V" + constant
            suffix = "L" if base == "long" else ""
            lines.append(
                document(value["doc"], "    ")
                + f"    public static final {base} {constant} = {value['value']}{suffix};\n"
            )
        return name, (
            HEAD
            + document(item["doc"], "")
            + f"public final class {name} {{\n    private {name}() {{}}\n\n"
            + "\n".join(lines)
            + "}\n"
        )

    # Types.

    def input_type(self, given):
        kind = given.kind
        if kind == "handle":
            return class_name(given.handle)
        if kind == "text":
            return "String"
        if kind in ("bytes", "buffer"):
            return "byte[]"
        if kind == "truth_value":
            return "boolean"
        if kind == "seconds":
            return "Double" if given.is_pointer else "double"
        if kind == "array":
            return {"char *": "String[]", "int32_t": "int[]", "netlib_header_field": "HeaderField[]"}.get(
                given.element.removeprefix("const ").strip(), "byte[][]"
            )
        if kind == "callback":
            return class_name(given.callback.removesuffix("_fn")) + "Callback"
        if kind == "ctx":
            return "Object"
        if given.is_inout:
            return "long[]"
        return native_type(given.c_type)

    def output_type(self, output):
        kind = output.kind
        if kind == "handle":
            return class_name(output.handle)
        if kind == "text":
            return "String"
        if kind == "bytes":
            return "byte[]"
        if kind == "truth_value":
            return "boolean"
        if kind == "array":
            return "String[]" if "char" in output.element else "int[]"
        if kind == "ctx":
            return "Object"
        return native_type(output.c_type)

    # Calls.

    def output_code(self, call, output):
        kind = output.kind
        is_return = output.name == "return"
        variable = "result" if is_return else local(output.name)
        value = variable if is_return else f"{variable}[0]"
        length = f"{local(output.length)}[0]" if output.length else "-1"
        if kind == "handle":
            lenders = [
                "this" if call.is_member and call.arguments[0].c_name == name else local(name)
                for name in output.borrowed_from
            ]
            if output.clone:
                return f"{class_name(output.handle)}.of(Native.{output.clone}({value}), null)"
            lender = "null" if output.is_owned else f"new Object[] {{{', '.join(lenders)}}}"
            return f"{class_name(output.handle)}.of({value}, {lender})"
        if kind == "text":
            return f"Convert.text({value}, {length})"
        if kind == "bytes":
            return f"Convert.bytes({value}, {length})"
        if kind == "truth_value":
            return f"{value} != 0"
        if kind == "array":
            return f"Convert.{'texts' if 'char' in output.element else 'ints'}({value}, {length})"
        if kind == "ctx":
            return f"Held.userData({value})"
        return value

    def method(self, call):
        before, arguments = [], []
        callbacks = [given for given in call.inputs if given.kind == "callback"]
        opened = []
        uses = call.is_member or any(given.kind == "handle" for given in call.inputs)
        # C releases the held object, so nothing may fail between `hold` and the call of C.
        holds = any(
            argument.role == "ctx" or (argument.input and argument.input.kind == "ctx") for argument in call.arguments
        )
        pointers, holding = [], []
        for argument in call.arguments:
            role, name, given = argument.role, local(argument.c_name), argument.input
            if role == "self" or (role == "input" and given.kind == "handle"):
                pointer = f"use.pointer({'this' if role == 'self' else name})"
                if holds:
                    pointers.append(f"long {name}Pointer = {pointer};")
                    pointer = f"{name}Pointer"
                arguments.append(pointer)
            elif role == "input" and given.kind == "text":
                helper = "data" if given.has_length else "terminated"
                before.append(f'byte[] {name}Data = Convert.{helper}("{given.name}", {name});')
                arguments.append(f"{name}Data")
            elif role == "input" and call.lends(given):
                opened.append(f"CMemory {name}Memory = Convert.memory({name})")
                arguments.append(f"{name}Memory.address()")
            elif role == "input" and given.kind in ("bytes", "buffer"):
                arguments.append(f"Convert.orEmpty({name})" if given.kind == "bytes" and not given.nullable else name)
            elif role == "input" and given.kind == "truth_value":
                arguments.append(f"{name} ? 1 : 0")
            elif role == "input" and given.is_pointer:
                arguments.append(f"{name} == null ? null : new double[] {{{name}}}")
            elif role == "input" and given.kind == "array" and given.element != "int32_t":
                opened.append(f'CMemory {name}Memory = Convert.array("{given.name}", {name})')
                arguments.append(f"{name}Memory == null ? 0 : {name}Memory.address()")
            elif role == "input" and given.kind == "callback":
                arguments.append(f"{name} == null ? 0 : Upcalls.{constant(given.callback)}")
            elif role in ("input", "ctx") and (role == "ctx" or given.kind == "ctx"):
                if role == "ctx":
                    kept = ", ".join(local(callback.name) for callback in callbacks)
                    present = " || ".join(f"{local(callback.name)} != null" for callback in callbacks)
                    hold = f"long ctx = {present} ? Held.hold(new Object[] {{{kept}}}) : 0;"
                else:
                    hold = "long ctx = value == null ? 0 : Held.hold(value);"
                holding.append(hold)
                arguments.append("ctx")
            elif role == "ctx_free" or (role == "input" and given.kind == "ctx_free"):
                arguments.append("ctx == 0 ? 0 : Upcalls.CTX_FREE")
            elif role == "length":
                of = argument.input
                if of.kind == "text":
                    arguments.append(f"{local(of.name)}Data == null ? 0 : {local(of.name)}Data.length")
                else:
                    arguments.append(f"{local(of.name)} == null ? 0 : {local(of.name)}.length")
            elif role == "inout":
                arguments.append(f'Convert.one("{given.name}", {name})')
            elif role == "output":
                native = native_type(argument.output.c_type)
                before.append(f"{native}[] {name} = new {native}[1];")
                arguments.append(name)
            elif role == "length_out":
                before.append(f"long[] {name} = new long[1];")
                arguments.append(name)
            elif role == "error":
                before.append("long[] err = new long[1];")
                arguments.append("err")
            else:
                arguments.append(name)
        outputs = call.new_outputs
        name = method_name(call.name)
        if call.owner and not call.is_member:
            name = {"new": "make"}.get(call.name, method_name(call.name))
        elif not call.owner:
            name = method_name(call.name)
        code = f"Native.{call.c_name}({', '.join(arguments)})"
        body = list(before)
        returns_value = call.item["returns"]["type"] != "void"
        if uses:
            opened.insert(0, "Use use = new Use()")
        if opened:
            body.append(f"try ({'; '.join(opened)}) {{")
        first = len(body)
        body += ["    " + line for line in pointers + holding]
        inner = (
            f"int status = {code};"
            if call.fails
            else f"{native_type(call.item['returns']['type'])} result = {code};"
            if returns_value
            else code + ";"
        )
        body.append("    " + inner)
        invokes = any(callback != "netlib_ctx_free_fn" for callback in call.item["callbacks"])
        if call.fails:
            body.append("    Errors.check(status, err);")
        elif invokes:
            body.append("    Held.rethrow();")
        values = [
            (
                output.name if output.name != "return" else "value",
                self.output_type(output),
                self.output_code(call, output),
            )
            for output in outputs
        ]
        if call.progress:
            values.append(("status", "int", "status"))
        record = ""
        if call.is_setter:
            returns = class_name(call.owner)
            body.append("    return this;")
        elif not values:
            returns = "void"
        elif len(values) == 1:
            returns = values[0][1]
            body.append(f"    return {values[0][2]};")
        else:
            returns = camel(call.name, first_upper=True) + "Result"
            fields = ", ".join(f"{found} {component(own)}" for own, found, _ in values)
            record = (
                f"    /** The results of {{@code {call.c_name}}}. */\n    public record {returns}({fields}) {{}}\n\n"
            )
            body.append(f"    return new {returns}({', '.join(value for _, _, value in values)});")
        if opened:
            body.append("}")
        else:
            body[first:] = [line.removeprefix("    ") for line in body[first:]]
        static = "" if call.is_member else "static "
        parameters = ", ".join(
            f"{self.input_type(given)} {'value' if given.kind == 'ctx' else local(given.name)}"
            for given in call.inputs if given.kind != "ctx_free"
        )  # fmt: skip
        deprecated = "    @Deprecated\n" if call.item["deprecated"] else ""
        override = "    @Override\n" if name == "toString" and not parameters and call.is_member else ""
        text = "".join(f"        {line}\n" for line in body)
        return (
            record + document(call.doc, "    ") + deprecated + override
            + f"    public {static}{returns} {name}({parameters}) {{\n{text}    }}\n"
        )  # fmt: skip

    def handle(self, name):
        item, java = self.api.handles[name], class_name(name)
        calls = [self.method(call) for call in self.api.class_calls(name) if call.c_name != item["free"]]
        return HEAD + (
            document(item["doc"], "")
            + '@SuppressWarnings({"deprecation", "unused"})\n'
            + f"public final class {java} extends Handle {{\n"
            f"    private {java}(long pointer, Object[] lenders) {{\n"
            f"        super(pointer, lenders, Native::{item['free']});\n    }}\n\n"
            f"    static {java} of(long pointer, Object[] lenders) {{\n"
            f"        return pointer == 0 ? null : new {java}(pointer, lenders);\n    }}\n\n"
            + "\n".join(calls) + "}\n"
        )  # fmt: skip

    # Callbacks.

    def callback(self, item):
        """Returns the interface for applications, and the trampoline that calls it."""
        java = class_name(item["name"].removesuffix("_fn"))
        inputs, outputs, natives, converted, stores = [], [], ["long ctx"], [], []
        decision = callback_decision(item)
        before, after, last = "", "", ""
        for param in item["params"][1:]:
            name, kind, direction = local(param["name"]), param["kind"], param["direction"]
            natives.append(f"{native_type(param['type'])} {name}")
            if kind == "length" and direction == "in":
                continue
            if kind == "length":
                outputs.append("long")
                stores.append(f"CMemory.putLong({name}, result);")
            elif kind in ("bytes", "buffer"):
                of = local(param["length"])
                if kind == "buffer":
                    inputs.append("ByteBuffer " + name)
                    converted.append(f"CMemory.buffer({name}, {of})")
                else:
                    inputs.append("byte[] " + name)
                    converted.append(f"CMemory.getBytes({name}, {of})")
            elif kind == "text":
                inputs.append("String " + name)
                converted.append(f"Convert.text({name}, {local(param['length']) if param.get('length') else -1})")
            elif kind == "handle" and direction == "inout":
                inputs.append(f"Consumer<{class_name(param['handle'])}> {name}")
                # C's variable is gone when the callback has returned.
                before += f"{class_name(param['handle'])}[] chosen = new {class_name(param['handle'])}[1]; "
                converted.append("found -> chosen[0] = found")
                after += (
                    f"if (chosen[0] != null) {{ try (Use use = new Use()) {{ "
                    f"CMemory.putLong({name}, Native.{param['handle']}_clone(use.pointer(chosen[0]))); }} }} "
                )
            elif kind == "handle":
                inputs.append(f"{class_name(param['handle'])} {name}")
                # The handle belongs to C when the callback has returned.
                before += f"{class_name(param['handle'])} lent = {class_name(param['handle'])}.of({name}, new Object[0]); try {{ "
                converted.append("lent")
                last = " } finally { lent.close(); }"
            elif param is decision:
                pass
            elif direction == "out" and decision:
                found = native_type(param["type"].rstrip("* "))
                boxed = {"double": "Double", "long": "Long"}[found]
                inputs.append(f"{boxed}Consumer {name}")
                # C's variable is gone when the callback has returned.
                before += f"{boxed}[] {name}Chosen = new {boxed}[1]; "
                converted.append(f"found -> {name}Chosen[0] = found")
                after += f"if ({name}Chosen[0] != null) {{ CMemory.put{boxed}({name}, {name}Chosen[0]); }} "
            elif direction == "out":
                found = "boolean" if kind == "truth_value" else native_type(param["type"].rstrip("* "))
                outputs.append(found)
                setter = {"double": "putDouble", "long": "putLong", "boolean": "putInt"}[found]
                stores.append(f"CMemory.{setter}({name}, {'result ? 1 : 0' if found == 'boolean' else 'result'});")
            else:
                inputs.append(f"{native_type(param['type'])} {name}")
                converted.append(name)
        returns = "int" if decision else outputs[0] if outputs else "void"
        code = f"callback.call({', '.join(converted)})"
        run = (
            f"{before}int result = {code}; {after}CMemory.putInt({local(decision['name'])}, result);"
            if decision
            else f"{before}{code}; return 0;{last}"
            if returns == "void"
            else f"{before}{returns} result = {code}; {' '.join(stores)} return 0;{last}"
        )
        interface = HEAD + "import java.nio.ByteBuffer;\nimport java.util.function.Consumer;\n\n" + document(item["doc"], "") + (
            "@FunctionalInterface\n"
            f"public interface {java}Callback {{\n"
            f"    /** An exception ends the call of netlib, which throws the exception. */\n"
            f"    {returns} call({', '.join(inputs)}) throws Exception;\n}}\n"
        )  # fmt: skip
        used = [
            line
            for line, needed in (
                ("import java.nio.ByteBuffer;\n", "ByteBuffer"),
                ("import java.util.function.Consumer;\n", "Consumer<"),
                ("import java.util.function.DoubleConsumer;\n", "DoubleConsumer "),
                ("import java.util.function.LongConsumer;\n", "LongConsumer "),
            )
            if any(needed in text for text in inputs)
        ]
        interface = interface.replace(
            "import java.nio.ByteBuffer;\nimport java.util.function.Consumer;\n\n",
            "".join(used) + ("\n" if used else ""),
        )
        held = f"{java}Callback callback = ({java}Callback) Held.callback(ctx, {self.callback_index(item)});"
        function = (
            f"    static {'void' if decision else 'int'} {trampoline(item['name'])}({', '.join(natives)}) {{\n        try {{\n"
            f"            {held}\n            {run}\n        }} catch (Throwable raised) {{\n"
            f"            {'Held.raise(raised, 0)' if decision else 'return Held.raise(raised, Status.CALLBACK_FAILED)'};\n        }}\n    }}\n"
        )
        return java + "Callback", interface, function

    def callback_index(self, item):
        """The index of a type of callback among the callbacks of a call, which is equal in all calls."""
        found = {
            [given.callback for given in call.inputs if given.kind == "callback"].index(item["name"])
            for call in self.api.calls
            if any(given.callback == item["name"] for given in call.inputs)
        }
        (index,) = found
        return index

    def write(self, directory):
        files, trampolines = {}, []
        for item in self.api.enums.values():
            name, text = self.enum_class(item)
            files[name] = text
        for name, item in self.api.callbacks.items():
            if name == "netlib_ctx_free_fn":
                trampolines.append("    static void ctxFree(long ctx) {\n        Held.free(ctx);\n    }\n")
                continue
            java, interface, function = self.callback(item)
            files[java] = interface
            trampolines.append(function)
        for name in self.api.handles:
            files[class_name(name)] = self.handle(name)
        files["Trampolines"] = HEAD + (
            "/** The methods that C calls. They call the application's callbacks, and keep their exceptions. */\n"
            "final class Trampolines {\n    private Trampolines() {}\n\n" + "\n".join(trampolines) + "}\n"
        )  # fmt: skip
        constants = "".join(
            document(value["doc"], "    ") + f"    public static final int {value['name'].removeprefix('NETLIB_')} = {value['value']};\n\n"
            for enum in self.api.data["enums"] if not enum["name"] for value in enum["values"]
        )  # fmt: skip
        functions = [self.method(call) for call in self.api.calls if not call.owner]
        files["Netlib"] = HEAD + (
            "/** The functions that belong to no handle. */\n"
            '@SuppressWarnings({"deprecation", "unused"})\n'
            "public final class Netlib {\n    private Netlib() {}\n\n" + constants + "\n".join(functions) + "}\n"
        )  # fmt: skip
        for variant, classes in (
            ("netlib", files),
            ("jna", jna_classes(self.api)),
            ("ffm", ffm_classes(self.api)),
        ):
            (directory / variant).mkdir(parents=True, exist_ok=True)
            for name, text in classes.items():
                (directory / variant / f"{name}.java").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    Generator().write(Path(sys.argv[1]))
