//! Raw modules on host backends: functions that return memory which the caller frees by libc's
//! `free`.
//!
//! Memory that generated code allocates has a header of ours (`fut_guard.h`). Therefore the symbols of
//! these functions belong to functions that return memory of libc.

use std::collections::BTreeMap;

use super::inputs::Unit;
use crate::compile::plain;

/// The definitions of the functions with these symbols, by the names that they replace.
pub(super) fn functions<'a>(unit: &Unit<'a>) -> BTreeMap<&'a str, String> {
    if unit.program.backend.is_gpu() {
        return BTreeMap::new();
    }
    let texts = ["futhark_context_get_error", "futhark_context_report"];
    let texts = texts.map(|name| (name, text_function(name, &plain::symbol(unit.symbol, name))));
    let stores = unit.program.types().iter().filter_map(|ty| {
        let store = ty.as_opaque()?.ops.store.as_deref()?;
        let symbol = plain::symbol(unit.symbol, store);
        Some((store, store_function(store, &symbol, ty.c_ident())))
    });
    let all = texts.into_iter().chain(stores);
    all.filter(|(name, _)| unit.plain.contains(name)).collect()
}

fn text_function(name: &str, symbol: &str) -> String {
    format!(
        "char *{symbol}(struct futhark_context *ctx);\n\
         char *{symbol}(struct futhark_context *ctx) {{\n  \
         return fut_keep_text({name}(ctx));\n}}\n"
    )
}

/// Allocates the bytes of a stored value if the caller provides no memory for them.
fn store_function(name: &str, symbol: &str, ident: &str) -> String {
    let parameters =
        format!("struct futhark_context *ctx, const struct {ident} *obj, void **p, size_t *n");
    format!(
        "int {symbol}({parameters});\n\
         int {symbol}({parameters}) {{\n  \
         if (p != NULL && *p == NULL) {{\n    \
         int rc = {name}(ctx, obj, NULL, n);\n    \
         if (rc != 0)\n      return rc;\n    \
         *p = fut_memory((malloc)(*n), *n);\n  }}\n  \
         return {name}(ctx, obj, p, n);\n}}\n"
    )
}
