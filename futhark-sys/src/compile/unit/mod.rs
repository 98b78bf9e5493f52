//! Writes our C file for one program and backend, which is compiled instead of `name.c`.
//!
//! The file consists of, in order: the system headers that the generated text includes; macros that
//! rename the functions of a raw module; our hooks (macros); on GPU backends the pointers to driver
//! functions; `name.h` and `name.c`, in a hardened unit with checked sizes (`sizes`, `bounds`,
//! `concat`); a wrapper for each function of the manifest; the table. The fixed parts are headers in
//! `c/`, which are copied to the folder of the file; the parts that depend on the program are
//! written here.

mod bounds;
mod concat;
mod driver;
mod elements;
mod fills;
mod given;
mod opaque;
mod operations;
mod runtime;
mod shapes;
mod sizes;
mod state;
mod table;
mod unused;
mod wrappers;

use std::fmt::Write as _;

use futhark_manifest::{Backend, ElemType, Program, TypeRef};

use super::error::Error;
use super::generated::Generated;
use super::generated::lines::Line;
use super::plain;
use crate::table as number;

/// The file with the generated C as [`checked_c`] changes it.
pub(super) const CHECKED: &str = "fut_checked.c";

/// The generated C with checked sizes. A hardened unit includes it. `fast` leaves out unused functions.
///
/// # Errors
///
/// [`ErrorKind::Layout`](super::ErrorKind::Layout): a size is computed or passed on in an unknown form.
pub(super) fn checked_c(
    lines: &[Line<'_>],
    program: &Program,
    fast: bool,
) -> Result<String, Error> {
    let text = sizes::checked(lines, program.backend, &program.version)?;
    Ok(match fast {
        true => unused::inline_functions(&text),
        false => text,
    })
}

/// The file with the kernels of ISPC as [`checked_kernels`] changes them.
pub(super) const CHECKED_KERNELS: &str = "fut_checked.ispc";

/// The kernels of ISPC, which pass numbers of iterations to C. Their prototypes have 32 bits, and the definitions
/// in C have 64.
pub(super) fn checked_kernels(text: &str) -> String {
    text.replace(", uniform int iterations);", ", uniform int64 iterations);")
}

/// The inputs of a unit.
pub(super) struct Unit<'a> {
    pub program: &'a Program,
    /// The file name, without extension, of the generated code.
    pub name: &'a str,
    pub generated: &'a Generated<'a>,
    pub manifest_text: &'a str,
    /// Identifies source, compiler and layout.
    pub program_id: &'a str,
    pub hardened: bool,
    /// The name of the table.
    pub symbol: &'a str,
    /// The functions that a raw module offers.
    pub plain: &'a [&'a str],
}

macro_rules! fixed_files {
    ($($name:literal)*) => {
        &[$(($name, include_str!(concat!("../../../c/", $name)))),*]
    };
}

/// The name and text of the fixed files that a unit includes.
pub(super) const FIXED_FILES: &[(&str, &str)] = fixed_files! {
    "futhark_table.h" "fut_settings.def" "fut_prelude.h" "fut_guard.h" "fut_memory.h" "fut_failing.h" "fut_workers.h"
    "fut_sizes.h" "fut_load.h" "fut_device.h" "fut_routes.h" "fut_config.h" "fut_calls.h" "fut_elements.h"
    "fut_shapes.h" "fut_wrappers.h" "fut_ispc.h" "override/assert.h"
};

/// Required headers of GPU backends.
const DRIVER_HEADERS: [&str; 6] = [
    "CL/cl.h",
    "cuda.h",
    "cuda_runtime.h",
    "nvrtc.h",
    "hip/hip_runtime.h",
    "hip/hiprtc.h",
];

/// Headers in the generated text that are for device code or for other systems.
const NOT_OURS: [&str; 3] = ["cuda_fp16.h", "windows.h", "assert.h"];

