//! Values that are restored from files without `unsafe`: accepted after complete checks, or sealed.

use futhark_safe::stored::Key;
use futhark_safe::{Backend, ErrorKind, OpaqueTag, Stored, Untrusted};
use futhark_safe_typed_tests::state::{self, State};
use futhark_safe_typed_tests::{opaque_arrays, stored, tuples};

use super::stored::forge;
use super::support::{context, says};

const KEY: Key = Key::new([7; 32]);

fn start(ctx: &state::Context) -> State {
    let (pos, vel) = (ctx.array(&[0.0, 1.0]), ctx.array(&[1.0, -2.0]));
    ctx.entry().start(&pos.unwrap(), &vel.unwrap()).unwrap()
}

#[test]
fn a_simulation_resumes_on_another_backend() {
    let c = context(Backend::C);
    let multicore: state::Context = context(Backend::Multicore);
    let mut state = start(&c);
    for _ in 0..10 {
        state = c.entry().step(state, 1.0).unwrap();
    }
    let stored = state.store().unwrap();
    let (saved, sealed) = (stored.to_bytes().unwrap(), stored.seal(&KEY).unwrap());
    drop((state, c));
    let saved = Untrusted::from_bytes(&saved).and_then(Untrusted::accept::<State>);
    for stored in [saved, Stored::unseal(&KEY, &sealed)] {
        let resumed = multicore.restore(&stored.unwrap()).unwrap();
        let resumed = multicore.entry().step(resumed, 1.0).unwrap();
        let pos = resumed.pos().unwrap();
        assert_eq!(pos.to_vec().unwrap(), [11.0, -21.0]);
        assert_eq!(resumed.steps().unwrap(), 11);
    }
}

/// The frame of a value, from untrusted bytes.
fn untrusted<G: OpaqueTag>(value: &G) -> Untrusted {
    let bytes = value.store().unwrap().to_bytes().unwrap();
    Untrusted::from_bytes(&bytes).unwrap()
}

fn accepted<G: OpaqueTag>(value: &G) {
    let stored = untrusted(value).accept::<G>().unwrap();
    assert!(stored == value.store().unwrap());
}

fn refused<G: OpaqueTag>(value: &G, why: &str) {
    let error = untrusted(value).accept::<G>().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported, "{error}");
    for words in [why, "seal", "trust"] {
        assert!(error.to_string().contains(words), "{error}");
    }
    // A sealed value of any type is restored.
    let sealed = value.store().unwrap().seal(&KEY).unwrap();
    let back = Stored::<G>::unseal(&KEY, &sealed).unwrap();
    assert!(back == value.store().unwrap());
}

#[test]
fn types_that_the_checks_cover_are_accepted() {
    let ctx = context::<stored::Program>(Backend::C);
    let entry = ctx.entry();
    let xs = ctx.array(&[1.0, 2.0]).unwrap();
    accepted(&entry.point(1.0, 2.0).unwrap());
    accepted(&entry.sizes(6, 7).unwrap());
    accepted(&entry.points(&xs, &xs).unwrap());
    accepted(&entry.items(3).unwrap());
    accepted(&entry.items(0).unwrap());
    let p = entry.point(1.0, 2.0).unwrap();
    const SUM: &str = "a sum with arrays or other values in its variants";
    refused(&entry.segment(&p, &p).unwrap(), SUM);
    refused(&entry.shapes(&xs).unwrap(), SUM);
    refused(&entry.track(&xs).unwrap(), SUM);
    let words = ctx.array_nd([1, 1], &[1]).unwrap();
    let mixed = entry.mixed(true, futhark_safe::f16::ONE, 1, &words);
    refused(&mixed.unwrap(), SUM);

    let ctx = context::<opaque_arrays::Program>(Backend::C);
    let colours = ctx.entry().colours(4).unwrap();
    accepted(&colours);
    accepted(&colours.index(1).unwrap());
    // The structure of this abstract type is in the manifest, so safe code can construct it as well.
    let counters = ctx.entry().counters(2).unwrap();
    accepted(&counters);
    accepted(&counters.index(1).unwrap());

    let ctx = context::<tuples::Program>(Backend::C);
    let xs = ctx.array(&[1.0, 2.0]).unwrap();
    accepted(&tuples::Labelled::new(&ctx, 1, &xs).unwrap());
    // This compiler writes no structure of the unit type into the manifest.
    refused(&tuples::Unit::new(&ctx).unwrap(), "in the manifest");
}

/// No check compares sizes that only the program relates, but every call does.
#[test]
fn accepted_sizes_that_do_not_match_are_errors_of_calls() {
    let ctx: state::Context = context(Backend::C);
    let of = |n: usize| {
        let xs = ctx.array(&vec![1.0; n]).unwrap();
        let found = untrusted(&ctx.entry().start(&xs, &xs).unwrap());
        (found.program_id().to_owned(), found.body().to_vec())
    };
    let ((program, two), (_, three)) = (of(2), of(3));
    // Both arrays, of 7 + 8 + 8n bytes each, then the counter; in whichever order.
    let counter = 7 + 8;
    let arrays = two.len() - counter;
    assert_eq!(arrays, 2 * (15 + 16));
    let first_is_array = two[2] == 1;
    assert!(first_is_array, "the order of the fields has changed");
    let body = [&two[..31], &three[39..]].concat();
    let forged = forge(&program, "state", &body);
    let stored = forged.accept::<State>().unwrap();
    let mut state = ctx.restore(&stored).unwrap();
    says(
        ctx.entry().step(&mut state, 1.0),
        ErrorKind::Program,
        "sizes",
    );
    // Refused before it started.
    assert_eq!(state.store().unwrap().body(), body);
}

#[test]
fn a_sealed_value_needs_its_key_program_type_and_every_byte() {
    let ctx = context::<stored::Program>(Backend::C);
    let xs = ctx.array(&[1.0, 2.0]).unwrap();
    let track = ctx.entry().track(&xs).unwrap().store().unwrap();
    let sealed = track.seal(&KEY).unwrap();
    assert_eq!(sealed.len(), track.to_bytes().unwrap().len() + 32);
    let refused = |key: &Key, bytes: &[u8], why: &str| {
        says(
            Stored::<stored::Track>::unseal(key, bytes),
            ErrorKind::Restore,
            why,
        );
    };
    const MAC: &str = "the MAC does not match";
    refused(&Key::new([8; 32]), &sealed, MAC);
    for i in 0..sealed.len() {
        for change in [1, 0x80, 0xff] {
            let mut bad = sealed.clone();
            bad[i] ^= change;
            refused(&KEY, &bad, MAC);
        }
        refused(
            &KEY,
            &sealed[..i],
            if i < 32 { "not a sealed" } else { MAC },
        );
    }
    refused(&KEY, &[&sealed[..], &[0]].concat(), MAC);
    // Not sealed at all.
    refused(&KEY, &track.to_bytes().unwrap(), MAC);
    refused(&KEY, &[0; 64], MAC);
    // A correct MAC of another type, and of another program.
    let point = ctx.entry().point(1.0, 2.0).unwrap().store().unwrap();
    refused(&KEY, &point.seal(&KEY).unwrap(), "got one of type pt");
    let other = start(&context(Backend::C))
        .store()
        .unwrap()
        .seal(&KEY)
        .unwrap();
    let error = Stored::<stored::Pt>::unseal(&KEY, &other).unwrap_err();
    assert!(
        error.to_string().contains("got one of type state"),
        "{error}"
    );
    // Sealed bytes are no frame: they must be unsealed.
    assert!(Untrusted::from_bytes(&sealed).is_err());
}
