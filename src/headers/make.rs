//! Makes the usual request headers from a few options, in the order of urllib3's `make_headers`.

use std::collections::BTreeSet;
use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;
use zeroize::Zeroizing;

use super::{
    Fields, Headers, HeadersBuilder, MAX_BYTES, check_value, describe_byte, invalid_header_error, is_token_byte,
    truncated_name,
};
use crate::error::{Error, Result};
use crate::memory;

/// The content codings that every caller of netlib is expected to decode.
const ACCEPT_ENCODING: &[u8] = b"gzip,deflate";

/// The options of [`make_headers`]. Each setter checks its value, so that an error can name the setter. Clones of the
/// options share all long values, because the application chooses the length of the values, and a copy of a long value
/// can run out of memory. A setter that adds to a shared value first copies the value, and fails if memory runs out.
#[derive(Clone, Debug, Default)]
pub struct HeaderOptions {
    accept_encoding: AcceptEncoding,
    more_codings: Arc<Codings>,
    user_agent: Option<Arc<Vec<u8>>>,
    keep_alive: bool,
    /// The whole value of the Authorization header, including the scheme "Basic".
    authorization: Option<Credentials>,
    proxy_authorization: Option<Credentials>,
    disable_cache: bool,
    added: Arc<HeadersBuilder>,
}

/// The value of a header with credentials, which is wiped when its last owner is dropped.
type Credentials = Arc<Zeroizing<Vec<u8>>>;

/// Content codings that the caller supports in addition to [`ACCEPT_ENCODING`].
#[derive(Clone, Debug, Default)]
struct Codings {
    /// The codings in the order in which they were added, each preceded by a comma.
    list: Vec<u8>,
    /// The added codings in lower case, to find duplicates.
    known: BTreeSet<Vec<u8>>,
}

#[derive(Clone, Debug, Default, PartialEq)]
enum AcceptEncoding {
    #[default]
    Absent,
    /// The header lists [`ACCEPT_ENCODING`] and the codings that the caller added.
    Supported,
    /// The header is a list of codings joined with commas. A list of one empty coding gives a header with an empty
    /// value.
    List(Arc<Vec<u8>>),
    Given(Arc<Vec<u8>>),
}

impl HeaderOptions {
    pub fn keep_alive(&mut self, yes: bool) {
        self.keep_alive = yes;
    }

    pub fn disable_cache(&mut self, yes: bool) {
        self.disable_cache = yes;
    }

    /// Sets the value of Accept-Encoding. `None` and an empty value mean no header.
    pub fn accept_encoding(&mut self, value: Option<&[u8]>) -> Result<()> {
        let value = checked("accept-encoding", value)?;
        self.accept_encoding = value.map_or(AcceptEncoding::Absent, AcceptEncoding::Given);
        Ok(())
    }

    /// If `yes`, Accept-Encoding lists the supported codings; otherwise there is no Accept-Encoding.
    pub fn accept_supported_encodings(&mut self, yes: bool) {
        self.accept_encoding = if yes { AcceptEncoding::Supported } else { AcceptEncoding::Absent };
    }

    /// Appends a coding to the list in Accept-Encoding. If the current value is not a list, a list that contains only
    /// this coding replaces the value.
    pub fn add_accept_encoding(&mut self, coding: &[u8]) -> Result<()> {
        check_value(b"accept-encoding", coding)?;
        check_size("accept-encoding", coding)?;
        match &mut self.accept_encoding {
            AcceptEncoding::List(list) => append(memory::make_mut(list, |list| copy_list(list))?, coding)?,
            other => *other = AcceptEncoding::List(Arc::new(copy_list(coding)?)),
        }
        Ok(())
    }

