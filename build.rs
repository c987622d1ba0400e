//! Passes two options to the linker of the shared library: one sets its SONAME, the other keeps dlclose from unmapping
//! the library.

use std::env;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    let os = env::var("CARGO_CFG_TARGET_OS").unwrap_or_default();
    let elf = matches!(
        os.as_str(),
        "linux" | "android" | "freebsd" | "netbsd" | "openbsd" | "dragonfly" | "illumos" | "solaris"
    );
    // On the other systems (Mach-O, illumos, Solaris) the linker gets neither option, and the library works without
    // them.
    if !elf || matches!(os.as_str(), "illumos" | "solaris") {
        return;
    }
    // dlclose must not unmap the library: when a thread that used netlib ends, the thread runs thread-local
    // destructors, whose code must still be mapped.
    println!("cargo:rustc-cdylib-link-arg=-Wl,-z,nodelete");
    // Only the release library has a SONAME. Programs find a development build by its file name, so a development build
    // needs no symbolic links.
    if env::var("PROFILE").as_deref() == Ok("release") {
        println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,{}", include_str!("abi/soname").trim_end());
    }
}
