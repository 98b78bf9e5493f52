//! The typed and the dynamic interface on the fake program.

use std::sync::OnceLock;

use super::says;
use crate::call::{Value as _, consumed, scalar, slot};
use crate::context::Linked;
use crate::dynamic::{self, Arg, Library, Scalar, Value};
use crate::ffi::LinkedTable;
use crate::{
    Array, Backend, Config, Context, ErrorKind, Hardening, HasArray, Program, Raw, RawContext,
};
use futhark_fake::program;
use futhark_fake::{FLAVOURS, Flavour, World};
use futhark_sys::table::Table;

/// The table in the form that generated code has.
fn linked(table: &'static Table) -> LinkedTable {
    // SAFETY: T: a checked table, which is never freed.
    unsafe { LinkedTable::new(table.raw()) }
}

/// The program type that generated code would have, with this interface hash and linked with these tables.
pub(super) struct Typed<const INTERFACE: u64, const LINKED: usize>;

const INTERFACE: u64 = 0xb584_39cf_bad3_fe30;

/// Of both backends.
const BOTH: usize = 0;
const NONE: usize = 1;
/// These must be rejected.
const REORDERED: usize = 2;
const OF_UNKNOWN_BACKEND: usize = 3;

pub(super) type Fake = Typed<INTERFACE, BOTH>;

/// The fake program, not linked.
type Shared = Typed<INTERFACE, NONE>;

pub(super) struct Entries;

impl<P: Program> From<&Context<P>> for Entries {
    fn from(_: &Context<P>) -> Entries {
        Entries
    }
}

impl<const INTERFACE: u64, const LINKED: usize> Program for Typed<INTERFACE, LINKED> {
    const NAME: &'static str = "fake";
    type Entries<'c> = Entries;
}

impl<const INTERFACE: u64, const LINKED: usize> Linked for Typed<INTERFACE, LINKED> {
    const INTERFACE: u64 = INTERFACE;
    const FUNCTIONS: u64 = 0x4989_92cf_3b89_bfde;

    fn tables() -> Vec<LinkedTable> {
        let tables = match LINKED {
            BOTH => [Flavour::Gpu, Flavour::Host].map(program::table).into(),
            REORDERED => vec![program::reordered()],
            OF_UNKNOWN_BACKEND => vec![program::of_unknown_backend()],
            _ => Vec::new(),
        };
        tables.into_iter().map(linked).collect()
    }
}

impl HasArray<i32, 1> for Fake {
    const TYPE: u32 = super::INTS;
}

