//! Compiles the Futhark programs of the guide, blocks whose first line is the name of their file, and writes a module for each
//! page, whose documentation is the page.

use std::path::{Path, PathBuf};

use futhark_safe::{Backend, Error, build::Program};

fn main() -> Result<(), Error> {
    let out = PathBuf::from(std::env::var_os("OUT_DIR").expect("Cargo sets it"));
    let pages = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../guide/src");
    println!("cargo::rerun-if-changed={}", pages.display());
    let mut modules = String::new();
    for page in std::fs::read_dir(pages).expect("the folder of the pages") {
        let path = page.expect("a page").path();
        let name = path.file_stem().expect("a name").to_string_lossy();
        let name = name.to_lowercase().replace('-', "_");
        modules += &format!("#[doc = include_str!({path:?})]\nmod {name}_page {{}}\n");
        let page = std::fs::read_to_string(path).expect("a page");
        for block in page.split("\n```futhark\n").skip(1) {
            let name = block
                .lines()
                .next()
                .and_then(|line| line.strip_prefix("-- "));
            let file = out.join(name.expect("a block of Futhark begins with `-- NAME.fut`"));
            let (program, _) = block.split_once("```").expect("the end of the block");
            std::fs::write(&file, program).expect("the program is written");
            let backends = [Backend::Multicore, Backend::C];
            Program::new(file)
                .backends(backends)
                .flag("-O0")
                .compile()?;
        }
    }
    std::fs::write(out.join("pages.rs"), modules).expect("the modules are written");
    Ok(())
}