    /// Adds a coding that the caller can decode in addition to gzip and deflate.
    pub fn add_supported_coding(&mut self, coding: &str) -> Result<()> {
        let bad = coding.bytes().enumerate().find(|(_, byte)| !is_token_byte(*byte));
        match bad {
            _ if coding.is_empty() => Err(invalid_header_error("the coding is empty").at(0)),
            Some((at, byte)) => {
                let (coding, byte) = (truncated_name(coding.as_bytes()), describe_byte(byte));
                let message = format!("coding \"{coding}\": {byte} is not allowed at byte {at}");
                Err(invalid_header_error(message).at(at))
            }
            None => memory::make_mut(&mut self.more_codings, Codings::try_clone)?.add(coding.as_bytes()),
        }
    }

    pub fn user_agent(&mut self, value: Option<&[u8]>) -> Result<()> {
        self.user_agent = checked("user-agent", value)?;
        Ok(())
    }

    /// Sets Basic authentication. `credentials` are `user:password`, with any bytes.
    pub fn basic_auth(&mut self, credentials: Option<&[u8]>) -> Result<()> {
        self.authorization = basic("authorization", credentials)?;
        Ok(())
    }

    pub fn proxy_basic_auth(&mut self, credentials: Option<&[u8]>) -> Result<()> {
        self.proxy_authorization = basic("proxy-authorization", credentials)?;
        Ok(())
    }

    /// Adds a header with any name. The added headers follow the headers that the other options make, in the order of
    /// the calls.
    pub fn add_header(&mut self, name: &[u8], value: &[u8]) -> Result<()> {
        memory::make_mut(&mut self.added, HeadersBuilder::try_clone)?.add(name, value)
    }

    /// Returns the value of a header that an option makes, as two parts to concatenate; `None` if the option is not
    /// set.
    fn value_of(&self, kind: Kind) -> Option<[&[u8]; 2]> {
        let value = match kind {
            Kind::AcceptEncoding => match &self.accept_encoding {
                AcceptEncoding::Absent => return None,
                AcceptEncoding::List(value) | AcceptEncoding::Given(value) => value.as_slice(),
                AcceptEncoding::Supported => return Some([ACCEPT_ENCODING, &self.more_codings.list]),
            },
            Kind::UserAgent => self.user_agent.as_deref()?,
            Kind::Connection => self.keep_alive.then_some(b"keep-alive")?,
            Kind::Authorization => self.authorization.as_deref()?.as_slice(),
            Kind::ProxyAuthorization => self.proxy_authorization.as_deref()?.as_slice(),
            Kind::CacheControl => self.disable_cache.then_some(b"no-cache")?,
        };
        Some([value, b""])
    }
}

impl Codings {
    fn try_clone(&self) -> Result<Codings> {
        let known: Result<_> = self.known.iter().map(|name| memory::copy(name, "a coding")).collect();
        Ok(Codings { list: copy_list(&self.list)?, known: known? })
    }

    /// Adds a content coding, unless the list or [`ACCEPT_ENCODING`] already contains it.
    fn add(&mut self, coding: &[u8]) -> Result<()> {
        check_size("accept-encoding", coding)?;
        let mut name = memory::copy(coding, "a coding")?;
        name.make_ascii_lowercase();
        let is_known = ACCEPT_ENCODING.split(|&byte| byte == b',').any(|known| known == name);
        if is_known || self.known.contains(&name) {
            return Ok(());
        }
        append(&mut self.list, coding)?;
        self.known.insert(name);
        Ok(())
    }
}

fn copy_list(list: &[u8]) -> Result<Vec<u8>> {
    memory::copy(list, "a list of codings")
}

/// Appends a comma and an element to a list of codings.
fn append(list: &mut Vec<u8>, element: &[u8]) -> Result<()> {
    let more = element.len().saturating_add(1);
    if list.len().saturating_add(more) > MAX_BYTES {
        return Err(too_large_error("accept-encoding"));
    }
    memory::grow(list, more, "a coding")?;
    list.push(b',');
    list.extend_from_slice(element);
    Ok(())
}

#[derive(Clone, Copy)]
enum Kind {
    AcceptEncoding,
    UserAgent,
    Connection,
    Authorization,
    ProxyAuthorization,
    CacheControl,
}

