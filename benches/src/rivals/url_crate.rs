//! Calls the URL parser of the `url` crate.

use url::{Position, Url};

use super::{Part, Reader, Reading, UrlParser};

pub struct UrlCrate;

impl UrlParser for UrlCrate {
    fn name(&self) -> &str {
        "url crate"
    }

    #[inline]
    fn read(&self, url: &str, reading: Reading, reader: &mut impl Reader) -> bool {
        let Ok(parsed) = Url::parse(url) else { return false };
        reader.text(Part::Scheme, parsed.scheme().as_bytes());
        reader.text(Part::Host, parsed.host_str().unwrap_or("").as_bytes());
        reader.port(parsed.port().map_or(-1, i32::from));
        reader.text(Part::Path, parsed.path().as_bytes());
        reader.text(Part::Query, parsed.query().unwrap_or("").as_bytes());
        if reading == Reading::Nine {
            reader.text(Part::More, parsed.as_str().as_bytes());
            reader.text(Part::More, parsed.authority().as_bytes());
            reader.text(Part::More, parsed[Position::BeforeHost..Position::AfterPort].as_bytes());
            reader.text(Part::More, parsed[Position::BeforePath..Position::AfterQuery].as_bytes());
        }
        true
    }
}
