//! Text that a newer compiler writes, or could write, in the code of an older one: what we support
//! must pass, and what we do not know must be reported by its name.

use crate::fault::Fault;
use crate::needs;
use crate::plant::Nursery;
use crate::trial::{Verdict, failures, passed, plant_and_run};
use futhark_conformance::parallel;

#[test]
fn the_emulated_device_has_the_half_floats_of_hip() {
    needed!(needs::full());
    let compiler = needed!(needs::compiler());
    let [text] = &Fault::all(include_str!("halves.toml"))[..] else {
        panic!("one change");
    };
    match plant_and_run(&Nursery::new(compiler), text) {
        Verdict::NotPlanted(why) => panic!("{why}"),
        Verdict::Ran(run, _) => {
            assert_eq!(failures(&run), [[""; 4]; 0]);
            let ran = (passed(&run) > 0).then_some(()).ok_or_else(|| run.shown());
            needs::or_skip(ran);
        }
    }
}

#[test]
fn unknown_text_is_reported_by_name() {
    needed!(needs::full());
    let compiler = needed!(needs::compiler());
    let nursery = Nursery::new(compiler);
    let changes = Fault::all(include_str!("newer.toml"));
    let wrong = parallel::map(&changes, parallel::processors(), |change| {
        let verdict = plant_and_run(&nursery, change);
        let Some([.., message]) = verdict.found(change) else {
            return verdict.complaint(change);
        };
        println!("{}: {message}", change.name);
        let missing = change.words.iter().find(|word| !message.contains(*word))?;
        Some(format!("{}: `{missing}` is not in: {message}", change.name))
    });
    let wrong: Vec<String> = wrong.into_iter().flatten().collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
