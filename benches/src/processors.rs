//! What runs where: the client that is measured on one processor, its peer on another.

use std::process::Command;
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
    let Some(number) = processor.number() else { return };
    unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        libc::CPU_SET(number, &mut set);
        libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), &set);
    }
}

/// In the environment of the processes that one makes, those that it began with: they inherit what its threads are pinned
/// to.
const VARIABLE: &str = "NETLIB_BENCH_PROCESSORS";

/// Hands them down to a process.
pub fn hand_down(command: &mut Command) {
    let numbers: Vec<String> = allowed().iter().map(usize::to_string).collect();
    command.env(VARIABLE, numbers.join(" "));
}

/// As they were before a thread of this process was pinned.
fn allowed() -> &'static [usize] {
    static ALLOWED: OnceLock<Vec<usize>> = OnceLock::new();
    ALLOWED.get_or_init(|| match std::env::var(VARIABLE) {
        Ok(numbers) => numbers.split(' ').filter_map(|number| number.parse().ok()).collect(),
        Err(_) => unsafe {
            let mut set: libc::cpu_set_t = std::mem::zeroed();
            libc::sched_getaffinity(0, size_of::<libc::cpu_set_t>(), &mut set);
            (0..libc::CPU_SETSIZE as usize).filter(|&i| libc::CPU_ISSET(i, &set)).collect()
        },
    })
}
