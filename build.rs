//! How the shared library presents itself to the dynamic linker.

use std::env;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    let os = env::var("CARGO_CFG_TARGET_OS").unwrap_or_default();
    let elf = matches!(
        os.as_str(),
        "linux" | "android" | "freebsd" | "netbsd" | "openbsd" | "dragonfly" | "illumos" | "solaris"
    );
    // Elsewhere (Mach-O, PE) the linkers have no such options; the library works without.
    if !elf || matches!(os.as_str(), "illumos" | "solaris") {
        return;
    }
    // A thread that used netlib runs its thread-local destructors when it ends. They must still be mapped then, so
    // dlclose does not unmap the library.
    println!("cargo:rustc-cdylib-link-arg=-Wl,-z,nodelete");
    // Only the library that is released is found by its SONAME; a development build is found by its file name, so that
    // it needs no links beside it.
    if env::var("PROFILE").as_deref() == Ok("release") {
        println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,libnetlib.so.{}", abi_version());
    }
}

/// 0 until 1.0, then the major version: what a program linked against one release asks of the next.
fn abi_version() -> String {
    env::var("CARGO_PKG_VERSION_MAJOR").unwrap_or_default()
}
