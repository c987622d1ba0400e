//! Runs the checks of most suites on defective input, and fails if they do not report the defect.

mod abi;
mod answers;
mod documents;
mod library;
mod programs;

use crate::env::Env;
use crate::report::Report;

pub fn run(env: &Env, report: &mut Report) {
    let scratch = env.scratch("negative");
    finds(report, "of any name", &["the suite checked nothing"], Report::require_checks);
    for suite in [
        programs::unit_tests,
        documents::header_drift,
        documents::declarations_for_bindings,
        documents::incomplete_descriptions,
        documents::documentation,
        library::header_matrix,
        abi::changed_headers,
        library::exported_symbols,
        programs::null_sweep,
        programs::status_table,
        library::panic_guard,
        documents::map_of_the_specification,
        documents::named_incidents,
        documents::named_features,
        documents::defective_man_pages,
        documents::undocumented_for_doxygen,
        documents::outdated_recipes,
        documents::dead_links_of_the_site,
        documents::dead_links,
        documents::scripts_that_ignore_arguments,
        documents::platforms,
        documents::recorded_demo,
        documents::simulated_storm,
        documents::scenario_of_a_binding,
        documents::pages_of_languages,
        documents::locked_versions,
        documents::unguarded_functions,
        documents::unsafe_sources,
        documents::import_cycles,
        library::threads_and_dlopen,
        library::installed_tree,
        programs::example_programs,
        programs::printed_programs,
        programs::c_programs,
        programs::endless_program,
        programs::cpp_calls,
        programs::fleets,
        programs::networks,
        programs::memory_errors,
        answers::loaded_keys,
        answers::recorded_answers,
        answers::verified_chains,
        answers::other_implementations,
    ] {
        suite(env, &scratch, report);
    }
}

/// Runs `check` and verifies that it fails with each of the expected messages.
fn finds(report: &mut Report, suite: &str, complaints: &[&str], check: impl FnOnce(&mut Report)) {
    let mut inner = Report::default();
    check(&mut inner);
    let text = inner.failures.join("\n") + "\n" + &inner.notes.join("\n");
    for complaint in complaints {
        report.check(
            inner.failed() > 0 && text.contains(complaint),
            format!("the suite \"{suite}\" did not report \"{complaint}\"; it reported:\n{text}"),
        );
    }
}
