//! Texts that are composed of several components of a URL, made on first use and cached.

use std::ffi::CString;

use once_cell::race::OnceBox;

/// The composed texts of a URL, each followed by a NUL. The first use of any composed text makes all of them.
pub(super) struct Composed {
    pub(super) text: Vec<u8>,
    pub(super) ends: [u32; 4],
    pub(super) derived: OnceBox<Derived>,
}

/// Selects a composed text. The variants have the order of the texts in [`Composed`].
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

/// Texts that few URLs need, each made on first use.
#[derive(Default)]
pub(super) struct Derived {
    pub(super) redacted: OnceBox<CString>,
    pub(super) username: OnceBox<CString>,
    pub(super) password: OnceBox<CString>,
}
