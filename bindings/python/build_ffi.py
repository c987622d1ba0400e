"""Writes netlib/_cdef.py, with which cffi calls the library without a compiled module. With LIBRARY_DIRECTORY, compiles
netlib/_native.abi3.so if there is a C compiler.

usage: build_ffi.py DIRECTORY INCLUDES [LIBRARY_DIRECTORY]
"""

import re
import sys
from pathlib import Path

from cffi import FFI

FILES = {"c": "netlib/_native.abi3.so", "python": "netlib/_cdef.py"}


# At its exit, Python clears the functions of extern "Python" before the last handles are freed. After that,
# ctx_free must not call Python.
RELEASE = """
extern int netlib_py_exiting;
void netlib_py_release(void *ctx);
"""
SOURCE = """
#include <netlib.h>
static int netlib_py_exiting;
static void netlib_py_ctx_free_fn(void *ctx);
static void netlib_py_release(void *ctx) {
    if (!netlib_py_exiting) netlib_py_ctx_free_fn(ctx);
}
"""


def python_callbacks(cdef):
    """Declares, for each type of callback, a C function that is written in Python."""
    found = re.findall(r"^typedef ([^;]*?)\(\*netlib_(\w+_fn)\)\(([^;]*)\);", cdef, re.MULTILINE)
    return "\n".join(
        f'extern "Python" {returns.strip()} netlib_py_{name}({params});' for returns, name, params in found
    )


def main():
    directory, includes = Path(sys.argv[1]), Path(sys.argv[2])
    cdef = (includes / "netlib.cdef.h").read_text(encoding="utf-8")
    slow = FFI()
    slow.cdef(cdef)
    slow.set_source("netlib._cdef", None)
    slow.emit_python_code(str(directory / FILES["python"]))
    if len(sys.argv) == 3:
        return
    fast = FFI()
    fast.cdef(cdef + python_callbacks(cdef) + RELEASE)
    fast.set_source(
        "netlib._native",
        SOURCE,
        include_dirs=[str(includes)],
        library_dirs=[sys.argv[3]],
        libraries=[":libnetlib.so.0.1"],
        # The library in the package takes precedence over the library of the system.
        extra_link_args=["-Wl,--disable-new-dtags,-rpath,$ORIGIN"],
        extra_compile_args=["-O1", "-Wno-deprecated-declarations"],
    )
    try:
        fast.compile(tmpdir=str(directory), target=FILES["c"].replace("netlib/", ""))
    except Exception as error:  # distutils raises errors of several classes
        print(f"note: no C compiler: {error}; the package calls the library without one", file=sys.stderr)


if __name__ == "__main__":
    main()
