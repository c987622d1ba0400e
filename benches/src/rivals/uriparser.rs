//! Calls uriparser with normalisation: <https://uriparser.github.io>. uriparser refuses URLs that RFC 3986 does not
//! allow.

#![allow(non_snake_case)]

use std::ffi::{c_char, c_int, c_void};
use std::mem::MaybeUninit;
use std::ptr::null_mut;

use super::{Part, Reader, Reading, UrlParser, bytes};

/// UriTextRangeA
#[repr(C)]
struct Range {
    first: *const c_char,
    after_last: *const c_char,
}

/// UriPathSegmentA
#[repr(C)]
struct Segment {
    text: Range,
    next: *const Segment,
    reserved: *mut c_void,
}

/// UriUriA
#[repr(C)]
pub struct Uri {
    scheme: Range,
    user_info: Range,
    host: Range,
    ip4: *mut c_void,
    ip6: *mut c_void,
    ip_future: Range,
    port: Range,
    path_head: *const Segment,
    path_tail: *const Segment,
    query: Range,
    fragment: Range,
    absolute_path: c_int,
    owner: c_int,
    reserved: *mut c_void,
}

crate::functions!(Functions {
    uriParseSingleUriExA: fn(*mut Uri, *const c_char, *const c_char, *mut *const c_char) -> c_int;
    uriNormalizeSyntaxA: fn(*mut Uri) -> c_int;
    uriFreeUriMembersA: fn(*mut Uri);
});

pub struct Uriparser {
    c: Functions,
}

impl Uriparser {
    pub fn load() -> Result<Uriparser, String> {
        Ok(Uriparser { c: Functions::load("liburiparser.so.1")? })
    }
}

impl UrlParser for Uriparser {
    fn name(&self) -> &str {
        "uriparser"
    }

    #[inline]
    fn read(&self, url: &str, reading: Reading, reader: &mut impl Reader) -> bool {
        let text = url.as_bytes().as_ptr_range();
        let mut uri = MaybeUninit::<Uri>::uninit();
        let uri = uri.as_mut_ptr();
        unsafe {
            // After a failure, uriparser has already freed the memory that it allocated.
            if (self.c.uriParseSingleUriExA)(uri, text.start.cast(), text.end.cast(), null_mut()) != 0 {
                return false;
            }
            let normalised = (self.c.uriNormalizeSyntaxA)(uri) == 0;
            if normalised {
                let mut get = |part, range: &Range| reader.text(part, bytes(range.first, length(range)));
                get(Part::Scheme, &(*uri).scheme);
                get(Part::Host, &(*uri).host);
                get(Part::Port, &(*uri).port);
                let mut segment = (*uri).path_head;
                while let Some(here) = segment.as_ref() {
                    get(Part::Segment, &here.text);
                    segment = here.next;
                }
                get(Part::Query, &(*uri).query);
                if reading == Reading::Nine {
                    // Composed strings are not read, because uriparser would need another allocation for each of them.
                    get(Part::More, &(*uri).user_info);
                    get(Part::More, &(*uri).fragment);
                }
            }
            (self.c.uriFreeUriMembersA)(uri);
            normalised
        }
    }
}

fn length(range: &Range) -> usize {
    range.after_last as usize - range.first as usize
}