/// The headers that options make, in the order in which urllib3's `make_headers` adds them.
const ORDER: [(Kind, &str); 6] = [
    (Kind::AcceptEncoding, "accept-encoding"),
    (Kind::UserAgent, "user-agent"),
    (Kind::Connection, "connection"),
    (Kind::Authorization, "authorization"),
    (Kind::ProxyAuthorization, "proxy-authorization"),
    (Kind::CacheControl, "cache-control"),
];

pub fn make_headers(options: &HeaderOptions) -> Result<Headers> {
    let chosen = ORDER.map(|(kind, name)| options.value_of(kind).map(|value| (name.as_bytes(), value)));
    let (mut count, mut bytes) = (options.added.len(), options.added.fields.bytes.len());
    for (name, [front, back]) in chosen.iter().flatten() {
        count += 1;
        bytes = [name.len(), front.len(), back.len(), 2].into_iter().fold(bytes, usize::saturating_add);
    }
    // `Fields::push` fails if the list becomes too large.
    let mut fields = Fields::with_capacity(count, bytes.min(MAX_BYTES))?;
    for (name, value) in chosen.into_iter().flatten() {
        fields.push(name, value)?;
    }
    for (name, value) in options.added.fields.iter() {
        fields.push(name.to_bytes(), [value.to_bytes(), b""])?;
    }
    Ok(fields.into())
}

impl Headers {
    /// Returns options that make the same list of headers. The fields at the start of the list become the options that
    /// make them, so that setting such an option again replaces the field. The first field that no option makes at this
    /// place of the list, and all fields after it, become added headers.
    pub fn to_options(&self) -> Result<HeaderOptions> {
        let mut options = HeaderOptions::default();
        let mut choices = ORDER.iter();
        let mut leading = true;
        for (name, value) in self.iter() {
            let (name, value) = (name.to_bytes(), value.to_bytes());
            let choice = if leading { choices.find(|(_, made)| made.as_bytes() == name) } else { None };
            leading = match choice {
                Some((kind, _)) => options.set_from_field(*kind, value)?,
                None => false,
            };
            if !leading {
                options.add_header(name, value)?;
            }
        }
        Ok(options)
    }
}

impl HeaderOptions {
    /// Sets the option that makes the header `kind`. Returns whether the option makes exactly the given value.
    fn set_from_field(&mut self, kind: Kind, value: &[u8]) -> Result<bool> {
        let copy = || memory::copy(value, "a header's value");
        match kind {
            Kind::AcceptEncoding => self.accept_encoding = AcceptEncoding::Given(Arc::new(copy()?)),
            Kind::UserAgent => self.user_agent = Some(Arc::new(copy()?)),
            Kind::Connection => self.keep_alive = value == b"keep-alive",
            Kind::Authorization => self.authorization = Some(Arc::new(Zeroizing::new(copy()?))),
            Kind::ProxyAuthorization => self.proxy_authorization = Some(Arc::new(Zeroizing::new(copy()?))),
            Kind::CacheControl => self.disable_cache = value == b"no-cache",
        }
        Ok(match kind {
            Kind::Connection => self.keep_alive,
            Kind::CacheControl => self.disable_cache,
            _ => true,
        })
    }
}

/// Checks a value and returns a copy; `None` for an empty value.
fn checked(name: &str, value: Option<&[u8]>) -> Result<Option<Arc<Vec<u8>>>> {
    let Some(value) = value.filter(|value| !value.is_empty()) else { return Ok(None) };
    check_value(name.as_bytes(), value)?;
    check_size(name, value)?;
    Ok(Some(Arc::new(memory::copy(value, "a header's value")?)))
}

fn basic(name: &str, credentials: Option<&[u8]>) -> Result<Option<Credentials>> {
    let Some(credentials) = credentials.filter(|credentials| !credentials.is_empty()) else { return Ok(None) };
    const SCHEME: &[u8] = b"Basic ";
    check_size(name, credentials)?;
    let encoded = base64::encoded_len(credentials.len(), true).unwrap_or(0);
    let mut value = Zeroizing::new(Vec::new());
    memory::reserve(&mut value, SCHEME.len() + encoded, "credentials")?;
    value.extend_from_slice(SCHEME);
    value.resize(SCHEME.len() + encoded, 0);
    if let Some(room) = value.get_mut(SCHEME.len()..) {
        // The buffer has exactly the length of the encoded text.
        let _ = BASE64.encode_slice(credentials, room);
    }
    Ok(Some(Arc::new(value)))
}

