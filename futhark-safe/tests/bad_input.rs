//! Unusual programs and arguments. `typed/tests/values.rs` and `golden/names.json` have names that
//! collide, `outside/build_script.rs` has an unknown compiler.

use std::fmt::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::Instant;

use futhark_safe::compile::Compiler;
use futhark_safe::dynamic::{Arg, Context, Library, Opaque, Scalar, Value};
use futhark_safe::{Backend, Config, ErrorKind};

use super::support;

fn folder() -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("bad-input");
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

/// Runs a check of this program, as [`support::each_of`].
fn each(name: &str, source: &str, check: impl Fn(&Context)) {
    let path = folder().join(name);
    {
        // Written once, since a compiler may be reading it for another test.
        static WRITING: Mutex<()> = Mutex::new(());
        let _writing = WRITING.lock().expect("no test panics while it writes");
        if std::fs::read_to_string(&path).ok().as_deref() != Some(source) {
            std::fs::write(&path, source).unwrap();
        }
    }
    support::each_of(&path, |library| {
        check(&Context::new(library, &Config::new()).unwrap());
    });
}

/// Runs a check of one program for several tests, since compiling takes most of their time.
fn each_odd(check: impl Fn(&Context)) {
    const SOURCE: &str = "\
entry units (n: i64) : []() = replicate n ()
entry count [n] (_: [n]()) : i64 = n

entry make (n: i64) (m: i64) : [][]i32 = replicate n (replicate m 7)
entry used (n: i64) (m: i64) : i32 = i32.sum (flatten (reverse (opaque (replicate n (replicate m 7)))))
entry joined (n: i64) (m: i64) : []i32 = replicate n 7 ++ replicate m 7
entry rows (n: i64) (m: i64) : [][]i32 = map (\\x -> replicate (n - 1) x ++ [x]) (replicate m 7)

type~ inner = {flag: bool, xs: []f32}
type~ outer = {first: inner, n: i32}
entry outer (n: i32) : outer = {first = {flag = true, xs = replicate 2 (f32.i32 n)}, n}
entry total (o: outer) : f32 = f32.sum o.first.xs
";
    each("odd.fut", SOURCE, check);
}

/// Units take no memory, so no allocation fails for a negative number of them.
#[test]
fn a_negative_number_of_units_is_an_error() {
    each_odd(|ctx| {
        for n in [-1i64, -15, i64::MIN] {
            let error = ctx.call("units", vec![Arg::Borrow(&n.into())]).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Program);
            assert!(error.to_string().contains(&format!("[{n}]")), "{error}");
        }
        for n in [0i64, 3] {
            let units = ctx.call("units", vec![Arg::Borrow(&n.into())]).unwrap();
            let Value::Opaque(array) = &units[0] else {
                panic!()
            };
            // C does not write the bytes of units; we store zeros.
            let stored = array.store().unwrap();
            assert!(stored.body().ends_with(&vec![0; n as usize]));
            let count = ctx.call("count", vec![Arg::Borrow(&units[0])]).unwrap();
            assert!(
                matches!(count[0], Value::Scalar(Scalar::I64(m)) if m == n),
                "{count:?}"
            );
        }
        ctx.sync().unwrap();
    });
}

/// Two negative dimensions have a positive product, so an allocation succeeds, and reading the array
/// reads other memory.
#[test]
fn negative_dimensions_are_an_error() {
    each_odd(|ctx| {
        for (n, m) in [(-5i64, -3i64), (-5000, -5000), (-1, 9)] {
            for entry in ["make", "used", "joined"] {
                let arguments = [n.into(), m.into()];
                let result = ctx.call(entry, arguments.iter().map(Arg::Borrow).collect());
                let error = result.expect_err(entry);
                assert_eq!(error.kind(), ErrorKind::Program, "{entry} {n} {m}: {error}");
            }
        }
    });
}

/// The message must not blame a negative dimension alone: both dimensions are positive.
#[test]
fn a_size_that_overflows_is_an_error_that_says_so() {
    each_odd(|ctx| {
        let arguments = [(1i64 << 61).into(), 1i64.into()];
        let result = ctx.call("make", arguments.iter().map(Arg::Borrow).collect());
        let error = result.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Program, "{error}");
        let words = "more bytes than there can be";
        assert!(error.to_string().contains(words), "{error}");
    });
}

/// The array has a valid size, so no allocation refuses it. The error is ours and has no text of
/// the runtime. On GPU backends the parts are written by kernels, which are not checked.
#[test]
fn a_negative_part_of_a_concatenation_is_an_error() {
    each_odd(|ctx| {
        if ctx.library().backend().is_gpu() {
            return;
        }
        let arguments = [0i64.into(), 9i64.into()];
        let result = ctx.call("rows", arguments.iter().map(Arg::Borrow).collect());
        let error = result.unwrap_err();
        assert_eq!(
            (error.kind(), error.c_message()),
            (ErrorKind::Program, None)
        );
        let words = "an array of negative length cannot be concatenated";
        assert!(error.to_string().contains(words), "{error}");
    });
}

