//! Compares netlib with an earlier build of it. Both builds are loaded into one process and measured in the same
//! rounds.

use crate::report::Table;
use crate::rng::Rng;
use crate::timing::{median, median_ratio, rounds};
use crate::{netlib, sections, tls, with_library};

/// Returns the path of the earlier build, from the environment variable NETLIB_BEFORE.
pub fn before() -> Option<String> {
    std::env::var("NETLIB_BEFORE").ok().filter(|path| !path.is_empty())
}

/// Prints the times of both builds. Operations of other libraries, except TLS operations, are measured twice, too: the
/// ratio of the two times shows the noise of the measurement.
pub fn compare_with(path: &str, rng: &mut Rng, wants: impl Fn(&str) -> bool + Copy) -> Result<(), String> {
    println!("Times: ns of this thread's processor time, of {} and of {path}\n", netlib());
    let mut table = Table::new(&["operation", "now", "before", "now / before"]);
    let now = sections(|name| name != "tls" && wants(name))?;
    let earlier = with_library(path, || sections(|name| name != "tls" && wants(name)))?;
    for (now, earlier) in now.into_iter().zip(earlier) {
        for (group, other) in now.groups.into_iter().zip(earlier.groups) {
            let name = format!("{}: {}", now.name, group.name);
            for (operation, other) in group.operations.into_iter().zip(other.operations) {
                let name = format!("{name}: {}", operation.name);
                let times = rounds(rng, &mut [operation, other]);
                table.row(row(&name, &times[0], &times[1]));
            }
        }
    }
    if wants("tls") {
        for group in tls::processes::rounds(rng)? {
            for (now, earlier) in
                [(tls::NETLIB, tls::NETLIB_BEFORE), (tls::NETLIB_UNLIMITED, tls::NETLIB_BEFORE_UNLIMITED)]
            {
                let times = |name| group.rows.iter().find(|row| row.name == name).map(|row| &row.times);
                if let Some((now_times, times)) = times(now).zip(times(earlier)) {
                    table.row(row(&format!("tls: {}: {now}", group.name), now_times, times));
                }
            }
        }
    }
    table.print();
    Ok(())
}

fn row(name: &str, now: &[f64], before: &[f64]) -> Vec<String> {
    let ratio = format!("{:.3}", median_ratio(now, before));
    vec![name.into(), format!("{:.1}", median(now)), format!("{:.1}", median(before)), ratio]
}
