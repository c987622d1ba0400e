//! Converts arrays of `netlib_header_field`.

use crate::error::Result;
use crate::ffi::api::headers::netlib_header_field;
use crate::ffi::args;
use crate::headers::{Headers, HeadersBuilder};

/// Reads an array of header fields: `Headers`. `(NULL, 0)` gives an empty list.
macro_rules! arg_fields {
    ($p:ident, $count:ident) => {
        // SAFETY: netlib.h requires `$count` fields, whose names and values are NULL or NUL-terminated strings.
        unsafe { $crate::ffi::header_fields::headers_from($p, $count) }?
    };
}

pub(crate) use arg_fields;

/// # Safety
/// `fields` points to `count` initialised values, or `count` is 0. The `name` and the `value` of each field are NULL or
/// NUL-terminated strings that live across the call.
pub(crate) unsafe fn headers_from(fields: *const netlib_header_field, count: usize) -> Result<Headers> {
    // SAFETY: the caller guarantees the "# Safety" conditions of this function.
    let fields = unsafe { args::slice(fields, count, "fields", "count") }?;
    let mut list = HeadersBuilder::new();
    for (i, field) in fields.iter().enumerate() {
        // SAFETY: the caller guarantees the "# Safety" conditions of this function.
        let (name, value) = unsafe { (args::c_str(field.name, "name"), args::c_str(field.value, "value")) };
        name.and_then(|name| list.add(name.to_bytes(), value?.to_bytes()))
            .map_err(|error| error.prefixed(&format!("fields[{i}]")))?;
    }
    Ok(list.build())
}
