//! Opens shared libraries by path, so that two builds of one library can be timed in one process.

use std::ffi::{CStr, CString, c_void};

/// A shared library that stays open until the process ends.
pub struct Library(*mut c_void);

impl Library {
    /// Opens a shared library with RTLD_LOCAL, so that its symbols do not replace those of another build.
    pub fn open(path: &str) -> Result<Library, String> {
        let name = CString::new(path).map_err(|e| e.to_string())?;
        let library = unsafe { libc::dlopen(name.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) };
        if library.is_null() { Err(last_error()) } else { Ok(Library(library)) }
    }

    /// Returns the address of a function.
    pub fn symbol(&self, name: &str) -> Result<*mut c_void, String> {
        let name = CString::new(name).map_err(|e| e.to_string())?;
        let address = unsafe { libc::dlsym(self.0, name.as_ptr()) };
        if address.is_null() { Err(last_error()) } else { Ok(address) }
    }
}

fn last_error() -> String {
    unsafe { CStr::from_ptr(libc::dlerror()) }.to_string_lossy().into_owned()
}

/// Defines a struct of C functions, and its method `load(path)`, which looks the functions up in a shared library.
#[macro_export]
macro_rules! functions {
    ($name:ident { $($function:ident: fn($($argument:ty),*) $(-> $result:ty)?;)* }) => {
        pub struct $name { $(pub $function: unsafe extern "C" fn($($argument),*) $(-> $result)?,)* }

        impl $name {
            pub fn load(path: &str) -> Result<$name, String> {
                let library = $crate::library::Library::open(path)?;
                // The declared types of the functions must equal those in the library's header.
                Ok($name { $($function: unsafe {
                    std::mem::transmute::<*mut std::ffi::c_void, unsafe extern "C" fn($($argument),*) $(-> $result)?>(
                        library.symbol(stringify!($function))?)
                },)* })
            }
        }
    };
}
