//! Sessions that must not be.

use super::Stage;
use crate::report::Report;

pub fn run(_stage: &Stage, _report: &mut Report) {}
