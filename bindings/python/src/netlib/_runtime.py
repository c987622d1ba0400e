"""Loads the library, and converts between values of Python and of C."""

from __future__ import annotations

import atexit
import enum
import importlib
import math
import os
import re
import socket
import threading
import weakref
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, Union

try:
    _library: Any = importlib.import_module("netlib._native")
    IS_COMPILED = True
    ffi: Any = _library.ffi
    lib: Any = _library.lib
except ImportError:
    # The package was built without a C compiler.
    ffi = importlib.import_module("netlib._cdef").ffi
    _bundled = os.path.join(os.path.dirname(__file__), "libnetlib.so.0.1")
    lib = ffi.dlopen(_bundled if os.path.exists(_bundled) else "libnetlib.so.0.1")
    IS_COMPILED = False

if TYPE_CHECKING:
    from typing_extensions import Buffer
    from typing_extensions import Self as Self  # noqa: PLC0414 # mypy needs the alias for modules that import Self

    from ._api import Limit
else:
    Buffer = Self = Any

NULL: Any = ffi.NULL
CHAR_ARRAY: Any = ffi.typeof("char[]")
new = ffi.new

Text = Union[str, bytes]
Path = Union[str, bytes, "os.PathLike[str]", "os.PathLike[bytes]"]
Data = Buffer
WritableData = Union[bytearray, memoryview]
Seconds = Union[float, None]
"""A time in seconds; None means no time limit."""
Fields = Union[Mapping[str, str], Iterable[tuple[str, str]]]
"""Header fields: a mapping, or pairs of a name and a value."""


class _HasFileno(Protocol):
    def fileno(self) -> int: ...


Descriptor = Union[int, _HasFileno]


def check_version(generated: str) -> None:
    """Raises ImportError unless the loaded library works with a package that was generated from a version of netlib.h.
    Before version 1.0, each minor version may change the ABI."""
    loaded = ffi.string(lib.netlib_version()).decode()
    if loaded.split(".")[:2] != generated.split(".")[:2]:
        raise ImportError(f"the package netlib {generated} needs libnetlib {generated}, but the library is {loaded}")


# ---- Enums.


class Enum(enum.IntEnum):
    """An enum of netlib.h. A newer library may return other values, which keep their number."""

    @classmethod
    def _missing_(cls, value: object) -> Enum | None:
        if not isinstance(value, int):
            return None
        member = int.__new__(cls, value)
        member._name_, member._value_ = f"UNKNOWN_{value}", value
        return member


class Flags(enum.IntFlag):
    """Bits of an enum of netlib.h, which `|` joins."""


# ---- Handles.


class Handle:
    """A handle of netlib. `close`, the end of a `with` block and the garbage collector free it."""

    __slots__ = ("__weakref__", "_keep", "_lock", "_ptr")
    _free = ""
    _has_lock = False

    _ptr: Any
    _keep: tuple[object, ...]
    _lock: threading.RLock

    def _adopt(self, pointer: Any, keep: tuple[object, ...] = ()) -> None:
        free = getattr(lib, self._free)
        # The pointer keeps the objects alive, because a call of another thread uses both even after `close`.
        self._ptr = ffi.gc(pointer, partial(_free_before, keep, free) if keep else free)
        self._keep = ()
        if self._has_lock:
            self._renew_lock()

    @classmethod
    def _own(cls, pointer: Any, keep: tuple[object, ...] = ()) -> Self:
        self = cls.__new__(cls)
        self._adopt(pointer, keep)
        return self

    @classmethod
    def _borrow(cls, pointer: Any, *keep: object) -> Self:
        """Makes an object that keeps the lenders of its handle alive."""
        self = cls.__new__(cls)
        self._ptr, self._keep = pointer, keep
        if cls._has_lock:
            self._renew_lock()
        return self

    def _renew_lock(self) -> None:
        self._lock = threading.RLock()
        _locked.add(self)

    def _closed(self) -> Any:
        raise ValueError(f"the {type(self).__name__} is closed")

    def close(self) -> None:
        """Frees the handle. A closed object cannot be used. Closing it again is harmless. If another thread uses the
        handle in a call, it is freed when the call has returned. `Limit.cancel` ends a wait of such a call."""
        self._ptr, self._keep = None, ()

    def __enter__(self) -> Self:
        if not self._ptr:
            self._closed()
        return self

    def __exit__(self, *_raised: object) -> None:
        self.close()


def _free_before(_kept: tuple[object, ...], free: Any, pointer: Any) -> None:
    """Frees a handle before the objects on which it depends."""
    free(pointer)


_locked: weakref.WeakSet[Handle] = weakref.WeakSet()  # the handles with a lock


