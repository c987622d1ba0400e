//! Calls netlib through its C ABI, from the release build of the shared library.

use std::ffi::{c_char, c_void};
use std::ptr::null_mut;

use super::{Part, Reader, Reading, UrlParser, bytes};

type Url = *mut c_void;
type Error = *mut c_void;
type Getter = unsafe extern "C" fn(Url, *mut usize) -> *const c_char;

crate::functions!(Functions {
    netlib_parse_url: fn(*const c_char, usize, *mut Url, *mut Error) -> i32;
    netlib_url_free: fn(Url);
    netlib_url_scheme: fn(Url, *mut usize) -> *const c_char;
    netlib_url_host: fn(Url, *mut usize) -> *const c_char;
    netlib_url_port: fn(Url) -> i32;
    netlib_url_path: fn(Url, *mut usize) -> *const c_char;
    netlib_url_query: fn(Url, *mut usize) -> *const c_char;
    netlib_url_to_string: fn(Url, *mut usize) -> *const c_char;
    netlib_url_authority: fn(Url, *mut usize) -> *const c_char;
    netlib_url_netloc: fn(Url, *mut usize) -> *const c_char;
    netlib_url_request_uri: fn(Url, *mut usize) -> *const c_char;
});

pub struct Netlib {
    name: &'static str,
    c: Functions,
}

impl Netlib {
    pub fn load(name: &'static str, path: &str) -> Result<Netlib, String> {
        Ok(Netlib { name, c: Functions::load(path)? })
    }
}

impl UrlParser for Netlib {
    fn name(&self) -> &str {
        self.name
    }

    #[inline]
    fn read(&self, url: &str, reading: Reading, reader: &mut impl Reader) -> bool {
        let c = &self.c;
        unsafe {
            let mut parsed = null_mut();
            if (c.netlib_parse_url)(url.as_ptr().cast(), url.len(), &mut parsed, null_mut()) != 0 {
                return false;
            }
            let mut get = |part, getter: Getter| {
                let mut length = 0;
                let text = getter(parsed, &mut length);
                reader.text(part, bytes(text, length));
            };
            get(Part::Scheme, c.netlib_url_scheme);
            get(Part::Host, c.netlib_url_host);
            get(Part::Path, c.netlib_url_path);
            get(Part::Query, c.netlib_url_query);
            if reading == Reading::Nine {
                get(Part::More, c.netlib_url_to_string);
                get(Part::More, c.netlib_url_authority);
                get(Part::More, c.netlib_url_netloc);
                get(Part::More, c.netlib_url_request_uri);
            }
            reader.port((c.netlib_url_port)(parsed));
            (c.netlib_url_free)(parsed);
        }
        true
    }
}
