//! Writes the typed module of every manifest, without tables.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// A folder of further manifests, for example of compilers that cannot be installed.
const EXTRA: &str = "FUTHARK_EXTRA_MANIFESTS";

/// The folders of manifests, each with the prefix of its modules' names.
fn sources() -> Vec<(&'static str, PathBuf)> {
    let mut sources = vec![
        ("golden", "../golden".into()),
        ("fixture", "../../../futhark-manifest/tests/fixtures".into()),
    ];
    println!("cargo::rerun-if-env-changed={EXTRA}");
    if let Some(folder) = std::env::var_os(EXTRA).map(PathBuf::from) {
        sources.push(("extra", folder));
    }
    sources
}

fn main() {
    let out = PathBuf::from(std::env::var_os("OUT_DIR").expect("Cargo sets it"));
    let mut modules = String::new();
    let mut list = String::new();
    for (kind, folder) in sources() {
        println!("cargo::rerun-if-changed={}", folder.display());
        let manifests = manifests(&folder);
        assert!(
            !manifests.is_empty(),
            "{} has no manifests",
            folder.display()
        );
        for path in manifests {
            let name = module_name(kind, &folder, &path);
            let text = std::fs::read_to_string(&path).expect("a manifest is text");
            let [module, page] =
                futhark_safe::build::__module(&name, &text, name.ends_with("_serde"))
                    .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            let file = out.join(format!("{name}.rs"));
            std::fs::write(&file, module).expect("OUT_DIR can be written");
            std::fs::write(out.join(format!("{name}.md")), page).expect("OUT_DIR can be written");
            if let Some(name) = name.strip_prefix("golden_") {
                // For the tests in `refused`, whose crates have no OUT_DIR.
                let _ = writeln!(
                    modules,
                    "/// Declares the module.\n\
                     #[macro_export]\n\
                     macro_rules! declare_{name} {{\n\
                         () => {{ #[allow(unused)] mod {name} {{ use futhark_safe as __futhark_safe; include!({file:?}); }} }}\n\
                     }}"
                );
            }
            let _ = writeln!(modules, "futhark_safe::include_program!(pub {name});");
            let _ = writeln!(
                list,
                "    Module {{ name: {name:?}, tables: tables::<{name}::Program>, \
                 text: include_str!(concat!(env!(\"OUT_DIR\"), \"/{name}.rs\")) }},"
            );
        }
    }
    let _ = writeln!(
        modules,
        "/// All modules.\npub const MODULES: &[Module] = &[\n{list}];"
    );
    std::fs::write(out.join("modules.rs"), modules).expect("OUT_DIR can be written");

    let many = futhark_safe::build::__module("many", &many(2000), false);
    let [module, page] = many.expect("it is a manifest");
    std::fs::write(out.join("many.rs"), module).expect("OUT_DIR can be written");
    std::fs::write(out.join("many.md"), page).expect("OUT_DIR can be written");
}

/// A manifest with many entry points, called `e00000` and so on.
fn many(n: usize) -> String {
    let entry = |i: usize| {
        format!(
            r#""e{i:05}": {{"cfun": "futhark_entry_e{i:05}", "tuning_params": [],
                "inputs": [{{"name": "x", "type": "i32", "unique": false}}],
                "outputs": [{{"type": "i32", "unique": false}}]}}"#
        )
    };
    let entries: Vec<String> = (0..n).map(entry).collect();
    format!(
        r#"{{"backend": "c", "version": "0.25.32", "types": {{}}, "entry_points": {{{}}}}}"#,
        entries.join(",\n")
    )
}

/// The JSON files in a folder and the folders in it, in order.
fn manifests(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).into_iter().flatten() {
        let path = entry.expect("the folder can be read").path();
        if path.is_dir() {
            found.extend(manifests(&path));
        } else if path
            .extension()
            .is_some_and(|extension| extension == "json")
        {
            println!("cargo::rerun-if-changed={}", path.display());
            found.push(path);
        }
    }
    found.sort();
    found
}

/// The kind and the path, as an identifier.
fn module_name(kind: &str, folder: &Path, path: &Path) -> String {
    let path = path.strip_prefix(folder).expect("it was found there");
    let path = path.with_extension("");
    let path = path.to_str().expect("names of manifests are ASCII");
    let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
    format!("{kind}_{}", path.chars().map(plain).collect::<String>())
}
