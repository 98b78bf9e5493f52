//! Tests the checks: plants faults into the code that the Futhark compiler generates, one at a
//! time. Each fault names the check that must find it.
//!
//! `faults.toml` lists the faults; `mutate` changes the generated text, and fails if the
//! text is not the one that a fault expects; `plant` provides the changed text as a compiler;
//! `trial` runs `futhark-conformance` with that compiler.
//!
//! With `FUTHARK_TESTS_QUICK` set, the test also counts the faults that a run without `--all` finds.
//!
//! Faults of a backend that this machine cannot run are skipped, unless
//! `FUTHARK_TESTS_NEED_COMPILERS` is set.

#![forbid(unsafe_code)]

#[macro_use]
#[path = "../support/needs.rs"]
mod needs;

mod fault;
mod mutate;
mod newer;
mod plant;
#[allow(dead_code, reason = "other test programs use the other functions")]
#[path = "../support/run.rs"]
mod run;
mod trial;

use fault::{Fault, Place};
use futhark_conformance::parallel;
use futhark_safe::compile::Compiler;
use plant::Nursery;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use trial::Verdict;

fn all_faults() -> Vec<Fault> {
    Fault::all(include_str!("faults.toml"))
}

/// The folder of the programs that get the faults.
fn programs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/faults/programs")
}

#[test]
fn every_fault_is_found_by_the_check_that_should_find_it() {
    // The newest compiler generates the most functions.
    let compiler = needed!(needs::compiler());
    let nursery = Nursery::new(compiler);
    let mut faults = chosen(all_faults());
    assert_text_matches(&nursery, &faults);
    // Slow faults first, so that no processor is idle at the end.
    faults.sort_by_key(|fault| (fault.cause != "timeout", !fault.is_on_gpu()));
    let healthy = controls(&nursery, &faults);
    let tried: Vec<&Fault> = faults
        .iter()
        .filter(|fault| healthy.contains(&fault.place()))
        .collect();
    let verdicts = parallel::map(&tried, parallel::processors(), |fault| {
        let verdict = trial::plant_and_run(&nursery, fault);
        println!("{}", verdict.line(fault));
        verdict
    });
    let pairs: Vec<(&Fault, &Verdict)> = tried.iter().copied().zip(&verdicts).collect();
    let wrong: Vec<String> = pairs
        .iter()
        .filter_map(|(fault, verdict)| verdict.complaint(fault))
        .collect();
    assert!(
        wrong.is_empty(),
        "{} of {} faults were not found by their checks:\n{}",
        wrong.len(),
        tried.len(),
        wrong.join("\n")
    );
    if std::env::var_os("FUTHARK_TESTS_QUICK").is_some() {
        count_quick(&nursery, &pairs);
    }
}

/// Counts the faults that a run without `--all` also finds, because it selects the case that found
/// them.
fn count_quick(nursery: &Nursery, pairs: &[(&Fault, &Verdict)]) {
    let quick = trial::run_quick(nursery);
    let is_found = |(fault, verdict): &(&Fault, &Verdict)| {
        let found = verdict.found(fault);
        found.is_some_and(|[_, case, ..]| trial::has(&quick, fault, case))
    };
    let (found, missed): (Vec<_>, Vec<_>) = pairs.iter().partition(|pair| is_found(pair));
    assert!(!found.is_empty(), "nothing was found: {}", quick.shown());
    println!("a quick run finds {} of {}", found.len(), pairs.len());
    for (fault, _) in missed {
        println!("not with {}", fault.name);
    }
}

/// The faults to run: those whose names contain a text of `FUTHARK_FAULTS`, which commas separate, all of them with
/// `FUTHARK_TESTS_FULL`, or else the first fault of each check on c.
fn chosen(mut faults: Vec<Fault>) -> Vec<Fault> {
    if let Ok(text) = std::env::var("FUTHARK_FAULTS") {
        faults.retain(|fault| text.split(',').any(|text| fault.name.contains(text)));
    } else if std::env::var_os("FUTHARK_TESTS_FULL").is_none() {
        let mut seen = BTreeSet::new();
        faults.retain(|f| f.backend == "c" && seen.insert(f.check.clone()));
    }
    faults
}

/// Runs every program without a fault: if a check failed there, it would prove nothing about
/// the faults. Leaves out programs on backends that this machine cannot run.
fn controls(nursery: &Nursery, faults: &[Fault]) -> BTreeSet<Place> {
    let places: BTreeSet<Place> = faults.iter().map(Fault::place).collect();
    let places: Vec<_> = places.into_iter().collect();
    let runs = parallel::map(&places, parallel::processors(), |place| {
        trial::run_healthy(nursery, faults, place)
    });
    let mut healthy = BTreeSet::new();
    for (place, run) in places.into_iter().zip(runs) {
        let [program, backend, device] = &place;
        let run = run.unwrap_or_else(|why| panic!("{program} on {backend}: {why}"));
        let failures = trial::failures(&run);
        assert!(
            failures.is_empty(),
            "{program} on {backend} {device} without any fault: {failures:#?}"
        );
        // Without a device it is only compiled.
        let ran = match trial::passed(&run) {
            0 | 1 => Err(format!(
                "{program} does not run on {backend}: {}",
                run.shown()
            )),
            _ => Ok(place),
        };
        healthy.extend(needs::or_skip(ran));
    }
    healthy
}

/// Only with `FUTHARK_TESTS_FULL`, because the faults run with the newest compiler.
#[test]
fn rules_match_the_text_of_every_older_compiler() {
    needed!(needs::full());
    let mut all = Compiler::all();
    all.pop();
    for compiler in all {
        assert_text_matches(&Nursery::new(compiler), &all_faults());
    }
}

fn assert_text_matches(nursery: &Nursery, faults: &[Fault]) {
    let reasons = parallel::map(faults, parallel::processors(), |fault| {
        nursery.mutant(fault).err()
    });
    let wrong: Vec<String> = faults
        .iter()
        .zip(reasons)
        .filter_map(|(fault, why)| Some(format!("{}: {}", fault.name, why?)))
        .collect();
    let version = nursery.version();
    assert!(
        wrong.is_empty(),
        "with Futhark {version}:\n{}",
        wrong.join("\n")
    );
}

#[test]
fn names_of_faults_are_unique_and_their_checks_exist() {
    let faults = all_faults();
    let names: BTreeSet<_> = faults.iter().map(|fault| &fault.name).collect();
    assert_eq!(names.len(), faults.len());
    for fault in &faults {
        assert!(
            futhark_conformance::checks::ALL
                .iter()
                .any(|check| check.name == fault.check),
            "{}: unknown check {}",
            fault.name,
            fault.check
        );
        assert!(
            programs().join(&fault.program).is_file(),
            "{}",
            fault.program
        );
    }
}
