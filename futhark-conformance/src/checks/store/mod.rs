//! The check `store`: storing and restoring preserves values, all backends store the same bytes,
//! and damaged bytes are refused.

mod damage;
mod frame;

use crate::harness::env::Env;
use crate::harness::inside::Inside;
use crate::harness::make::{Maker, Random};
use crate::harness::steps::{StepResult, Steps, Stop};
use damage::Damaged;
use futhark_manifest::{Backend, Program, Structure, TypeRef};
use futhark_safe::dynamic::{Context, Opaque, Stored, Value};
use futhark_safe::{ErrorKind, Untrusted};

/// The extent of each dimension of generated arrays.
const EXTENT: usize = 3;

/// Runs steps for every type that can be stored and restored.
pub fn check(env: &Env<'_>, steps: &mut Steps<'_>) {
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
            steps.skip("store", name, reason);
            continue;
        }
        let case = |what: &str| format!("{name}, {what}");
        env.step(steps, "store", &case("there and back"), |context| {
            there_and_back(env, context, name, ty)
        });
        // Jobs of backend c compare with nothing: a library for another backend would have to be
        // compiled first, and the jobs of that backend make the same exchange.
        if program.backend != Backend::C {
            env.step(steps, "store", &case("with c"), |context| {
                with(env, context, ty, Backend::C)
            });
        }
        env.step(steps, "store", &case("damaged"), |context| {
            damaged(env, context, ty)
        });
    }
}

/// Whether the elements of a type are units. Their stored bytes are uninitialised memory.
fn is_array_of_units(program: &Program, ty: TypeRef) -> bool {
    let structure = ty.as_type().and_then(|id| program.get(id).as_opaque());
    match structure.map(|opaque| &opaque.structure) {
        Some(Structure::OpaqueArray(array)) => program.name_of(array.elem) == "()",
        _ => false,
    }
}

/// A restored value must be equal to the original, and store the same bytes.
fn there_and_back(env: &Env<'_>, context: &Context, name: &str, ty: TypeRef) -> StepResult {
    let program = env.program();
    for extent in [EXTENT, 1, 0] {
        let at = |stop: Stop| stop.at(&format!("with {extent} elements in each dimension"));
        let made = Maker::new(env, context, Random::new(env.seed, name), extent).value(ty);
        let value = match made {
            Ok(value) => value,
            // Some types have no empty values.
            Err(Stop::Skip { .. }) if extent < EXTENT => continue,
            Err(stop) => return Err(stop),
        };
        let inside = Inside::of(program, ty, &value)?;
        let Value::Opaque(opaque) = &value else {
            return Err(Stop::mismatch("a value of an opaque type is not opaque"));
        };
        let stored = opaque.store()?;
        well_formed(context, &stored).map_err(at)?;
        same_bytes(&stored, &opaque.store()?).map_err(|stop| at(stop.at("stored twice")))?;
        let restored = restore_and_forget(context, &stored)?;
        if restored.type_name() != name {
            let message = format!("restored as a value of type {}", restored.type_name());
            return Err(at(Stop::mismatch(message)));
        }
        same_bytes(&stored, &restored.store()?).map_err(|stop| at(stop.at("after restoring")))?;
        let restored = Value::Opaque(restored);
        inside
            .same(&Inside::of(program, ty, &restored)?)
            .map_err(|stop| at(stop.at("restored")))?;
        // The original and the restored value must not share memory.
        drop(restored);
        inside
            .same(&Inside::of(program, ty, &value)?)
            .map_err(|stop| at(stop.at("the value that was stored")))?;
    }
    Ok(())
}

/// A restored value must have its own memory: changing the bytes must not affect it.
fn restore_and_forget(context: &Context, stored: &Stored) -> StepResult<Opaque> {
    let copy = stored.clone();
    let restored = context.restore(&copy);
    let size = copy.body().len();
    drop(copy);
    // An allocator reuses the block that was freed last, so these bytes overwrite those of the
    // copy.
    std::hint::black_box([(); 4].map(|()| vec![0x5A_u8; size]));
    Ok(restored?)
}

/// Another backend must store an equal value as the same bytes, and restore the bytes of this one.
fn with(env: &Env<'_>, context: &Context, ty: TypeRef, backend: Backend) -> StepResult {
    let program = env.program();
    let library = env.others.backend(backend)?;
    let other = env.context_of(&library)?;
    let ours = make(env, context, ty)?;
    let inside = Inside::of(program, ty, &ours)?;
    let stored = as_opaque(&ours)?.store()?;
    let there = Value::Opaque(other.restore(&stored)?);
    inside
        .same(&Inside::of(library.program(), ty, &there)?)
        .map_err(|stop| stop.at(&format!("restored by {backend}")))?;
    let theirs = as_opaque(&there)?.store()?;
    same_bytes(&stored, &theirs).map_err(|stop| stop.at(&format!("stored by {backend}")))?;
    let back = Value::Opaque(context.restore(&theirs)?);
    inside
        .same(&Inside::of(program, ty, &back)?)
        .map_err(|stop| stop.at(&format!("stored by {backend}, restored here")))
}

/// Every damaged form must be refused before the library reads it.
fn damaged(env: &Env<'_>, context: &Context, ty: TypeRef) -> StepResult {
    let value = make(env, context, ty)?;
    let good = as_opaque(&value)?.store()?.to_bytes()?;
    let library = context.library();
    for Damaged { what, bytes } in damage::all(&good)? {
        let refused =
            Untrusted::from_bytes(&bytes).and_then(|untrusted| library.check_stored(&untrusted));
        match refused {
            Err(error) if error.kind() == ErrorKind::Restore => {}
            Err(error) => {
                return Err(Stop::mismatch(format!(
                    "{what}: refused with an error of kind {:?}: {error}",
                    error.kind()
                )));
            }
            Ok(()) => {
                return Err(Stop::mismatch(format!(
                    "{what}: expected an error, but the bytes were restored"
                )));
            }
        }
    }
    // The undamaged bytes must still be restored.
    Untrusted::from_bytes(&good)
        .and_then(|untrusted| library.check_stored(&untrusted))
        .map_err(Stop::from)
}

/// The stored body must follow the data format, to the last byte.
fn well_formed(context: &Context, stored: &Stored) -> StepResult {
    Untrusted::from_bytes(&stored.to_bytes()?)
        .and_then(|untrusted| context.library().check_stored(&untrusted))
        .map_err(|error| Stop::mismatch(format!("the stored bytes are not a value: {error}")))
}

fn same_bytes(before: &Stored, now: &Stored) -> StepResult {
    use crate::harness::snapshot::Snapshot;
    let bytes = |stored: &Stored| Snapshot::Stored(stored.body().to_vec());
    bytes(before).same(&bytes(now))
}

fn make(env: &Env<'_>, context: &Context, ty: TypeRef) -> StepResult<Value> {
    let random = Random::new(env.seed, "store");
    Maker::new(env, context, random, EXTENT).value(ty)
}

fn as_opaque(value: &Value) -> StepResult<&Opaque> {
    match value {
        Value::Opaque(opaque) => Ok(opaque),
        Value::Scalar(_) | Value::Array(_) => {
            Err(Stop::mismatch("a value of an opaque type is not opaque"))
        }
    }
}
