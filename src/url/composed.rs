//! The texts that are composed of several components of a URL. They are made on first use and kept.

use std::ffi::CString;

use once_cell::race::OnceBox;

/// The composed texts, each with a NUL. The first use of any of them writes all.
pub(super) struct Composed {
    pub(super) text: Vec<u8>,
    pub(super) ends: [u32; 4],
    pub(super) derived: OnceBox<Derived>,
}

/// The composed texts, in the order of [`Composed`].
#[derive(Clone, Copy)]
pub enum Composite {
    Url,
    Authority,
    Netloc,
    RequestUri,
}

impl Composed {
    pub(super) fn get(&self, composite: Composite) -> &[u8] {
        let i = composite as usize;
        let start = if i == 0 { 0 } else { self.ends[i - 1] };
        self.text.get(start as usize..self.ends[i] as usize).unwrap_or_default()
    }
}

/// Further texts that are made on first use. Few URLs need them.
#[derive(Default)]
pub(super) struct Derived {
    pub(super) redacted: OnceBox<CString>,
    pub(super) username: OnceBox<CString>,
    pub(super) password: OnceBox<CString>,
}
