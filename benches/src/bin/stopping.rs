//! Prints how soon blocking calls can be stopped. This is a separate program because its getaddrinfo replaces the C
//! library's in the whole process: a lookup of one particular host name blocks until the program releases it.

use std::ffi::{CStr, c_char};
use std::process::ExitCode;

use libc::addrinfo;
use netlib_bench::rng::Rng;
use netlib_bench::sockets::stopping::{self, HANGS};

type GetAddrInfo = unsafe extern "C" fn(*const c_char, *const c_char, *const addrinfo, *mut *mut addrinfo) -> i32;

/// # Safety
/// The same requirements as for getaddrinfo(3).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn getaddrinfo(
    host: *const c_char,
    service: *const c_char,
    hints: *const addrinfo,
    found: *mut *mut addrinfo,
) -> i32 {
    unsafe {
        let numeric = hints.as_ref().is_some_and(|hints| hints.ai_flags & libc::AI_NUMERICHOST != 0);
        if !numeric && !host.is_null() && CStr::from_ptr(host) == HANGS {
            stopping::hang();
            return libc::EAI_AGAIN;
        }
        let next = libc::dlsym(libc::RTLD_NEXT, c"getaddrinfo".as_ptr());
        if next.is_null() {
            return libc::EAI_FAIL;
        }
        std::mem::transmute::<*mut libc::c_void, GetAddrInfo>(next)(host, service, hints, found)
    }
}

fn main() -> ExitCode {
    match stopping::run(&mut Rng::new(1)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(reason) => {
            eprintln!("{reason}");
            ExitCode::FAILURE
        }
    }
}
