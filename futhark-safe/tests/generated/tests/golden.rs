//! Compares generated modules with committed ones, one per feature, each next to its manifest.
//! `FUTHARK_BLESS=1` writes them.

use std::path::PathBuf;

use futhark_safe_generated_tests::MODULES;

fn golden() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../golden")
}

#[test]
fn generated_code_equals_the_golden_files() {
    let bless = std::env::var_os("FUTHARK_BLESS").is_some();
    let mut seen = 0;
    for module in MODULES {
        let Some(name) = module.name.strip_prefix("golden_") else {
            continue;
        };
        seen += 1;
        let path = golden().join(format!("{name}.rs"));
        if bless {
            std::fs::write(&path, module.text).unwrap();
        }
        let committed = std::fs::read_to_string(&path).unwrap_or_default();
        let differs = committed
            .lines()
            .zip(module.text.lines())
            .position(|(a, b)| a != b);
        assert!(
            committed == module.text,
            "{} differs from the generated module, first in line {:?}; FUTHARK_BLESS=1 writes it",
            path.display(),
            differs.map(|line| line + 1)
        );
    }
    assert_eq!(seen, 14);
}

#[test]
fn every_golden_file_has_its_manifest() {
    for entry in std::fs::read_dir(golden()).unwrap() {
        let path = entry.unwrap().path();
        assert!(path.with_extension("json").exists(), "{}", path.display());
    }
}
