"""A binding of netlib for Python that is generated from netlib.api.json: it declares no function by hand.

usage: api.py netlib.api.json LIBRARY

Prints the results of some calls, which the test suite `bindings` compares with the expected ones. The page
docs/reference/bindings.md states the rules that the code follows.
"""

import ctypes
import itertools
import json
import os
import socket
import sys
import threading
import weakref


class NetlibError(Exception):
    """A failure of netlib, with its status and the byte offset of invalid input."""

    def __init__(self, status, message, offset):
        super().__init__(message)
        self.status, self.offset = status, offset


class Handle:
    """A handle of netlib. `close` frees the handle; so does the garbage collector. A handle that is borrowed from other
    objects is not freed, and keeps these objects alive."""

    def __init__(self, library, name, pointer, borrowed_from=None):
        self.pointer, self.borrowed_from = pointer, borrowed_from
        free = library.functions[library.handles[name]["free"]]["call"]
        self.finalizer = weakref.finalize(self, free, pointer) if borrowed_from is None else None

    def close(self):
        if self.finalizer:
            self.finalizer()
        self.pointer = None


class Library:
    def __init__(self, description, path):
        # ctypes releases Python's global lock around every call, and takes it in every callback.
        self.shared = ctypes.CDLL(path)
        self.numbers = {"void": None, "int": ctypes.c_int, "double": ctypes.c_double, "size_t": ctypes.c_size_t}
        for bits in (8, 16, 32, 64):
            self.numbers[f"int{bits}_t"] = getattr(ctypes, f"c_int{bits}")
            self.numbers[f"uint{bits}_t"] = getattr(ctypes, f"c_uint{bits}")
        for item in description["typedefs"]:
            self.numbers[item["name"]] = self.numbers[item["type"]]
        self.structs = {item["name"]: self.make_struct(item) for item in description["structs"]}
        self.handles = {item["name"]: item for item in description["handles"]}
        self.callbacks = {item["name"]: self.prototype(item) for item in description["callbacks"]}
        self.callback_items = {item["name"]: item for item in description["callbacks"]}
        values = [value for item in description["enums"] for value in item["values"]]
        self.constants = {value["name"]: value["value"] for value in values}
        statuses = next(item for item in description["enums"] if item["name"] == "netlib_status_code")
        self.status_names = {value["value"]: value["name"] for value in statuses["values"]}
        self.functions = {item["name"]: item for item in description["functions"]}
        for item in self.functions.values():
            item["call"] = self.prototype(item)((item["name"], self.shared))
        # The callbacks that netlib holds, by the number that netlib passes to them as `ctx`.
        self.held, self.next_ctx, self.thread = {}, itertools.count(1), threading.local()
        self.ctx_free = self.callbacks["netlib_ctx_free_fn"](lambda ctx: self.held.pop(ctx, None) and None)

    def make_struct(self, item):
        fields = [(field["name"], self.ctype(field["type"])) for field in item["fields"]]
        return type(item["name"], (ctypes.Structure,), {"_fields_": fields})

    def ctype(self, text):
        if text.endswith("*") or text.endswith("_fn"):
            return ctypes.c_void_p
        return ctypes.c_int32 if text.startswith("enum ") else self.numbers[text]

    def prototype(self, item):
        params = [self.ctype(param["type"]) for param in item["params"]]
        return ctypes.CFUNCTYPE(self.ctype(item["returns"]["type"]), *params)

    def call(self, name, *arguments):
        """Calls a function with its inputs. Returns its result and its outputs: a tuple if there are several."""
        function, given = self.functions[name], iter(arguments)
        values, lengths, keep, ctx = {}, {}, [], None
        for param in function["params"]:
            kind, direction = param["kind"], param["direction"]
            if kind in ("length", "ctx", "ctx_free") and direction == "in":
                continue
            if direction == "out" and kind != "buffer":
                values[param["name"]] = self.ctype(param["type"].removesuffix("*").rstrip())()
                continue
            value = next(given)
            if direction == "inout":
                values[param["name"]] = self.ctype(param["type"].removesuffix("*").rstrip())(value)
            elif kind == "callback" and value is not None:
                ctx = ctx or next(self.next_ctx)
                values[param["name"]] = self.make_callback(param["callback"], value)
                self.held.setdefault(ctx, []).append(values[param["name"]])
            else:
                values[param["name"]], lengths[param["name"]] = self.convert(param, value, keep)
        assert next(given, None) is None, f"{name}: too many arguments"
        for param in function["params"]:
            if param["kind"] == "length" and param["direction"] == "in":
                values[param["name"]] = lengths[param["length_of"]]
            elif param["kind"] == "ctx":
                values[param["name"]] = ctx
            elif param["kind"] == "ctx_free":
                values[param["name"]] = self.ctx_free if ctx else None
        passed = []
        for param in function["params"]:
            value, is_stored = values[param["name"]], param["direction"] in ("out", "inout")
            passed.append(ctypes.byref(value) if is_stored and param["kind"] != "buffer" else value)
        result = function["call"](*passed)
        raised = self.thread.__dict__.pop("raised", None)
        if raised:
            # The exception of a callback says more than NETLIB_CALLBACK_FAILED.
            raise raised
        return self.results(function, result, values, arguments)

    def convert(self, param, value, keep):
        """Returns a C value for an input, and the number of its bytes or elements."""
        kind = param["kind"]
        if value is None:
            if not param.get("nullable", True):
                raise TypeError(f"{param['name']} must not be None")
            return None, 0
        if kind == "handle":
            return value.pointer, 0
        if kind == "buffer":
            return ctypes.create_string_buffer(value), value
        if kind in ("text", "bytes"):
            data = value.encode() if isinstance(value, str) else value
            if param["length"] is None and b"\0" in data:
                raise ValueError(f"{param['name']} contains a NUL")
            return data, len(data)
        if kind == "array":
            element = param["element"].removeprefix("const ")
            if element in self.structs:
                pointers = [ctypes.cast(ctypes.c_char_p(data), ctypes.c_void_p) for data in value]
                array = [self.structs[element](pointer, len(data)) for pointer, data in zip(pointers, value)]
                keep.extend(pointers)
                return (self.structs[element] * len(value))(*array), len(value)
            if element == "char *":
                return (ctypes.c_char_p * len(value))(*[text.encode() for text in value]), len(value)
            return (self.numbers[element] * len(value))(*value), len(value)
        if kind == "enum" and isinstance(value, str):
            return self.constants[value], 0
        return int(value) if kind == "truth_value" else value, 0

    def make_callback(self, name, function):
        """Returns a C callback. After a Python exception, a callback that decides stores nothing, which means failure,
        and every other callback returns -1. The function does not get the output for its decision."""
        params = self.callback_items[name]["params"][1:]
        stored = [at for at, param in enumerate(params) if param["kind"] == "enum" and param["direction"] == "out"]

        def invoke(_ctx, *arguments):
            try:
                result = function(*[value for at, value in enumerate(arguments) if at not in stored])
                result = self.constants.get(result, result)
            except BaseException as raised:
                self.thread.raised = raised
                return None if stored else -1
            if not stored:
                return result
            ctypes.c_int32.from_address(arguments[stored[0]]).value = result
            return None

        return self.callbacks[name](invoke)

    def results(self, function, result, values, arguments):
        returns, found = function["returns"], []
        if returns["kind"] == "status" and "err" in values:
            self.check(result, values["err"].value)
            is_status = self.functions["netlib_status_class"]["call"](result) != 0
            found = [self.status_names[result]] if is_status else []
        elif returns["kind"] != "void":
            length = returns.get("length")
            count = values[length].value if length else None
            found = [self.convert_result(returns, result, count, arguments)]
        for param in function["params"]:
            name, kind = param["name"], param["kind"]
            if kind == "buffer":
                written = values[param["used"]].value if param["used"] else len(values[name])
                found.append(values[name].raw[:written])
            elif kind == "length" and not self.is_result(function, param):
                continue
            elif param["direction"] in ("out", "inout") and kind != "error":
                length = param.get("length")
                count = values[length].value if length else None
                found.append(self.convert_result(param, values[name].value, count, arguments))
        return found[0] if len(found) == 1 else tuple(found) if found else None

    def is_result(self, function, length):
        """Returns true for the number of bytes that a call used of an input."""
        inputs = (param["name"] for param in function["params"] if param["direction"] == "in")
        return length["direction"] == "out" and length["length_of"] in inputs

    def convert_result(self, item, value, count, arguments):
        kind = item["kind"]
        if kind == "truth_value":
            return value == 1
        if kind in ("handle", "text", "bytes", "array") and not value:
            return None
        if kind == "handle":
            return Handle(self, item["handle"], value, arguments if item["ownership"] == "borrowed" else None)
        if kind in ("text", "bytes"):
            data = ctypes.string_at(value, -1 if count is None else count)
            return data.decode(errors="surrogateescape") if kind == "text" else data
        if kind == "array" and item["element"] == "const char *":
            return [text.decode() for text in ctypes.cast(value, ctypes.POINTER(ctypes.c_char_p))[:count]]
        return value

    def check(self, status, error):
        """Raises an exception if a status is a failure. NETLIB_CLASS_PROGRESS is not a failure."""
        classes = (self.constants["NETLIB_CLASS_SUCCESS"], self.constants["NETLIB_CLASS_PROGRESS"])
        if self.functions["netlib_status_class"]["call"](status) in classes:
            return
        handle = Handle(self, "netlib_error", error)
        message, offset = self.call("netlib_error_message", handle), self.call("netlib_error_offset", handle)
        handle.close()
        raise NetlibError(self.status_names[status], message, offset)


