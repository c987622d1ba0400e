//! What keeps the retries of many requests from overloading a server: state that all requests to an origin share.
//!
//! Each object keeps a bounded number of keys, such as origins or tenants ([`key_table`]). A call that asks for
//! permission gets a number, with which a later call reports the outcome ([`lease_table`]). Decisions are pure: they
//! depend on the state, the time and random numbers, and callbacks of the application can supply the last two.

mod key_table;
mod lease_table;
