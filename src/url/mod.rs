//! URLs: parsing, normalising, writing, resolving.
