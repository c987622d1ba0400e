//! Tests properties that hold for every policy and chain of requests, with random policies and chains from fixed seeds.

mod immutability;
mod origins;
mod single_path;

use std::sync::Arc;

use crate::headers::{Headers, HeadersBuilder};
use crate::response::Response;

fn headers_of<S: AsRef<str>>(names: &[S]) -> Headers {
    let mut headers = HeadersBuilder::new();
    for name in names {
        headers.add(name.as_ref().as_bytes(), b"secret").unwrap();
    }
    headers.build()
}

fn names_of(headers: &Headers) -> Vec<String> {
    headers.iter().map(|(name, _)| name.to_str().unwrap().to_owned()).collect()
}

fn answer(status: u16, location: Option<&str>) -> Response {
    let mut headers = HeadersBuilder::new();
    if let Some(location) = location {
        headers.add(b"Location", location.as_bytes()).unwrap();
    }
    Response::new("GET", status, Arc::new(headers.build())).unwrap()
}
