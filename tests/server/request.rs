//! Reads HTTP requests, as far as needed to show what the client sent.

use std::io::{BufRead, BufReader, Error, ErrorKind, Read, Result};

use crate::connection::Connection;

const LONGEST_LINE: u64 = 64 * 1024;

pub struct Request {
    pub method: String,
    pub target: String,
    /// The header fields, with their names as received.
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

impl Request {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(found, _)| found.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    }

    /// Returns the path of the request target, which is in origin form or, as clients send to proxies, in absolute
    /// form.
    pub fn path(&self) -> &str {
        let target = match self.target.strip_prefix("http://") {
            Some(rest) => rest.find('/').map_or("", |path| &rest[path..]),
            None => &self.target,
        };
        target.split('?').next().unwrap_or("")
    }

    /// Reads the request's head, but not its body.
    pub fn read_head(from: &mut BufReader<Connection>) -> Result<Request> {
        let line = read_line(from)?;
        let mut words = line.split(' ');
        let (Some(method), Some(target), Some("HTTP/1.1"), None) =
            (words.next(), words.next(), words.next(), words.next())
        else {
            return Err(Error::new(ErrorKind::InvalidData, format!("not a request line: {line:?}")));
        };
        let mut request =
            Request { method: method.to_owned(), target: target.to_owned(), headers: Vec::new(), body: Vec::new() };
        loop {
            let line = read_line(from)?;
            if line.is_empty() {
                return Ok(request);
            }
            let (name, value) = line.split_once(':').ok_or(ErrorKind::InvalidData)?;
            request.headers.push((name.to_owned(), value.trim().to_owned()));
        }
    }

    /// Reads the request's body. If `half` is set, reads only the first half, or the first chunk of a chunked body.
    pub fn read_body(&mut self, from: &mut BufReader<Connection>, half: bool) -> Result<()> {
        if self.header("transfer-encoding").is_some() {
            return self.read_chunks(from, half);
        }
        let length: u64 = self.header("content-length").map_or(Ok(0), str::parse).map_err(invalid)?;
        let length = if half { length / 2 } else { length };
        read_exactly(from, length, &mut self.body)
    }

    fn read_chunks(&mut self, from: &mut BufReader<Connection>, half: bool) -> Result<()> {
        loop {
            let size = u64::from_str_radix(&read_line(from)?, 16).map_err(invalid)?;
            read_exactly(from, size, &mut self.body)?;
            let end = read_line(from)?;
            if size == 0 || half {
                return if end.is_empty() { Ok(()) } else { Err(ErrorKind::InvalidData.into()) };
            }
        }
    }
}

fn invalid(error: impl std::error::Error + Send + Sync + 'static) -> Error {
    Error::new(ErrorKind::InvalidData, error)
}

fn read_exactly(from: &mut BufReader<Connection>, length: u64, into: &mut Vec<u8>) -> Result<()> {
    match from.take(length).read_to_end(into)? as u64 {
        read if read == length => Ok(()),
        _ => Err(ErrorKind::UnexpectedEof.into()),
    }
}

/// Reads a line and removes its CRLF. Each byte becomes one character of the string.
fn read_line(from: &mut BufReader<Connection>) -> Result<String> {
    let mut line = Vec::new();
    from.take(LONGEST_LINE).read_until(b'\n', &mut line)?;
    match line.strip_suffix(b"\r\n") {
        Some(line) => Ok(line.iter().map(|&byte| char::from(byte)).collect()),
        None => Err(ErrorKind::UnexpectedEof.into()),
    }
}