fn check_size(name: &str, value: &[u8]) -> Result<()> {
    if value.len() > MAX_BYTES { Err(too_large_error(name)) } else { Ok(()) }
}

fn too_large_error(name: &str) -> Error {
    invalid_header_error(format!("header {name}: the value has more than {MAX_BYTES} bytes"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::status::Status;

    type Choose = fn(&mut HeaderOptions) -> Result<()>;

    fn wire(choose: Choose) -> String {
        let mut options = HeaderOptions::default();
        choose(&mut options).unwrap();
        make_headers(&options).unwrap().wire().unwrap().to_str().unwrap().to_owned()
    }

    #[test]
    fn each_enabled_header_option_makes_one_header() {
        let rows: &[(Choose, &str)] = &[
            (|_| Ok(()), ""),
            (
                |o| {
                    o.keep_alive(true);
                    Ok(())
                },
                "connection: keep-alive\r\n",
            ),
            (
                |o| {
                    o.keep_alive(false);
                    Ok(())
                },
                "",
            ),
            (
                |o| {
                    o.disable_cache(true);
                    Ok(())
                },
                "cache-control: no-cache\r\n",
            ),
            (
                |o| {
                    o.disable_cache(false);
                    Ok(())
                },
                "",
            ),
            (|o| o.user_agent(Some(b" a ")), "user-agent:  a \r\n"),
            (|o| o.user_agent(Some(b"")), ""),
            (|o| o.user_agent(None), ""),
            (|o| o.basic_auth(Some(b"a:b")), "authorization: Basic YTpi\r\n"),
            (|o| o.basic_auth(Some(b"user")), "authorization: Basic dXNlcg==\r\n"),
            (|o| o.basic_auth(Some(b"\xe9:x")), "authorization: Basic 6Tp4\r\n"),
            (|o| o.basic_auth(Some(b"")), ""),
            (|o| o.proxy_basic_auth(Some(b"c:d")), "proxy-authorization: Basic Yzpk\r\n"),
            (|o| o.proxy_basic_auth(None), ""),
            (|o| o.add_header(b"X-Y", b"z"), "X-Y: z\r\n"),
        ];
        for (i, (choose, expected)) in rows.iter().enumerate() {
            assert_eq!(wire(*choose), *expected, "row {i}");
        }
    }

    #[test]
    fn accept_encoding_can_be_a_list_or_a_text_or_the_supported_codings() {
        let rows: &[(Choose, Option<&str>)] = &[
            (
                |o| {
                    o.accept_supported_encodings(true);
                    Ok(())
                },
                Some("gzip,deflate"),
            ),
            (
                |o| {
                    o.accept_supported_encodings(false);
                    Ok(())
                },
                None,
            ),
            (|o| o.accept_encoding(Some(b"x, y")), Some("x, y")),
            (|o| o.accept_encoding(Some(b"")), None),
            (|o| o.accept_encoding(None), None),
            (|o| o.add_accept_encoding(b"gzip"), Some("gzip")),
            (
                |o| o.add_accept_encoding(b"gzip").and_then(|()| o.add_accept_encoding(b"br;q=0.5")),
                Some("gzip,br;q=0.5"),
            ),
            (|o| o.add_accept_encoding(b""), Some("")),
            // The second call replaces the value that the first call set.
            (|o| o.accept_encoding(Some(b"x")).and_then(|()| o.add_accept_encoding(b"gzip")), Some("gzip")),
            (|o| o.add_accept_encoding(b"gzip").map(|()| o.accept_supported_encodings(true)), Some("gzip,deflate")),
            // Adding a supported coding does not turn Accept-Encoding on.
            (|o| o.add_supported_coding("br"), None),
            (
                |o| {
                    for coding in ["br", "zstd", "GZIP", "Br"] {
                        o.add_supported_coding(coding)?;
                    }
                    o.accept_supported_encodings(true);
                    Ok(())
                },
                Some("gzip,deflate,br,zstd"),
            ),
        ];
        for (i, (choose, expected)) in rows.iter().enumerate() {
            let expected = expected.map_or(String::new(), |value| format!("accept-encoding: {value}\r\n"));
            assert_eq!(wire(*choose), expected, "row {i}");
        }
    }

    fn all_options() -> HeaderOptions {
        let mut options = HeaderOptions::default();
        options.add_header(b"Host", b"a").unwrap();
        options.add_header(b"Accept", b"*/*").unwrap();
        options.disable_cache(true);
        options.proxy_basic_auth(Some(b"c:d")).unwrap();
        options.basic_auth(Some(b"a:b")).unwrap();
        options.keep_alive(true);
        options.user_agent(Some(b"x")).unwrap();
        options.accept_supported_encodings(true);
        options
    }

    const ALL_HEADERS: &str = "accept-encoding: gzip,deflate\r\nuser-agent: x\r\nconnection: keep-alive\r\n\
         authorization: Basic YTpi\r\nproxy-authorization: Basic Yzpk\r\ncache-control: no-cache\r\nHost: a\r\nAccept: */*\r\n";

    #[test]
    fn make_headers_orders_its_headers_as_urllib3_does() {
        assert_eq!(make_headers(&all_options()).unwrap().wire().unwrap().to_str().unwrap(), ALL_HEADERS);
    }

    #[test]
    fn invalid_texts_in_header_options_are_refused_with_the_byte_offset() {
        let rows: &[(Choose, &str)] = &[
            (|o| o.user_agent(Some(b"ab\r\nX: y")), "header user-agent: CR is not allowed in the value at byte 2"),
            (|o| o.accept_encoding(Some(b"\n")), "header accept-encoding: LF is not allowed in the value at byte 0"),
            (|o| o.add_accept_encoding(b"a\0"), "header accept-encoding: NUL is not allowed in the value at byte 1"),
            (|o| o.add_supported_coding("b,r"), "coding \"b,r\": \",\" is not allowed at byte 1"),
            (|o| o.add_supported_coding(""), "the coding is empty"),
            (|o| o.add_header(b"X Y", b""), "header name beginning \"X\": a space is not allowed at byte 1"),
        ];
        for (choose, expected) in rows {
            let error = choose(&mut HeaderOptions::default()).unwrap_err();
            assert_eq!((error.status(), error.message()), (Status::InvalidHeader, *expected));
            assert!(error.offset().is_some());
        }
    }

    #[test]
    fn headers_converted_to_options_make_the_same_headers() {
        let made = make_headers(&all_options()).unwrap();
        let mut options = made.to_options().unwrap();
        assert_eq!(make_headers(&options).unwrap().wire().unwrap().to_str().unwrap(), ALL_HEADERS);
        options.user_agent(Some(b"y")).unwrap();
        options.basic_auth(None).unwrap();
        let varied =
            ALL_HEADERS.replace("user-agent: x", "user-agent: y").replace("authorization: Basic YTpi\r\n", "");
        assert_eq!(make_headers(&options).unwrap().wire().unwrap().to_str().unwrap(), varied);

        let lists: &[&[(&str, &str)]] = &[
            &[],
            &[("connection", "close"), ("connection", "keep-alive")],
            &[("cache-control", "no-cache"), ("user-agent", "late")],
            &[("user-agent", "a"), ("user-agent", "b"), ("Connection", "keep-alive")],
            &[("accept-encoding", ""), ("X", "y"), ("authorization", "Bearer t")],
        ];
        for fields in lists {
            let mut builder = HeadersBuilder::new();
            for (name, value) in *fields {
                builder.add(name.as_bytes(), value.as_bytes()).unwrap();
            }
            let list = builder.build();
            assert_eq!(make_headers(&list.to_options().unwrap()).unwrap().wire().unwrap(), list.wire().unwrap());
        }
    }
}
