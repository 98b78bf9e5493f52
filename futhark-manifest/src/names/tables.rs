//! The languages that the crate itself and the Rust bindings need.

use super::language::{Case, Language, Style};

/// Rust, edition 2024.
pub const RUST: Language = Language::new("Rust")
    .keywords(&[
        "abstract", "as", "async", "await", "become", "box", "break", "const", "continue", "do",
        "dyn", "else", "enum", "extern", "false", "final", "fn", "for", "gen", "if", "impl", "in",
        "let", "loop", "macro", "match", "mod", "move", "mut", "override", "priv", "pub", "ref",
        "return", "static", "struct", "trait", "true", "try", "type", "typeof", "unsafe",
        "unsized", "use", "virtual", "where", "while", "yield",
    ])
    .escape("r#", "")
    // They have no escaped form.
    .reserved(&["Self", "crate", "self", "super"]);

/// C23.
///
/// Reserved are the keywords of C23 and those that compilers add in their default
/// mode, the macros of the standard headers that replace a name without parentheses or
/// have no function of the same name, and the prefixes that the standard reserves for
/// macros. Names with a leading underscore or two underscores in a row belong to the
/// implementation, so they are never assigned.
///
/// The functions and types of the standard library are not reserved, because they matter
/// only at file scope: names there should begin with a prefix of the program, as the names
/// that Futhark generates do. For a header that C++ can include too, reserve
/// [`CPP_KEYWORDS`](super::CPP_KEYWORDS).
pub const C: Language = Language::new("C")
    .keywords(&[
        "alignas",
        "alignof",
        "asm",
        "auto",
        "bool",
        "break",
        "case",
        "char",
        "const",
        "constexpr",
        "continue",
        "default",
        "do",
        "double",
        "else",
        "enum",
        "extern",
        "false",
        "float",
        "for",
        "goto",
        "if",
        "inline",
        "int",
        "long",
        "nullptr",
        "register",
        "restrict",
        "return",
        "short",
        "signed",
        "sizeof",
        "static",
        "static_assert",
        "struct",
        "switch",
        "thread_local",
        "true",
        "typedef",
        "typeof",
        "typeof_unqual",
        "union",
        "unsigned",
        "void",
        "volatile",
        "while",
    ])
    .reserved(&[
        // <iso646.h>, <complex.h>, <stdnoreturn.h>
        "and",
        "and_eq",
        "bitand",
        "bitor",
        "compl",
        "not",
        "not_eq",
        "or",
        "or_eq",
        "xor",
        "xor_eq",
        "I",
        "complex",
        "imaginary",
        "noreturn",
        // <stddef.h>, <errno.h>, <math.h>, <float.h>
        "NULL",
        "errno",
        "math_errhandling",
        "INFINITY",
        "NAN",
        "HUGE_VAL",
        "HUGE_VALF",
        "HUGE_VALL",
        "MATH_ERREXCEPT",
        "MATH_ERRNO",
        "DECIMAL_DIG",
        // <stdio.h>, <stdlib.h>, <time.h>, <threads.h>, <wchar.h>
        "stderr",
        "stdin",
        "stdout",
        "BUFSIZ",
        "EOF",
        "FILENAME_MAX",
        "FOPEN_MAX",
        "L_tmpnam",
        "SEEK_CUR",
        "SEEK_END",
        "SEEK_SET",
        "TMP_MAX",
        "EXIT_FAILURE",
        "EXIT_SUCCESS",
        "MB_CUR_MAX",
        "MB_LEN_MAX",
        "RAND_MAX",
        "CLOCKS_PER_SEC",
        "TIME_UTC",
        "ONCE_FLAG_INIT",
        "TSS_DTOR_ITERATIONS",
        "WEOF",
        // Macros with parameters that the standard defines only as macros.
        "assert",
        "offsetof",
        "setjmp",
        "unreachable",
        "va_arg",
        "va_copy",
        "va_end",
        "va_start",
        // Macros that compilers define in their default mode.
        "i386",
        "linux",
        "unix",
    ])
    .families(&[
        "ATOMIC_", "BOOL_", "CHAR_", "DBL_", "DEC", "E", "FE_", "FLT_", "FP_", "INT", "INT_",
        "LC_", "LDBL_", "LLONG_", "LONG_", "PRIX", "PRIb", "PRId", "PRIi", "PRIo", "PRIu", "PRIx",
        "PTRDIFF_", "SCHAR_", "SCNb", "SCNd", "SCNi", "SCNo", "SCNu", "SCNx", "SHRT_", "SIG",
        "SIG_", "SIZE_", "UCHAR_", "UINT", "UINT_", "ULLONG_", "ULONG_", "USHRT_", "WCHAR_",
        "WINT_",
    ])
    .lead("x")
    .single_underscores()
    .case(Style::Type, Case::Keep);
