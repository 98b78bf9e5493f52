//! Raw modules: the functions of a program's header that they offer, and their symbols, those of `symbols.rs`.
//!
//! On host backends, memory that generated code allocates has a header of ours (`fut_guard.h`). Therefore the symbols
//! of functions that return memory which the caller frees by libc's `free` belong to functions that return memory of libc.

use std::collections::{BTreeMap, BTreeSet};

use super::inputs::Unit;
use super::symbols::symbol;

/// The declared functions that a raw module offers.
///
/// The functions that create and free contexts are in the table, because a context has more state
/// than this header knows (workers, drivers). An array on borrowed memory needs a reference count
/// that only our code can provide.
pub(in crate::compile) fn functions<'a>(declared: &[&'a str]) -> Vec<&'a str> {
    const ELSEWHERE: [&str; 4] = ["context_config_", "context_new", "context_free", "new_raw_"];
    let is_offered = |name: &&str| {
        let operation = name.strip_prefix("futhark_");
        operation.is_some_and(|operation| !ELSEWHERE.iter().any(|e| operation.starts_with(e)))
    };
    let all: BTreeSet<&str> = declared.iter().copied().filter(is_offered).collect();
    all.into_iter().collect()
}

/// The definitions of the functions with these symbols, by the names that they replace.
pub(super) fn definitions<'a>(unit: &Unit<'a>) -> BTreeMap<&'a str, String> {
    if unit.program.backend.is_gpu() {
        return BTreeMap::new();
    }
    let texts = ["futhark_context_get_error", "futhark_context_report"];
    let texts = texts.map(|name| (name, text_function(name, &symbol(unit.symbol, name))));
    let stores = unit.program.types().iter().filter_map(|ty| {
        let store = ty.as_opaque()?.ops.store.as_deref()?;
        let symbol = symbol(unit.symbol, store);
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compile::generated::Source;

    #[test]
    fn only_offered_functions_are_listed() {
        let text = "\
struct futhark_context *futhark_context_new(struct futhark_context_config *cfg);
void futhark_context_config_set_debugging(struct futhark_context_config *cfg, int flag);
struct futhark_i32_1d *futhark_new_i32_1d(struct futhark_context *ctx, const int32_t *data, int64_t dim0);
struct futhark_i32_1d *futhark_new_raw_i32_1d(struct futhark_context *ctx, unsigned char *data, int64_t dim0);
int futhark_entry_f(struct futhark_context *ctx, int32_t *out0);
int futhark_entry_new_raw_f(struct futhark_context *ctx);
int my_futhark_f(int);
int futhark_context_sync(struct futhark_context *ctx);
";
        assert_eq!(
            functions(&Source::read(text).prototypes),
            [
                "futhark_context_sync",
                "futhark_entry_f",
                "futhark_entry_new_raw_f",
                "futhark_new_i32_1d"
            ]
        );
    }
}
