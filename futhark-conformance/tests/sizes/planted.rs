//! Removes one check at a time from the C code that the crate adds, and expects that a test fails.
//!
//! The C compiler is a script that changes a copy of the files before it runs gcc with AddressSanitizer, because an
//! access out of bounds often has no other effect.

use crate::support::run::write_script;
use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Command, Output};

/// A check, the command of `sed -z` that removes it, and what finds that.
struct Planted {
    check: &'static str,
    command: &'static str,
    test: &'static str,
    /// The beginning of the names of the entry points in `hostile.fut` that find it.
    only: &'static str,
}

const fn of(
    check: &'static str,
    command: &'static str,
    test: &'static str,
    only: &'static str,
) -> Planted {
    Planted {
        check,
        command,
        test,
        only,
    }
}

// Three checks are left out, since others refuse the same sizes: those of `fut_size` and `fut_refuse_size`, because the C
// library cannot allocate a negative size, and the shapes of results, because the arrays in them cannot be made. For `fut_plus` and `fut_minus` no program is known whose sizes overflow there before another check.
#[rustfmt::skip]
const PLANTED: &[Planted] = &[
    of("product", "s/bool valid = a >= 0 && b >= 0 &&/bool valid = true ||/", "hostile_on_c", "concat_columns"),
    of("product of negative sizes", "s/bool valid = a >= 0 && b >= 0 &&/bool valid =/", "sizes_on_c", ""),
    of("length of a concatenation", "s/FUT_REFUSE_IF\\([^\\n]*, FUT_NEGATIVE_PART\\)/(void)0;/g", "hostile_on_c", "concat_last"),
    of("product in a type", "s/return __builtin_mul_overflow\\(a, b, &product\\);/return false;/", "hostile_on_c", "square_index"),
    of("start of a backward slice", "s/end < start && \\(start >= length \\|\\| end < -1\\)/false/", "hostile_on_c", "s_slice"),
    of("start of a slice that is a size", "s/: start < end && start < 0;/: false;/", "hostile_on_c", "s_size_slice"),
    of("index that is a size", "s/\\((slt64\\([^()]*\\)) && [^()]* >= 0\\)/\\1/g", "hostile_on_c", "s_size_index"),
    of("divisor", "s/fut_end_division\\(\\(y\\) == 0\\)/(void)0/", "expressions_on_c", ""),
    of("iterations of a loop", "s/if \\(FUT_FAILS\\(FUT_OF_LOOP, [^\\n]*/if (0) { \\\\/", "loops_on_c", ""),
];

/// The checks without which no test fails. Every test must succeed with all checks.
pub fn missed(folder: &Path) -> Vec<&'static str> {
    let mut healthy = BTreeSet::new();
    for fault in PLANTED {
        if healthy.insert((fault.test, fault.only)) {
            let output = run(&of("nothing", "s/ / /", fault.test, fault.only), folder);
            assert!(
                output.status.success(),
                "{}",
                String::from_utf8_lossy(&output.stderr)
            );
        }
    }
    let missed = PLANTED
        .iter()
        .filter(|fault| run(fault, folder).status.success());
    missed.map(|fault| fault.check).collect()
}

/// Runs the test of this program in which the check is missing.
fn run(planted: &Planted, folder: &Path) -> Output {
    let script = folder.join(format!("cc-{}", planted.check.replace(' ', "-")));
    let text = format!(
        r#"#!/bin/sh
# Changes a copy of each folder with C files, and compiles that.
unset LD_PRELOAD
copy=$(mktemp -d) || exit 1
trap 'rm -rf "$copy"' EXIT
n=0
for argument do
    shift
    case $argument in
    /*.c) from=${{argument%/*}} file=/${{argument##*/}} ;;
    /*) from=$argument file= ;;
    *) from= ;;
    esac
    # The other folder with headers has none of ours.
    [ -n "$file" ] || [ -e "$from/fut_sizes.h" ] || from=
    if [ -n "$from" ]; then
        n=$((n + 1))
        mkdir "$copy/$n" && cp -r "$from"/*.[ch] "$copy/$n"
        # Only the folder of our headers has one.
        cp "$from"/*.def "$copy/$n" 2>/dev/null
        sed -Ezi '{}' "$copy/$n"/*.[ch]
        diff -rq "$from" "$copy/$n" | grep -q '^Files' && echo changed >>"$0.changed"
        argument=$copy/$n$file
    fi
    set -- "$@" "$argument"
done
gcc -fsanitize=address "$@"
"#,
        planted.command
    );
    let script = write_script(script, &text);
    let changed = script.with_extension("changed");
    let _ = std::fs::remove_file(&changed);
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", planted.test, "--nocapture"])
        .env("CC", &script)
        .env("LD_PRELOAD", asan_runtime().unwrap())
        .env("ASAN_OPTIONS", "allocator_may_return_null=1:detect_leaks=0")
        .env("FUTHARK_TESTS_ONLY", planted.only)
        .env("FUTHARK_TESTS_LIMIT", "5")
        .env_remove("FUTHARK_TESTS_FULL")
        .output()
        .unwrap();
    println!(
        "without the check of the {}, {} {}: {}",
        planted.check, planted.test, planted.only, output.status
    );
    assert_eq!(
        changed.exists(),
        planted.check != "nothing",
        "{} changes nothing",
        planted.command
    );
    output
}

/// The library that a process must load first, if gcc has it.
pub fn asan_runtime() -> Option<String> {
    let output = Command::new("gcc")
        .arg("-print-file-name=libasan.so")
        .output()
        .ok()?;
    let path = String::from_utf8(output.stdout).ok()?.trim().to_owned();
    path.starts_with('/').then_some(path)
}