#[test]
fn a_program_without_entry_points_can_be_loaded() {
    each("no_entries.fut", "def f (x: i32) = x + 1\n", |ctx| {
        assert!(ctx.library().program().entries().is_empty());
        assert!(ctx.library().program().types().is_empty());
        let error = ctx.call("f", vec![]).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidArgument);
        assert!(error.to_string().contains("it has none"), "{error}");
        assert!(ctx.array(&[1i32]).is_err());
        ctx.sync().unwrap();
    });
}

fn opaque(value: Value) -> Opaque {
    match value {
        Value::Opaque(opaque) => opaque,
        other => panic!("expected an opaque value, got {other:?}"),
    }
}

/// No entry point has `inner`, and only `inner` has `[]f32`.
#[test]
fn types_that_occur_only_in_other_types_can_be_used() {
    each_odd(|ctx| {
        let made = ctx.call("outer", vec![Arg::Consume(21i32.into())]);
        let inner = opaque(opaque(made.unwrap().remove(0)).project("first").unwrap());
        assert_eq!(inner.type_name(), "inner");
        let Value::Array(xs) = inner.project("xs").unwrap() else {
            panic!("an array")
        };
        assert_eq!(xs.to_vec::<f32>().unwrap(), [21.0, 21.0]);
        let inner = ctx.restore(&inner.store().unwrap()).unwrap().into();
        let outer = ctx.record("outer", &[&inner, &1i32.into()]).unwrap().into();
        let total = ctx.call("total", vec![Arg::Borrow(&outer)]).unwrap();
        assert!(matches!(total[0], Value::Scalar(Scalar::F32(42.0))));
    });
}

/// The Futhark compiler would take minutes, so it compiles one entry point, and a script adds the
/// others to its output.
#[test]
fn a_program_can_have_thousands_of_entry_points() {
    let n = if support::full() { 10_000 } else { 1000 };
    let Some(real) = support::newest() else {
        return;
    };
    let folder = folder().join("many");
    std::fs::create_dir_all(&folder).unwrap();
    let source = folder.join("many.fut");
    std::fs::write(&source, "entry e00000 (x: i32) : i32 = x + 1\n").unwrap();
    let (mut h, mut c, mut json) = (String::new(), String::new(), String::new());
    for i in 1..n {
        let head = format!(
            "int futhark_entry_e{i:05}(struct futhark_context *ctx, int32_t *out0, const int32_t in0)"
        );
        let _ = writeln!(h, "{head};");
        let _ = writeln!(
            c,
            "{head} {{ int rc = futhark_entry_e00000(ctx, out0, in0); *out0 += {i}; return rc; }}"
        );
        let _ = write!(
            json,
            r#""e{i:05}":{{"cfun":"futhark_entry_e{i:05}","inputs":[{{"name":"x","type":"i32","unique":false}}],"outputs":[{{"type":"i32","unique":false}}],"tuning_params":[]}},"#
        );
    }
    for (extension, text) in [("h", h), ("c", c), ("json", json)] {
        std::fs::write(folder.join(format!("more.{extension}")), text).unwrap();
    }
    let script = folder.join(format!("futhark-{}", std::process::id()));
    let text = format!(
        "#!/bin/sh\nset -e\n'{real}' \"$@\"\n[ \"$2\" = --library ] || exit 0\ncd '{folder}'\n\
         cat more.h >>\"$5.h\"\ncat more.c >>\"$5.c\"\nmore=\"$(cat more.json)\"\n\
         {{ printf '{{\"backend\":\"c\",\"entry_points\":{{'; cat more.json; \
         sed 's/.*\"entry_points\":{{//' \"$5.json\"; }} >\"$5.new\"\nmv \"$5.new\" \"$5.json\"\n",
        real = real.program().display(),
        folder = folder.display(),
    );
    std::fs::write(&script, text).unwrap();
    let mode = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(&script, mode).unwrap();

    let out = folder.join("out");
    let _ = std::fs::remove_dir_all(&out);
    let compiler = Compiler::at(&script).unwrap();
    let build = support::build(&source, Backend::C, &compiler).out_dir(&out);
    let began = Instant::now();
    let library = Library::build(&build).unwrap();
    let built = began.elapsed();
    let ctx = Context::new(&library, &Config::new()).unwrap();
    let began = Instant::now();
    for i in 0..n {
        let entry = format!("e{i:05}");
        let result = ctx.call(&entry, vec![Arg::Consume(1i32.into())]).unwrap();
        let [Value::Scalar(Scalar::I32(result))] = result[..] else {
            panic!("{result:?}")
        };
        assert_eq!(result, 2 + i, "{entry}");
    }
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find(|line| line.starts_with("VmHWM"));
    eprintln!(
        "{n} entry points: built in {built:?}, all called in {:?}; {}",
        began.elapsed(),
        peak.unwrap_or_default()
    );
    std::fs::remove_file(script).unwrap();
    std::fs::remove_dir_all(out).unwrap();
}
