//! Links between pages, and to files of the repository, lead somewhere. `ci/site` checks links to documentation.

use std::path::Path;

#[test]
fn links_lead_to_files_and_headings() {
    let pages = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../guide/src");
    for page in std::fs::read_dir(&pages).unwrap() {
        let page = page.unwrap().path();
        let text = std::fs::read_to_string(&page).unwrap();
        for link in text.split("](").skip(1) {
            let (link, _) = link.split_once(')').unwrap();
            if link.starts_with("https:") || link.starts_with("../api/") {
                continue;
            }
            let (file, heading) = link.split_once('#').unwrap_or((link, ""));
            let file = match file {
                "" => page.clone(),
                file => pages.join(file),
            };
            assert!(file.exists(), "{page:?}: {link}");
            if !heading.is_empty() {
                let target = std::fs::read_to_string(file).unwrap();
                assert!(has_heading(&target, heading), "{page:?}: {link}");
            }
        }
    }
}

/// Whether a heading has this identifier, which mdBook and code hosts make of its text.
fn has_heading(text: &str, identifier: &str) -> bool {
    let mut headings = text.lines().filter(|line| line.starts_with('#'));
    headings.any(|heading| {
        let heading = heading.trim_matches(['#', ' ']).to_lowercase();
        let kept = |c: &char| c.is_alphanumeric() || "-_ ".contains(*c);
        let found: String = heading.chars().filter(kept).collect();
        found.replace(' ', "-") == identifier
    })
}
