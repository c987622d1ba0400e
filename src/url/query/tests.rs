use super::*;
use crate::parse_cost::tests::measure;
use crate::tests::random::Random;

type Pair = (Vec<u8>, Option<Vec<u8>>);

fn pairs(query: &Query) -> Vec<Pair> {
    query.pairs.iter().map(|pair| (pair.name().to_vec(), pair.value().map(<[u8]>::to_vec))).collect()
}

fn parse(text: &str, format: QueryFormat) -> Query {
    Query::parse(text.as_bytes(), format).unwrap_or_else(|error| panic!("{text:?}: {error}"))
}

fn text(query: &Query) -> String {
    let text = query.text_with_nul().unwrap();
    assert_eq!(text.last(), Some(&0));
    String::from_utf8(text[..text.len() - 1].to_vec()).unwrap()
}

/// Describes the pairs as text in which ":" separates a name from its value, and " " separates pairs. No ":" follows
/// the name of a pair without a value.
fn describe(query: &Query) -> String {
    let describe = |(name, value): &Pair| {
        let name = String::from_utf8_lossy(name).into_owned();
        name + &value.as_ref().map_or(String::new(), |value| format!(":{}", String::from_utf8_lossy(value)))
    };
    pairs(query).iter().map(describe).collect::<Vec<_>>().join(" ")
}

#[test]
fn query_text_is_parsed_into_pairs_and_serialised_again() {
    use QueryFormat::{Form, Rfc3986};
    for (format, input, described, serialised) in [
        (Form, "", "", ""),
        (Form, "a=1&b=2", "a:1 b:2", "a=1&b=2"),
        (Form, "a&b=&=c", "a b: :c", "a&b=&=c"),
        (Form, "&&a=1&&", "a:1", "a=1"),
        (Form, "a=1=2", "a:1=2", "a=1%3D2"),
        (Form, "x+y=%2B+%20", "x y:+  ", "x+y=%2B++"),
        (Rfc3986, "x+y=%2B+%20", "x+y:++ ", "x%2By=%2B%2B%20"),
        (Form, "~*=%7e%2A", "~*:~*", "%7E*=%7E*"),
        (Rfc3986, "~*=%7e%2A", "~*:~*", "~%2A=~%2A"),
        (Form, "a;b=c;d", "a;b:c;d", "a%3Bb=c%3Bd"),
        (Form, "%26%3d=%23", "&=:#", "%26%3D=%23"),
        (Form, "a=%00", "a:\0", "a=%00"),
        (Form, "\u{e9}=\u{e9}", "\u{e9}:\u{e9}", "%C3%A9=%C3%A9"),
        (Form, "=", ":", "="),
    ] {
        let query = parse(input, format);
        assert_eq!(describe(&query), described, "{input:?}");
        assert_eq!(text(&query), serialised, "{input:?}");
        assert_eq!(pairs(&parse(serialised, format)), pairs(&query), "{input:?}");
    }
}

#[test]
fn a_stray_percent_sign_is_refused_with_its_offset() {
    for (input, at) in [("%", 0), ("a=1&b%=2", 5), ("a=1&b=%4", 6), ("&&=%zz", 3), ("a=%41%", 5)] {
        let error = Query::parse(input.as_bytes(), QueryFormat::Form).err().unwrap();
        assert_eq!((error.status(), error.offset()), (Status::InvalidUrl, Some(at)), "{input:?}");
        assert!(error.message().starts_with("the query has a \"%\""), "{error}");
    }
}

#[test]
fn setting_a_name_leaves_one_pair_with_it_and_removing_it_leaves_none() {
    let pair = |name: &str, value: Option<&str>| QueryPair::new(name.as_bytes(), value.map(str::as_bytes)).unwrap();
    let mut query = parse("a=1&b=2&a=3&c&a", QueryFormat::Form);
    query.set(pair("a", Some("x y"))).unwrap();
    assert_eq!(text(&query), "a=x+y&b=2&c");
    query.set(pair("c", Some(""))).unwrap();
    query.set(pair("d", None)).unwrap();
    assert_eq!(text(&query), "a=x+y&b=2&c=&d");
    query.append(pair("b", Some("3"))).unwrap();
    assert_eq!(text(&query), "a=x+y&b=2&c=&d&b=3");
    assert_eq!((query.find(b"b", 0), query.find(b"b", 2), query.find(b"b", 5), query.find(b"x", 0)), (1, 4, 5, 5));
    assert_eq!(query.find(b"b", usize::MAX), 5);
    assert_eq!((query.remove_all_like(1), query.remove_all_like(3)), (2, 0));
    assert_eq!(text(&query), "a=x+y&c=&d");
    assert_eq!(query.size, query.pairs.iter().map(QueryPair::size).sum::<usize>());
    for _ in 0..3 {
        assert_eq!(query.remove_all_like(0), 1);
    }
    assert_eq!((text(&query), query.size, query.is_empty()), (String::new(), 0, true));
    assert_eq!(QueryPair::new(b"", None).err().unwrap().status(), Status::InvalidArgument);
}

