//! The check `consume`: a call changes no value except the arguments that it consumes.
//!
//! An entry point may overwrite the memory of an argument that it consumes. If another value shares
//! this memory, the call corrupts that value, unless futhark-safe copies the argument first. A
//! *trial* makes the argument in one *way* that can share memory with other values, keeps those
//! values, calls the entry point, and compares their contents with a snapshot from before the call:
//!
//! ```text
//! way ──▶ argument ──▶ consuming call ──▶ results
//!   └──▶ held values ─── snapshots ──┴──▶ compared after the call
//! ```
//!
//! `way` lists the ways, `argument` makes an argument and the values that may share its memory,
//! `trial` calls and compares.

mod argument;
mod trial;
mod way;

use crate::harness::costs;
use crate::harness::env::Env;
use crate::harness::steps::Steps;
use trial::Trial;
use way::ways;

/// Runs a trial for every consumed parameter and every way to make its argument.
pub fn check(env: &Env<'_>, steps: &mut Steps<'_>) {
    let program = env.program();
    let entries = program.entries().iter();
    let consuming: Vec<_> = entries
        .filter(|entry| entry.consumed().next().is_some())
        .collect();
    costs::measure(env, steps, "consume", &consuming, false);
    for entry in program.entries() {
        for (place, input) in entry.consumed() {
            let name = format!("{} {}", entry.name, input.name);
            for way in ways(program, entry, place) {
                let case = format!("{name}, {}", way.describe(program));
                env.step(steps, "consume", &case, |context| {
                    Trial {
                        env,
                        context,
                        entry,
                        place,
                    }
                    .run(&way)
                });
            }
        }
    }
}
