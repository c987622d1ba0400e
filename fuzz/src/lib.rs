//! Nothing: the targets are the C programs in `targets`, and this package pins the source of libFuzzer.
