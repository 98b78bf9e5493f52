//! Lets the C compiler leave out unused functions.

/// Makes the static functions of generated C inline. Without optimisation, gcc compiles every static
/// function that is not inline, also an unused one, and programs use a part of the runtime.
pub(super) fn inline_functions(c: &str) -> String {
    let mut text = String::with_capacity(c.len() + 1024);
    for line in c.split_inclusive('\n') {
        let code = line.trim_start();
        let indentation = &line[..line.len() - code.len()];
        match code.strip_prefix("static ") {
            Some(rest) if begins_function(rest, indentation.is_empty()) => {
                text.push_str(indentation);
                text.push_str("static inline ");
                text.push_str(rest);
            }
            _ => text.push_str(line),
        }
    }
    text
}

/// Whether a line after `static` begins the definition of a function, and not a prototype or a variable. A
/// definition that is not at the beginning of its line is in a macro, and a parameter is a part of its name.
fn begins_function(rest: &str, is_first: bool) -> bool {
    let is_definition = !rest.contains(['=', ';']) && !rest.starts_with("inline ");
    is_definition
        && match is_first {
            true => rest.contains('('),
            false => rest.contains("##") && !rest.contains('[') && rest.trim_end().ends_with('\\'),
        }
}

#[cfg(test)]
mod tests {
    use super::inline_functions;

    #[test]
    fn only_definitions_of_functions_become_inline() {
        let c = "static int f(int x);\nstatic int f(int x) {\n  static int (*g)(int);\n}\nstatic char *h(int x,\n     int y)\n{\n}\n\
                 static inline int i(void) {\n}\nstatic struct s {\n};\nstatic int (*k)(int) = f;\nint futhark_l(int x) {\n}\n";
        let expected = c
            .replace("static int f(int x) {", "static inline int f(int x) {")
            .replace("static char *h", "static inline char *h");
        assert_eq!(inline_functions(c), expected);
    }

    #[test]
    fn functions_that_macros_define_become_inline() {
        let c = "#define GEN(NAME, TYPE) \\\n  static void f_##NAME  \\\n  (TYPE *x) { \\\n    static TYPE y_##NAME; \\\n  }\n\
                 #define VARIABLE(NAME) \\\n  static int a_##NAME[] \\\n  = {1};\n";
        let expected = c.replace("static void", "static inline void");
        assert_eq!(inline_functions(c), expected);
    }
}
