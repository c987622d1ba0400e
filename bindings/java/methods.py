"""Makes the Java methods of the functions of C."""

from java_names import callback_class, class_name, component, constant, local, method_name
from model import camel
from native import native_type

# Functions after which an object keeps the limit: the limit of the object's waits is a child of the given limit, so
# that an interrupt and `close` end only the waits of the object.
KEEPING_MADE = {"netlib_stream_connect", "netlib_ssl_wrap_socket", "netlib_attempts_new"}
KEEPING_OWN = {"netlib_stream_set_limit", "netlib_body_set_limit", "netlib_connect_set_limit", "netlib_connect_run"}
# Objects that keep the limit of their waits. Those of NO_LIMIT have no limit at first.
WAITING = {"netlib_stream", "netlib_body", "netlib_attempts", "netlib_connect"}
NO_LIMIT = {"netlib_stream", "netlib_body"}


def is_limit(given):
    return given.kind == "handle" and given.handle == "netlib_limit" and given.name == "limit"


def input_type(given):
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
        return callback_class(given.callback)
    if kind == "ctx":
        return "Object"
    if kind == "enum":
        return class_name(given.enum)
    if kind == "bits":
        return f"Set<{class_name(given.enum)}>"
    if kind == "status":
        return "Status"
    if given.is_inout:
        return "long[]"
    return native_type(given.c_type)


def output_type(output):
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
    if kind == "enum":
        return class_name(output.enum)
    if kind == "bits":
        return f"Set<{class_name(output.enum)}>"
    if kind == "status":
        return "Status"
    return native_type(output.c_type)


