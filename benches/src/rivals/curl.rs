//! Calls libcurl's URL API: <https://curl.se/libcurl/c/libcurl-url.html>. libcurl returns each component as a copy that
//! the caller must free.

use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::ptr::null_mut;

use super::{Part, Reader, Reading, UrlParser};

const URL: c_int = 0;
const SCHEME: c_int = 1;
const USER: c_int = 2;
const PASSWORD: c_int = 3;
const HOST: c_int = 5;
const PORT: c_int = 6;
const PATH: c_int = 7;
const QUERY: c_int = 8;
const NON_SUPPORT_SCHEME: c_uint = 1 << 3;
/// The flag CURLU_PUNYCODE, available since libcurl 7.88, which converts the host to Punycode, as the other parsers do.
const PUNYCODE: c_uint = 1 << 12;
const NO_HOST: c_int = 14;

crate::functions!(Functions {
    curl_url: fn() -> *mut c_void;
    curl_url_set: fn(*mut c_void, c_int, *const c_char, c_uint) -> c_int;
    curl_url_get: fn(*mut c_void, c_int, *mut *mut c_char, c_uint) -> c_int;
    curl_url_cleanup: fn(*mut c_void);
    curl_free: fn(*mut c_void);
    curl_version: fn() -> *const c_char;
});

pub struct Curl {
    c: Functions,
}

impl Curl {
    pub fn load() -> Result<Curl, String> {
        let c = Functions::load("libcurl.so.4")?;
        // A UTF-8 locale is set, because libcurl converts a host from the locale's encoding.
        unsafe { libc::setlocale(libc::LC_CTYPE, c"C.UTF-8".as_ptr()) };
        let version = unsafe { CStr::from_ptr((c.curl_version)()) }.to_string_lossy();
        let numbers = version.trim_start_matches("libcurl/").split(['.', ' ']).map(|n| n.parse().unwrap_or(0));
        match numbers.take(2).collect::<Vec<u32>>() < vec![7, 88] {
            true => Err(format!("{version}: IDN needs 7.88")),
            false => Ok(Curl { c }),
        }
    }
}

impl UrlParser for Curl {
    fn name(&self) -> &str {
        "libcurl"
    }

    #[inline]
    fn read(&self, url: &str, reading: Reading, reader: &mut impl Reader) -> bool {
        let c = &self.c;
        unsafe {
            let handle = (c.curl_url)();
            // A NUL follows the URL in memory: see Corpus::urls.
            let mut accepted = (c.curl_url_set)(handle, URL, url.as_ptr().cast(), NON_SUPPORT_SCHEME) == 0;
            if accepted {
                let mut get = |part, which, flags| {
                    let mut text = null_mut();
                    let status = (c.curl_url_get)(handle, which, &mut text, flags);
                    if status == 0 {
                        reader.text(part, CStr::from_ptr(text).to_bytes());
                        (c.curl_free)(text.cast());
                    }
                    status
                };
                get(Part::Scheme, SCHEME, 0);
                accepted = [0, NO_HOST].contains(&get(Part::Host, HOST, PUNYCODE));
                get(Part::Port, PORT, 0);
                get(Part::Path, PATH, 0);
                get(Part::Query, QUERY, 0);
                if reading == Reading::Nine {
                    // libcurl can also return the whole URL, but cannot return the authority or the request target as
                    // one string.
                    get(Part::More, URL, 0);
                    get(Part::More, USER, 0);
                    get(Part::More, PASSWORD, 0);
                }
            }
            (c.curl_url_cleanup)(handle);
            accepted
        }
    }
}
