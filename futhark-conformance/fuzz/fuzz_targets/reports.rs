//! Files of records, divided by zero bytes: each is a report, or an error that names the line. What is written of a
//! report reads as the same, and no text of a record becomes markup.

#![no_main]

use futhark_conformance::Report;
use futhark_conformance::report::escape::is_hidden;
use futhark_conformance_fuzz::bounded;
use libfuzzer_sys::fuzz_target;
use quick_xml::{Reader, events::Event};
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use std::{env, fs, io, process};

/// A folder of this process; in memory if there is one, since reports are files.
static FOLDER: LazyLock<PathBuf> = LazyLock::new(|| {
    let parent = PathBuf::from("/dev/shm")
        .canonicalize()
        .unwrap_or(env::temp_dir());
    let folder = parent.join(format!("futhark-fuzz-{}", process::id()));
    fs::create_dir_all(&folder).expect("a folder");
    folder
});

fuzz_target!(|bytes: &[u8]| {
    let mut files = Vec::new();
    for (number, part) in bytes.split(|byte| *byte == 0).take(3).enumerate() {
        let file = FOLDER.join(format!("{number}.jsonl"));
        fs::write(&file, part).expect("a file");
        match bounded(100_000, part.len(), || Report::read([&file])) {
            Ok(report) => check_promises(&report),
            Err(error) => check_error(&error.to_string(), &file, part),
        }
        files.push(file);
    }
    if files.len() > 1
        && let Ok(mut report) = Report::read(&files)
    {
        report.baseline = Report::read(files.last()).ok().map(Box::new);
        check_promises(&report);
    }
});

fn check_error(error: &str, file: &Path, content: &[u8]) {
    let start = format!("failed to read {}", file.display());
    let rest = error.strip_prefix(&start).expect("names the file");
    let line = rest
        .strip_prefix(", line ")
        .and_then(|rest| rest.split_once(": "));
    let Some((line, message)) = line else {
        return assert!(content.is_empty(), "{error}");
    };
    let lines = 1..=content.split(|byte| *byte == b'\n').count();
    assert!(lines.contains(&line.parse().expect("a number")), "{error}");
    assert!(!message.is_empty());
}

fn check_promises(report: &Report) {
    assert_eq!(report.counts().total(), report.records().len());
    let file: PathBuf = FOLDER.join("written");
    report.write_json(&file).expect("written");
    let again = Report::read([&file]).expect("read again");
    assert_eq!(
        (again.header(), again.records()),
        (report.header(), report.records())
    );
    assert_eq!(again.missing.is_empty(), report.missing.is_empty());

    let text = |written: io::Result<()>| {
        written.expect("written");
        fs::read_to_string(&file).expect("text")
    };
    for shown in [report.as_text(), text(report.write_summary(&file))] {
        assert!(!shown.trim().is_empty());
        let hidden = shown
            .chars()
            .find(|c| !"\n\t".contains(*c) && is_hidden(*c));
        assert_eq!(hidden, None, "{shown:?}");
    }
    let page = text(report.write_html(&file));
    for tag in page.split('<').skip(1) {
        let end = tag.find(|c: char| !c.is_ascii_alphanumeric() && !"/!".contains(c));
        let tag = format!("<{}", &tag[..end.unwrap_or(tag.len())]);
        assert!(
            PAGE.contains(&tag) || SCRIPT.contains(&tag),
            "{tag} in the page"
        );
    }
    assert_eq!(
        page.matches("</script").count(),
        PAGE.matches("</script").count()
    );
    let xml = text(report.write_junit(&file));
    assert!(!xml.contains(|c: char| c < ' ' && !"\n\t\r".contains(c)));
    let mut events = Reader::from_str(&xml);
    while events.read_event().expect("XML") != Event::Eof {}
}

const PAGE: &str = include_str!("../../templates/report.html");
/// A part of the page, which compares numbers.
const SCRIPT: &str = include_str!("../../templates/report.js");