#[test]
fn queries_of_more_than_65536_pairs_or_16_mib_are_refused() {
    let refused = |result: Result<()>, message: &str| {
        let error = result.unwrap_err();
        assert_eq!((error.status(), error.message()), (Status::InvalidUrl, message));
    };
    let many = "a&".repeat(MAX_PAIRS);
    let mut query = parse(&many, QueryFormat::Form);
    assert_eq!(query.len(), MAX_PAIRS);
    refused(query.append(QueryPair::new(b"b", None).unwrap()), "the query has more than 65536 pairs");
    refused(
        Query::parse(format!("{many}a").as_bytes(), QueryFormat::Form).map(drop),
        "the query has more than 65536 pairs",
    );

    let longest = "a".repeat(MAX_LENGTH);
    let too_long = "the query has more than 16777216 bytes";
    refused(Query::parse(format!("{longest}a").as_bytes(), QueryFormat::Form).map(drop), too_long);
    let mut query = parse(&longest, QueryFormat::Form);
    refused(query.append(QueryPair::new(b"b", None).unwrap()), too_long);
    refused(query.set(QueryPair::new(longest.as_bytes(), Some(b"bb")).unwrap()), too_long);
    query.remove_all_like(0);
    refused(query.append(QueryPair::new(longest.as_bytes(), Some(b"")).unwrap()), too_long);
    query.append(QueryPair::new(b"b", None).unwrap()).unwrap();
    assert_eq!(text(&query), "b");
}

#[test]
fn random_queries_have_the_same_pairs_after_serialising_and_parsing() {
    let mut random = Random(0x71_7279);
    const PIECES: &[&[u8]] =
        &[b"a", b"b", b"&", b"=", b"+", b" ", b"%", b"%41", b"\0", b"\xff", b";", b"#", b"", b"?"];
    for _ in 0..20_000 {
        let format = random.pick(&[QueryFormat::Form, QueryFormat::Rfc3986]);
        let mut query = parse("", format);
        let mut expected: Vec<Pair> = Vec::new();
        for _ in 0..random.below(6) {
            let piece =
                |random: &mut Random| (0..random.below(3)).flat_map(|_| random.pick(PIECES).to_vec()).collect();
            let (name, value): (Vec<u8>, Vec<u8>) = (piece(&mut random), piece(&mut random));
            let value = Some(value).filter(|_| !random.one_in(4));
            let Ok(pair) = QueryPair::new(&name, value.as_deref()) else { continue };
            match random.below(4) {
                0 => {
                    query.set(pair).unwrap();
                    let first = expected.iter().position(|pair| pair.0 == name).unwrap_or(expected.len());
                    expected.retain(|pair| pair.0 != name);
                    expected.insert(first, (name, value));
                }
                1 => {
                    query.remove_all_like(query.find(&name, 0));
                    expected.retain(|pair| pair.0 != name);
                }
                _ => {
                    query.append(pair).unwrap();
                    expected.push((name, value));
                }
            }
        }
        assert_eq!(pairs(&query), expected);
        assert_eq!(query.size, query.pairs.iter().map(QueryPair::size).sum::<usize>());
        let text = text(&query);
        assert!(text.bytes().all(|byte| byte.is_ascii_graphic() && !b"#?\"<>".contains(&byte)), "{text}");
        assert_eq!(pairs(&parse(&text, format)), expected, "{text}");
    }
}

#[test]
fn parsing_and_serialising_a_query_examine_each_byte_at_most_four_times() {
    for part in ["a&", "a=b&", "=", "%41", "+", "&", "a"] {
        let text = part.repeat(50_000);
        let cost = measure(|| {
            let _ = parse(&text, QueryFormat::Form).text_with_nul().unwrap().len();
        });
        assert!(cost <= 4 * text.len(), "{part:?}: {cost} of {}", text.len());
    }
}