class Method:
    """The method of one call. `code` is its declaration, and `types` are the types of its signature."""

    def __init__(self, call, doc):
        self.call, self.doc = call, doc
        self.before, self.opened, self.pointers, self.holding, self.arguments = [], [], [], [], []
        self.limit = next((given for given in call.inputs if is_limit(given)), None)
        self.has_own_limit = self.limit is not None and (call.blocks or call.c_name in KEEPING_MADE | KEEPING_OWN)
        # C releases the held object, so nothing may fail between `hold` and the call of C. A blocking call may run on
        # another thread.
        self.has_pointers = call.blocks or any(
            argument.role == "ctx" or (argument.input and argument.input.kind == "ctx") for argument in call.arguments
        )
        self.name = method_name(call.name)
        self.given = [given for given in call.inputs if given.kind != "ctx_free"]
        for argument in call.arguments:
            self.arguments.append(self.argument(argument))
        self.code = self.declaration()

    @staticmethod
    def java_name(given):
        return "value" if given.kind == "ctx" else local(given.name)

    # Arguments.

    def argument(self, argument):
        call, role, name, given = self.call, argument.role, local(argument.c_name), argument.input
        if role == "self":
            return self.pointer("this", name)
        if role == "length":
            of = local(given.name) + ("Data" if given.kind == "text" else "")
            return f"{of} == null ? 0 : {of}.length" if given.nullable else f"{of}.length"
        if role == "inout":
            return f'Convert.one("{name}", {name})'
        if role == "output":
            native = native_type(argument.output.c_type)
            self.before.append(f"{native}[] {name} = new {native}[1];")
            return name
        if role in ("length_out", "error"):
            name = "err" if role == "error" else name
            self.before.append(f"long[] {name} = new long[1];")
            return name
        if role == "ctx_free" or given is not None and given.kind == "ctx_free":
            return "ctx == 0 ? 0 : Upcalls.CTX_FREE"
        if role == "ctx" or given.kind == "ctx":
            return self.hold(role)
        return self.input(call, given, name)

    def input(self, call, given, name):
        kind = given.kind
        if kind == "handle":
            return self.pointer("own" if given is self.limit and self.has_own_limit else name, name)
        if kind == "text":
            helper = "data" if given.has_length else "terminated"
            self.before.append(f'byte[] {name}Data = Convert.{helper}("{name}", {name});')
            return f"{name}Data"
        if call.lends(given):
            self.opened.append(f"CMemory {name}Memory = Convert.memory({name})")
            return f"{name}Memory.address()"
        if kind == "truth_value":
            return f"{name} ? 1 : 0"
        if given.is_pointer:
            return f"{name} == null ? null : new double[] {{{name}}}"
        if kind == "array" and given.element != "int32_t":
            self.opened.append(f'CMemory {name}Memory = Convert.array("{name}", {name})')
            return f"{name}Memory.address()"
        if kind == "callback":
            address = f"Upcalls.{constant(given.callback)}"
            return f"{name} == null ? 0 : {address}" if given.nullable else address
        if kind in ("enum", "status"):
            return f"(int) {name}.number()"
        if kind == "bits":
            cast = "(int) " if native_type(given.c_type) == "int" else ""
            return f'{cast}OpenEnum.bits("{name}", {name})'
        return name

    def pointer(self, handle, name):
        pointer = f"use.pointer({handle})"
        if self.has_pointers:
            self.pointers.append(f"long {name}Pointer = {pointer};")
            return f"{name}Pointer"
        return pointer

    def hold(self, role):
        callbacks = [given for given in self.call.inputs if given.kind == "callback"]
        if role != "ctx":
            self.holding.append("long ctx = value == null ? 0 : Held.hold(value);")
        elif all(callback.nullable for callback in callbacks):
            present = " || ".join(f"{local(callback.name)} != null" for callback in callbacks)
            kept = ", ".join(local(callback.name) for callback in callbacks)
            self.holding.append(f"long ctx = {present} ? Held.hold(new Object[] {{{kept}}}) : 0;")
        else:
            kept = ", ".join(local(callback.name) for callback in callbacks)
            self.holding.append(f"long ctx = Held.hold(new Object[] {{{kept}}});")
        return "ctx"

    # Results.

    def output_code(self, output):
        call, kind = self.call, output.kind
        is_return = output.name == "return"
        variable = "returned" if is_return else local(output.name)
        value = variable if is_return else f"{variable}[0]"
        length = f"{local(output.length)}[0]" if output.length else "-1"
        if call.c_name == "netlib_attempts_limit":
            return "givenLimit()"
        if kind == "handle":
            java = class_name(output.handle)
            if output.clone:
                return f"{java}.of(Native.{output.clone}({value}), null)"
            lenders = [
                "this" if call.is_member and call.arguments[0].c_name == name else local(name)
                for name in output.borrowed_from
            ]
            lender = "null" if output.is_owned else f"new Object[] {{{', '.join(lenders)}}}"
            made = f"{java}.of({value}, {lender})"
            if call.c_name in KEEPING_MADE:
                return f"{java}.keeping({made}, own, {local(self.limit.name)})"
            return f"{java}.waiting({made})" if output.handle in NO_LIMIT else made
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
        if kind in ("enum", "status"):
            return f"{output_type(output)}.of({value})"
        if kind == "bits":
            return f"{class_name(output.enum)}.setOf({value})"
        return value

    # The method.

    def checks(self):
        """Refuses null before C is called."""
        primitives = {"int", "long", "double", "boolean"}
        return [
            f'Objects.requireNonNull({local(given.name)}, "{local(given.name)}");'
            for given in self.given
            if not given.nullable and not given.is_pointer and input_type(given) not in primitives
        ]

    def call_lines(self):
        call = self.call
        code = f"Native.{call.c_name}({', '.join(self.arguments)})"
        owner = "this" if call.is_member and call.owner in WAITING else "null"
        kept = ["keepLimit(own, null);"] if call.c_name in KEEPING_OWN else []
        if call.blocks:
            own = "own" if self.has_own_limit else "null"
            return [*kept, f"int returned = BlockingCall.run({owner}, {own}, err, () -> {code});"]
        if call.fails:
            return [f"int returned = {code};", "Errors.check(returned, err);", *kept]
        returns = call.item["returns"]["type"]
        lines = [f"{native_type(returns)} returned = {code};" if returns != "void" else code + ";", *kept]
        if any(callback != "netlib_ctx_free_fn" for callback in call.item["callbacks"]):
            lines.append("Held.rethrow();")
        return lines

    def values(self):
        """The results: (name in C, type, code, comment)."""
        found = [
            (
                output.name if output.name != "return" else "value",
                output_type(output),
                self.output_code(output),
                self.doc.words(output.doc, output.kind == "truth_value"),
            )
            for output in self.call.new_outputs
        ]
        if self.call.progress:
            found.append(("status", "Status", "Status.of(returned)", "whether the call stopped early"))
        return found

    def declaration(self):
        call, values = self.call, self.values()
        lines = self.call_lines()
        record = ""
        if call.is_setter:
            self.returns = class_name(call.owner)
            lines += ["check(); // throws if the value was refused", "return this;"]
        elif not values:
            self.returns = "void"
        elif len(values) == 1:
            self.returns = values[0][1]
            lines.append(f"return {values[0][2]};")
        else:
            self.returns = camel(call.name, first_upper=True) + "Result"
            lines.append(f"return new {self.returns}({', '.join(value for _, _, value, _ in values)});")
            record = self.record(values)
        if call.is_member or self.has_own_limit or any(given.kind == "handle" for given in call.inputs):
            self.opened.insert(0, "Use use = new Use()")
        if self.has_own_limit:
            owner = "this" if call.c_name == "netlib_connect_run" else "null"
            self.opened.insert(1, f"Limit own = BlockingCall.limit({local(self.limit.name)}, {owner})")
        lines = [*self.pointers, *self.holding, *lines]
        if self.opened:
            lines = [f"try ({'; '.join(self.opened)}) {{", *("    " + line for line in lines), "}"]
        parameters = ", ".join(f"{input_type(given)} {self.java_name(given)}" for given in self.given)
        static = "" if call.is_member else "static "
        head = "    @Deprecated\n" if call.item["deprecated"] else ""
        if self.name == "toString" and not parameters and call.is_member:
            head += "    @Override\n"
        body = "".join(f"        {line}\n" for line in [*self.checks(), *self.before, *lines])
        return (
            record + self.comment(values) + head
            + f"    public {static}{self.returns} {self.name}({parameters}) {{\n{body}    }}\n"
        )  # fmt: skip

    def record(self, values):
        fields = ", ".join(f"{found} {component(own)}" for own, found, _, _ in values)
        tags = [(f"@param {component(own)}", words or f"the {own.replace('_', ' ')}") for own, _, _, words in values]
        text = f"The results of `{self.doc.names[self.call.c_name]}`."
        return self.doc.comment(text, "    ", tags) + f"    public record {self.returns}({fields}) {{}}\n\n"

    def comment(self, values):
        call, words = self.call, self.doc.words
        truth = call.item["returns"]["kind"] == "truth_value"
        truth = truth or call.is_setter and bool(call.inputs) and call.inputs[0].kind == "truth_value"
        text = words(call.doc, truth)
        if call.blocks:
            waits = words(call.item["blocks"])
            text += f"\n\nThe call waits {waits}" if waits else "\n\nThe call may wait."
        tags = [
            (f"@param {self.java_name(given)}", words(given.doc, given.kind == "truth_value") or self.about(given))
            for given in self.given
        ]
        if call.is_setter:
            tags.append(("@return", "these options"))
        elif len(values) > 1:
            tags.append(("@return", "the results"))
        elif values:
            tags.append(("@return", values[0][3] or self.returned(truth) or result_of(text)))
        if call.fails:
            tags.append(("@throws NetlibException", words(call.item["returns"]["doc"]) or "if the call fails"))
        if call.is_setter:
            tags.append(("@throws NetlibException", "if the value is refused"))
        if call.item["deprecated"]:
            tags.append(("@deprecated", words(call.item["deprecated"])))
        return self.doc.comment(text, "    ", tags)

    def returned(self, is_truth_value):
        return "" if self.call.fails else self.doc.words(self.call.item["returns"]["doc"], is_truth_value)

    @staticmethod
    def about(given):
        text = {"bytes": "the bytes", "buffer": "the buffer to fill"}.get(given.kind)
        text = text or f"the {given.name.replace('_', ' ')}"
        return text + "; may be null" if given.nullable else text


def result_of(text):
    """The text of @return for a comment such as "Returns the host. ..."."""
    first = text.split(". ")[0].split(".\n")[0].replace("\n", " ")
    return first.removeprefix("Returns ") if first.startswith("Returns ") else "the result"
