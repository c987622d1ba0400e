//! Checks in the source that only one function follows redirects, and only one makes the headers of the next request.

/// Returns the names and texts of the source files, without tests and comments.
fn sources() -> Vec<(String, String)> {
    fn read(directory: &std::path::Path, into: &mut Vec<(String, String)>) {
        for entry in std::fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                read(&path, into);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let text = std::fs::read_to_string(&path).unwrap();
                let code = text.split("#[cfg(test)]\nmod tests").next().unwrap_or("");
                let code: Vec<&str> = code.lines().map(|line| line.split("//").next().unwrap_or("")).collect();
                let name = path.strip_prefix(concat!(env!("CARGO_MANIFEST_DIR"), "/src")).unwrap_or(&path);
                into.push((name.to_string_lossy().into_owned(), code.join("\n")));
            }
        }
    }
    let mut files = Vec::new();
    read(&std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut files);
    assert!(files.len() > 50);
    files.retain(|(name, _)| !name.contains("/tests"));
    files
}

#[test]
fn only_one_function_makes_the_headers_of_the_next_request() {
    let users = |what: &str| -> Vec<String> {
        let files = sources();
        let uses =
            files.iter().flat_map(|(name, code)| std::iter::repeat_n(name.clone(), code.matches(what).count()));
        let mut uses: Vec<String> = uses.collect();
        uses.sort();
        uses
    };
    // The callers of the functions that drop headers.
    assert_eq!(users(".without("), ["retry/decide.rs"]);
    assert_eq!(
        users("headers_to_drop("),
        ["retry/decide.rs", "retry/decide.rs", "retry/decide.rs", "retry/redirect.rs"]
    );
    // The callers of the functions that follow a redirect and record it in the chain.
    assert_eq!(users("redirect::follow("), ["retry/decide.rs"]);
    assert_eq!(users("chain.after("), ["retry/decide.rs"]);
    assert_eq!(users("resolve(location"), ["retry/redirect.rs"]);
}
