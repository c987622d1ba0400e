"""Makes the Java interfaces of the callbacks, and the methods that call them for C."""

from java_names import callback_class, class_name, local
from model import callback_decision
from native import HEAD, native_type, trampoline

IMPORTS = {
    "ByteBuffer": "java.nio.ByteBuffer",
    "Set<": "java.util.Set",
    "Consumer<": "java.util.function.Consumer",
    "DoubleConsumer ": "java.util.function.DoubleConsumer",
    "LongConsumer ": "java.util.function.LongConsumer",
}
# The comments of parameters that netlib.h does not describe.
ABOUT = {"bytes": "the bytes"}


class Callback:
    """`interface` is the interface for applications, and `trampoline` the method that C calls."""

    def __init__(self, item, index, doc):
        self.item, self.doc, self.java = item, doc, callback_class(item["name"])
        self.decision = callback_decision(item)
        self.inputs, self.natives, self.converted = [], ["long ctx"], []
        self.outputs, self.stores = [], []
        # C's variables are gone when the callback has returned, so a consumer stores its value after the call.
        self.before, self.after, self.last = "", "", ""
        for param in item["params"][1:]:
            self.natives.append(f"{native_type(param['type'])} {local(param['name'])}")
            self.parameter(param, local(param["name"]))
        self.interface = self.make_interface()
        self.trampoline = self.make_trampoline(index)

    def parameter(self, param, name):
        kind, direction = param["kind"], param["direction"]
        if kind == "length" and direction == "in" or param is self.decision:
            return
        if kind == "length":
            self.outputs.append(("long", param))
            self.stores.append(f"CMemory.putLong({name}, result);")
        elif kind == "buffer":
            self.take(f"ByteBuffer {name}", f"CMemory.buffer({name}, {local(param['length'])})")
        elif kind == "bytes":
            self.take(f"byte[] {name}", f"CMemory.getBytes({name}, {local(param['length'])})")
        elif kind == "text":
            length = local(param["length"]) if param.get("length") else -1
            self.take(f"String {name}", f"Convert.text({name}, {length})")
        elif kind == "bits":
            self.take(f"Set<{class_name(param['enum'])}> {name}", f"{class_name(param['enum'])}.setOf({name})")
        elif kind == "handle" and direction == "inout":
            handle = class_name(param["handle"])
            self.take(f"Consumer<{handle}> {name}", "found -> chosen[0] = found")
            self.before += f"{handle}[] chosen = new {handle}[1]; "
            self.after += (
                f"if (chosen[0] != null) {{ try (Use use = new Use()) {{ "
                f"CMemory.putLong({name}, Native.{param['handle']}_clone(use.pointer(chosen[0]))); }} }} "
            )
        elif kind == "handle":
            handle = class_name(param["handle"])
            self.take(f"{handle} {name}", "lent")
            # The handle belongs to C when the callback has returned.
            self.before += f"{handle} lent = {handle}.of({name}, new Object[0]); try {{ "
            self.last = " } finally { lent.close(); }"
        elif direction == "out" and self.decision:
            boxed = {"double": "Double", "long": "Long"}[native_type(param["type"].rstrip("* "))]
            self.take(f"{boxed}Consumer {name}", f"found -> {name}Chosen[0] = found")
            self.before += f"{boxed}[] {name}Chosen = new {boxed}[1]; "
            self.after += f"if ({name}Chosen[0] != null) {{ CMemory.put{boxed}({name}, {name}Chosen[0]); }} "
        elif direction == "out":
            found = "boolean" if kind == "truth_value" else native_type(param["type"].rstrip("* "))
            self.outputs.append((found, param))
            setter = {"double": "putDouble", "long": "putLong", "boolean": "putInt"}[found]
            self.stores.append(f"CMemory.{setter}({name}, {'result ? 1 : 0' if found == 'boolean' else 'result'});")
        else:
            self.take(f"{native_type(param['type'])} {name}", name)

    def take(self, parameter, argument):
        self.inputs.append(parameter)
        self.converted.append(argument)

    def make_interface(self):
        words, item = self.doc.words, self.item
        comments = {local(param["name"]): param for param in item["params"]}
        tags = []
        for parameter in self.inputs:
            name = parameter.split()[-1]
            param = comments[name]
            tags.append((f"@param {name}", words(param["doc"], param["kind"] == "truth_value") or ABOUT.get(param["kind"], f"the {param['name']}")))
        if self.decision:
            returns, result = class_name(self.decision["enum"]), self.decision
        else:
            returns, result = self.outputs[0] if self.outputs else ("void", None)
        if result:
            tags.append(("@return", words(result["doc"], result["kind"] == "truth_value") or "the result"))
        tags.append(("@throws Exception", "to end the call of netlib, which throws the exception"))
        imports = "".join(
            f"import {found};\n" for needed, found in IMPORTS.items() if any(needed in text for text in self.inputs)
        )
        self.returns = returns
        return (
            HEAD + imports + ("\n" if imports else "") + self.doc.comment(words(item["doc"]), "")
            + f"@FunctionalInterface\npublic interface {self.java} {{\n"
            + self.doc.comment("Is called by netlib.", "    ", tags)
            + f"    {returns} call({', '.join(self.inputs)}) throws Exception;\n}}\n"
        )  # fmt: skip

    def make_trampoline(self, index):
        code = f"callback.call({', '.join(self.converted)})"
        if self.decision:
            store = f"CMemory.putInt({local(self.decision['name'])}, (int) result.number());"
            run = f"{self.before}{self.returns} result = {code}; {self.after}{store}"
        elif self.returns == "void":
            run = f"{self.before}{code}; return 0;{self.last}"
        else:
            run = f"{self.before}{self.returns} result = {code}; {' '.join(self.stores)} return 0;{self.last}"
        failed = "Held.raise(raised, 0)" if self.decision else "return Held.raise(raised, CALLBACK_FAILED)"
        return (
            f"    static {'void' if self.decision else 'int'} {trampoline(self.item['name'])}({', '.join(self.natives)}) {{\n"
            f"        try {{\n            {self.java} callback = ({self.java}) Held.callback(ctx, {index});\n"
            f"            {run}\n        }} catch (Throwable raised) {{\n            {failed};\n"
            "        } finally {\n            BlockingCall.resume();\n        }\n    }\n"
        )


def index_of(api, item):
    """The index of a type of callback among the callbacks of a call, which is equal in all calls."""
    found = {
        [given.callback for given in call.inputs if given.kind == "callback"].index(item["name"])
        for call in api.calls
        if any(given.callback == item["name"] for given in call.inputs)
    }
    (index,) = found
    return index
