//! Parsing URLs, and what they are made of.
