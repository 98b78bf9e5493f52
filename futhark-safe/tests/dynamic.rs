//! The dynamic face, as far as the other tests do not use it: libraries from elsewhere,
//! views and raw memory, what is measured, values that cross libraries.
#![cfg(feature = "dynamic")]
#![expect(unsafe_code, reason = "part of what is tested is unsafe")]

mod support;

use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use futhark_safe::compile::Build;
use futhark_safe::dynamic::{Arg, Array, Context, Library, Scalar, Value};
use futhark_safe::{Backend, Config, ElemType, ErrorKind, RawMemory};

const BACKENDS: [Backend; 3] = [Backend::C, Backend::Multicore, Backend::OpenCl];

/// Oclgrind cannot be used by two contexts of a process at a time (see SAFETY.md).
static TURN: Mutex<()> = Mutex::new(());

fn alone() -> MutexGuard<'static, ()> {
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}

fn each(mut check: impl FnMut(&Library)) {
    let _turn = alone();
    for compiler in support::compilers() {
        for backend in BACKENDS {
            eprintln!("{} {backend}", compiler.version());
            check(&support::library("failures.fut", backend, &compiler));
        }
    }
}

fn start(library: &Library) -> Context {
    Context::new(library, &Config::new()).unwrap()
}

fn total(ctx: &Context, xs: &Value) -> i64 {
    match ctx.call("total", vec![Arg::Borrow(xs)]).unwrap()[..] {
        [Value::Scalar(Scalar::I64(total))] => total,
        ref other => panic!("total gives {other:?}"),
    }
}

/// A build of the test program, copied to where nobody knows its name.
fn moved(backend: Backend) -> PathBuf {
    let out = Path::new(env!("CARGO_TARGET_TMPDIR")).join("futhark");
    let build = Build::new(support::program("failures.fut"), backend)
        .out_dir(&out)
        .fast(true);
    let moved = out.join(format!("moved-{backend}-{}", std::process::id()));
    std::fs::copy(build.run().unwrap().library(), &moved).unwrap();
    moved
}

/// A library is opened by its file alone, and is as good as the one that was built.
#[test]
fn libraries_are_opened_from_files() {
    let _turn = alone();
    for backend in BACKENDS {
        let file = moved(backend);
        // SAFETY: a copy of what was built just now.
        let library = unsafe { Library::open(&file) }.unwrap();
        assert_eq!(library.backend(), backend);
        assert!(library.program().entry("total").is_some());
        let ctx = start(&library);
        let xs = ctx.array_of(&[3], &[1i64, 2, 3]).unwrap().into();
        // What is loaded stays when its file goes.
        std::fs::remove_file(&file).unwrap();
        assert_eq!(total(&ctx, &xs), 6);
    }
}

#[test]
fn what_is_no_library_of_ours_is_refused() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("no-libraries");
    std::fs::create_dir_all(&folder).unwrap();
    let text = folder.join("text.so");
    std::fs::write(&text, "something else").unwrap();
    // A shared object of somebody else, and one whose table is of another version.
    let compile = |name: &str, c: &str| {
        let (source, object) = (folder.join(format!("{name}.c")), folder.join(name));
        std::fs::write(&source, c).unwrap();
        let mut cc = std::process::Command::new("cc");
        let made = cc.args(["-shared", "-fPIC", "-o"]).arg(&object).arg(source);
        assert!(made.status().unwrap().success());
        object
    };
    let other = compile("other.so", "int other(void) { return 1; }\n");
    // The system's loader would wait for a process that writes to it.
    let fifo = folder.join("fifo.so");
    let _ = std::fs::remove_file(&fifo);
    let made = std::process::Command::new("mkfifo").arg(&fifo).status();
    assert!(made.unwrap().success());
    let old = compile("old.so", "const unsigned fut_table[64] = { 1, 256 };\n");
    for (file, words) in [
        (folder.join("nothing-here.so"), "nothing-here.so"),
        (text, "text.so"),
        (fifo, "not a regular file"),
        (other, "fut_table"),
        (old, "another version of futhark-sys"),
        // Not looked for in the system's folders.
        (PathBuf::from("libm.so.6"), "libm.so.6: cannot open"),
    ] {
        // SAFETY: none of them has code that runs when it is loaded.
        let error = unsafe { Library::open(&file) }.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Load, "{error}");
        assert!(error.to_string().contains(words), "{error}");
        assert!(
            error.to_string().contains("that futhark-sys built"),
            "{error}"
        );
    }
}

