//! Raw modules on host backends: functions that return memory which the caller frees by libc's
//! `free`.
//!
//! Memory that generated code allocates has a header of ours (`fut_memory.h`). Therefore the symbols of
//! these functions belong to functions that return memory of libc.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::Unit;
use crate::compile::plain;

/// Memory that a function returns to its caller.
pub(super) enum Given {
    /// Text, as the result.
    Text,
    /// The bytes of a value of this C type, if the caller provides no memory for them.
    Bytes(String),
}

/// The functions of the raw module that return memory, by their names.
pub(super) fn functions<'a>(unit: &Unit<'a>) -> BTreeMap<&'a str, Given> {
    if unit.program.backend.is_gpu() {
        return BTreeMap::new();
    }
    let texts = ["futhark_context_get_error", "futhark_context_report"];
    let texts = texts.map(|name| (name, Given::Text));
    let stores = unit.program.types().iter().filter_map(|ty| {
        let store = ty.as_opaque()?.ops.store.as_deref()?;
        Some((store, Given::Bytes(format!("struct {}", ty.c_ident()))))
    });
    let all = texts.into_iter().chain(stores);
    all.filter(|(name, _)| unit.plain.contains(name)).collect()
}

/// Defines a function with the symbol of each.
pub(super) fn write(unit: &Unit<'_>, functions: &BTreeMap<&str, Given>, c: &mut String) {
    for (name, given) in functions {
        let symbol = plain::symbol(unit.symbol, name);
        let _ = match given {
            Given::Text => writeln!(
                c,
                "char *{symbol}(struct futhark_context *ctx);\n\
                 char *{symbol}(struct futhark_context *ctx) {{\n  \
                 return fut_keep_text({name}(ctx));\n}}"
            ),
            Given::Bytes(this) => {
                let parameters =
                    format!("struct futhark_context *ctx, const {this} *obj, void **p, size_t *n");
                writeln!(
                    c,
                    "int {symbol}({parameters});\n\
                     int {symbol}({parameters}) {{\n  \
                     if (p != NULL && *p == NULL) {{\n    \
                     int rc = {name}(ctx, obj, NULL, n);\n    \
                     if (rc != 0)\n      return rc;\n    \
                     *p = fut_memory((malloc)(*n), *n);\n  }}\n  \
                     return {name}(ctx, obj, p, n);\n}}"
                )
            }
        };
    }
}
