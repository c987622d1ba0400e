/* Functions of the cryptography library that the linker replaces by ours (--wrap). scripts/fuzz finds the names in
 * WRAPPED(name), and passes the prefix of these names in the archive as PREFIX. */
#ifndef NETLIB_FUZZ_WRAPPED_H
#define NETLIB_FUZZ_WRAPPED_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define JOINED(prefix, name) __wrap_##prefix##_##name
#define WITH_PREFIX(prefix, name) JOINED(prefix, name)
#define WRAPPED(name) WITH_PREFIX(PREFIX, name)

#endif
