//! Generates Rust declarations from a program's header by bindgen, with the symbols of a raw build.

use std::panic::{AssertUnwindSafe, catch_unwind};

use bindgen::callbacks::{ItemInfo, ItemKind, ParseCallbacks};

use super::artifact::Artifact;
use super::driver::CCompiler;
use super::error::{Error, ErrorKind};
use super::generated::Source;
use super::paths::read;
use super::toolchain::Toolchain;
use super::unit::{raw, symbols::symbol};

impl Artifact {
    /// Generates Rust declarations of the functions and types in the program's header by bindgen,
    /// for a [`Build::raw`](super::Build::raw) build. The functions that create and free contexts, and arrays on
    /// borrowed memory, are omitted; the table has them.
    ///
    /// # Errors
    /// [`ErrorKind::Bindings`]: libclang is missing, or rejects the header. [`ErrorKind::Io`]: the
    /// header cannot be read. [`ErrorKind::NoCCompiler`].
    pub fn bindings(&self) -> Result<String, Error> {
        let header = self.header();
        let h_text = read(&header)?;
        let mut builder = bindgen::Builder::default()
            .header(header.to_string_lossy())
            .allowlist_recursively(true)
            .allowlist_type("futhark_.*")
            .blocklist_type("futhark_context_config")
            .blocklist_type("_IO_FILE|FILE|__sFILE")
            .raw_line("/// The `FILE` of `stdio.h`.")
            .raw_line("pub type FILE = ::core::ffi::c_void;")
            .merge_extern_blocks(true)
            .allowlist_var("FUTHARK_(SUCCESS|PROGRAM_ERROR|OUT_OF_MEMORY)")
            .default_macro_constant_type(bindgen::MacroTypeVariation::Signed)
            .parse_callbacks(Box::new(Symbols {
                table: self.symbol().to_owned(),
            }))
            .use_core()
            .rust_target(bindgen::RustTarget::stable(88, 0).expect("a version that bindgen knows"))
            .derive_debug(false)
            .generate_comments(false)
            .disable_header_comment();
        for name in raw::functions(&Source::read(&h_text).prototypes) {
            builder = builder.allowlist_function(name);
        }
        for folder in Toolchain::include_folders(self.program().backend) {
            builder = builder.clang_arg(format!("-isystem{}", folder.display()));
        }
        // Last: libclang without clang lacks stddef.h and similar headers.
        if let Some(folder) = CCompiler::find(None, None)?.own_headers() {
            builder = builder.clang_args(["-idirafter".to_owned(), folder]);
        }
        // bindgen panics if libclang is missing.
        match catch_unwind(AssertUnwindSafe(|| builder.generate())) {
            Ok(Ok(bindings)) => Ok(bindings.to_string()),
            Ok(Err(error)) => Err(Error::new(
                ErrorKind::Bindings,
                format!(
                    "cannot generate a raw module from {}; output of bindgen:\n{error}",
                    header.display()
                ),
            )),
            Err(panic) => {
                let why = panic.downcast_ref::<String>();
                Err(no_libclang(why.map_or("unknown reason", String::as_str)))
            }
        }
    }
}

/// Maps each function to its symbol. Its name in Rust is the one in the header.
#[derive(Debug)]
struct Symbols {
    table: String,
}

impl ParseCallbacks for Symbols {
    fn generated_link_name_override(&self, item: ItemInfo<'_>) -> Option<String> {
        let is_function = matches!(item.kind, ItemKind::Function);
        // bindgen expects the name in the object file.
        let underscore = if cfg!(target_vendor = "apple") {
            "_"
        } else {
            ""
        };
        is_function.then(|| format!("{underscore}{}", symbol(&self.table, item.name)))
    }
}

fn no_libclang(why: &str) -> Error {
    Error::new(
        ErrorKind::Bindings,
        format!(
            "bindgen failed to generate a raw module: {why}\n\
             It needs libclang: install it (Debian: apt-get install libclang-dev; macOS: xcode-select --install), \
             set LIBCLANG_PATH to its folder, or, after ci/setup, source .toolchain/env.sh. \
             Builds without `raw` do not need it"
        ),
    )
}
