//! Which functions of a program's header others may call, and under which symbols.
//!
//! Symbols begin with the table's, which carries a hash of all that decides the object, so
//! programs and backends do not meet in a binary. The generated text gets them by macros
//! and knows nothing of it.

/// The functions among those that a header declares which a raw module offers.
pub(super) fn functions<'a>(declared: &[&'a str]) -> Vec<&'a str> {
    let declared = declared.iter().copied();
    let mut all: Vec<&str> = declared.filter(|name| is_offered(name)).collect();
    all.sort_unstable();
    all.dedup();
    all
}

/// The symbol of a function beside the table `table`.
pub(super) fn symbol(table: &str, function: &str) -> String {
    format!("{table}_{function}")
}

/// A context has more around it than this header knows (workers, drivers), and is made and
/// ended with that; an array on memory of others needs a reference count of ours.
fn is_offered(name: &str) -> bool {
    const ELSEWHERE: [&str; 4] = ["context_config_", "context_new", "context_free", "new_raw_"];
    name.strip_prefix("futhark_").is_some_and(|operation| {
        let mut elsewhere = ELSEWHERE.iter();
        !elsewhere.any(|elsewhere| operation.starts_with(elsewhere))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compile::generated::Source;

    #[test]
    fn functions_are_told_from_types_and_from_what_is_not_offered() {
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
