//! Connect, read and total time limits.
