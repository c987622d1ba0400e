//! An empty crate: the fuzz targets are the C programs in `targets`, and this package only pins the version of
//! libFuzzer's source.
