//! The components of opaque values, read out of the generated C.
//!
//! A manifest does not say how a sum or an abstract type lies in memory, but the
//! generated C does, in one fixed form:
//!
//! ```c
//! struct futhark_opaque_shape {
//!     int8_t v0;
//!     struct futhark_f64_1d *v1;
//! };
//! ```
//!
//! Anything else is refused. What is read here is asserted again in our C file,
//! where the C compiler checks it.

use futhark_manifest::{ElemType, Program, TypeId};

use super::error::{Error, ErrorKind};
use super::hash::Hash;

/// One component: the field's name is `v` and its index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Component {
    Scalar(ElemType),
    Array(TypeId),
}

/// The components of the opaque type whose C struct is `ident`.
pub(super) fn components(
    c_text: &str,
    program: &Program,
    ident: &str,
) -> Result<Vec<Component>, Error> {
    let fail = |why: String| {
        let message = format!(
            "the generated C does not define `struct {ident}` in the form that is known: {why}"
        );
        Error::new(ErrorKind::Layout, message)
    };
    let opening = format!("\nstruct {ident} {{\n");
    let start = c_text
        .find(&opening)
        .ok_or_else(|| fail("there is no definition".into()))?;
    let body = &c_text[start + opening.len()..];
    let end = body
        .find("\n};")
        .map_or_else(|| body.find("};"), |end| Some(end + 1));
    let body = &body[..end.ok_or_else(|| fail("it has no end".into()))?];
    body.lines()
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .enumerate()
        .map(|(i, line)| component(program, line, i).ok_or_else(|| fail(format!("field `{line}`"))))
        .collect()
}

/// Names the program for stored values: its source, the compiler, and how its opaque
/// types lie in memory. Equal for all backends.
pub(super) fn identity(
    c_text: &str,
    program: &Program,
    source_hash: &str,
) -> Result<String, Error> {
    let mut hash = Hash::new()
        .with(source_hash.as_bytes())
        .with(program.version.text.as_bytes());
    for ty in program.types().iter().filter(|ty| ty.as_opaque().is_some()) {
        hash = hash.with(ty.name.as_bytes());
        for component in components(c_text, program, ty.c_ident())? {
            let name = match component {
                Component::Scalar(elem) => elem.as_str(),
                Component::Array(id) => &program.get(id).name,
            };
            hash = hash.with(name.as_bytes());
        }
    }
    Ok(hash.hex())
}

fn component(program: &Program, line: &str, index: usize) -> Option<Component> {
    let ty = line.strip_suffix(&format!("v{index};"))?;
    if let Some(pointee) = ty.trim_end().strip_suffix('*') {
        let (id, ty) = program
            .types_with_ids()
            .find(|(_, ty)| ty.c_struct() == pointee.trim_end())?;
        return ty.as_array().map(|_| Component::Array(id));
    }
    // i8 and bool are one byte each; the C types tell them apart. f16 shares its
    // C type with u16, which is all that a layout needs.
    let elem = ElemType::ALL
        .iter()
        .find(|elem| elem.c_type() == ty.trim_end())?;
    Some(Component::Scalar(*elem))
}

#[cfg(test)]
mod tests {
    use super::*;
    use futhark_manifest::Manifest;

    const MANIFEST: &str = r#"{"backend": "c", "version": "0.25.32.\n", "entry_points": {}, "types": {
        "[]f64": {"kind": "array", "ctype": "struct futhark_f64_1d *", "rank": 1, "elemtype": "f64",
                  "ops": {"free": "f", "shape": "s", "values": "v", "new": "n"}}}}"#;

    fn read(c: &str) -> Result<Vec<Component>, Error> {
        let program = Manifest::parse(MANIFEST).unwrap().resolve().unwrap();
        components(c, &program, "futhark_opaque_x")
    }

    #[test]
    fn scalars_and_arrays_in_order() {
        let c = "\nstruct futhark_opaque_x {\n    int8_t v0;\n    bool v1;\n    struct futhark_f64_1d *v2;\n};\n";
        let read = read(c).unwrap();
        assert_eq!(read[0], Component::Scalar(ElemType::I8));
        assert_eq!(read[1], Component::Scalar(ElemType::Bool));
        assert!(matches!(read[2], Component::Array(_)));
    }

    #[test]
    fn unknown_forms_are_refused() {
        for c in [
            "",
            "\nstruct futhark_opaque_x {\n    long v0;\n};\n",
            "\nstruct futhark_opaque_x {\n    int8_t v1;\n};\n",
            "\nstruct futhark_opaque_x {\n    struct futhark_other *v0;\n};\n",
            "\nstruct futhark_opaque_x {\n    int8_t v0;\n",
        ] {
            assert_eq!(read(c).unwrap_err().kind(), ErrorKind::Layout, "{c:?}");
        }
    }
}
