//! Pins threads to processors: the measured client runs on one processor, its peer on another.

use std::process::Command;
use std::sync::OnceLock;

/// The role of a processor: it runs the measured client, or the client's peer.
#[derive(Clone, Copy)]
pub enum Processor {
    Client = 0,
    Peer = 1,
}

impl Processor {
    /// Returns the number of the processor for this role, or `None` if the process may use too few processors.
    pub fn number(self) -> Option<usize> {
        allowed().get(self as usize).copied()
    }
}

/// Pins the current thread to a processor. If there is only one processor, the peer shares it with the client.
pub fn pin(processor: Processor) {
    let Some(number) = processor.number() else { return };
    unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        libc::CPU_SET(number, &mut set);
        libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), &set);
    }
}

/// The environment variable that tells child processes which processors this process could use originally. Without the
/// variable, a child process would see only the processor to which the thread that started it is pinned.
const VARIABLE: &str = "NETLIB_BENCH_PROCESSORS";

/// Sets the environment variable NETLIB_BENCH_PROCESSORS for a child process.
pub fn hand_down(command: &mut Command) {
    let numbers: Vec<String> = allowed().iter().map(usize::to_string).collect();
    command.env(VARIABLE, numbers.join(" "));
}

/// Returns the processors that this process could use before any of its threads was pinned.
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
