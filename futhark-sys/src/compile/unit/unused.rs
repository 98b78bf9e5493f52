//! Lets the C compiler leave out unused functions.

/// Makes the static functions of generated C inline. Without optimisation, gcc compiles every static
/// function that is not inline, also an unused one, and programs use a part of the runtime.
pub(super) fn inline_functions(c: &str) -> String {
    let mut text = String::with_capacity(c.len() + 1024);
    for line in c.split_inclusive('\n') {
        match line.strip_prefix("static ") {
            Some(rest) if begins_function(rest) => {
                text.push_str("static inline ");
                text.push_str(rest);
            }
            _ => text.push_str(line),
        }
    }
    text
}

/// Whether a line after `static` begins the definition of a function, and not a prototype or a variable.
fn begins_function(rest: &str) -> bool {
    rest.contains('(') && !rest.contains(['=', ';']) && !rest.starts_with("inline ")
}

#[cfg(test)]
mod tests {
    use super::inline_functions;

    #[test]
    fn only_definitions_of_functions_become_inline() {
        let c = "static int f(int x);\nstatic int f(int x) {\n  static int (*g)(int);\n}\nstatic char *h(int x,\n     int y)\n{\n}\n\
                 static inline int i(void) {\n}\nstatic struct s {\n};\nstatic int (*k)(int) = f;\nint l(int x) {\n}\n";
        let expected = c
            .replace("static int f(int x) {", "static inline int f(int x) {")
            .replace("static char *h", "static inline char *h");
        assert_eq!(inline_functions(c), expected);
    }
}
