//! Request bodies that can be sent again.
