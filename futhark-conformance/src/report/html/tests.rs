use super::*;
use crate::record::Outcome;
use crate::report::tests::{header, matrix, record};
use serde_json::Value;

fn page_of(matrix: &Matrix) -> String {
    let mut out = Vec::new();
    write(&mut out, &header(), matrix, None).unwrap();
    String::from_utf8(out).unwrap()
}

fn page(records: &[Record]) -> String {
    page_of(&matrix(records))
}

fn data(page: &str) -> Value {
    let (_, text) = page.split_once("id=\"data\">").unwrap();
    serde_json::from_str(text.split_once("</script>").unwrap().0).unwrap()
}

#[test]
fn the_page_needs_no_other_file() {
    let page = page(&[record("a.fut", "c", Outcome::Pass)]);
    for outside in [
        "http:", "https:", "<link", "src=", "url(", "@import", "fetch(",
    ] {
        assert!(!page.contains(outside), "{outside}");
    }
    assert!(page.contains("No failures."));
}

#[test]
fn failures_can_be_read_without_a_script() {
    let page = page(&[
        record("x/a.fut", "c", Outcome::Fail),
        record("x/a.fut", "opencl", Outcome::Fail),
        record("b.fut", "c", Outcome::ExpectedFail),
    ]);
    assert_eq!(page.matches("<details class=\"group\"").count(), 1);
    assert!(
        page.contains("<pre class=\"message\">first line\nsecond line</pre>"),
        "{page}"
    );
    assert!(page.contains("--futhark /x/futhark-1 --check"), "{page}");
    assert!(
        page.contains("2 failures in 1 program (x/a.fut) on c 1, opencl 1"),
        "{page}"
    );
    assert!(page.contains("1 other failure"), "{page}");
    assert!(page.contains("Failed as expected, by reason (1)"), "{page}");
}

#[test]
fn the_table_has_every_program_and_equal_cells_once() {
    let page = page(&[
        record("x/a.fut", "c", Outcome::Pass),
        record("x/b.fut", "c", Outcome::Pass),
        record("x/b.fut", "opencl", Outcome::Fail),
    ]);
    let data = data(&page);
    assert_eq!(data["programs"][0], serde_json::json!(["x/a.fut", [0, -1]]));
    assert_eq!(data["programs"][1], serde_json::json!(["x/b.fut", [0, 1]]));
    let tallies = serde_json::json!([[0, 1, 0, 0, 0, -1], [0, 0, 1, 0, 0, -1]]);
    assert_eq!(data["tallies"], tallies);
    assert_eq!(data["cells"], serde_json::json!([[0], [1]]));
    assert_eq!(data["groups"][0]["places"], serde_json::json!([[1, 1]]));
}

#[test]
fn texts_of_programs_are_escaped() {
    let mut evil = record("<script>.fut", "c", Outcome::Fail);
    evil.finding.message = "</pre><script>alert(1)</script>".into();
    evil.finding.case = "\"><img>".into();
    let mut skipped = record("<b>.fut", "c", Outcome::Skip);
    skipped.finding.message = "<i>why</script><!--".into();
    let page = page(&[evil, skipped]);
    assert_eq!(page.matches("<script").count(), 2, "{page}");
    assert_eq!(page.matches("</script>").count(), 2, "{page}");
    for tag in ["<img", "<i>", "<b>.fut", "<!--"] {
        assert!(!page.contains(tag), "{tag}: {page}");
    }
    assert!(page.contains("&#60;/pre&#62;&#60;script&#62;alert(1)"));
    assert_eq!(data(&page)["reasons"][0], "<i>why</script><!--");
}

#[test]
fn the_page_of_a_large_corpus_is_small() {
    let mut matrix = Matrix::default();
    let mut records = Vec::new();
    for number in 0..2000 {
        for backend in ["c", "multicore", "opencl"] {
            for check in ["compile", "blocks", "leaks", "store"] {
                let name = format!("programs/folder-{}/program-{number}.fut", number % 50);
                let mut one = record(&name, backend, Outcome::Pass);
                one.finding.check = check.into();
                one.finding.message.clear();
                records.push(one);
            }
        }
        if number == 0 {
            matrix = Matrix::of(&records);
        }
        records.drain(..).for_each(|record| matrix.add(&record));
    }
    let size = page_of(&matrix).len();
    assert!(size < 200_000, "{size}");
}
