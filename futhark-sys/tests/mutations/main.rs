//! Mutated texts of the Futhark compiler, as a later release could write them, get the same protection or are refused.
//!
//! Each mutation has a number, which determines the text, the kind and the random choices. A failure names the number;
//! `FUTHARK_MUTATIONS_FIRST=NUMBER FUTHARK_MUTATIONS=1` repeats it, with the same compilers and `FUTHARK_TESTS_FULL`.
#![cfg(feature = "compile")]

mod corpus;
mod kinds;
mod layout;
mod names;
mod pieces;
mod protection;
mod spelling;
#[path = "../support/mod.rs"]
mod support;
mod unknown;

use std::collections::BTreeMap;
use std::fmt::Write as _;

use futhark_sys::compile::hardened_source;

use corpus::Text;
use kinds::Expected::{self, FollowedOrRefused, Refused, Same, SameOrRefused};
use kinds::{KINDS, Mutation};
use pieces::File;
use protection::Pair;

/// Programs whose generated C has all kinds of checks.
const PROGRAMS: [&str; 6] = [
    "errors/append_to_consumed",
    "arrays/sizes",
    "errors/strided_replicate",
    "kills/negative_sizes",
    "parallel/nested",
    "workloads/spmv",
];

/// Others, with `FUTHARK_TESTS_FULL`.
const MORE_PROGRAMS: [&str; 8] = [
    "arrays/high_ranks",
    "arrays/joined",
    "derivatives/rearrangements",
    "errors/lost_checks",
    "errors/size_coercion",
    "errors/slices",
    "sums/array_payloads",
    "workloads/radix_sort",
];

/// What the generated C of [`PROGRAMS`] gets, at least.
const CHECKS: [&str; 23] = [
    "FUT_CHECK_COUNT",
    "FUT_CHECK_ITERATIONS",
    "FUT_DIVISOR",
    "FUT_NEGATIVE_PART",
    "FUT_NO_ROOM",
    "FUT_OUTSIDE",
    "FUT_OVERFLOWED",
    "FUT_SAFE_DIVISOR",
    "fut_check_launch",
    "fut_concat",
    "fut_difference_wraps",
    "fut_execute_task",
    "fut_is_outside",
    "fut_minus",
    "fut_plus",
    "fut_prepare_task",
    "fut_size_cut",
    "fut_size_div_up",
    "fut_size_max",
    "fut_size_min",
    "fut_slice_outside",
    "fut_times",
    "fut_wraps",
];

/// How many mutations are tried, unless `FUTHARK_MUTATIONS` says another number.
const COUNT: usize = 8 * KINDS.len();

/// The results of one kind.
#[derive(Default)]
struct Counts {
    same: usize,
    refused: usize,
    wrong: usize,
    no_place: usize,
    /// The first failures.
    failures: Vec<String>,
}

/// The number of failures of each kind that are shown, with a file for each.
const SHOWN: usize = 3;

#[test]
fn a_mutated_text_has_the_same_protection_or_is_refused() {
    if support::no_compiler() {
        return;
    }
    let number = |name: &str, default: usize| {
        let value = std::env::var(name).ok();
        value.map_or(default, |value| value.parse().expect("a number"))
    };
    let first = number("FUTHARK_MUTATIONS_FIRST", 0);
    let count = number("FUTHARK_MUTATIONS", COUNT);
    let mut programs = PROGRAMS.to_vec();
    if support::is_full() {
        programs.extend(MORE_PROGRAMS);
    }
    let texts = corpus::generate(&programs);
    for check in CHECKS {
        let is_made = texts.iter().any(|text| text.hardened.contains(check));
        assert!(is_made, "no program gets the check {check}");
    }
    let files: Vec<File<'_>> = texts.iter().map(|text| File::read(&text.c)).collect();
    let mut all = BTreeMap::<usize, Counts>::new();
    for number in first..first + count {
        let kind = number % KINDS.len();
        // All kinds, each with another text.
        let at = (number / KINDS.len() * 11 + kind) % texts.len();
        let counts = all.entry(kind).or_default();
        mutate(number, &texts[at], &files[at], KINDS[kind], counts);
    }
    let mut report = format!("{count} mutations of {} texts:\n", texts.len());
    for (kind, counts) in &all {
        let name = KINDS[*kind].0;
        let Counts {
            same,
            refused,
            wrong,
            no_place,
            ..
        } = counts;
        let _ = writeln!(
            report,
            "{name:32} isomorphic {same:5}  refused {refused:5}  wrong {wrong:5}  no place {no_place:5}"
        );
    }
    println!("{report}");
    let failures: Vec<_> = all.values().flat_map(|counts| &counts.failures).collect();
    for failure in &failures {
        println!("{failure}\n");
    }
    assert!(failures.is_empty(), "{report}");
    let is_tried = |counts: &Counts| counts.same + counts.refused > 0;
    assert!(count < COUNT || all.values().all(is_tried), "{report}");
}

fn mutate(
    number: usize,
    text: &Text,
    file: &File<'_>,
    (name, mutation, expected): (&str, Mutation, Expected),
    counts: &mut Counts,
) {
    let mut random = Random::new(number as u64);
    let Some(mutated) = mutation.apply(text, file, &mut random) else {
        counts.no_place += 1;
        return;
    };
    let result = hardened_source(&mutated.text, &text.h, &text.manifest);
    let difference = match (&result, expected) {
        (Err(_), Refused | SameOrRefused(_) | FollowedOrRefused) => {
            counts.refused += 1;
            return;
        }
        (Err(error), Same(_)) => format!("refused: {error}"),
        (Ok(_), Refused) => format!("accepted: {}", mutated.what),
        (Ok(hardened), FollowedOrRefused) => {
            let counterpart = format!("fut_{} =", mutated.size);
            let count = |text: &str| text.matches(&counterpart).count();
            if count(hardened) > count(&text.hardened) {
                counts.same += 1;
                return;
            }
            format!("accepted: {}", mutated.what)
        }
        (Ok(hardened), Same(equal) | SameOrRefused(equal)) => {
            let original = Pair {
                generated: &text.c,
                hardened: &text.hardened,
            };
            let new = Pair {
                generated: &mutated.text,
                hardened,
            };
            match protection::difference(equal, original, &mutated.names, new) {
                Some(difference) => format!("{}{difference}", mutated.what),
                None => {
                    counts.same += 1;
                    return;
                }
            }
        }
    };
    counts.wrong += 1;
    if counts.failures.len() < SHOWN {
        let kept = support::folder("mutations").join(format!("{number}.c"));
        std::fs::write(&kept, &mutated.text).expect("the text is written");
        let kept = kept.display();
        (counts.failures).push(format!(
            "mutation {number}, {name}, {}: {kept}\n{difference}",
            text.label
        ));
    }
}

/// Random numbers from a seed (SplitMix64).
struct Random(u64);

impl Random {
    fn new(seed: u64) -> Random {
        Random(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `end`.
    fn below(&mut self, end: usize) -> usize {
        (self.next() % end.max(1) as u64) as usize
    }

    /// True once in `n` times.
    fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    fn pick<'t, T>(&mut self, all: &'t [T]) -> Option<&'t T> {
        all.get(self.below(all.len()))
    }

    fn shuffle<T>(&mut self, all: &mut [T]) {
        for i in (1..all.len()).rev() {
            all.swap(i, self.below(i + 1));
        }
    }
}
