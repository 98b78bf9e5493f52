//! The report as Markdown, for the page of a CI job: `templates/report.md`. GitHub shows at most 1 MiB.

use super::counted;
use super::groups::start;
use super::summary::Summary;
use askama::Template;

/// The number of causes.
const CAUSES: usize = 30;
/// The number of rows of a list.
const ROWS: usize = 50;
/// The number of characters of a message.
const MESSAGE: usize = 4000;

/// A table of backends, the failures by cause with new ones first, and reasons for expected failures
/// and skips.
#[derive(Template)]
#[template(path = "report.md")]
pub(super) struct Page<'s, 'r> {
    pub(super) summary: &'s Summary<'r>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{Outcome, Record};
    use crate::report::tests::{compared, record};
    use std::sync::Arc;

    fn summary(records: &[(Record, bool)]) -> String {
        let report = compared(records);
        let summary = &Summary::of(&report);
        Page { summary }.to_string()
    }

    #[test]
    fn new_failures_come_first() {
        let mut old = record("a.fut", "c", Outcome::Fail);
        old.finding.message = "old cause".into();
        let mut new = record("b.fut", "opencl", Outcome::Fail);
        new.finding.message = "new cause".into();
        let text = summary(&[(old.clone(), false), (old, false), (new, true)]);
        assert!(
            text.contains("| c | cpu | 1 | 0 | **2** ❌ | 0 | 0 | 0.0 s |"),
            "{text}"
        );
        let places = ["<b>1 new</b>", "old cause"].map(|words| text.find(words).unwrap());
        assert!(places[0] < places[1], "{text}");
        assert!(
            text.contains("--check &#39;blocks:main #0&#39;</pre>"),
            "{text}"
        );
    }

    #[test]
    fn texts_are_not_interpreted() {
        let mut evil = record("a|b.fut", "c", Outcome::Fail);
        evil.finding.message = "</pre><img src=x> `a` *b*\n\n\n# c\n::error::x".into();
        Arc::make_mut(&mut evil.place).compiler = "1|2 *x*".into();
        let text = summary(&[(evil, false)]);
        assert!(
            !text.contains("</pre><img") && !text.contains("<img"),
            "{text}"
        );
        assert!(text.contains("| 1&#124;2 &#42;x&#42; |"), "{text}");
        assert!(text.contains("&#96;a&#96; &#42;b&#42;</summary>"), "{text}");
    }

    #[test]
    fn the_summary_stays_below_the_limit_of_github() {
        let records: Vec<_> = (0..1000)
            .map(|number| {
                let mut one = record(&format!("{number}.fut"), "c", Outcome::Fail);
                one.finding.message = format!("1 {}", "<é>".repeat(3000));
                (one, false)
            })
            .collect();
        let text = summary(&records);
        assert!(text.len() < 1 << 20, "{}", text.len());
        assert!(text.contains("more causes: see the HTML report."));
    }
}
