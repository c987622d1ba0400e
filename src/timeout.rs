//! Time limits of a request, and the clock that measures its connect.
