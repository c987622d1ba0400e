//! placeholder
#[derive(Debug)]
pub struct Retry;
