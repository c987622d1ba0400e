/* Declares replacements for functions of the cryptography library, which the linker substitutes (--wrap). scripts/fuzz
 * searches the sources for WRAPPED(name), and defines PREFIX as the prefix that the names have in the static
 * library. */
#ifndef NETLIB_FUZZ_WRAPPED_H
#define NETLIB_FUZZ_WRAPPED_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define JOINED(prefix, name) __wrap_##prefix##_##name
#define WITH_PREFIX(prefix, name) JOINED(prefix, name)
#define WRAPPED(name) WITH_PREFIX(PREFIX, name)

#endif