def fails(call, *arguments):
    try:
        call(*arguments)
    except Exception as raised:
        return raised
    raise AssertionError("the call must fail")


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        description = json.load(file)
    library = Library(description, sys.argv[2])
    call = library.call
    # Before release 1.0, each minor version may break the ABI.
    assert call("netlib_version").split(".")[:2] == description["version"].split(".")[:2]

    url = call("netlib_parse_url", "https://user@example.com:8443/a?b")
    print("url:", call("netlib_url_host", url), call("netlib_url_port", url), call("netlib_url_fragment", url))
    other = call("netlib_url_resolve", url, "/c")
    print("same origin:", call("netlib_url_same_origin", url, other), call("netlib_url_to_string", other))
    error = fails(call, "netlib_parse_url", "http://[")
    print("error:", error.status, error.offset, error)

    options = call("netlib_headers_options_new")
    print("refused:", fails(call, "netlib_headers_options_add_header", options, "A", "b\0c"))
    call("netlib_headers_options_add_header", options, "Über", "b")
    print("options:", fails(call, "netlib_make_headers", options).status)

    retry_options = call("netlib_retry_options_new_recommended")
    call("netlib_retry_options_set_allowed_methods", retry_options, ["PUT", "GET"])
    call("netlib_retry_options_set_raise_on_status", retry_options, False)
    slept, outcomes = [], iter(["NETLIB_OUTCOME_DONE"])
    call("netlib_retry_options_set_sleep", retry_options, lambda seconds: slept.append(seconds) or next(outcomes))
    call("netlib_retry_options_set_random", retry_options, store_half)
    retry = call("netlib_retry_new", retry_options)
    methods = [call("netlib_retry_allowed_method", retry, at) for at in range(2)]
    print("retry:", methods, call("netlib_retry_raise_on_status", retry))
    _state, response, used = call("netlib_response_parse", "GET", "HTTP/1.1 503 Busy\r\n\r\n", 0)
    print("response:", call("netlib_response_status", response), used)
    decision = call("netlib_retry_decide", retry, "GET", url, response, None, None)
    print("decision:", call("netlib_decision_action", decision) == library.constants["NETLIB_ACTION_RETRY"])
    call("netlib_decision_sleep", decision, None)
    print("slept:", slept)
    print("raised:", type(fails(call, "netlib_decision_sleep", decision, None)).__name__)
    for handle in (decision, retry_options, retry):
        handle.close()
    print("callbacks held:", len(library.held))

    body = call("netlib_body_from_memory", b"0123456789")
    print("body:", call("netlib_body_length", body), call("netlib_body_read", body, 4), call("netlib_body_read", body, 9))

    print("connected with a filter that raises:", connections_with_raising_filter(library))

    limit = call("netlib_limit_new", 10.0, None)
    receiver, sender = os.pipe()
    print("progress:", call("netlib_wait_for_read", receiver, 0.0, limit))
    call("netlib_limit_cancel", limit)
    print("cancelled:", fails(call, "netlib_wait_for_read", receiver, 10.0, limit).status)
    os.close(receiver)
    os.close(sender)