/// On hosts the elements are lent where they lie, and never change; on GPUs they are not.
#[test]
fn views_never_change() {
    each(|library| {
        let ctx = start(library);
        let xs = ctx.array_of(&[3], &[1i64, 2, 3]).unwrap();
        let view = xs.view::<i64>().unwrap();
        assert_eq!(view.is_none(), library.backend().is_gpu());
        let Some(view) = view else { return };
        assert_eq!(view.as_ptr(), xs.view::<i64>().unwrap().unwrap().as_ptr());
        let before = view.to_vec();
        let copy = xs.try_clone().unwrap();
        assert_eq!(total(&ctx, &copy.into()), 6);
        assert_eq!(view, before);
        assert_eq!(
            xs.view::<u64>().unwrap_err().kind(),
            ErrorKind::InvalidArgument
        );
    });
}

#[test]
fn raw_memory_goes_out_and_in() {
    each(|library| {
        let ctx = start(library);
        let lender = ctx.array_of(&[4], &[1i64, 2, 3, 4]).unwrap();
        // SAFETY: `lender` stays until the end, and nobody writes to it.
        let memory = unsafe { lender.raw_memory() }.unwrap();
        assert_eq!(
            matches!(memory, RawMemory::Host(_)),
            !library.backend().is_gpu(),
            "{memory:?}"
        );
        // SAFETY: as above; four elements lie there.
        let raw = unsafe { ctx.array_from_raw(ElemType::I64, &[4], memory) }.unwrap();
        assert_eq!(
            (raw.elem(), raw.rank(), raw.shape()),
            (ElemType::I64, 1, vec![4])
        );
        assert_eq!(raw.to_vec::<i64>().unwrap(), [1, 2, 3, 4]);
        let copy = raw.try_clone().unwrap();
        assert_eq!(total(&ctx, &raw.into()), 10);
        ctx.clear_caches().unwrap();
        assert_eq!(
            lender.to_vec::<i64>().unwrap(),
            copy.to_vec::<i64>().unwrap()
        );
        let wrong = match memory {
            RawMemory::Host(_) => RawMemory::Cuda(4096),
            _ => RawMemory::Host(std::ptr::null_mut()),
        };
        for (elem, shape, memory) in [
            (ElemType::I64, &[4][..], wrong),
            (ElemType::I64, &[usize::MAX], memory),
            (ElemType::I64, &[2, 2], memory),
            (ElemType::U8, &[4], memory),
        ] {
            // SAFETY: refused before it is looked at, which is what is tested.
            let error = unsafe { ctx.array_from_raw(elem, shape, memory) }.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::InvalidArgument, "{error}");
        }
    });
}

/// As `typed/context.rs` has it for the typed face.
#[test]
fn profiling_and_tuning() {
    each(|library| {
        let profiled = Config::new().profiling(true).logging(false);
        let ctx = Context::new(library, &profiled).unwrap();
        let xs: Value = ctx.array_of(&[2], &[20i64, 22]).unwrap().into();
        ctx.pause_profiling().unwrap();
        assert_eq!(total(&ctx, &xs), 42);
        ctx.unpause_profiling().unwrap();
        assert_eq!(total(&ctx, &xs), 42);
        let report = ctx.report().unwrap();
        assert!(report.contains("\"events\""), "{report}");
        let params = ctx.tuning_params();
        assert_eq!(params.is_empty(), !library.backend().is_gpu());
        drop((ctx, xs));
        let set = params.iter().fold(Config::new(), |config, (name, class)| {
            assert!(!class.is_empty(), "{name}");
            config.tuning_param(name, 32)
        });
        let ctx = Context::new(library, &set).unwrap();
        let xs: Value = ctx.array_of(&[2], &[20i64, 22]).unwrap().into();
        assert_eq!(total(&ctx, &xs), 42);
        drop((ctx, xs));
        let unknown = Config::new().tuning_param("no.such", 1);
        let error = Context::new(library, &unknown).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidArgument, "{error}");
    });
}