#[test]
fn the_typed_face_uses_the_requested_backend() {
    let table = program::table(Flavour::Host);
    assert_eq!(
        (table.interface_hash(), table.functions_hash()),
        (Fake::INTERFACE, Fake::FUNCTIONS),
        "manifest.json has changed"
    );
    let world = World::new();
    for (config, backend) in [
        (Config::new(), Backend::OpenCl),
        (Config::new().backend(Backend::C), Backend::C),
        (Config::new().device("any"), Backend::OpenCl),
    ] {
        let ctx = Context::<Fake>::new(&config).unwrap();
        assert_eq!(ctx.backend(), backend);
        let xs = ctx.array(&[1, 2, 3]).unwrap();
        let number = super::function(xs.handle().core(), "entry_set_first");
        let mut place = slot::<Array<Fake, i32, 1>>();
        let inputs = [consumed(xs), scalar(9i32)];
        ctx.__call(number, inputs, &mut [place.output()]).unwrap();
        let changed = place.finish();
        drop(ctx);
        assert_eq!(changed.to_vec().unwrap(), [9, 2, 3]);
    }
    // No backend starts, none has this name, and another program.
    let started = Context::<Fake>::new(&Config::new().debugging(true));
    says(started, ErrorKind::OutOfMemory, "no backend works here");
    let error = Context::<Fake>::new(&Config::new().backend(Backend::Hip)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    says(
        Context::<Typed<1, BOTH>>::new(&Config::new()),
        ErrorKind::Load,
        "not the one that was compiled against",
    );
    assert_eq!(world.contexts(), 0);
}

/// The C context type that a raw module of `P` would have.
struct Plain<P>(std::marker::PhantomData<P>);

// SAFETY: no test follows the pointer.
#[expect(unsafe_code, reason = "implements an unsafe trait")]
unsafe impl<P: Program> RawContext for Plain<P> {
    type Program = P;
    const BACKEND: Backend = Backend::C;
}

#[test]
fn typed_contexts_of_libraries_are_checked() {
    let world = World::new();
    let library = library(Flavour::Host);
    let config = Config::new();
    let ctx = Context::<Shared>::with_library(library, &config).unwrap();
    assert_eq!(ctx.backend(), Backend::C);

    // Plain C functions are linked, so they cannot use the context of another library.
    let error = ctx.with_raw(|_: &mut Raw<'_, Plain<Shared>>| Ok(()));
    assert_eq!(error.unwrap_err().kind(), ErrorKind::WrongContext);
    let linked = Context::<Fake>::with_library(library, &config).unwrap();
    let lent = linked.with_raw(|_: &mut Raw<'_, Plain<Fake>>| Ok(()));
    lent.expect("the library is the linked table");

    let error = Context::<Shared>::new(&config).unwrap_err();
    assert!(error.to_string().contains("not linked"), "{error}");
    let library_of_c = Context::<Fake>::library(Backend::C).unwrap();
    assert_eq!(library_of_c.program_id(), library.program_id());
    let (c, hip, unsupported) = (Backend::C, Backend::Hip, ErrorKind::Unsupported);
    says(Context::<Fake>::library(hip), unsupported, "opencl, c");
    says(Context::<Shared>::library(c), unsupported, "not linked");
    let error = Context::<Typed<1, BOTH>>::library(c).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Load);
    let error = Context::<Shared>::with_library(library, &Config::new().backend(Backend::Hip));
    assert_eq!(error.unwrap_err().kind(), ErrorKind::Unsupported);
    let error = Context::<Typed<1, BOTH>>::with_library(library, &config).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Load);
    drop((ctx, linked));
    assert_eq!(world.contexts(), 0);
}

/// Expects that neither interface uses the table, which is linked with program `P`.
fn is_rejected<P: Program>(table: &'static Table, words: &str) {
    let world = World::new();
    says(Context::<P>::new(&Config::new()), ErrorKind::Load, words);
    says(Library::of_table(table), ErrorKind::Load, "");
    assert_eq!(world.contexts(), 0);
}

#[test]
#[cfg_attr(miri, ignore = "reads manifests for minutes, and makes no call")]
fn a_table_with_another_order_of_functions_is_rejected() {
    let words = "not the one that was compiled against";
    is_rejected::<Typed<INTERFACE, REORDERED>>(program::reordered(), words);
}

#[test]
#[cfg_attr(miri, ignore = "reads manifests for minutes, and makes no call")]
fn a_table_of_an_unknown_backend_is_rejected() {
    let table = program::of_unknown_backend();
    is_rejected::<Typed<INTERFACE, OF_UNKNOWN_BACKEND>>(table, "backend abacus");
}

/// Made once per flavour: to read the manifest takes Miri longer than all else in a test.
fn library(flavour: Flavour) -> &'static Library {
    static LIBRARIES: [OnceLock<Library>; 2] = [const { OnceLock::new() }; 2];
    LIBRARIES[flavour as usize].get_or_init(|| Library::of_table(program::table(flavour)).unwrap())
}

fn dynamic_context(flavour: Flavour) -> (World, dynamic::Context) {
    let world = World::new();
    let ctx = dynamic::Context::new(library(flavour), &Config::new()).unwrap();
    (world, ctx)
}

#[test]
fn contexts_tell_whether_checks_are_missing() {
    for (flavour, hardening) in [
        (Flavour::Gpu, Hardening::Partial),
        (Flavour::Host, Hardening::Off),
    ] {
        let (_world, ctx) = dynamic_context(flavour);
        assert_eq!(ctx.hardening(), hardening);
    }
}

#[test]
fn the_dynamic_face_calls_entry_points() {
    for flavour in FLAVOURS {
        let (world, ctx) = dynamic_context(flavour);
        let xs: Value = ctx.array(&[1i32, 2, 3]).unwrap().into();
        let total = ctx.call("total", vec![Arg::Borrow(&xs)]).unwrap();
        assert!(matches!(total[0], Value::Scalar(Scalar::I32(6))));
        let seven = Value::from(7i32);
        let pair = ctx.record("pair", &[&seven, &xs]).unwrap();
        // The record shares the array's memory, so the array is copied first.
        let args = vec![Arg::Consume(xs), Arg::Consume(9i32.into())];
        let changed = ctx.call("set_first", args);
        assert_eq!(ints(&changed.unwrap()[0]), [9, 2, 3]);
        assert_eq!(ints(&pair.project("xs").unwrap()), [1, 2, 3]);
        assert!(pair.project("ys").is_err());
        assert_eq!(world.take_copies(), 1);
        let error = ctx.call("set_first", vec![Arg::Borrow(&seven), Arg::Borrow(&seven)]);
        assert_eq!(error.unwrap_err().kind(), ErrorKind::InvalidArgument);
    }
}

