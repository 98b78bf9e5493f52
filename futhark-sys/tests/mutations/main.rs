//! Mutated texts of the Futhark compiler, as a later release could write them, get the same protection or are refused.
//!
//! Each mutation has a number, which determines the text, the kind and the random choices. A failure names the number;
//! `FUTHARK_MUTATIONS_FIRST=NUMBER FUTHARK_MUTATIONS=1` repeats it, with the same compilers and `FUTHARK_TESTS_FULL`.
#![cfg(feature = "compile")]

mod corpus;
mod file;
mod kinds;
mod layout;
mod names;
mod protection;
mod spelling;
#[path = "../support/mod.rs"]
mod support;
mod unknown;

use futhark_sys::compile::hardened_source;

use corpus::Text;
use file::File;
use kinds::Expected::{ChecksOrRefused, FollowedOrRefused, Refused, Same, SameOrRefused};
use kinds::{Expected, KINDS, Mutated};
use protection::{Pair, difference, difference_of_checks};

/// Programs whose generated C has all kinds of checks.
const PROGRAMS: &str = "errors/append_to_consumed arrays/sizes errors/strided_replicate kills/negative_sizes \
    parallel/nested workloads/spmv";

/// Others, with `FUTHARK_TESTS_FULL`.
const MORE_PROGRAMS: &str = "arrays/high_ranks arrays/joined derivatives/rearrangements errors/lost_checks \
    errors/size_coercion errors/slices sums/array_payloads workloads/radix_sort";

/// What the generated C of [`PROGRAMS`] gets, at least.
const CHECKS: &str = "FUT_CHECK_COUNT FUT_CHECK_ITERATIONS FUT_DIVISOR FUT_NEGATIVE_PART FUT_NO_ROOM FUT_OUTSIDE \
    FUT_OVERFLOWED FUT_SAFE_DIVISOR fut_check_launch fut_concat fut_difference_wraps fut_execute_task \
    fut_is_outside fut_minus fut_plus fut_prepare_task fut_size_cut fut_size_div_up fut_size_max fut_size_min \
    fut_slice_outside fut_times fut_wraps";

/// How many mutations are tried, unless `FUTHARK_MUTATIONS` says another number.
const COUNT: usize = 8 * KINDS.len();

/// The number of failures of each kind that are shown, with a file for each.
const SHOWN: usize = 3;

/// What became of mutations.
const OUTCOMES: [&str; 4] = ["isomorphic", "refused", "no place", "wrong"];

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
    let mut programs: Vec<&str> = PROGRAMS.split(' ').collect();
    if support::is_full() {
        programs.extend(MORE_PROGRAMS.split(' '));
    }
    let texts = corpus::generate(&programs);
    for check in CHECKS.split(' ') {
        let is_made = texts.iter().any(|text| text.hardened.contains(check));
        assert!(is_made, "no program gets the check {check}");
    }
    let files: Vec<File<'_>> = texts.iter().map(Text::file).collect();
    let mut counts = [[0; OUTCOMES.len()]; KINDS.len()];
    for number in first..first + count {
        let kind = number % KINDS.len();
        let (name, mutation, expected) = KINDS[kind];
        // All kinds, each with another text.
        let at = (number / KINDS.len() * 11 + kind) % texts.len();
        let mutated = mutation(&files[at], &mut Random(number as u64));
        let result = mutated
            .as_ref()
            .map(|new| compare(&texts[at], new, expected));
        let outcome = match &result {
            Some(Ok(outcome)) => outcome,
            Some(Err(_)) => "wrong",
            None => "no place",
        };
        let column = OUTCOMES.iter().position(|other| *other == outcome);
        let count = &mut counts[kind][column.expect("an outcome")];
        *count += 1;
        if let (Some(Err(difference)), Some(mutated)) = (result, mutated)
            && *count <= SHOWN
        {
            let kept = support::folder("mutations").join(format!("{number}.c"));
            std::fs::write(&kept, &mutated.text).expect("the text is written");
            let (label, what, kept) = (&texts[at].label, mutated.what, kept.display());
            println!("mutation {number}, {name}, {label}: {kept}\n{difference} {what}\n");
        }
    }
    println!("{count} mutations of {} texts:", texts.len());
    for ((name, ..), counts) in KINDS.iter().zip(counts) {
        let columns = OUTCOMES.iter().zip(counts);
        let columns = columns.map(|(outcome, count)| format!("  {outcome} {count:5}"));
        println!("{name:32}{}", columns.collect::<String>());
    }
    let [same, refused, _, wrong] = [0, 1, 2, 3].map(|column| counts.map(|row| row[column]));
    assert_eq!(wrong, [0; KINDS.len()], "wrong results of each kind");
    let is_tried = same
        .iter()
        .zip(refused)
        .all(|(same, refused)| same + refused > 0);
    assert!(count < COUNT || is_tried, "a kind has no place");
}

/// The outcome, or what is wrong.
fn compare(text: &Text, mutated: &Mutated, expected: Expected) -> Result<&'static str, String> {
    let hardened = match hardened_source(&mutated.text, &text.h, &text.manifest) {
        Err(error) if expected == Same => return Err(format!("refused: {error}")),
        Err(_) => return Ok("refused"),
        Ok(hardened) => hardened,
    };
    let original = Pair {
        generated: &text.c,
        hardened: &text.hardened,
    };
    let new = Pair {
        generated: &mutated.text,
        hardened: &hardened,
    };
    let counterpart = format!("fut_{} =", mutated.size);
    let is_followed = || {
        let [old, new] = [original, new].map(|pair| pair.hardened.matches(&counterpart).count());
        new > old
    };
    let difference = match expected {
        Same | SameOrRefused => difference(original, &mutated.names, new),
        ChecksOrRefused => difference_of_checks(original, new),
        FollowedOrRefused if is_followed() => None,
        FollowedOrRefused | Refused => Some("accepted".to_owned()),
    };
    difference.map_or(Ok("isomorphic"), Err)
}

/// Random numbers from a seed (SplitMix64).
struct Random(u64);

impl Random {
    /// A number below `end`.
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % end.max(1) as u64) as usize
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
