# shellcheck shell=sh
# Sourced by the scripts that run cargo for the release profile, in the root directory of the project. Exports the
# environment of cargo; a script that sets another environment makes cargo compile every crate again.
#
# CARGO_TARGET_DIR becomes absolute. CARGO_ENCODED_RUSTFLAGS contains $flags, which $separator separates. $relocations
# is an argument of the linker, or empty.

# The small build has its own directory, because cargo would otherwise recompile every crate when it alternates between
# the two builds.
target=${CARGO_TARGET_DIR:-target}${NETLIB_SMALL:+/small}
mkdir -p "$target"
target=$(cd "$target" && pwd)
export CARGO_TARGET_DIR="$target"

# Paths may contain spaces, so the flags are separated as in CARGO_ENCODED_RUSTFLAGS.
separator=$(printf '\037')
flags=${CARGO_ENCODED_RUSTFLAGS-$(printf '%s' "${RUSTFLAGS-}" | sed 's/^ *//; s/ *$//' | tr -s ' ' "$separator")}
# rustc applies the last matching prefix, so more specific prefixes come last.
add_remap() { # PATH NAME
    flags="$flags${flags:+$separator}--remap-path-prefix=$1=$2"
}
add_remap "$(pwd)" /netlib
add_remap "$target" /netlib/target
add_remap "${CARGO_HOME:-${HOME-}/.cargo}" /cargo
add_remap "$(rustc --print sysroot)" /rust
export CARGO_ENCODED_RUSTFLAGS="$flags"

# _FORTIFY_SOURCE is undefined first, because some distributions and compilers define it.
export AWS_LC_SYS_CFLAGS="${AWS_LC_SYS_CFLAGS-${CFLAGS-}} -fstack-protector-strong -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2"

# AWS_LC_SYS_SMALL leaves out the AVX-512 code of AES-GCM and the large tables of P-256. Unwinding needs the tables of
# Rust functions only, because aws-lc calls no function that may panic. Relative relocations need glibc 2.36 or musl
# 1.2.4.
relocations=
if [ -n "${NETLIB_SMALL-}" ]; then
    export CARGO_PROFILE_RELEASE_OPT_LEVEL=z AWS_LC_SYS_SMALL=1
    AWS_LC_SYS_CFLAGS="$AWS_LC_SYS_CFLAGS -fno-asynchronous-unwind-tables"
    relocations=-Wl,-z,pack-relative-relocs
fi

# Only the debug information of the C code contains paths. aws-lc's build script splits the flags at spaces.
if [ -n "${CARGO_PROFILE_RELEASE_DEBUG-}" ]; then
    for place in "$(pwd)=/netlib" "$target=/netlib/target" "${CARGO_HOME:-${HOME-}/.cargo}=/cargo"; do
        case $place in
        *' '*) echo "note: the debug information contains the path ${place%=*}" >&2 ;;
        *) AWS_LC_SYS_CFLAGS="$AWS_LC_SYS_CFLAGS -ffile-prefix-map=$place" ;;
        esac
    done
fi