def _renew_locks() -> None:
    """In a forked child, no thread would release the locks that other threads of the parent held."""
    for handle in _locked:
        handle._lock = threading.RLock()


os.register_at_fork(after_in_child=_renew_locks)


def give(handle: Handle) -> Any:
    """Returns the pointer of a handle that netlib frees."""
    pointer = ffi.gc(handle._ptr, None)
    handle._ptr = None
    return pointer


# ---- Arguments.


def truth(value: bool) -> int:
    if value is True:
        return 1
    if value is False:
        return 0
    raise TypeError(f"expected True or False, not {value!r}")


def seconds_or_none(value: Seconds) -> float:
    return math.inf if value is None else value


def to_descriptor(value: Descriptor) -> int:
    return value if isinstance(value, int) else value.fileno()


def encode(value: Text) -> bytes:
    return value.encode("utf-8", "surrogateescape") if isinstance(value, str) else value


def c_text(name: str, value: Text) -> bytes:
    """Text that C reads up to its first NUL. Refuses text with a NUL, because C would not see the rest."""
    data = encode(value)
    if b"\0" in data:
        raise ValueError(f"{name} contains a NUL at byte {data.index(0)}")
    return data


def optional_c_text(name: str, value: Text | None) -> Any:
    return NULL if value is None else c_text(name, value)


def c_path(name: str, value: Path) -> bytes:
    return c_text(name, os.fsencode(value))


def optional_c_path(name: str, value: Path | None) -> Any:
    return NULL if value is None else c_path(name, value)


def data_text(value: Text) -> tuple[bytes, int]:
    data = encode(value)
    return data, len(data)


def optional_data_text(value: Text | None) -> tuple[Any, int]:
    return (NULL, 0) if value is None else data_text(value)


def data_bytes(value: Data) -> tuple[Any, int]:
    """The bytes of any object with a buffer, without a copy."""
    data = ffi.from_buffer(value)
    return data, len(data)


def optional_data(value: Data | None) -> tuple[Any, int]:
    return (NULL, 0) if value is None else data_bytes(value)


def writable(value: WritableData) -> tuple[Any, int]:
    data = ffi.from_buffer(value, require_writable=True)
    return data, len(data)


def release(*buffers: Any) -> None:
    """Releases the buffers of a call that raises an exception, because the traceback keeps the variables of the call.
    The garbage collector of Python 3.11 crashes if it breaks a reference cycle with a memoryview that is in use."""
    for buffer in buffers:
        if isinstance(buffer, list):
            release(*buffer)
        elif isinstance(buffer, ffi.CData) and ffi.typeof(buffer) is CHAR_ARRAY:
            ffi.release(buffer)


def text_array(values: Iterable[Text]) -> tuple[Any, int, object]:
    if isinstance(values, (str, bytes)):
        raise TypeError("expected several texts, not one")
    keep = [ffi.from_buffer(c_text("a text", value) + b"\0") for value in values]
    return new("char *[]", keep), len(keep), keep


def int_array(values: Iterable[int]) -> tuple[Any, int, object]:
    array = new("int32_t[]", list(values))
    return array, len(array), None


def fields_array(fields: Fields) -> tuple[Any, int, object]:
    items: Any = fields.items() if isinstance(fields, Mapping) else fields
    pairs = list(items)
    names, _, keep_names = text_array([name for name, _ in pairs])
    values, _, keep_values = text_array([value for _, value in pairs])
    array = new("netlib_header_field[]", [(names[at], values[at]) for at in range(len(pairs))])
    return array, len(pairs), (names, values, keep_names, keep_values)


def slices_array(pieces: Iterable[Data]) -> tuple[Any, int, object]:
    keep = [ffi.from_buffer(piece) for piece in pieces]
    return new("netlib_slice[]", [(piece, len(piece)) for piece in keep]), len(keep), keep


# ---- Results.


def to_bytes(pointer: Any, length: int | None = None) -> bytes:
    if not pointer:
        raise RuntimeError("no memory is left, or the object is in use by the call that invoked this callback")
    if length is None:
        return ffi.string(pointer)  # type: ignore[no-any-return]
    return ffi.buffer(pointer, length)[:]  # type: ignore[no-any-return]


def to_optional_bytes(pointer: Any, length: int | None = None) -> bytes | None:
    return to_bytes(pointer, length) if pointer else None


def to_text(pointer: Any, length: int | None = None) -> str:
    if not pointer or length is None:
        return to_bytes(pointer, length).decode("utf-8", "surrogateescape")
    return ffi.unpack(pointer, length).decode("utf-8", "surrogateescape")  # type: ignore[no-any-return]


