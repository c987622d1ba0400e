//! Measures resolving relative references with netlib and with the `url` crate's `join`.

use std::ffi::{c_char, c_void};
use std::hint::black_box;
use std::ptr::null_mut;
use std::rc::Rc;

use url::Url;

use crate::corpus::Corpus;
use crate::{Group, Operation, Section};

crate::functions!(Functions {
    netlib_parse_url: fn(*const c_char, usize, *mut *mut c_void, *mut *mut c_void) -> i32;
    netlib_url_resolve: fn(*mut c_void, *const c_char, usize, *mut *mut c_void, *mut *mut c_void) -> i32;
    netlib_url_to_string: fn(*mut c_void, *mut usize) -> *const c_char;
    netlib_url_free: fn(*mut c_void);
});

/// Relative references as they occur in web pages.
const REFERENCES: &[&str] = &[
    "page2.html",
    "../style/main.css",
    "/images/logo.png",
    "?page=2&sort=name",
    "#section-3",
    "../../api/v2/index.html#top",
    "//cdn.example.com/js/app.js",
    "https://www.example.org/login?next=%2Fhome",
    "./",
    "a/b/../c/./d",
];
const COUNT: usize = 2_000;

/// A base URL, parsed by netlib and by the `url` crate.
struct Base(*mut c_void, Url);

pub fn section() -> Result<Section, String> {
    let c = Rc::new(Functions::load(&crate::netlib())?);
    let bases = Rc::new(bases(&c)?);
    check(&c, &bases)?;
    let theirs = Rc::clone(&bases);
    let operations = vec![
        Operation::new("netlib_url_resolve", COUNT, move || {
            for (base, reference) in pairs(&bases) {
                resolve(&c, base, reference, |text| {
                    black_box(text.map(<[u8]>::len));
                });
            }
        }),
        Operation::new("url crate, join", COUNT, move || {
            for (base, reference) in pairs(&theirs) {
                black_box(base.1.join(reference).map(|url| url.as_str().len()).ok());
            }
        }),
    ];
    let group = Group { name: "reference".into(), references: &["url crate, join"], operations };
    Ok(Section {
        name: "resolve",
        title: "A reference: resolve it against a parsed URL; read the URL; free",
        groups: vec![group],
    })
}

fn bases(c: &Functions) -> Result<Vec<Base>, String> {
    let documentation = Corpus::documentation();
    let parse = |text: &str| {
        let mut url = null_mut();
        let status = unsafe { (c.netlib_parse_url)(text.as_ptr().cast(), text.len(), &mut url, null_mut()) };
        let theirs = Url::parse(text).map_err(|e| format!("{text}: {e}"))?;
        if status == 0 { Ok(Base(url, theirs)) } else { Err(format!("{text}: status {status}")) }
    };
    documentation.urls().take(COUNT).map(parse).collect()
}

fn pairs(bases: &[Base]) -> impl Iterator<Item = (&Base, &'static str)> {
    bases.iter().zip(REFERENCES.iter().copied().cycle())
}

#[inline]
fn resolve(c: &Functions, base: &Base, reference: &str, read: impl FnOnce(Option<&[u8]>)) {
    unsafe {
        let mut url = null_mut();
        if (c.netlib_url_resolve)(base.0, reference.as_ptr().cast(), reference.len(), &mut url, null_mut()) != 0 {
            return read(None);
        }
        let mut length = 0;
        let text = (c.netlib_url_to_string)(url, &mut length);
        read(Some(std::slice::from_raw_parts(text.cast(), length)));
        (c.netlib_url_free)(url);
    }
}

/// Checks that netlib and the `url` crate resolve every reference to the same URL; otherwise their times could not be
/// compared.
fn check(c: &Functions, bases: &[Base]) -> Result<(), String> {
    let mut differences = Vec::new();
    for (base, reference) in pairs(bases) {
        let theirs = base.1.join(reference).map(String::from).ok();
        resolve(c, base, reference, |ours| {
            if ours != theirs.as_ref().map(|text| text.as_bytes()) {
                let ours = ours.map(String::from_utf8_lossy);
                differences.push(format!("{} + {reference}: netlib {ours:?}, url crate {theirs:?}", base.1));
            }
        });
    }
    match differences.first() {
        None => Ok(()),
        Some(first) => {
            Err(format!("DOES NOT COUNT: {} references resolve differently, such as\n  {first}", differences.len()))
        }
    }
}
