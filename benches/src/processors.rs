//! What runs where: the client that is measured on one processor, its peer on another.

use std::sync::OnceLock;

/// Of the processors that this process may use.
#[derive(Clone, Copy)]
pub enum Processor {
    Client = 0,
    Peer = 1,
}

impl Processor {
    /// Its number. `None`: there are too few.
    pub fn number(self) -> Option<usize> {
        allowed().get(self as usize).copied()
    }
}

/// Pins this thread. Without another processor a peer runs where the client does.
pub fn pin(processor: Processor) {
    if let Some(number) = processor.number() {
        pin_to(number);
    }
}

/// For a process that began with its maker's processor and no other.
pub fn pin_to(number: usize) {
    unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        libc::CPU_SET(number, &mut set);
        libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), &set);
    }
}

/// As they were before a thread of this process was pinned: what is made after that inherits the one that is left.
fn allowed() -> &'static [usize] {
    static ALLOWED: OnceLock<Vec<usize>> = OnceLock::new();
    ALLOWED.get_or_init(|| unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        libc::sched_getaffinity(0, size_of::<libc::cpu_set_t>(), &mut set);
        (0..libc::CPU_SETSIZE as usize).filter(|&i| libc::CPU_ISSET(i, &set)).collect()
    })
}
