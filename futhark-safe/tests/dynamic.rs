//! The dynamic interface: opening libraries, views, raw memory, profiling, sums.
#![expect(unsafe_code, reason = "tests unsafe functions")]

use std::error::Error as _;
use std::path::Path;

use futhark_safe::dynamic::{Arg, Context, Library, Scalar, Value};
use futhark_safe::{Backend, Config, ElemType, ErrorKind, RawMemory};
use futhark_sys::load;

use super::support::{self, call_one, each, each_of, start};

fn total(ctx: &Context, xs: &Value) -> i64 {
    match call_one(ctx, "total", vec![Arg::Borrow(xs)]).unwrap() {
        Value::Scalar(Scalar::I64(total)) => total,
        other => panic!("total returned {other:?}"),
    }
}

#[test]
fn foreign_libraries_are_rejected() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("no-libraries");
    std::fs::create_dir_all(&folder).unwrap();
    let text = folder.join("text.so");
    std::fs::write(&text, "something else").unwrap();
    // A foreign shared object, and one with a table of another version.
    let compile = |name: &str, c: &str| {
        let (source, object) = (folder.join(format!("{name}.c")), folder.join(name));
        std::fs::write(&source, c).unwrap();
        let mut cc = std::process::Command::new("cc");
        let made = cc.args(["-shared", "-fPIC", "-o"]).arg(&object).arg(source);
        assert!(made.status().unwrap().success());
        object
    };
    let other = compile("other.so", "int other(void) { return 1; }\n");
    // The loader of the system would block until a process writes to it.
    let fifo = support::fifo("no-libraries/fifo.so");
    let old = compile("old.so", "const unsigned fut_table[64] = { 1, 256 };\n");
    let refused = |file: &Path, words: &str, kind: load::ErrorKind| {
        // SAFETY: none of the files has code that runs on load.
        let error = unsafe { Library::open(file) }.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Load, "{error}");
        let text = format!("{error:#}");
        assert!(text.contains(words), "{text}");
        assert!(text.contains("that futhark-sys built"), "{text}");
        let cause = error.source().unwrap().downcast_ref::<load::Error>();
        assert_eq!(cause.unwrap().kind(), kind, "{text}");
        assert_eq!(text.matches(&cause.unwrap().to_string()).count(), 1);
    };
    use load::ErrorKind::{File, Symbol, Table};
    refused(&folder.join("nothing-here.so"), "nothing-here.so", File);
    refused(&text, "text.so", File);
    refused(&fifo, "not a regular file", File);
    refused(&other, "fut_table", Symbol);
    refused(&old, "another version of futhark-sys", Table);
    // The folders of the system are not searched.
    refused(Path::new("libm.so.6"), "libm.so.6: cannot open", File);
}

/// As after an accident, or by a tool that edits manifests.
#[test]
fn libraries_whose_texts_were_changed_are_rejected() {
    let Some(compiler) = support::newest() else {
        return;
    };
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("changed-texts");
    std::fs::create_dir_all(&folder).unwrap();
    let source = folder.join("pair.fut");
    std::fs::write(&source, "entry pair (x: i32) (ys: []f32) = (x, ys)\n").unwrap();
    let build = futhark_sys::compile::Build::new(&source, Backend::C).compiler(compiler);
    let build = build.out_dir(&folder).fast(true).run().unwrap();
    let bytes = std::fs::read(build.library()).unwrap();
    let changes: [(&str, &[u8], &str); 5] = [
        (
            "\"type\":\"i32\"",
            b"\"type\":\"u32\"",
            "does not match its manifest",
        ),
        (
            "\"backend\":\"c\"",
            b"\"backend\":\"d\"",
            "does not match its manifest",
        ),
        ("\"entry_points\"", b"\"entry_points,", "not valid"),
        ("\"entry_points\"", b"\"entry_points\xff", "not UTF-8"),
        ("entry point pair", b"entry point \xffair", "not UTF-8"),
    ];
    for (number, (from, to, words)) in changes.into_iter().enumerate() {
        let mut changed = bytes.clone();
        let found = bytes.windows(from.len()).enumerate();
        let found = found.filter(|(_, window)| *window == from.as_bytes());
        for (at, _) in found {
            changed[at..at + to.len()].copy_from_slice(to);
        }
        assert!(changed != bytes, "{from}");
        let file = folder.join(format!("changed-{number}.so"));
        let _ = std::fs::remove_file(&file);
        std::fs::write(&file, changed).unwrap();
        // SAFETY: the code is that of the build.
        let error = unsafe { Library::open(&file) }.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Load, "{from}: {error}");
        assert!(format!("{error:#}").contains(words), "{from}: {error:#}");
    }
}

/// Each error prints its own message once, and its sources only in `{:#}` and `{:?}`.
#[test]
fn an_error_of_a_build_has_that_of_the_compilers_as_its_source() {
    use futhark_sys::compile;
    let Some(compiler) = support::newest() else {
        return;
    };
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("error-sources");
    std::fs::create_dir_all(&folder).unwrap();
    let wrong = folder.join("wrong.fut");
    std::fs::write(&wrong, "entry f (x: i32) : i32 = y\n").unwrap();
    let blocked = folder.join("blocked");
    std::fs::write(&blocked, "a file where the folder should be").unwrap();
    let refused = |source: &Path, out: &Path, kind: compile::ErrorKind, words: &str| {
        let build = compile::Build::new(source, Backend::C).compiler(compiler.clone());
        let error = Library::build(&build.out_dir(out)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Compile, "{error}");
        let cause = error.source().unwrap();
        let cause = cause.downcast_ref::<compile::Error>().unwrap();
        assert_eq!(cause.kind(), kind, "{cause:?}");
        let io = cause.source().map(|io| io.is::<std::io::Error>());
        assert_eq!(io, (kind == Io).then_some(true));
        assert!(cause.to_string().contains(words), "{cause}");
        assert!(!error.to_string().contains(words), "{error}");
        assert_eq!(format!("{error:#}"), format!("{error}: {cause:#}"));
        assert_eq!(format!("{error:?}"), format!("{error:#}"));
    };
    use compile::ErrorKind::{Io, NoSource, Program};
    refused(&wrong, &folder, Program, "Unknown name");
    refused(
        &folder.join("none.fut"),
        &folder,
        NoSource,
        "does not exist",
    );
    let good = support::program("failures.fut");
    refused(&good, &blocked, Io, "cannot create the folder");
}

