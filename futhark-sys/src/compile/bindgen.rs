//! The header of a program in Rust, by bindgen, over the symbols of a raw build.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

use bindgen::callbacks::{ItemInfo, ItemKind, ParseCallbacks};

use super::build::Artifact;
use super::cc::CCompiler;
use super::error::{Error, ErrorKind};
use super::generated::Source;
use super::plain;
use super::toolchain::Toolchain;

/// The declarations of what a raw module offers.
pub(super) fn bindings(artifact: &Artifact) -> Result<String, Error> {
    let header = artifact.header();
    let h_text = std::fs::read_to_string(&header)
        .map_err(|error| Error::io("read", header.clone(), error))?;
    let mut builder = bindgen::Builder::default()
        .header(header.to_string_lossy())
        .allowlist_recursively(true)
        .allowlist_type("futhark_.*")
        .blocklist_type("futhark_context_config")
        .blocklist_type("_IO_FILE|FILE|__sFILE")
        .raw_line("/// That of `stdio.h`, whichever crate declares it.")
        .raw_line("pub type FILE = ::core::ffi::c_void;")
        .merge_extern_blocks(true)
        .allowlist_var("FUTHARK_(SUCCESS|PROGRAM_ERROR|OUT_OF_MEMORY)")
        .default_macro_constant_type(bindgen::MacroTypeVariation::Signed)
        .parse_callbacks(Box::new(Symbols {
            table: artifact.symbol().to_owned(),
        }))
        .use_core()
        .rust_target(bindgen::RustTarget::stable(88, 0).expect("a version that bindgen knows"))
        .derive_debug(false)
        .generate_comments(false)
        .disable_header_comment();
    for name in plain::functions(&Source::read(&h_text).prototypes) {
        builder = builder.allowlist_function(name);
    }
    for folder in Toolchain::from_env().include_folders(artifact.program().backend) {
        builder = builder.clang_arg(format!("-isystem{}", folder.display()));
    }
    // Last: libclang without the clang program lacks stddef.h and its kin.
    if let Some(folder) = CCompiler::find(&Toolchain::from_env())?.own_headers() {
        builder = builder.clang_args(["-idirafter".to_owned(), folder]);
    }
    // bindgen panics if there is no libclang.
    match catch_unwind(AssertUnwindSafe(|| builder.generate())) {
        Ok(Ok(bindings)) => Ok(bindings.to_string()),
        Ok(Err(error)) => Err(Error::new(
            ErrorKind::Bindings,
            format!(
                "no raw module can be made of {}; bindgen says:\n{error}",
                header.display()
            ),
        )),
        Err(panic) => Err(no_libclang(&text_of(&*panic))),
    }
}

/// Gives each function its symbol; its name in Rust stays that of the header.
#[derive(Debug)]
struct Symbols {
    table: String,
}

impl ParseCallbacks for Symbols {
    fn generated_link_name_override(&self, item: ItemInfo<'_>) -> Option<String> {
        let is_function = matches!(item.kind, ItemKind::Function);
        // bindgen takes the name as the object file has it.
        let underscore = if cfg!(target_vendor = "apple") {
            "_"
        } else {
            ""
        };
        is_function.then(|| format!("{underscore}{}", plain::symbol(&self.table, item.name)))
    }
}

fn text_of(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied())
        .unwrap_or("it does not say why")
        .to_owned()
}

fn no_libclang(why: &str) -> Error {
    Error::new(
        ErrorKind::Bindings,
        format!(
            "a raw module is made by bindgen, which failed: {why}\n\
             It needs libclang: install it (Debian: apt-get install libclang-dev; macOS: xcode-select --install), \
             name its folder in the variable LIBCLANG_PATH, or, after ci/setup, take what \
             .toolchain/env.sh sets. Without `raw` it is not needed."
        ),
    )
}
