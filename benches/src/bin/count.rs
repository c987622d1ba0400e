//! Counts allocations: prints "section TAB group TAB operation TAB allocations per operation".
//!
//! malloc and its kin of this program come before the C library's, also for the libraries that are opened later.

use std::ffi::c_void;
use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

static ALLOCATIONS: AtomicU64 = AtomicU64::new(0);

unsafe extern "C" {
    fn __libc_malloc(size: usize) -> *mut c_void;
    fn __libc_calloc(count: usize, size: usize) -> *mut c_void;
    fn __libc_realloc(old: *mut c_void, size: usize) -> *mut c_void;
    fn __libc_memalign(alignment: usize, size: usize) -> *mut c_void;
}

#[unsafe(no_mangle)]
pub extern "C" fn malloc(size: usize) -> *mut c_void {
    ALLOCATIONS.fetch_add(1, Relaxed);
    unsafe { __libc_malloc(size) }
}

#[unsafe(no_mangle)]
pub extern "C" fn calloc(count: usize, size: usize) -> *mut c_void {
    ALLOCATIONS.fetch_add(1, Relaxed);
    unsafe { __libc_calloc(count, size) }
}

/// Counts as one: it may move.
///
/// # Safety
/// As realloc(3).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn realloc(old: *mut c_void, size: usize) -> *mut c_void {
    ALLOCATIONS.fetch_add(1, Relaxed);
    unsafe { __libc_realloc(old, size) }
}

/// # Safety
/// As posix_memalign(3).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn posix_memalign(out: *mut *mut c_void, alignment: usize, size: usize) -> i32 {
    ALLOCATIONS.fetch_add(1, Relaxed);
    let memory = unsafe { __libc_memalign(alignment, size) };
    if memory.is_null() {
        return libc::ENOMEM;
    }
    unsafe { *out = memory };
    0
}

#[unsafe(no_mangle)]
pub extern "C" fn aligned_alloc(alignment: usize, size: usize) -> *mut c_void {
    ALLOCATIONS.fetch_add(1, Relaxed);
    unsafe { __libc_memalign(alignment, size) }
}

fn main() -> ExitCode {
    let wanted: Vec<String> = std::env::args().skip(1).collect();
    let sections = match netlib_bench::sections(|name| wanted.iter().any(|wanted| wanted == name)) {
        Ok(sections) => sections,
        Err(reason) => {
            eprintln!("{reason}");
            return ExitCode::FAILURE;
        }
    };
    for section in sections {
        for group in section.groups {
            for mut operation in group.operations {
                // What is made once and kept is not a cost of each.
                (operation.pass)();
                let before = ALLOCATIONS.load(Relaxed);
                (operation.pass)();
                let count = (ALLOCATIONS.load(Relaxed) - before) as f64 / operation.times as f64;
                println!("{}\t{}\t{}\t{count}", section.name, group.name, operation.name);
            }
        }
    }
    ExitCode::SUCCESS
}