impl Unit<'_> {
    /// The text of the C file.
    pub(super) fn write(&self) -> String {
        let backend = self.program.backend;
        let mut c = String::new();
        let _ = writeln!(c, "#define _GNU_SOURCE");
        let _ = writeln!(c, "#define FUT_BACKEND_{backend} 1");
        let _ = writeln!(
            c,
            "#define FUT_MULTICORE {}",
            u8::from(backend.has_threads())
        );
        let _ = writeln!(c, "#define FUT_GPU_BACKEND {}", u8::from(backend.is_gpu()));
        let has_current = matches!(backend, Backend::Cuda | Backend::Hip);
        let _ = writeln!(c, "#define FUT_HAS_CURRENT {}", u8::from(has_current));
        let _ = writeln!(c, "#define FUT_IS_HARDENED {}", u8::from(self.hardened));
        let direct = !self.plain.is_empty();
        let _ = writeln!(c, "#define FUT_DIRECT_CALLS {}", u8::from(direct));
        self.write_setters(&mut c);
        self.write_headers(&mut c);
        let given = given::functions(self);
        for name in self.plain.iter().filter(|name| !given.contains_key(*name)) {
            let _ = writeln!(c, "#define {name} {}", plain::symbol(self.symbol, name));
        }
        c.push_str("#include \"fut_prelude.h\"\n");
        if backend.is_gpu() {
            driver::write(&self.generated.calls, &mut c);
        }
        c.push_str("#include \"fut_device.h\"\nFUT_END_OURS\n");
        let name = self.name;
        // The definition of a function has the options of its prototype: these functions check, copy and allocate
        // for functions with the program's own loops.
        let _ = writeln!(c, "FUT_BEGIN_OURS\n#include \"{name}.h\"\nFUT_END_OURS");
        if self.hardened {
            let _ = writeln!(c, "#include \"{CHECKED}\"");
        } else {
            let _ = writeln!(c, "#include \"{name}.c\"");
        }
        c.push_str("FUT_BEGIN_OURS\n#include \"fut_routes.h\"\n");
        if backend.is_gpu() {
            state::write(&self.generated.fills, &mut c);
            let copies = self.generated.calls.contains("gpu_memcpy");
            let _ = writeln!(c, "#define FUT_HAS_GPU_MEMCPY {}", u8::from(copies));
        }
        c.push_str(
            "#include \"fut_config.h\"\n#include \"fut_calls.h\"\n#include \"fut_elements.h\"\n#include \"fut_shapes.h\"\n\
             #include \"fut_wrappers.h\"\n",
        );
        shapes::write(self, &mut c);
        wrappers::write(self, &mut c);
        opaque::write(self, &mut c);
        table::write(self, &mut c);
        given::write(self, &given, &mut c);
        if backend == Backend::Ispc {
            c.push_str("#include \"fut_ispc.h\"\n");
        }
        c.push_str("FUT_END_OURS\n");
        c
    }

    /// The settings of this version of the runtime: `FUT_HAS_<function>`.
    fn write_setters(&self, c: &mut String) {
        const PREFIX: &str = "futhark_context_config_";
        for function in &self.generated.declared {
            if let Some(name) = function.strip_prefix(PREFIX) {
                let _ = writeln!(c, "#define FUT_HAS_{name} 1");
            }
        }
    }

    /// The system headers that the generated text includes, with the macros that configure them.
    /// They precede the hooks, so that those apply only to generated code.
    fn write_headers(&self, c: &mut String) {
        let mut seen = Vec::new();
        for line in self.generated.directives.iter().map(|line| line.trim_end()) {
            let steers =
                line.starts_with("#define CL_") || line.starts_with("#define __HIP_PLATFORM");
            let header = line
                .strip_prefix("#include <")
                .and_then(|rest| rest.split('>').next())
                .filter(|header| !NOT_OURS.contains(header));
            if !(steers || header.is_some()) || seen.contains(&line) {
                continue;
            }
            seen.push(line);
            let _ = match header {
                // A missing driver header is an error of the C compiler that names it.
                Some(header) if DRIVER_HEADERS.contains(&header) => {
                    writeln!(c, "#include <{header}>")
                }
                Some(header) => writeln!(
                    c,
                    "#if __has_include(<{header}>)\n#include <{header}>\n#endif"
                ),
                None => writeln!(c, "{line}"),
            };
        }
    }

    /// The C type of a variable for a value of type `ty`.
    fn c_type(&self, ty: TypeRef) -> String {
        match ty {
            TypeRef::Scalar(elem) => elem.c_type().to_owned(),
            TypeRef::Type(id) => format!("struct {} *", self.program.get(id).c_ident()),
        }
    }
}

/// The number of a type in the table.
fn type_number(ty: TypeRef) -> usize {
    match ty {
        TypeRef::Scalar(elem) => elem_number(elem) as usize,
        TypeRef::Type(id) => number::FUT_FIRST_TYPE as usize + id.index(),
    }
}

fn elem_number(elem: ElemType) -> u32 {
    match elem {
        ElemType::I8 => number::FUT_I8,
        ElemType::I16 => number::FUT_I16,
        ElemType::I32 => number::FUT_I32,
        ElemType::I64 => number::FUT_I64,
        ElemType::U8 => number::FUT_U8,
        ElemType::U16 => number::FUT_U16,
        ElemType::U32 => number::FUT_U32,
        ElemType::U64 => number::FUT_U64,
        ElemType::F16 => number::FUT_F16,
        ElemType::F32 => number::FUT_F32,
        ElemType::F64 => number::FUT_F64,
        ElemType::Bool => number::FUT_BOOL,
    }
}

/// Writes a C string literal, split into pieces, with all special characters escaped.
fn write_text(text: &str, c: &mut String) {
    c.push_str("    \"");
    for (i, byte) in text.bytes().enumerate() {
        if i > 0 && i % 100 == 0 {
            c.push_str("\"\n    \"");
        }
        match byte {
            b'"' | b'\\' => {
                c.push('\\');
                c.push(byte as char);
            }
            // An octal escape of three digits ends there; `?` could form a trigraph.
            b' '..=b'~' if byte != b'?' => c.push(byte as char),
            _ => {
                let _ = write!(c, "\\{byte:03o}");
            }
        }
    }
    c.push('"');
}
