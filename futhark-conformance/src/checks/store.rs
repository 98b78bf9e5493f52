//! The check `store`: storing and restoring preserves values, all backends store the same bytes,
//! and damaged bytes are refused.

use crate::harness::cases::{Cases, CheckResult, Stop, ensure};
use crate::harness::content::{Content, Reading, stored_components};
use crate::harness::env::Env;
use crate::harness::make::{Maker, as_opaque};
use futhark_manifest::{Backend, ElemType, Program, Structure, TypeRef};
use futhark_safe::dynamic::{Context, Opaque, Stored, Value};
use futhark_safe::{ErrorKind, Untrusted};
use futhark_sys::checksum::checksum;
use std::ops::Range;

/// The extent of each dimension of generated arrays.
const EXTENT: usize = 3;

/// The extent of larger arrays.
const LARGE: usize = 16;

/// Runs cases for every type that can be stored and restored.
pub fn check(env: &Env<'_>, cases: &mut Cases<'_>) {
    let program = env.program();
    for (id, described) in program.types_with_ids() {
        let Some(ops) = described.as_opaque().map(|opaque| &opaque.ops) else {
            continue;
        };
        if ops.store.is_none() || ops.restore.is_none() {
            continue;
        }
        let (name, ty) = (described.name.as_str(), TypeRef::Type(id));
        if is_array_of_units(program, ty) {
            let reason = "the elements of an array of units are never written, see `opaque`";
            cases.skip("store", name, reason);
            continue;
        }
        let case = |what: &str| format!("{name}, {what}");
        cases.run_in_context(env, "store", &case("there and back"), |context| {
            there_and_back(env, context, ty)
        });
        // Jobs of backend c are not compared with another backend: a library for another backend would have to be
        // compiled first, and the jobs of that backend make the same exchange.
        if program.backend != Backend::C {
            cases.run_in_context(env, "store", &case("with c"), |context| {
                with_c(env, context, ty)
            });
        }
        cases.run_in_context(env, "store", &case("damaged"), |context| {
            damaged(env, context, ty)
        });
    }
}

/// Whether the elements of a type are units. Their stored bytes are uninitialised memory, or zeros
/// where units take no memory (`FUT_CLEAR_UNITS` in `fut_wrappers.h`).
fn is_array_of_units(program: &Program, ty: TypeRef) -> bool {
    let structure = ty.as_type().and_then(|id| program.get(id).as_opaque());
    match structure.map(|opaque| &opaque.structure) {
        Some(Structure::OpaqueArray(array)) => program.name_of(array.elem) == "()",
        _ => false,
    }
}

/// A restored value must be equal to the original, and store the same bytes.
fn there_and_back(env: &Env<'_>, context: &Context, ty: TypeRef) -> CheckResult {
    for extent in [EXTENT, LARGE, 1, 0] {
        let value = match make(env, context, ty, extent) {
            Ok(value) => value,
            // Some types have no empty values.
            Err(Stop::Skip { .. }) if extent < EXTENT => continue,
            Err(stop) => return Err(stop),
        };
        restores(env.program(), context, ty, &value)
            .map_err(|stop| stop.at(&format!("with {extent} elements in each dimension")))?;
    }
    Ok(())
}

fn restores(program: &Program, context: &Context, ty: TypeRef, value: &Value) -> CheckResult {
    let inside = elements(program, ty, value)?;
    let opaque = as_opaque(value)?;
    let stored = opaque.store()?;
    well_formed(context, &stored)?;
    ensure_equal_stored(&stored, &opaque.store()?).map_err(|stop| stop.at("stored twice"))?;
    let restored = restore_and_overwrite(context, &stored)?;
    ensure_equal_stored(&stored, &restored.store()?).map_err(|stop| stop.at("after restoring"))?;
    let restored = Value::Opaque(restored);
    inside
        .same(&elements(program, ty, &restored)?)
        .map_err(|stop| stop.at("restored"))?;
    // The original and the restored value must not share memory.
    drop(restored);
    inside
        .same(&elements(program, ty, value)?)
        .map_err(|stop| stop.at("the value that was stored"))
}

/// A restored value must have its own memory: it must not use the bytes after the call.
fn restore_and_overwrite(context: &Context, stored: &Stored) -> CheckResult<Opaque> {
    let copy = stored.clone();
    let restored = context.restore(&copy);
    let size = copy.body().len();
    drop(copy);
    // An allocator reuses the block that was freed last, so these bytes overwrite those of the
    // copy.
    std::hint::black_box([(); 4].map(|()| vec![0x5A_u8; size]));
    Ok(restored?)
}

/// Backend `c` must store an equal value as the same bytes, and restore the bytes of this backend.
fn with_c(env: &Env<'_>, context: &Context, ty: TypeRef) -> CheckResult {
    let program = env.program();
    let library = env.sequential(&env.spec.compiler)?;
    let other = env.context_of(&library)?;
    let ours = make(env, context, ty, EXTENT)?;
    let inside = elements(program, ty, &ours)?;
    let stored = as_opaque(&ours)?.store()?;
    let there = Value::Opaque(other.restore(&stored)?);
    inside
        .same(&elements(library.program(), ty, &there)?)
        .map_err(|stop| stop.at("restored by c"))?;
    let theirs = as_opaque(&there)?.store()?;
    ensure_equal_stored(&stored, &theirs).map_err(|stop| stop.at("stored by c"))?;
    let back = Value::Opaque(context.restore(&theirs)?);
    inside
        .same(&elements(program, ty, &back)?)
        .map_err(|stop| stop.at("stored by c, restored here"))
}

