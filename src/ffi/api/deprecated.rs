//! Old names, kept for programs that use them.
