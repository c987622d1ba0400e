//! Calls the URL parser ada through its C API: <https://github.com/ada-url/ada>, compiled by scripts/bench.

use std::ffi::{c_char, c_void};

use super::{Part, Reader, Reading, UrlParser, bytes};

type Url = *mut c_void;

/// ada_string
#[repr(C)]
pub struct Text {
    data: *const c_char,
    length: usize,
}

type Getter = unsafe extern "C" fn(Url) -> Text;

crate::functions!(Functions {
    ada_parse: fn(*const c_char, usize) -> Url;
    ada_is_valid: fn(Url) -> bool;
    ada_free: fn(Url);
    ada_get_protocol: fn(Url) -> Text;
    ada_get_hostname: fn(Url) -> Text;
    ada_get_port: fn(Url) -> Text;
    ada_get_pathname: fn(Url) -> Text;
    ada_get_search: fn(Url) -> Text;
    ada_get_href: fn(Url) -> Text;
    ada_get_username: fn(Url) -> Text;
    ada_get_password: fn(Url) -> Text;
    ada_get_host: fn(Url) -> Text;
});

pub struct Ada {
    name: &'static str,
    c: Functions,
}

impl Ada {
    pub fn load(name: &'static str, path: &str) -> Result<Ada, String> {
        Ok(Ada { name, c: Functions::load(path)? })
    }
}

impl UrlParser for Ada {
    fn name(&self) -> &str {
        self.name
    }

    #[inline]
    fn read(&self, url: &str, reading: Reading, reader: &mut impl Reader) -> bool {
        let c = &self.c;
        unsafe {
            let parsed = (c.ada_parse)(url.as_ptr().cast(), url.len());
            let valid = (c.ada_is_valid)(parsed);
            if valid {
                let mut get = |part, getter: Getter| {
                    let text = getter(parsed);
                    reader.text(part, bytes(text.data, text.length));
                };
                get(Part::Scheme, c.ada_get_protocol);
                get(Part::Host, c.ada_get_hostname);
                get(Part::Port, c.ada_get_port);
                get(Part::Path, c.ada_get_pathname);
                get(Part::Query, c.ada_get_search);
                if reading == Reading::Nine {
                    // ada cannot return the authority or the request target as one string, only their components.
                    get(Part::More, c.ada_get_href);
                    get(Part::More, c.ada_get_username);
                    get(Part::More, c.ada_get_password);
                    get(Part::More, c.ada_get_host);
                }
            }
            (c.ada_free)(parsed);
            valid
        }
    }
}
