//! The components of a URL that is built, or of a copy of a URL that is changed.

use std::sync::Arc;

use super::parts::{UrlParts, check};
use super::percent::{Place, append_encoded, encoded_length};
use super::text::{MAX_LENGTH, reserve};
use super::{Component, Url};
use crate::error::{Error, Result};
use crate::status::Status;

/// The components of a URL, each of which was checked on its own. Clones share the texts, which may be long.
#[derive(Clone, Default)]
pub struct UrlOptions {
    texts: [Option<Arc<String>>; Component::ALL.len()],
    port: Option<u16>,
}

impl UrlOptions {
    /// Sets a component; `None` makes the component absent.
    pub fn set(&mut self, component: Component, text: Option<&str>) -> Result<()> {
        if let Some(text) = text {
            check(component, text.as_bytes())?;
        }
        self.texts[component as usize] = text.map(copy).transpose()?.map(Arc::new);
        Ok(())
    }

    pub fn set_port(&mut self, port: Option<u16>) {
        self.port = port;
    }

    /// Sets the userinfo to the percent-encoded user name and password. If the user name is empty or absent and there
    /// is no password, the userinfo becomes absent.
    pub fn set_credentials(&mut self, username: Option<&[u8]>, password: Option<&[u8]>) -> Result<()> {
        let place = Place::UserinfoPart;
        let username = match (username, password) {
            (None, Some(_)) => {
                return Err(Error::new(Status::InvalidArgument, "the password needs a username"));
            }
            (username, _) => username.unwrap_or_default(),
        };
        if username.len().saturating_add(password.map_or(0, <[u8]>::len)) > MAX_LENGTH {
            return Err(Error::new(Status::InvalidUrl, "the username and the password are longer than 16 MiB"));
        }
        let mut auth = Vec::new();
        let room = encoded_length(place, username) + password.map_or(0, |text| encoded_length(place, text) + 1);
        reserve(&mut auth, room)?;
        append_encoded(&mut auth, place, username);
        if let Some(password) = password {
            auth.push(b':');
            append_encoded(&mut auth, place, password);
        }
        let auth = String::from_utf8(auth).unwrap_or_default();
        self.texts[Component::Auth as usize] = Some(auth).filter(|auth| !auth.is_empty()).map(Arc::new);
        Ok(())
    }

    /// Builds the URL as [`Url::from_parts`] does.
    pub fn build(&self) -> Result<Url> {
        let [scheme, auth, host, path, query, fragment] =
            self.texts.each_ref().map(|text| text.as_deref().map(String::as_str));
        Url::from_parts(UrlParts { scheme, auth, host, port: self.port, path, query, fragment })
    }
}

impl Url {
    /// Returns the components of a URL. Building a URL from the components gives the same URL, if the URL was parsed
    /// from text.
    pub fn to_options(&self) -> Result<UrlOptions> {
        let mut options = UrlOptions { port: self.port(), ..UrlOptions::default() };
        for component in Component::ALL {
            let text = match component {
                Component::Host => self.host_in_text()?,
                _ => self.part(component).map(|text| copy(str_of(text))).transpose()?,
            };
            options.texts[component as usize] = text.map(Arc::new);
        }
        Ok(options)
    }

    /// Returns the host in the form in which the text of the URL contains it. In the text, an empty host without
    /// userinfo and port is absent.
    fn host_in_text(&self) -> Result<Option<String>> {
        match self.part(Component::Host) {
            Some(b"") if !self.has(Component::Auth) && self.port().is_none() => return Ok(None),
            None => return Ok(None),
            Some(_) => {}
        }
        let mut host = Vec::new();
        reserve(&mut host, self.part(Component::Host).map_or(0, <[u8]>::len) + 2)?;
        self.write_host(&mut host);
        Ok(Some(String::from_utf8(host).unwrap_or_default()))
    }
}

/// Converts text of a URL, which is valid UTF-8: a URL is parsed from valid UTF-8, and normalisation keeps the text
/// valid.
fn str_of(text: &[u8]) -> &str {
    std::str::from_utf8(text).unwrap_or_default()
}