#[test]
fn values_are_accepted_by_coverage() {
    let (_world, ctx) = dynamic_context(Flavour::Host);
    let library = ctx.library();
    let xs: Value = ctx.array(&[4i32, 5]).unwrap().into();
    let untrusted = |stored: &dynamic::Stored| {
        crate::Untrusted::from_bytes(&stored.to_bytes().unwrap()).unwrap()
    };
    let pair = ctx.record("pair", &[&3i32.into(), &xs]).unwrap();
    let stored = pair.store().unwrap();
    let accepted = library.accept(untrusted(&stored)).unwrap();
    assert!(accepted == stored);
    let back = ctx.restore(&accepted).unwrap();
    assert_eq!(ints(&back.project("xs").unwrap()), [4, 5]);
    let line = ctx.sum("shape", "line", &[&xs, &3i32.into()]).unwrap();
    let stored = line.store().unwrap();
    says(
        library.accept(untrusted(&stored)),
        ErrorKind::Unsupported,
        "type shape, which is or has a sum",
    );
    #[cfg(feature = "mac")]
    {
        use crate::stored::Key;
        let key = Key::new([1; 32]);
        let sealed = stored.seal(&key).unwrap();
        assert!(library.unseal(&key, &sealed).unwrap() == stored);
        let error = library.unseal(&Key::new([2; 32]), &sealed).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Restore);
    }
}

#[test]
fn a_refused_dynamic_call_leaves_its_arguments() {
    for flavour in FLAVOURS {
        let (world, ctx) = dynamic_context(flavour);
        let other = dynamic::Context::new(ctx.library(), &Config::new()).unwrap();
        let mut xs: Value = ctx.array(&[1i32, 2]).unwrap().into();
        let args = |xs| vec![Arg::ConsumeMut(xs), Arg::Consume(9i32.into())];
        let error = other.call("set_first", args(&mut xs)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::WrongContext);
        let one = ctx.call("set_first", vec![Arg::ConsumeMut(&mut xs)]);
        assert_eq!(one.unwrap_err().kind(), ErrorKind::InvalidArgument);
        // A parameter that is not consumed only reads it.
        ctx.call("total", vec![Arg::ConsumeMut(&mut xs)]).unwrap();
        let mut nine = Value::from(9i32);
        assert_eq!(ints(&xs), [1, 2]);
        let args = vec![Arg::ConsumeMut(&mut xs), Arg::ConsumeMut(&mut nine)];
        let changed = ctx.call("set_first", args).unwrap().remove(0);
        assert_eq!(ints(&changed), [9, 2]);
        assert!(matches!(nine, Value::Scalar(Scalar::I32(9))));
        assert_eq!(world.values(), 1);
        let error = ctx.call("total", vec![Arg::Borrow(&xs)]).unwrap_err();
        let words = "argument 0 was consumed by entry point set_first";
        assert!(error.to_string().contains(words), "{error}");
        let Value::Array(xs) = &xs else {
            unreachable!()
        };
        assert_eq!((xs.shape(), xs.len(), xs.is_empty()), (vec![0], 0, true));
        assert_eq!(format!("{xs:?}"), "Array<i32>(spent)");
        xs.to_vec::<i32>().unwrap_err();
        xs.to_bytes().unwrap_err();
        xs.view::<i32>().unwrap_err();
        xs.try_clone().unwrap_err();
        xs.index(&[0]).unwrap_err();
        // A spent opaque value still knows its type.
        let pair = ctx.record("pair", &[&7i32.into(), &changed]).unwrap();
        let mut pair = Value::from(pair);
        let args = vec![Arg::ConsumeMut(&mut pair), Arg::Consume(1i32.into())];
        ctx.call("poke", args).unwrap();
        let Value::Opaque(pair) = &pair else {
            unreachable!()
        };
        assert_eq!(pair.type_name(), "pair");
        assert_eq!(format!("{pair:?}"), "Opaque<pair>(spent)");
        pair.project("xs").unwrap_err();
        pair.try_clone().unwrap_err();
        pair.store().unwrap_err();
    }
}

