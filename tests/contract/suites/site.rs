//! Checks that every link of the site leads to an existing page and anchor, that the pages print no message on the
//! console of a browser, and that the search finds a function. Writes screenshots into target/contract/site/screenshots.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Component, Path, PathBuf};

use crate::env::{Env, Program, has};
use crate::report::Report;
use crate::suites::named_tests::files_below;

/// The pages that the browser opens.
const PAGES: [&str; 6] = [
    "index.html",
    "api/netlib.html",
    "api/netlib_parse_url.html",
    "docs/guide/first-request.html",
    "docs/explanation/architecture.html",
    "docs/reference/tls-names.html",
];

/// The widths of the browser's window: a desktop computer and a telephone.
const WIDTHS: [u32; 2] = [1280, 390];

pub fn run(env: &Env, report: &mut Report) {
    let scratch = env.scratch("site");
    let built = env.command("scripts/site").env("CARGO_TARGET_DIR", &scratch).run(600);
    if built.text.contains("mdbook is not installed") {
        return report.skip("mdbook is not installed");
    }
    report.check(built.ok && !built.text.contains("[WARN]"), format!("scripts/site\n{}", built.text));
    let site = scratch.join("site");
    for function in env.header().functions {
        let page = site.join(format!("api/{}.html", function.name));
        report.check(page.is_file(), format!("{} has a page", function.name));
    }
    report.problems("links", dead_links(&site));
    match has("chromium") {
        true => open(env, &site, &scratch, report),
        false => report.skip("chromium is not installed"),
    }
}

/// Returns the links that lead to no file, or to no element of a page.
pub fn dead_links(site: &Path) -> Vec<String> {
    let pages: BTreeMap<PathBuf, String> = files_below(site, "html")
        .into_iter()
        .map(|page| (page.clone(), fs::read_to_string(&page).unwrap_or_default()))
        .collect();
    let places: BTreeMap<&Path, BTreeSet<&str>> =
        pages.iter().map(|(page, text)| (page.as_path(), values(text, " id=\"").collect())).collect();
    let mut dead = Vec::new();
    for (page, text) in pages.iter().filter(|(page, _)| !page.ends_with("404.html")) {
        for link in values(text, " href=\"").chain(values(text, " src=\"")) {
            if link.contains(':') || link.starts_with("//") {
                continue;
            }
            let (path, place) = link.split_once('#').unwrap_or((link, ""));
            let path = path.split('?').next().unwrap_or("");
            let target = if path.is_empty() { page.clone() } else { resolved(&page.with_file_name(path)) };
            let is_place = place.is_empty() || places.get(target.as_path()).is_none_or(|ids| ids.contains(place));
            if !target.is_file() || !is_place {
                let page = page.strip_prefix(site).unwrap_or(page);
                dead.push(format!("{} has the dead link \"{link}\"", page.display()));
            }
        }
    }
    dead
}

/// Returns the values of an HTML attribute.
fn values<'a>(text: &'a str, attribute: &'a str) -> impl Iterator<Item = &'a str> {
    text.split(attribute).skip(1).filter_map(|rest| rest.split('"').next())
}

/// Removes the components ".." of a path.
fn resolved(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for component in path.components() {
        if component == Component::ParentDir {
            out.pop();
        } else {
            out.push(component);
        }
    }
    out
}

fn open(env: &Env, site: &Path, scratch: &Path, report: &mut Report) {
    let screenshots = scratch.join("screenshots");
    fs::create_dir_all(&screenshots).expect("target is writable");
    for page in PAGES {
        for width in WIDTHS {
            let image = screenshots.join(format!("{}-{width}.png", page.replace(['/', '.'], "-")));
            let mut browser = browser(env, width);
            browser.arg(format!("--screenshot={}", image.display()));
            let ran = browser.arg(format!("file://{}", site.join(page).display())).run(120);
            let messages: Vec<&str> = ran.text.lines().filter(|line| line.contains("CONSOLE")).collect();
            report.check(ran.ok && messages.is_empty(), format!("{page} at {width} pixels: {messages:?}"));
            report.check(image.is_file(), format!("a screenshot of {page} at {width} pixels"));
        }
    }
    let mut browser = browser(env, WIDTHS[0]);
    browser.args(["--virtual-time-budget=20000", "--dump-dom"]);
    let ran = browser.arg(format!("file://{}/index.html?search=netlib_parse_url", site.display())).run(120);
    let results =
        ran.out.split("id=\"mdbook-searchresults\"").nth(1).or(ran.out.split("id=\"searchresults\"").nth(1));
    let first = results.and_then(|results| values(results, "href=\"").next()).unwrap_or("");
    report.check(
        first.starts_with("api/netlib_parse_url.html"),
        format!("the first result of the search for netlib_parse_url is its page, not \"{first}\""),
    );
}

fn browser(env: &Env, width: u32) -> Program {
    let mut browser = env.command("chromium");
    // Without its sandbox, Chromium also runs as root.
    browser.args(["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--enable-logging=stderr"]);
    browser.arg(format!("--window-size={width},1600"));
    browser
}