def to_optional_text(pointer: Any, length: int | None = None) -> str | None:
    # Most getters of URLs and headers call this function, so it does not call `to_text`.
    if not pointer:
        return None
    data = ffi.string(pointer) if length is None else ffi.unpack(pointer, length)
    return data.decode("utf-8", "surrogateescape")  # type: ignore[no-any-return]


MaybeText = TypeVar("MaybeText", str, Union[str, None])


def in_python(text: MaybeText) -> MaybeText:
    """A text of netlib with the names of Python. Unknown names stay."""
    if text is None or "netlib_" not in text.lower():
        return text
    from ._names import NAMES

    changed: Any = re.sub(r"(?:enum )?\b((?:netlib|NETLIB)_\w+)", lambda found: NAMES.get(found[1], found[0]), text)
    return changed  # type: ignore[no-any-return]


def part_of(value: Data, start: Any, pointer: Any, length: int) -> memoryview:
    """The part of an object with a buffer to which netlib points, without a copy."""
    offset = int(ffi.cast("uintptr_t", pointer)) - int(ffi.cast("uintptr_t", start)) if pointer else 0
    return memoryview(value).cast("B")[offset : offset + length]


def array_of_texts(pointer: Any, length: int) -> list[str]:
    return [to_text(pointer[at]) for at in range(length)]


def array_of_ints(pointer: Any, length: int) -> list[int]:
    return [pointer[at] for at in range(length)]


def own_socket(fd: int) -> socket.socket:
    return socket.socket(fileno=fd)


# ---- Callbacks.


class _Pending(threading.local):
    raised: BaseException | None = None


_pending = _Pending()
_held: dict[int, list[Any]] = {}  # lists with one object each, by their id


def hold(value: Any) -> tuple[Any, Any]:
    """Keeps an object, such as the functions of one call, until netlib releases its `ctx`."""
    entry = [value]
    _held[id(entry)] = entry
    return ffi.cast("void *", id(entry)), CTX_FREE


def run_signal_handlers() -> Any:
    """The interrupt check of limits. The interpreter runs Python's signal handlers at the start of this function, so an
    exception of a handler, such as KeyboardInterrupt, is raised here, and again after the outer call."""
    from ._api import Interrupt

    return Interrupt.CONTINUE


def held(ctx: Any, name: str) -> Callable[..., Any]:
    if not ctx:
        return run_signal_handlers
    return _held[int(ffi.cast("uintptr_t", ctx))][0][name]  # type: ignore[no-any-return]


def held_value(ctx: Any) -> Any:
    return _held[int(ffi.cast("uintptr_t", ctx))][0] if ctx else None


def take_pending() -> BaseException | None:
    raised, _pending.raised = _pending.raised, None
    return raised


def reraise(*buffers: Any) -> None:
    """Raises the exception that a callback of the call has raised."""
    if _pending.raised is not None:
        release(*buffers)
        raised = take_pending()
        assert raised is not None
        raise raised


def _keep_exception(_type: object, raised: BaseException, _traceback: object) -> None:
    if _pending.raised is None:
        _pending.raised = raised


def callback(c_type: str, failure: int | None) -> Callable[[Callable[..., Any]], Any]:
    """Makes a C function. An exception becomes the failure value; the outer call raises the exception again."""
    options: dict[str, Any] = {"onerror": _keep_exception}
    if failure is not None:
        options["error"] = failure

    def make(function: Callable[..., Any]) -> Any:
        if not IS_COMPILED:
            return ffi.callback(c_type, function, **options)
        name = c_type.replace("netlib_", "netlib_py_")
        ffi.def_extern(name=name, **options)(function)
        return getattr(lib, name)

    return make


@callback("netlib_ctx_free_fn", None)
def CTX_FREE(ctx: Any) -> None:
    _held.pop(int(ffi.cast("uintptr_t", ctx)), None)


if IS_COMPILED:
    CTX_FREE = ffi.addressof(lib, "netlib_py_release")
    atexit.register(setattr, lib, "netlib_py_exiting", 1)


def expect(kind: type[Enum], value: object) -> int:
    if not isinstance(value, kind):
        raise TypeError(f"the callback must return a {kind.__name__}, not {value!r}")
    return value


# ---- Limits and interrupts.


_default_limit: Any = None


def limit_pointer(limit: Limit | None) -> Any:
    """The pointer of a limit, or of a default limit, so that a signal handler always ends a wait."""
    global _default_limit
    if limit is not None:
        return limit._ptr or limit._closed()
    if _default_limit is None:
        from ._api import Limit

        _default_limit = Limit(None)._ptr
    return _default_limit
