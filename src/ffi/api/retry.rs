//! How often, for which failures, and after which delay a request is sent again.
