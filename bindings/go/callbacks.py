"""The types of callbacks, and the C code around them: C calls an exported Go function with a number for the callbacks."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from model import callback_decision
from names import NUMBERS, c_type, callback_field, callback_type, class_name, enum_name, local


class Callbacks:
    def __init__(self, docs):
        self.docs, self.callbacks, self.shim_h, self.shim_c = docs, [], [], []

    def callback(self, item):
        """The Go type of a callback, and the exported function that C calls."""
        inputs, outputs, go_arguments, parameters, store, revoke = [], [], [], ["ctx C.uintptr_t"], [], ""
        c_parameters, c_arguments = ["void *ctx"], ["(uintptr_t)ctx"]
        decision = callback_decision(item)
        for param in item["params"][1:]:
            name, kind, direction = local(param["name"]), param["kind"], param["direction"]
            c_parameters.append(f"{param['type']}{'' if param['type'].endswith('*') else ' '}{param['name']}")
            if param is decision:
                continue
            c_arguments.append(f"(void *){param['name']}" if param["type"].endswith("*") else param["name"])
            if param["type"].endswith("*"):
                parameters.append(f"{name} unsafe.Pointer")
            else:
                parameters.append(f"{name} {c_type(param['type'])}")
            if kind == "length" and direction == "in":
                continue
            if kind == "length":
                outputs.append("int")
                store.append(f"*(*C.size_t)({name}) = C.size_t(out{len(outputs)})")
            elif kind in ("bytes", "buffer"):
                inputs.append(f"{param['name']} []byte")
                go_arguments.append(f"unsafe.Slice((*byte)({name}), int({local(param['length'])}))")
            elif kind == "text":
                inputs.append(f"{param['name']} string")
                length = local(param["length"]) if param.get("length") else "noLength"
                go_arguments.append(f"goString((*C.char)({name}), {length})")
            elif kind == "handle" and direction == "inout":
                outputs.append("*" + class_name(param["handle"]))
                store.append(
                    f"if out{len(outputs)} != nil {{\n\t\t\t*(**C.{param['handle']})({name}) = "
                    f"C.{param['handle']}_clone(out{len(outputs)}.enter())\n\t\t\tout{len(outputs)}.leave()\n\t\t}}"
                )
            elif kind == "handle":
                inputs.append(f"{param['name']} *{class_name(param['handle'])}")
                # The handle belongs to C when the callback has returned.
                borrow = f"borrow{class_name(param['handle'])}((*C.{param['handle']})({name}))"
                revoke = f"lent := {borrow}\n\t\tdefer lent.Close()\n\t\t"
                go_arguments.append("lent")
            elif direction == "out":
                stored = c_type(param["type"].rstrip("* "))
                go = "bool" if kind == "truth_value" else NUMBERS[param["type"].rstrip("* ")]
                outputs.append(go)
                value = f"truth(out{len(outputs)})" if go == "bool" else f"{stored}(out{len(outputs)})"
                store.append(f"*(*{stored})({name}) = {value}")
            else:
                go = enum_name(param["enum"]) if param.get("enum") else NUMBERS[param["type"]]
                inputs.append(f"{param['name']} {go}")
                go_arguments.append(f"{go}({name})")
        if decision:
            outputs.append(enum_name(decision["enum"]))
        outputs.append("error")
        type_name, field = callback_type(item["name"]), callback_field(item["name"])
        returns = outputs[0] if len(outputs) == 1 else f"({', '.join(outputs)})"
        results = [f"out{at + 1}" for at in range(len(outputs) - 1)]
        result = results[-1] if decision else "0"
        stores = "\n\t\t".join(store)
        assign = f"{', '.join(results + ['err'])} := " if results else "err := "
        self.callbacks.append(
            f"""{self.docs.callback(type_name, item)}type {type_name} func({", ".join(inputs)}) {returns}

//export netlibGo{type_name}
func netlibGo{type_name}({", ".join(parameters)}) C.int32_t {{
	return invoke({"0" if decision else "failed"}, func() (C.int32_t, error) {{
		{revoke}{assign}heldBy(ctx).{field}({", ".join(go_arguments)})
		{stores}
		return C.int32_t({result}), err
	}})
}}
"""
        )
        # After an error, the Go function returns 0, which is no decision.
        stores = f"*{decision['name']} = (enum {decision['enum']})" if decision else "return "
        self.shim_c.append(
            f"static {item['returns']['type']} on_{item['name'].removeprefix('netlib_')}({', '.join(c_parameters)}) {{\n"
            f"    {stores}netlibGo{type_name}({', '.join(c_arguments)});\n}}\n"
        )

    def shim(self, call):
        """Writes the shim for a C function: its context is a number, and it also returns the error of a callback."""
        parameters, arguments = [], []
        for argument in call.arguments:
            given = argument.input
            if argument.role == "input" and given.kind == "callback":
                parameters.append(f"int has_{argument.c_name}")
                arguments.append(f"has_{argument.c_name} ? on_{given.callback.removeprefix('netlib_')} : NULL")
            elif argument.role == "ctx" or argument.role == "input" and given.kind == "ctx":
                parameters.append("uintptr_t ctx")
                arguments.append("(void *)ctx")
            elif argument.role == "ctx_free" or argument.role == "input" and given.kind == "ctx_free":
                arguments.append("ctx != 0 ? on_ctx_free : NULL")
            else:
                space = "" if argument.c_type.endswith("*") else " "
                parameters.append(f"{argument.c_type}{space}{argument.c_name}")
                arguments.append(argument.c_name)
        parameters.append("uintptr_t *raised")
        returns = call.item["returns"]["type"]
        space = "" if returns.endswith("*") else " "
        head = f"{returns}{space}netlib_go_{call.c_name.removeprefix('netlib_')}({', '.join(parameters)})"
        self.shim_h.append(head + ";\n")
        code = f"{call.c_name}({', '.join(arguments)})"
        first = f"    {code};\n" if returns == "void" else f"    {returns}{space}result = {code};\n"
        last = "" if returns == "void" else "    return result;\n"
        self.shim_c.append(
            f"{head} {{\n    uintptr_t before = raised_error;\n    raised_error = 0;\n{first}"
            f"    *raised = raised_error;\n    raised_error = before;\n{last}}}\n"
        )
