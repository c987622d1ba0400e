//! Response heads: parsing them and asking them.
