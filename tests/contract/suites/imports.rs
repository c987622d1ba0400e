//! Computes the import graph of `src/`: which file uses an item of which other file. Imports in unit tests are ignored.
//!
//! A file imports another one if a `use` declaration or a path in its code resolves to an item that is defined there. A
//! `mod` declaration is no import, and a re-export is followed to the definition. An import cycle is a maximal set of
//! files in which each file imports every other file, directly or through files of the set.

pub mod source;

use std::collections::{BTreeMap, BTreeSet};

use crate::env::Env;
use crate::report::Report;
use source::{Crate, Module};

/// The maximum number of files in one import cycle. The limit of three files allows a cycle of a module and two
/// submodules that use the module's type.
pub const MAX_CYCLE: usize = 3;

/// Maps each file to the files that it imports, each with the first path that imports it.
pub type Graph = BTreeMap<String, BTreeMap<String, String>>;

pub fn run(env: &Env, report: &mut Report) {
    let read = |file: &str| std::fs::read_to_string(env.root.join(file)).ok();
    let graph = graph(&Crate::read(&read));
    let largest = check(&graph, report);
    let header = env.header_text().lines().count();
    report.note(format!("largest import cycle: {largest} of {} files; netlib.h: {header} lines", graph.len()));
}

/// Reports a failure for each import cycle of more than three files. Returns the size of the largest cycle.
pub fn check(graph: &Graph, report: &mut Report) -> usize {
    let cycles = cycles(graph);
    let too_large = cycles.iter().filter(|cycle| cycle.len() > MAX_CYCLE).map(|cycle| describe(cycle, graph));
    report.problems(format!("no import cycle has more than {MAX_CYCLE} files"), too_large.collect());
    cycles.iter().map(BTreeSet::len).max().unwrap_or(0)
}

pub fn graph(source: &Crate) -> Graph {
    let mut graph = Graph::new();
    for (path, module) in &source.modules {
        let imports = graph.entry(module.file.clone()).or_default();
        for used in paths(module) {
            if let Some(file) = source.definition(path, used).filter(|file| *file != module.file) {
                imports.entry(file.to_owned()).or_insert_with(|| used.join("::"));
            }
        }
    }
    graph
}

/// Returns the paths of a module that are imports. A re-export counts as an import only if the module uses the
/// re-exported name itself.
fn paths(module: &Module) -> impl Iterator<Item = &Vec<String>> {
    let used = |name: &str| module.names.contains(name);
    let imported = module.uses.iter().filter(move |import| !import.is_public || used(&import.name));
    imported.map(|import| &import.path).chain(&module.paths)
}

/// Returns the strongly connected components of more than one file, largest first.
fn cycles(graph: &Graph) -> Vec<BTreeSet<&str>> {
    let reachable: BTreeMap<&str, BTreeSet<&str>> =
        graph.keys().map(|file| (file.as_str(), reachable(file, graph))).collect();
    let mut cycles: BTreeSet<BTreeSet<&str>> = BTreeSet::new();
    for (file, others) in &reachable {
        let back = |other: &&&str| reachable.get(**other).is_some_and(|back| back.contains(file));
        let cycle: BTreeSet<&str> = others.iter().filter(back).copied().collect();
        if cycle.len() > 1 {
            cycles.insert(cycle);
        }
    }
    let mut cycles: Vec<_> = cycles.into_iter().collect();
    cycles.sort_by_key(|cycle| usize::MAX - cycle.len());
    cycles
}

fn reachable<'a>(file: &'a str, graph: &'a Graph) -> BTreeSet<&'a str> {
    let mut found = BTreeSet::new();
    let mut open = vec![file];
    while let Some(file) = open.pop() {
        for other in graph.get(file).into_iter().flat_map(BTreeMap::keys) {
            if found.insert(other.as_str()) {
                open.push(other);
            }
        }
    }
    found
}

fn describe(cycle: &BTreeSet<&str>, graph: &Graph) -> String {
    let mut text = format!("{} files import each other:", cycle.len());
    for file in cycle {
        for (other, path) in graph[*file].iter().filter(|(other, _)| cycle.contains(other.as_str())) {
            text += &format!("\n{file} -> {other} ({path})");
        }
    }
    text
}
