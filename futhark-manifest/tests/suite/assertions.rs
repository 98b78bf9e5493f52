//! The C file of assertions: a C compiler accepts it with the header of the manifest, and with no other.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::common::{faultless, files_below, fixture, fixtures, read};
use crate::toolchain::{compilers, generate};
use futhark_manifest::{Backend, Program};

/// A header as a compiler would write it, without the library's functions.
fn header_of(program: &Program) -> String {
    let mut text = format!(
        "#include <stdbool.h>\n#include <stddef.h>\n#include <stdint.h>\n#include <stdio.h>\n\
         typedef struct _mem *cl_mem; typedef unsigned long long CUdeviceptr; typedef void *hipDeviceptr_t;\n\
         #define FUTHARK_BACKEND_{}\n",
        program.backend
    );
    text += "struct futhark_context;\n";
    for ty in program.types() {
        text += &format!("{};\n", ty.c_struct());
    }
    for prototype in program.prototypes() {
        text += &format!("{prototype}\n");
    }
    text
}

/// The assertions about the functions of the manifest: those of the library follow them.
fn assertions_of(program: &Program, header: &str) -> String {
    let text = program.assertions(header);
    let end = text.find("FUTHARK_ASSERT(futhark_context_config_new");
    text[..end.unwrap_or(text.len())].to_owned()
}

/// The errors of the C compiler; `None` if there is none, with a message.
fn errors(folder: &Path, text: &str, include: &[&Path]) -> Option<String> {
    let file = folder.join("assertions.c");
    std::fs::write(&file, text).expect("a writable folder");
    let mut cc = Command::new("cc");
    cc.args(["-std=c11", "-fsyntax-only", "-w", "-D__HIP_PLATFORM_AMD__"]);
    for folder in include {
        cc.arg("-isystem").arg(folder);
    }
    let output = cc.arg(&file).stdin(Stdio::null()).output();
    let Ok(output) = output else {
        println!("skipped: no C compiler");
        return None;
    };
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.success(), said.is_empty(), "{said}");
    Some(said)
}

/// A folder for one test, with a header.
fn folder(name: &str, header: &str) -> std::path::PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"))
        .join("assertions")
        .join(name);
    std::fs::create_dir_all(&folder).expect("a writable folder");
    std::fs::write(folder.join("prog.h"), header).expect("a writable folder");
    folder
}

#[test]
fn prototypes_of_all_eras_agree_with_the_assertions() {
    for file in files_below(&fixtures(), "json") {
        let program = faultless(&read(&file), file.display());
        let folder = folder("eras", &header_of(&program));
        let Some(errors) = errors(&folder, &assertions_of(&program, "prog.h"), &[]) else {
            return;
        };
        assert_eq!(errors, "", "{}", file.display());
    }
}

/// Damages of a header, each after what the compiler says about it.
const DAMAGES: &str = "\
futhark_free_i32_1d: int futhark_free_i32_1d(struct futhark_context *ctx, struct futhark_i32_1d *arr); => //
futhark_new_i32_1d: const int32_t *data, int64_t dim0); => const uint32_t *data, int64_t dim0);
futhark_new_i32_1d: const int32_t *data, int64_t dim0); => int32_t *data, int64_t dim0);
futhark_new_i32_1d: const int32_t *data, int64_t dim0); => const int32_t *data);
futhark_new_opaque_minmax: struct futhark_opaque_minmax **out, const int32_t f_0, const int32_t f_1 => struct futhark_opaque_minmax **out, const int32_t f_0
futhark_new_opaque_minmax: struct futhark_opaque_minmax **out, const int32_t f_0, const int32_t f_1 => const int32_t f_0, struct futhark_opaque_minmax **out, const int32_t f_1
futhark_new_opaque_minmax: struct futhark_opaque_minmax **out, const int32_t f_0 => struct futhark_opaque_minmax *out, const int32_t f_0
futhark_new_opaque_minmax: struct futhark_opaque_minmax **out, const int32_t f_0 => struct futhark_opaque_minmax **out, const int16_t f_0
futhark_index_i32_2d: int64_t i0, int64_t i1); => int64_t i0, int64_t i1, int64_t i2);
futhark_new_i32_2d: int64_t dim0, int64_t dim1); => int dim0, int64_t dim1);
futhark_shape_bool_1d: const int64_t *futhark_shape_bool_1d => int64_t *futhark_shape_bool_1d
futhark_variant_opaque_state: int futhark_variant_opaque_state => void futhark_variant_opaque_state
futhark_values_raw_bool_1d: unsigned char *futhark_values_raw_bool_1d => cl_mem futhark_values_raw_bool_1d
futhark_values_bool_1d: bool *data); => uint8_t *data);
futhark_store_opaque_: void **p, size_t *n => void **p, int *n
not for backend c: #define FUTHARK_BACKEND_c => #define FUTHARK_BACKEND_opencl
";

#[test]
fn damaged_headers_do_not_compile() {
    let program = faultless(&fixture("0.25.36"), "0.25.36");
    let whole = header_of(&program);
    for line in DAMAGES.lines() {
        let (name, change) = line.split_once(": ").expect("a name");
        let (text, damage) = change.split_once(" => ").expect("a damage");
        assert!(whole.contains(text), "{text}: not in the header");
        let folder = folder("damages", &whole.replacen(text, damage, 1));
        let Some(errors) = errors(&folder, &assertions_of(&program, "prog.h"), &[]) else {
            return;
        };
        // gcc reports the missing function and the assertion.
        let count = errors.matches(" error: ").count();
        assert!(
            errors.contains(name) && count <= 2,
            "{text} -> {damage}: {errors}"
        );
    }
}

/// All assertions, those about the library included, hold in headers of compilers.
#[test]
fn headers_of_all_backends_agree_with_the_assertions() {
    let source = fixtures().join("everything.fut");
    let root = std::env::var_os("FUTHARK_TOOLCHAIN").unwrap_or_default();
    let include = ["opencl", "cuda", "hip"].map(|name| Path::new(&root).join(name).join("include"));
    let include = include.each_ref().map(|folder| folder.as_path());
    for compiler in compilers() {
        for &backend in Backend::ALL {
            let what = format!("{} {backend}", compiler.display());
            let manifest = match generate(&compiler, backend, &source) {
                Ok(manifest) => manifest,
                // The code generator for ispc runs the ISPC compiler, which is often missing.
                Err(text) if backend == Backend::Ispc => {
                    println!("skipped: {what}: {text}");
                    continue;
                }
                Err(text) => panic!("{what}: {text}"),
            };
            let program = faultless(&read(&manifest), &what);
            let header = manifest.with_extension("h");
            let name = header
                .file_name()
                .and_then(|name| name.to_str())
                .expect("UTF-8");
            let folder = manifest.parent().expect("a folder");
            let Some(errors) = errors(folder, &program.assertions(name), &include) else {
                return;
            };
            if backend.is_gpu() && errors.contains("No such file") {
                println!("skipped: {what}: no headers of its driver");
                continue;
            }
            assert_eq!(errors, "", "{what}");
            // The prototypes equal those of the header to the last character.
            let text = read(&header);
            for prototype in program.prototypes() {
                let line = prototype.to_string();
                assert!(text.lines().any(|own| own == line), "{what}: no {line}");
            }
        }
    }
}
