"""Loads netlib.cdef.h and the library with cffi, and prints the value of each constant whose name is a line of a file.

usage: cdef.py netlib.cdef.h LIBRARY NAMES
"""

import sys

import cffi

declarations, library, names = sys.argv[1:]
ffi = cffi.FFI()
with open(declarations, encoding="utf-8") as file:
    ffi.cdef(file.read())
lib = ffi.dlopen(library)

with open(names, encoding="utf-8") as file:
    for name in file.read().split():
        print(name, getattr(lib, name))
url, err = ffi.new("netlib_url **"), ffi.new("netlib_error **")
status = lib.netlib_parse_url(b"https://user@example.com/path", lib.netlib_nts(), url, err)
print("host", status, ffi.string(lib.netlib_url_host(url[0], ffi.NULL)).decode())
lib.netlib_url_free(url[0])
status = lib.netlib_parse_url(b"http://[", lib.netlib_nts(), url, err)
print("error", status, lib.netlib_error_offset(err[0]))
lib.netlib_error_free(err[0])
