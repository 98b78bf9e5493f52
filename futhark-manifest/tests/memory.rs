//! The memory that reading needs: at most a documented multiple of the text, and
//! almost none for input that is rejected early. A single test, since the counting
//! allocator is global.

#[path = "suite/made.rs"]
mod made;

use futhark_manifest::{Code, Manifest};
use peak_alloc::PeakAlloc;

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

/// The multiple that `Manifest::parse` promises.
const MULTIPLE: f64 = 150.0;

/// The memory that the work needed in addition to the text, as a multiple of the text.
fn multiple<T>(text: &str, work: impl FnOnce() -> T) -> (f64, T) {
    MEMORY.reset_peak_usage();
    let before = MEMORY.current_usage();
    let done = work();
    let used = MEMORY.peak_usage() - before;
    (used as f64 / text.len() as f64, done)
}

/// A manifest with an unknown member, which is kept.
fn keeps(unknown: &str) -> String {
    format!("{{\"backend\": \"c\", \"types\": {{}}, \"entry_points\": {{}}, \"x\": {unknown}}}")
}

#[test]
fn memory_is_bounded_by_the_length_of_the_text() {
    let many = 50_000;
    let nested = |depth| "[".repeat(depth) + &"]".repeat(depth);
    let worst = [
        ("numbers", keeps(&format!("[{}0]", "0,".repeat(many)))),
        ("empty arrays", keeps(&format!("[{}0]", "[],".repeat(many)))),
        (
            "arrays of one",
            keeps(&format!("[{}0]", "[0],".repeat(many))),
        ),
        (
            "small objects",
            keeps(&format!("[{}0]", "{\"\":0},".repeat(many))),
        ),
        (
            "nested arrays",
            keeps(&format!("[{}0]", format!("{},", nested(100)).repeat(500))),
        ),
        (
            "nested objects",
            keeps(&format!(
                "[{}0]",
                format!("{}0{},", "{\"\":".repeat(100), "}".repeat(100)).repeat(500)
            )),
        ),
        ("one text", keeps(&format!("\"{}\"", "x".repeat(many)))),
        ("escapes", keeps(&format!("\"{}\"", "\\u0041".repeat(many)))),
        ("members", {
            let members: String = (0..many).map(|n| format!("\"{n}\":0,")).collect();
            keeps(&format!("{{{members}\"\":0}}"))
        }),
    ];
    for (what, text) in &worst {
        let (multiple, manifest) = multiple(text, || Manifest::parse(text));
        assert!(manifest.is_ok(), "{what}: {manifest:?}");
        println!("{what}: {multiple:.1} times");
        assert!(multiple < MULTIPLE, "{what}: {multiple} times the text");
    }

    let real = include_str!("fixtures/0.26.4.json");
    let (read, manifest) = multiple(real, || Manifest::parse(real).expect("a fixture"));
    let (resolved, program) = multiple(real, || manifest.resolve().expect("a fixture"));
    println!("a real manifest: {read:.1} times to read, {resolved:.1} to resolve");
    assert!(read < 10.0 && resolved < 10.0);
    drop(program);

    // The same for a text in the form that compilers write, with all operations of the command.
    let big = made::manifest(1_000);
    let (resolved, program) = multiple(&big, || Manifest::parse(&big)?.into_program());
    let program = program.expect("a faultless manifest");
    let write = || serde_json::to_writer(std::io::sink(), &program.document());
    let (written, result) = multiple(&big, write);
    assert!(result.is_ok(), "{result:?}");
    println!("a big manifest: {resolved:.1} times to resolve, {written:.1} more to write");
    assert!(resolved < 8.0 && written < 1.0);
    #[cfg(feature = "schema")]
    {
        let validate = || futhark_manifest::schema::validate_text(big.as_bytes());
        let (validated, result) = multiple(&big, validate);
        assert_eq!(result, Ok(Vec::new()));
        assert!(validated < 2.0, "{validated} times the text");
    }

    // Large texts that are not a manifest are rejected without being read.
    let size = 20_000_000;
    for (what, text, code) in [
        ("junk", "x".repeat(size), Code::NotJson),
        ("spaces", " ".repeat(size), Code::NotJson),
        (
            "a text",
            format!("\"{}\"", "x".repeat(size)),
            Code::NotAManifest,
        ),
        (
            "an array",
            format!("[{}0]", "0,".repeat(size / 2)),
            Code::NotAManifest,
        ),
        ("open brackets", "[".repeat(size), Code::NotAManifest),
        ("open objects", "{\"a\":".repeat(size / 5), Code::NotJson),
    ] {
        let (multiple, result) = multiple(&text, || Manifest::parse(&text));
        assert_eq!(result.expect_err(what).code(), code, "{what}");
        // serde_json copies a string before the reader can reject it.
        assert!(multiple < 1.1, "{what}: {multiple} times the text");
    }
}
