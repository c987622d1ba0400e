//! Counts allocations and system calls on sockets. Prints one line per operation, separated by tabs: the section, the
//! group and the operation, then the allocations, reads, writes and waits per operation.
//!
//! This program defines malloc and related functions and the system calls on sockets. The dynamic linker prefers this
//! program's definitions to those of the C library, also for shared libraries that are opened later.

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

/// Counts a call of realloc as one allocation, because realloc may move the memory.
///
/// # Safety
/// The same requirements as for realloc(3).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn realloc(old: *mut c_void, size: usize) -> *mut c_void {
    ALLOCATIONS.fetch_add(1, Relaxed);
    unsafe { __libc_realloc(old, size) }
}

/// # Safety
/// The same requirements as for posix_memalign(3).
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

static READS: AtomicU64 = AtomicU64::new(0);
static WRITES: AtomicU64 = AtomicU64::new(0);
static WAITS: AtomicU64 = AtomicU64::new(0);

/// Defines functions of the C library: each function counts its calls and makes the corresponding system call.
macro_rules! counted {
    ($($counter:ident $name:ident = $number:ident($($argument:ident: $type:ty),*) -> $result:ty $(, $more:expr)*;)*) => { $(
        /// # Safety
        /// The same requirements as for the C library's function of this name.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name($($argument: $type),*) -> $result {
            $counter.fetch_add(1, Relaxed);
            unsafe { libc::syscall(libc::$number, $($argument,)* $($more),*) as $result }
        }
    )* };
}

counted! {
    READS read = SYS_read(fd: i32, room: *mut c_void, len: usize) -> isize;
    READS readv = SYS_readv(fd: i32, pieces: *const libc::iovec, count: i32) -> isize;
    READS recv = SYS_recvfrom(fd: i32, room: *mut c_void, len: usize, flags: i32) -> isize, 0_usize, 0_usize;
    READS recvmsg = SYS_recvmsg(fd: i32, message: *mut libc::msghdr, flags: i32) -> isize;
    WRITES write = SYS_write(fd: i32, data: *const c_void, len: usize) -> isize;
    WRITES writev = SYS_writev(fd: i32, pieces: *const libc::iovec, count: i32) -> isize;
    WRITES send = SYS_sendto(fd: i32, data: *const c_void, len: usize, flags: i32) -> isize, 0_usize, 0_usize;
    WRITES sendmsg = SYS_sendmsg(fd: i32, message: *const libc::msghdr, flags: i32) -> isize;
    WAITS poll = SYS_poll(fds: *mut libc::pollfd, count: libc::nfds_t, ms: i32) -> i32;
}

fn counts() -> [u64; 4] {
    [&ALLOCATIONS, &READS, &WRITES, &WAITS].map(|counter| counter.load(Relaxed))
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
                // Runs the operation once before counting, so that objects that are created once and then reused are
                // not counted.
                (operation.prepare)();
                (operation.pass)();
                (operation.prepare)();
                let before = counts();
                (operation.pass)();
                let after = counts();
                print!("{}\t{}\t{}", section.name, group.name, operation.name);
                for (before, after) in before.iter().zip(after) {
                    print!("\t{}", (after - before) as f64 / operation.times as f64);
                }
                println!();
            }
        }
    }
    ExitCode::SUCCESS
}
