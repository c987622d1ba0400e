//! Measures the times of operations in rounds. Each round runs one pass of every operation, in a random order, so that
//! changes of the processor's clock speed or of the system's load affect all operations alike. Each ratio is computed
//! from two times of the same round.

use crate::Operation;
use crate::rng::Rng;

pub const ROUNDS: usize = 31;

/// Returns the processor time that the current thread has used, in ns.
pub fn thread_time() -> f64 {
    time(libc::CLOCK_THREAD_CPUTIME_ID)
}

/// Returns the processor time that all threads of this process have used, in ns.
pub fn process_time() -> f64 {
    time(libc::CLOCK_PROCESS_CPUTIME_ID)
}

/// Returns the time of a clock in ns.
pub fn time(clock: libc::clockid_t) -> f64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    unsafe { libc::clock_gettime(clock, &mut time) };
    time.tv_sec as f64 * 1e9 + time.tv_nsec as f64
}

pub fn timed(work: impl FnOnce()) -> f64 {
    let start = thread_time();
    work();
    thread_time() - start
}

/// Returns the times of the operations in ns, by operation and round. The first round warms up and is not included.
pub fn rounds(rng: &mut Rng, operations: &mut [Operation]) -> Vec<Vec<f64>> {
    let mut times = vec![Vec::with_capacity(ROUNDS); operations.len()];
    let mut order: Vec<usize> = (0..operations.len()).collect();
    for round in 0..=ROUNDS {
        rng.shuffle(&mut order);
        for &operation in &order {
            let Operation { times: count, passes, prepare, pass, .. } = &mut operations[operation];
            let time: f64 = (0..*passes)
                .map(|_| {
                    prepare();
                    timed(&mut *pass)
                })
                .sum();
            if round > 0 {
                times[operation].push(time / (*passes * *count) as f64);
            }
        }
    }
    times
}

pub fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted[sorted.len() / 2]
}

/// Divides the time of each round by the reference's time of the same round, and returns the median ratio.
pub fn median_ratio(times: &[f64], reference: &[f64]) -> f64 {
    median(&times.iter().zip(reference).map(|(a, b)| a / b).collect::<Vec<_>>())
}

pub fn geometric_mean(values: &[f64]) -> f64 {
    (values.iter().map(|value| value.ln()).sum::<f64>() / values.len() as f64).exp()
}
