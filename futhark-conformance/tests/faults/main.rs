//! Are the checks worth anything? Mistakes are planted into the code that the Futhark
//! compiler generates, one at a time, and the check that should find it must find it.
//!
//! `catalogue` lists the faults as data; `mutate` changes the generated text, and fails
//! where the text is not what a fault expects; `plant` makes a compiler of it that the
//! program under test can be given; `trial` runs that program; `table` is what
//! `docs/faults.md` shows.
//!
//! A Futhark compiler and a C compiler are needed; faults of a backend that this machine
//! cannot run are passed over, unless `FUTHARK_TESTS_NEED_COMPILERS` is set.

#![forbid(unsafe_code)]

mod catalogue;
mod fault;
mod mutate;
mod plant;
mod table;
mod trial;

use fault::Fault;
use futhark_safe::compile::Compiler;
use plant::Nursery;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use trial::Verdict;

/// The programs in which faults are planted.
fn programs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/faults/programs")
}

/// The newest compiler knows the most functions.
fn newest() -> Compiler {
    let mut all = Compiler::all();
    all.pop().expect("a Futhark compiler: run ci/setup first")
}

#[test]
fn every_fault_is_found_by_the_check_that_should_find_it() {
    let nursery = Nursery::new(newest());
    // While the checks are worked on: only the faults whose names contain this.
    let wanted = std::env::var("FUTHARK_FAULTS").unwrap_or_default();
    let mut faults = catalogue::all();
    let all = faults.len();
    faults.retain(|fault| fault.name.contains(&wanted));
    let healthy = controls(&nursery, &faults);
    let tried: Vec<&Fault> = faults
        .iter()
        .filter(|fault| healthy.contains(&(fault.program, fault.backend, fault.device)))
        .collect();
    let verdicts = in_parallel(&tried, |fault| trial::plant_and_run(&nursery, fault));
    let pairs: Vec<(&Fault, &Verdict)> = tried.iter().copied().zip(&verdicts).collect();
    println!("{}", table::of_verdicts(&pairs));
    table::update_if_asked(&pairs, tried.len() == all);
    let wrong: Vec<String> = pairs
        .iter()
        .filter_map(|(fault, verdict)| verdict.complaint(fault))
        .collect();
    assert!(
        wrong.is_empty(),
        "{} of {} faults were not found as they should be:\n{}",
        wrong.len(),
        tried.len(),
        wrong.join("\n")
    );
}

/// Without a fault everything passes, or a fault that is found proves nothing. Programs
/// on backends that this machine cannot run are left out.
fn controls(
    nursery: &Nursery,
    faults: &[Fault],
) -> BTreeSet<(&'static str, &'static str, &'static str)> {
    let places: BTreeSet<_> = faults
        .iter()
        .map(|fault| (fault.program, fault.backend, fault.device))
        .collect();
    let places: Vec<_> = places.into_iter().collect();
    let runs = in_parallel(&places, |place| trial::run_healthy(nursery, faults, *place));
    let needed = std::env::var_os("FUTHARK_TESTS_NEED_COMPILERS").is_some();
    let mut healthy = BTreeSet::new();
    for (place, run) in places.into_iter().zip(runs) {
        let (program, backend, device) = place;
        assert!(
            run.failures().is_empty(),
            "{program} on {backend} {device} without any fault: {:#?}",
            run.failures()
        );
        if run.passed() > 1 {
            healthy.insert(place);
        } else {
            assert!(
                !needed,
                "{program} cannot be run on {backend}: {}",
                run.shown()
            );
            println!("passed over, as it cannot be run here: {program} on {backend}");
        }
    }
    healthy
}

#[test]
fn every_compiler_writes_the_text_that_the_faults_change() {
    let mut wrong = Vec::new();
    for compiler in Compiler::all() {
        let nursery = Nursery::new(compiler);
        for fault in catalogue::all() {
            if let Err(why) = nursery.mutant(&fault) {
                wrong.push(format!("{} with {}: {why}", fault.name, nursery.version()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn names_of_faults_are_unique_and_their_checks_exist() {
    let faults = catalogue::all();
    let names: BTreeSet<_> = faults.iter().map(|fault| fault.name).collect();
    assert_eq!(names.len(), faults.len());
    for fault in &faults {
        assert!(
            futhark_conformance::checks::ALL
                .iter()
                .any(|check| check.name == fault.check),
            "{}: there is no check {}",
            fault.name,
            fault.check
        );
        assert!(
            programs().join(fault.program).is_file(),
            "{}",
            fault.program
        );
    }
    assert!(faults.len() >= 25);
}

#[test]
fn the_table_in_the_documents_is_that_of_the_catalogue() {
    table::compare(&catalogue::all());
}

/// Applies a function to each, on as many threads as there are processors; results in order.
fn in_parallel<T: Sync, R: Send>(items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let done = Mutex::new(Vec::new());
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                loop {
                    let place = next.fetch_add(1, Ordering::Relaxed);
                    let Some(item) = items.get(place) else { break };
                    let result = work(item);
                    done.lock()
                        .expect("no thread panicked")
                        .push((place, result));
                }
            });
        }
    });
    let mut done = done.into_inner().expect("no thread panicked");
    done.sort_by_key(|(place, _)| *place);
    done.into_iter().map(|(_, result)| result).collect()
}