#[test]
fn raw_memory_is_borrowed_in_both_directions() {
    each(|library| {
        let ctx = start(library);
        let lender = ctx.array(&[1i64, 2, 3, 4]).unwrap();
        // SAFETY: `lender` lives until the end, and nothing writes to it.
        let memory = unsafe { lender.raw_memory() }.unwrap();
        assert_eq!(
            matches!(memory, RawMemory::Host(_)),
            !library.backend().is_gpu(),
            "{memory:?}"
        );
        // SAFETY: as above; it holds four elements.
        let raw = unsafe { ctx.array_from_raw(ElemType::I64, &[4], memory) }.unwrap();
        assert_eq!(
            (raw.elem(), raw.rank(), raw.shape()),
            (ElemType::I64, 1, vec![4])
        );
        assert_eq!(total(&ctx, &raw.into()), 10);
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
            // SAFETY: the call rejects the memory without reading it.
            let error = unsafe { ctx.array_from_raw(elem, shape, memory) }.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::InvalidArgument, "{error}");
        }
    });
}

/// Entry points require the fixed sizes in the components of the other variants, too.
#[test]
fn every_variant_of_a_sum_with_fixed_sizes_can_be_constructed() {
    let i32s = |ctx: &Context, xs: &[i32]| Value::from(ctx.array(xs).unwrap());
    let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("../programs/sums/fixed_sizes.fut");
    each_of(&program, |library| {
        let ctx = &start(library);
        let sum = |ty: &str, variant: &str, payload: &[&Value]| {
            Value::from(ctx.sum(ty, variant, payload).unwrap())
        };
        let single = sum("order", "single", &[&3i32.into(), &4i64.into()]);
        assert_eq!(total(ctx, &single), 7);
        assert_eq!(total(ctx, &sum("order", "none", &[])), 0);
        let bulk = sum("order", "bulk", &[&i32s(ctx, &[5, 6])]);
        assert_eq!(total(ctx, &bulk), 11);
        // The component of the variant itself keeps its size.
        let empty = sum("order", "bulk", &[&i32s(ctx, &[])]);
        assert!(call_one(ctx, "total", vec![Arg::Borrow(&empty)]).is_err());

        let weight = |sum: Value| match call_one(ctx, "weight", vec![Arg::Borrow(&sum)]).unwrap() {
            Value::Scalar(Scalar::F64(weight)) => weight,
            other => panic!("weight returned {other:?}"),
        };
        let three: Value = ctx.array(&[1f64, 2.0, 4.0]).unwrap().into();
        let grid: Value = ctx.array_nd(&[2, 3], &[2i16; 6]).unwrap().into();
        let inner = inner_sum(ctx, "nested", "first");
        assert_eq!(weight(sum("nested", "leaf", &[])), 0.0);
        assert_eq!(weight(sum("nested", "grid", &[&grid])), 12.0);
        let first = |inner: Value| sum("nested", "first", &[&inner]);
        assert_eq!(weight(first(sum(&inner, "three", &[&three]))), 7.0);
        assert_eq!(weight(first(sum(&inner, "scalar", &[&5i32.into()]))), 5.0);
    });
}

/// The name of the payload type of a variant.
fn inner_sum(ctx: &Context, ty: &str, variant: &str) -> String {
    let program = ctx.library().program();
    let ty = program.type_named(ty).unwrap();
    let sum = program.get(ty).as_sum().unwrap();
    let variant = sum.variants.iter().find(|v| v.name == variant).unwrap();
    program.name_of(variant.payload[0]).to_owned()
}

#[test]
fn futhark_profile_reads_reports() {
    let Some(compiler) = support::newest() else {
        return;
    };
    let backends = support::backends();
    let _device = support::lock_device();
    for backend in backends {
        let library = support::library("failures.fut", backend, &compiler);
        let ctx = Context::new(&library, &Config::new().profiling(true)).unwrap();
        let xs: Value = ctx.array(&[20i64, 22]).unwrap().into();
        assert_eq!(total(&ctx, &xs), 42);
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("profile");
        std::fs::create_dir_all(&folder).unwrap();
        let file = folder.join(format!("{backend}.json"));
        std::fs::write(&file, ctx.report().unwrap()).unwrap();
        let output = std::process::Command::new(compiler.program())
            .arg("profile")
            .arg(&file)
            .current_dir(&folder)
            .output()
            .unwrap();
        assert!(output.status.success(), "{backend}: {output:?}");
        let summary = folder.join(format!("{backend}.prof/summary"));
        let summary = std::fs::read_to_string(summary).unwrap();
        assert!(
            summary.contains("Peak memory usage"),
            "{backend}: {summary}"
        );
        let nothing = summary.contains("\n0 events with a total runtime");
        assert_eq!(nothing, backend == Backend::C, "{backend}: {summary}");
    }
}