#[test]
fn a_clone_of_an_opaque_value_is_a_deep_copy() {
    for flavour in FLAVOURS {
        let (world, ctx) = dynamic_context(flavour);
        let xs: Value = ctx.array(&[1i32, 2]).unwrap().into();
        let pair = ctx.record("pair", &[&Value::from(7i32), &xs]).unwrap();
        let clone = pair.try_clone().unwrap();
        assert_eq!(world.take_copies(), 1);
        drop((pair, xs));
        // Nothing shares the clone's memory, so it is not copied.
        let arguments = vec![Arg::Consume(clone.into()), Arg::Consume(9i32.into())];
        let poked = ctx.call("poke", arguments).unwrap();
        assert_eq!(ints(&poked[0]), [9, 2]);
        assert_eq!(world.take_copies(), 0);
        assert_eq!(world.values(), 1);
    }
}

#[test]
fn destructing_a_sum_as_another_variant_is_an_error() {
    for flavour in FLAVOURS {
        let (_world, ctx) = dynamic_context(flavour);
        let xs: Value = ctx.array(&[4i32, 5]).unwrap().into();
        let dot = ctx.sum("shape", "dot", &[]).unwrap();
        let line = ctx.sum("shape", "line", &[&xs, &3i32.into()]).unwrap();
        assert_eq!(dot.variant().unwrap(), "dot");
        assert_eq!(line.variant().unwrap(), "line");
        let error = dot.destruct("line").unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidArgument);
        assert!(dot.destruct("dot").unwrap().is_empty());
        let payload = line.destruct("line").unwrap();
        assert_eq!(ints(&payload[0]), [4, 5]);
        assert!(matches!(payload[1], Value::Scalar(Scalar::I32(3))));
        let restored = ctx.restore(&line.store().unwrap()).unwrap();
        assert_eq!(ints(&restored.destruct("line").unwrap()[0]), [4, 5]);
    }
}

/// `new` and `set` of arrays of records, as compilers from 0.25.36 on have them.
#[test]
fn arrays_of_records_support_new_and_set() {
    for flavour in FLAVOURS {
        let (world, ctx) = dynamic_context(flavour);
        let point = |y: i32| -> Value {
            let fields = [&Value::from(0.5f32), &Value::from(y)];
            ctx.record("point", &fields).unwrap().into()
        };
        let (a, b) = (point(10), point(20));
        let mut points = ctx.array_from_values("[]point", &[&a, &b, &a]).unwrap();
        let held = points.project("y").unwrap();
        world.take_copies();
        points.set(&[0], &b).unwrap();
        let copies = world.take_copies();
        assert_eq!(copies, 1, "the memory shared with `held` is copied");
        points.set(&[1], &a).unwrap();
        assert_eq!(world.take_copies(), 0);
        assert_eq!(ints(&points.project("y").unwrap()), [20, 10, 10]);
        assert_eq!(ints(&held), [10, 20, 10]);

        let other = dynamic::Context::new(ctx.library(), &Config::new()).unwrap();
        let stranger = other.array(&[1i32]).unwrap().into();
        let seven = Value::from(7i32);
        let (invalid, wrong) = (ErrorKind::InvalidArgument, ErrorKind::WrongContext);
        for (shape, elements, kind, words) in [
            (&[2][..], vec![&a], invalid, "has 2 elements, got 1"),
            (&[0], vec![], invalid, "no elements"),
            (&[1, 1], vec![&a], invalid, "has rank 1"),
            (&[2], vec![&a, &seven], invalid, "1 must not be a scalar"),
            (&[2], vec![&a, &held], invalid, "element 1 of type point"),
            (&[1], vec![&stranger], wrong, "0 belongs to another"),
        ] {
            let made = ctx.array_from_values_nd("[]point", shape, &elements);
            says(made, kind, words);
        }
        let made = ctx.array_from_values("pair", &[&a]);
        says(made, invalid, "expected an array of opaque values");
        assert!(ctx.array_from_values("nope", &[&a]).is_err());
        for (index, element, words) in [
            (&[3][..], &a, "outside"),
            (&[-1], &a, "outside"),
            (&[0, 0], &a, "outside"),
            (&[0], &seven, "must not be a scalar"),
            (&[0], &held, "expected the element of type point"),
            (&[0], &stranger, "another context"),
        ] {
            let error = points.set(index, element).unwrap_err();
            assert!(error.to_string().contains(words), "{error}");
        }
        assert_eq!(ints(&points.project("y").unwrap()), [20, 10, 10]);
    }
}

fn ints(value: &Value) -> Vec<i32> {
    match value {
        Value::Array(array) => array.to_vec().unwrap(),
        other => panic!("no array: {other:?}"),
    }
}