/// Bytes that are not a value of this type must be refused before the library reads them.
fn damaged(env: &Env<'_>, context: &Context, ty: TypeRef) -> CheckResult {
    let value = make(env, context, ty, EXTENT)?;
    let stored = as_opaque(&value)?.store()?;
    let good = stored.to_bytes()?;
    let library = context.library();
    let check = |bytes: &[u8]| {
        Untrusted::from_bytes(bytes).and_then(|untrusted| library.check_stored(&untrusted))
    };
    // futhark-safe tests damage of the frame. What a body may be depends on the type.
    for (what, body) in damaged_bodies(stored.body())? {
        let checked = check(&with_body(&good, stored.body().len(), &body));
        ensure!(
            matches!(&checked, Err(error) if error.kind() == ErrorKind::Restore),
            "{what}: expected an error of kind Restore, got {checked:?}"
        );
    }
    // The frame that this check writes must be valid.
    check(&with_body(&good, stored.body().len(), stored.body())).map_err(Stop::from)
}

/// Bodies that are not a value of the type, each with a description of the damage.
fn damaged_bodies(body: &[u8]) -> CheckResult<Vec<(String, Vec<u8>)>> {
    let mut all = vec![("an additional byte".to_owned(), [body, &[0]].concat())];
    for (number, component) in stored_components(body)?.iter().enumerate() {
        let mut add = |what: &str, bytes: Vec<u8>| {
            all.push((format!("component {number}: {what}"), bytes));
        };
        add("missing", body[..component.head.start].to_vec());
        add("no elements", body[..component.dims.end].to_vec());
        add("twice", [body, &body[component.head.start..]].concat());
        let mut change = |what: &str, at: usize, to: &[u8]| {
            let mut changed = body.to_vec();
            changed[at..at + to.len()].copy_from_slice(to);
            add(what, changed);
        };
        let head = component.head.start;
        change("another version", head + 1, &[1]);
        change("another rank", head + 2, &[body[head + 2] + 1]);
        let other = match component.elem {
            ElemType::I32 => b" f32",
            _ => b" i32",
        };
        change("another element type", head + 3, other);
        for at in component.dims.clone().step_by(8) {
            for dim in [-1, i64::MAX] {
                change(&format!("a dimension of {dim}"), at, &dim.to_ne_bytes());
            }
            // In an empty array, the other dimensions may have any extent.
            if !component.data.is_empty() {
                let off_by_one = i64::try_from(EXTENT + 1).unwrap_or(0);
                change("a larger dimension", at, &off_by_one.to_ne_bytes());
            }
        }
        if component.elem == ElemType::Bool && !component.data.is_empty() {
            change("a boolean of 2", component.data.start, &[2]);
        }
    }
    // If the last components have no elements, some bodies are complete.
    all.retain(|(_, damaged)| damaged != body);
    Ok(all)
}

/// Replaces the body of a frame, as the documentation of `futhark_safe::stored` defines it.
fn with_body(good: &[u8], old: usize, body: &[u8]) -> Vec<u8> {
    const LENGTH: Range<usize> = 16..24;
    const SUM: Range<usize> = 24..32;
    let mut bytes = [&good[..good.len() - old], body].concat();
    bytes[LENGTH].copy_from_slice(&(body.len() as u64).to_le_bytes());
    let sum = checksum(&[&bytes[..SUM.start], &bytes[SUM.end..]]);
    bytes[SUM].copy_from_slice(&sum.to_le_bytes());
    bytes
}

/// The stored body must follow the data format, to the last byte.
fn well_formed(context: &Context, stored: &Stored) -> CheckResult {
    Untrusted::from_bytes(&stored.to_bytes()?)
        .and_then(|untrusted| context.library().check_stored(&untrusted))
        .map_err(|error| Stop::mismatch(format!("the stored bytes are not a value: {error}")))
}

fn ensure_equal_stored(before: &Stored, now: &Stored) -> CheckResult {
    let content = |stored: &Stored| Content::of_stored("a restored value", stored.body());
    content(before)?.same(&content(now)?)
}

/// The fields or the variant of a value, and the first 16 elements of an array of opaque values; nothing of a value that
/// has none of these. Arrays of numbers are read whole; [`Content::same`] compares them bit for bit.
fn elements(program: &Program, ty: TypeRef, value: &Value) -> CheckResult<Content> {
    Content::read_from(program, ty, value, Reading::Elements)
}

/// Generates a value of a type; each run with one seed generates the same. Constructors get any bits, entry points small
/// arguments. Skips the case if the program cannot make such a value.
fn make(env: &Env<'_>, context: &Context, ty: TypeRef, extent: usize) -> CheckResult<Value> {
    Maker::new(env, context, "store", extent).wild().value(ty)
}