def connections_with_raising_filter(library):
    """Connects ten times with a filter that allows the address, and ten times with one that raises an exception, which
    ctypes discards. Returns the results of the latter calls. After an exception, ctypes returns to C the number that is
    in memory, which may be the result of the earlier call."""
    connected, calls, failures = 0, itertools.count(), set()
    allow = library.constants["NETLIB_VERDICT_ALLOW"]

    def filter_address(_ctx, _address, _len, _classes, verdict):
        if next(calls) % 2 == 1:
            raise ValueError("no answer")
        ctypes.c_int32.from_address(verdict).value = allow

    sys.unraisablehook, hook = lambda _: None, sys.unraisablehook
    held = library.callbacks["netlib_address_fn"](filter_address)
    options = library.call("netlib_connect_options_new")
    library.functions["netlib_connect_options_set_address_callback"]["call"](options.pointer, held, None, None)
    with socket.create_server(("127.0.0.1", 0)) as server:
        for at in range(20):
            try:
                os.close(library.call("netlib_create_connection", "127.0.0.1", server.getsockname()[1], options, None))
                connected += at % 2
            except NetlibError as raised:
                failures.add(raised.status)
    sys.unraisablehook = hook
    return f"{connected} of 10, {', '.join(sorted(failures))}"


def store_half(value):
    ctypes.cast(value, ctypes.POINTER(ctypes.c_double))[0] = 0.5
    return 0


main()