/// An array knows how many elements it has, whatever its other dimensions are.
#[test]
fn lengths() {
    let _turn = alone();
    let compiler = support::compilers().pop().unwrap();
    let ctx = start(&support::library("failures.fut", Backend::C, &compiler));
    let len = |data: &[i64]| -> (usize, bool) {
        let array: Array = ctx.array_of(&[data.len()], data).unwrap();
        (array.len(), array.is_empty())
    };
    assert_eq!((len(&[]), len(&[7])), ((0, true), (1, false)));
}

/// A variant that is made here has the sizes that entry points demand, in the parts of the other
/// variants too.
#[test]
fn every_variant_of_a_sum_with_arrays_of_fixed_size_can_be_made() {
    let _turn = alone();
    let i32s = |ctx: &Context, xs: &[i32]| Value::from(ctx.array_of(&[xs.len()], xs).unwrap());
    let call = |ctx: &Context, entry: &str, sum: Value| {
        let outputs = ctx.call(entry, vec![Arg::Borrow(&sum)])?;
        Ok::<_, futhark_safe::Error>(outputs)
    };
    for compiler in support::compilers() {
        for backend in BACKENDS {
            eprintln!("{} {backend}", compiler.version());
            let program = "../../../programs/sums/fixed_sizes.fut";
            let ctx = &start(&support::library(program, backend, &compiler));
            let sum = |ty: &str, variant: &str, payload: &[&Value]| {
                Value::from(ctx.sum(ty, variant, payload).unwrap())
            };
            let total = |sum: Value| match call(ctx, "total", sum).unwrap()[..] {
                [Value::Scalar(Scalar::I64(total))] => total,
                ref other => panic!("total gives {other:?}"),
            };
            let single = sum("order", "single", &[&3i32.into(), &4i64.into()]);
            assert_eq!(total(single), 7);
            assert_eq!(total(sum("order", "none", &[])), 0);
            assert_eq!(total(sum("order", "bulk", &[&i32s(ctx, &[5, 6])])), 11);
            // Its own part keeps the size that it was given.
            let empty = sum("order", "bulk", &[&i32s(ctx, &[])]);
            assert!(call(ctx, "total", empty).is_err());

            let weight = |sum: Value| match call(ctx, "weight", sum).unwrap()[..] {
                [Value::Scalar(Scalar::F64(weight))] => weight,
                ref other => panic!("weight gives {other:?}"),
            };
            let three: Value = ctx.array_of(&[3], &[1f64, 2.0, 4.0]).unwrap().into();
            let grid: Value = ctx.array_of(&[2, 3], &[2i16; 6]).unwrap().into();
            let inner = inner_sum(ctx, "nested", "first");
            assert_eq!(weight(sum("nested", "leaf", &[])), 0.0);
            assert_eq!(weight(sum("nested", "grid", &[&grid])), 12.0);
            let first = |inner: Value| sum("nested", "first", &[&inner]);
            assert_eq!(weight(first(sum(&inner, "three", &[&three]))), 7.0);
            assert_eq!(weight(first(sum(&inner, "scalar", &[&5i32.into()]))), 5.0);
        }
    }
}

/// The name of the type of a variant's only payload.
fn inner_sum(ctx: &Context, ty: &str, variant: &str) -> String {
    let program = ctx.library().program();
    let ty = program.type_named(ty).unwrap();
    let sum = program.get(ty).as_sum().unwrap();
    let variant = sum.variants.iter().find(|v| v.name == variant).unwrap();
    program.name_of(variant.payload[0]).to_owned()
}