fn copy(text: &str) -> Result<String> {
    let mut bytes = Vec::new();
    reserve(&mut bytes, text.len())?;
    bytes.extend_from_slice(text.as_bytes());
    Ok(String::from_utf8(bytes).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(text: &str) -> UrlOptions {
        Url::parse(text.as_bytes()).unwrap().to_options().unwrap()
    }

    fn built(options: &UrlOptions) -> String {
        options.build().unwrap().url().unwrap().to_str().unwrap().to_owned()
    }

    #[test]
    fn changing_one_component_keeps_the_others() {
        const ALL: &str = "http://u:p@h:81/p?q#f";
        for (text, component, value, expected) in [
            (ALL, Component::Scheme, Some("HTTPS"), "https://u:p@h:81/p?q#f"),
            (ALL, Component::Scheme, None, "//u:p@h:81/p?q#f"),
            (ALL, Component::Auth, Some("x%40y"), "http://x%40y@h:81/p?q#f"),
            (ALL, Component::Auth, None, "http://h:81/p?q#f"),
            (ALL, Component::Auth, Some(""), "http://h:81/p?q#f"),
            (ALL, Component::Host, Some("B\u{fc}cher.de"), "http://u:p@xn--bcher-kva.de:81/p?q#f"),
            (ALL, Component::Host, Some("[FE80::1%25e]"), "http://u:p@[fe80::1%e]:81/p?q#f"),
            (ALL, Component::Path, Some("a b/../c"), "http://u:p@h:81/c?q#f"),
            (ALL, Component::Path, Some("//x"), "http://u:p@h:81//x?q#f"),
            (ALL, Component::Path, None, "http://u:p@h:81?q#f"),
            (ALL, Component::Query, Some("a=%zz"), "http://u:p@h:81/p?a=%25zz#f"),
            (ALL, Component::Query, Some(""), "http://u:p@h:81/p?#f"),
            (ALL, Component::Query, None, "http://u:p@h:81/p#f"),
            (ALL, Component::Fragment, Some("#"), "http://u:p@h:81/p?q#%23"),
            (ALL, Component::Fragment, None, "http://u:p@h:81/p?q"),
            ("http://[::1%2525]/", Component::Path, Some("/a"), "http://[::1%25]/a"),
            ("http://[::1%252500]/", Component::Path, Some("/a"), "http://[::1%252500]/a"),
            ("ftp://H/ ", Component::Scheme, Some("http"), "http://h/%20"),
            ("http://", Component::Path, Some("a"), "http:///a"),
            ("://x", Component::Fragment, Some("f"), "/.//x#f"),
            ("http://h", Component::Path, Some("@x:80"), "http://h/@x:80"),
            ("http://h", Component::Path, Some("\\x"), "http://h/%5Cx"),
        ] {
            let mut options = options(text);
            options.set(component, value).unwrap();
            assert_eq!(built(&options), expected, "{component:?} {value:?}");
        }
    }

    #[test]
    fn forbidden_characters_in_a_component_are_refused_with_their_offset() {
        for (component, value, at) in [
            (Component::Scheme, "", 0),
            (Component::Scheme, "ht:tp", 2),
            (Component::Auth, "u@p\\", 3),
            (Component::Auth, "u/", 1),
            (Component::Host, "h@i", 1),
            (Component::Host, "h/i", 1),
            (Component::Host, "h:80", 1),
            (Component::Host, "::1", 0),
            (Component::Host, "h\r\nX: y", 1),
            (Component::Path, "/a?b", 2),
            (Component::Path, "/a#b", 2),
            (Component::Path, "/a\n", 2),
            (Component::Query, "a#b", 1),
            (Component::Query, "a\0b", 1),
            (Component::Fragment, "a\rb", 1),
        ] {
            let mut options = options("http://u@h/p?q#f");
            let error = options.set(component, Some(value)).unwrap_err();
            assert_eq!((error.status(), error.offset()), (Status::InvalidUrl, Some(at)), "{component:?} {value:?}");
            assert_eq!(built(&options), "http://u@h/p?q#f");
        }
    }

    #[test]
    fn components_whose_url_would_parse_into_other_components_are_refused() {
        let change = |text: &str, component, value| {
            let mut options = options(text);
            options.set(component, value).unwrap();
            options.build().err().map(|error| error.message().to_owned())
        };
        let missing = Some("the URL has userinfo or a port but no host".to_owned());
        assert_eq!(change("http://u@h", Component::Host, None), missing);
        assert_eq!(change("http://h:80", Component::Host, None), missing);
        assert!(change("http://h", Component::Host, Some("")).unwrap().ends_with("the host changes"));
        assert!(change("http://h", Component::Host, Some("a.\u{e9}_")).unwrap().contains("IDNA"));
        assert_eq!(change("http://h", Component::Host, None), None);
    }

    #[test]
    fn credentials_are_percent_encoded() {
        type Row<'a> = (Option<&'a [u8]>, Option<&'a [u8]>, &'a str);
        const ROWS: &[Row<'_>] = &[
            (None, None, "http://h"),
            (Some(b""), None, "http://h"),
            (Some(b"u"), None, "http://u@h"),
            (Some(b"u"), Some(b""), "http://u:@h"),
            (Some(b""), Some(b"p"), "http://:p@h"),
            (Some(b"a@b:c"), Some(b"/%\xff"), "http://a%40b%3Ac:%2F%25%FF@h"),
        ];
        for (username, password, expected) in ROWS {
            let mut options = options("http://old:old@h");
            options.set_credentials(*username, *password).unwrap();
            assert_eq!(built(&options), *expected);
        }
        let error = options("http://h").set_credentials(None, Some(b"p")).unwrap_err();
        assert_eq!(error.status(), Status::InvalidArgument);
    }
}
