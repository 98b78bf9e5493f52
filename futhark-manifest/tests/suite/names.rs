//! The identifiers of ordinary and unusual names in each language. Compilers and interpreters
//! of these languages must accept them.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;
use std::process::{Command, Output};

use futhark_manifest::names::{
    C, CPP_KEYWORDS, Case, Language, PYTHON, PYTHON_BUILTINS, RUST, Scope, Style,
};
use proptest::collection::{btree_set, vec};
use proptest::prelude::*;
use tempfile::TempDir;

/// Fails unless these are the identifiers of a name in Rust, C and Python.
fn assert_spelled(style: Style, name: &str, expected: [&str; 3]) {
    for (language, expected) in [RUST, C, PYTHON].into_iter().zip(expected) {
        let found = alone(&Scope::new(&language, style), name);
        assert_eq!(found, expected, "{}: {name:?}", language.name());
    }
}

#[test]
#[rustfmt::skip]
fn names_of_values_are_spelled_as_documented() {
    // Futhark, Rust, C, Python.
    for [name, expected @ ..] in [
        ["mean", "mean", "mean", "mean"],
        ["myName", "myName", "myName", "myName"],
        ["f'", "f_prime", "f_prime", "f_prime"],
        ["f''", "f_prime_prime", "f_prime_prime", "f_prime_prime"],
        ["+++", "op_plus_plus_plus", "op_plus_plus_plus", "op_plus_plus_plus"],
        ["m.f", "m_f", "m_f", "m_f"],
        ["0", "_0", "x0", "_0"],
        ["12", "_12", "x12", "_12"],
        ["_x", "_x", "x_x", "_x"],
        ["_", "arg", "arg", "arg"],
        ["", "arg", "arg", "arg"],
        ["\u{0}\n", "arg", "arg", "arg"],
        ["größe", "gr__e", "gr_e", "gr_e"],
        ["a__b", "a__b", "a_b", "a_b"],
        ["__init__", "__init__", "x_init_", "_init_"],
        ["_Bool", "_Bool", "x_Bool", "_Bool"],
        ["move", "r#move", "move", "move"],
        ["gen", "r#gen", "gen", "gen"],
        ["self", "self_", "self", "self"],
        ["Self", "Self_", "Self", "Self"],
        ["crate", "crate_", "crate", "crate"],
        ["super", "super_", "super", "super"],
        ["int", "int", "int_", "int"],
        ["bool", "bool", "bool_", "bool"],
        ["errno", "errno", "errno_", "errno"],
        ["NULL", "NULL", "NULL_", "NULL"],
        ["I", "I", "I_", "I"],
        ["INT_MAX", "INT_MAX", "xINT_MAX", "INT_MAX"],
        ["Interest", "Interest", "Interest", "Interest"],
        ["EDGE", "EDGE", "xEDGE", "EDGE"],
        ["E", "E", "E", "E"],
        ["lambda", "lambda", "lambda", "lambda_"],
        ["None", "None", "None", "None_"],
    ] {
        assert_spelled(Style::Value, name, expected);
    }
}

#[test]
#[rustfmt::skip]
fn names_of_types_are_spelled_as_documented() {
    // Futhark, Rust and Python, C.
    for [name, camel, c] in [
        ["pt", "Pt", "pt"],
        ["my_type", "MyType", "my_type"],
        ["[]pt", "ArrayPt", "array_pt"],
        ["[][]pt", "ArrayArrayPt", "array_array_pt"],
        ["(f32, (i32, bool))", "TupleF32TupleI32Bool", "tuple_f32_tuple_i32_bool"],
        ["{bar:f32, foo:[]i32}", "BarF32FooArrayI32", "bar_f32_foo_array_i32"],
        ["{bar: f32, foo: []i32}", "BarF32FooArrayI32", "bar_f32_foo_array_i32"],
        ["none: | some:i32", "NoneSomeI32", "none_some_i32"],
        ["opt i32", "OptI32", "opt_i32"],
        ["m.t", "MT", "m_t"],
        ["t'", "TPrime", "t_prime"],
        ["()", "Unit", "unit"],
        ["[]()", "Array", "array"],
        ["{}", "Opaque", "opaque"],
        ["", "Opaque", "opaque"],
        ["0", "T0", "x0"],
    ] {
        assert_spelled(Style::Type, name, [camel, c, camel]);
    }
    for (language, name, expected) in [(RUST, "self", "Self_"), (PYTHON, "none", "None_"), (C, "double", "double_")] {
        assert_eq!(alone(&Scope::new(&language, Style::Type), name), expected);
    }
}

#[test]
fn names_of_constants_are_spelled_as_documented() {
    for (futhark, rust, c) in [
        ("red", "RED", "RED"),
        ("f'", "F_PRIME", "F_PRIME"),
        ("null", "NULL", "NULL_"),
        ("edge", "EDGE", "XEDGE"),
        ("0", "_0", "X0"),
        ("sig", "SIG", "XSIG"),
    ] {
        assert_eq!(alone(&Scope::new(&RUST, Style::Constant), futhark), rust);
        assert_eq!(alone(&Scope::new(&C, Style::Constant), futhark), c);
    }
    let names = Scope::new(&C, Style::Constant).assign(["f'", "f_prime"]);
    assert_eq!(
        &names["f'"], "F_PRIME_HBDDAEC9D",
        "no name equals it, so neither gets it"
    );
    assert!(names["f_prime"].starts_with("F_PRIME_H"));
}

#[test]
fn colliding_names_get_different_identifiers() {
    let values = Scope::new(&RUST, Style::Value);
    let names = values.assign(["self", "self_", "move", "move_"]);
    assert_eq!(&names["self_"], "self_");
    assert!(names["self"].starts_with("self_h"), "{names:?}");
    assert_eq!([&names["move"], &names["move_"]], ["r#move", "move_"]);

    // If the short hash is taken, a longer one follows.
    let names = values.assign(["f'", "f_prime", "f_prime_hbddaec9d"]);
    assert_eq!(&names["f_prime_hbddaec9d"], "f_prime_hbddaec9d");
    let longer = &names["f'"];
    assert!(
        longer.starts_with("f_prime_h") && longer.len() == 25,
        "{longer}"
    );
    let reserved = values.clone().reserve(["f_prime_hbddaec9d", longer]);
    let last = reserved.assign(["f'", "f_prime"]);
    assert!(last["f'"].len() == 25 && &last["f'"] != longer, "{last:?}");

    let types = Scope::new(&RUST, Style::Type).reserve(["Array"]);
    assert_eq!(&types.assign(["array"])["array"], "Array_");
    let names = types.assign(["F", "f", "(f, f)"]);
    assert_eq!([&names["F"], &names["(f, f)"]], ["F", "TupleFF"]);
    assert!(names["f"].starts_with("FH"), "{names:?}");
}

#[test]
fn reserved_words_are_avoided_in_every_form() {
    let scope = Scope::new(&RUST, Style::Value).reserve(["new", "new_", "fn", "r#match"]);
    for (name, start) in [
        ("new", "new_h"),
        ("new_", "new__"),
        ("fn", "fn_h"),
        ("match", "match_h"),
    ] {
        let identifier = alone(&scope, name);
        assert!(identifier.starts_with(start), "{name}: {identifier}");
    }
}

#[test]
fn repeated_names_of_a_list_get_different_identifiers() {
    let scope = Scope::new(&RUST, Style::Value).reserve(["context"]);
    let list = scope.assign_list(["_", "_", "x", "x", "x", "fn", "fn", "context"]);
    assert_eq!(
        list,
        [
            "arg", "arg_2", "x", "x_2", "x_3", "r#fn", "fn_2", "context_"
        ]
    );
    let list = scope.assign_list(["_", "_", "arg_2"]);
    assert_eq!([&list[0], &list[2]], ["arg", "arg_2"]);
    assert!(list[1].starts_with("arg_2_h"), "{list:?}");
    assert!(scope.assign_list([""; 0]).is_empty());
}

#[test]
fn names_are_looked_up_and_listed() {
    let names = Scope::new(&RUST, Style::Value).assign(["b", "a'", "b"]);
    assert_eq!(
        names.iter().collect::<Vec<_>>(),
        [("b", "b"), ("a'", "a_prime")]
    );
    assert_eq!(names.identifiers().collect::<Vec<_>>(), ["b", "a_prime"]);
    assert_eq!(names.get("b"), Some("b"));
    assert_eq!(names.get("c"), None);
}

const SWIFT: Language = Language::new("Swift")
    .keywords("func self move")
    .escape("`", "`")
    .case(Style::Value, Case::Uncapitalized);

/// Its escaped form consists of letters and underscores, so other names can have it, too.
const ODD: Language = Language::new("odd")
    .keywords("f x self self_")
    .escape("x_", "");

/// A language, and a scope of it in which some identifiers are reserved that names want.
fn any_scope() -> impl Strategy<Value = (Language, Scope)> {
    let language = prop::sample::select(vec![RUST, C, PYTHON, SWIFT, ODD]);
    let style = prop::sample::select(STYLES.to_vec());
    (language, style, vec(any_name(), 0..4)).prop_map(|(language, style, words)| {
        let scope = Scope::new(&language, style);
        let wanted: Vec<String> = words.iter().map(|word| alone(&scope, word)).collect();
        (language, scope.reserve(wanted).reserve(["new", "r#match"]))
    })
}

/// Pieces that often collide, and sometimes arbitrary text.
fn any_name() -> impl Strategy<Value = String> {
    let pieces = "f F x X_ _ __ ' prime _prime 0 + plus . # () ( [] self Self move r# new E SIG é \0 \n \
        _h01234567 _hcb8f1a10 H0123456789abcdef _h0123456789abcdef x66 _2 2";
    let pieces: Vec<&str> = pieces.split(' ').chain([" "]).collect();
    let piece = prop::sample::select(pieces);
    prop_oneof![
        8 => vec(piece, 0..4).prop_map(|pieces| pieces.concat()),
        1 => any::<String>(),
        1 => "[a'+]{55,140}",
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    /// Identifiers are valid, different, and independent of order and repetition; a name that is its own identifier keeps
    /// it.
    #[test]
    fn every_name_has_a_valid_identifier_of_its_own(
        (language, scope) in any_scope(),
        names in btree_set(any_name(), 0..24),
    ) {
        let given = scope.assign(&names);
        let mut seen = BTreeSet::new();
        for (name, identifier) in given.iter() {
            prop_assert!(language.is_identifier(identifier), "{name:?}: {identifier:?}");
            prop_assert!(seen.insert(identifier), "{name:?}: {identifier:?}");
            if alone(&scope, name) == name {
                prop_assert_eq!(name, identifier);
            }
        }
        prop_assert_eq!(seen.len(), names.len());
        let reversed = scope.assign(names.iter().rev().chain(&names));
        for (name, identifier) in given.iter() {
            prop_assert_eq!(&reversed[name], identifier);
        }
        let reserved = scope.clone().reserve(given.identifiers());
        for (_, identifier) in reserved.assign(&names).iter() {
            prop_assert!(!seen.contains(identifier), "{identifier:?} is reserved");
        }
        let list = scope.assign_list(&names);
        prop_assert!(given.identifiers().eq(list.iter().map(String::as_str)));
    }

    #[test]
    fn list_items_have_distinct_identifiers((language, scope) in any_scope(), names in vec(any_name(), 0..12)) {
        let list = [names.clone(), names[..names.len() / 2].to_vec()].concat();
        let given = scope.assign_list(&list);
        prop_assert_eq!(given.iter().collect::<BTreeSet<_>>().len(), list.len());
        prop_assert!(given.iter().all(|identifier| language.is_identifier(identifier)), "{given:?}");
    }
}

#[test]
fn rust_accepts_the_identifiers() {
    let mut text = String::from("#![allow(warnings)]\n");
    for style in STYLES {
        let names = Scope::new(&RUST, style).assign(nasty_names());
        let _ = writeln!(text, "mod m{} {{", style as usize);
        for identifier in names.identifiers() {
            let _ = match style {
                Style::Value => writeln!(
                    text,
                    "fn {identifier}({identifier}: u8) {{ let _ = {identifier}; }}"
                ),
                Style::Type => writeln!(text, "struct {identifier};"),
                Style::Constant => writeln!(text, "const {identifier}: u8 = 0;"),
            };
        }
        text.push_str("}\n");
    }
    let folder = folder("names.rs", &text);
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let arguments = [
        "--edition=2024",
        "--crate-type=lib",
        "--emit=metadata",
        "names.rs",
    ];
    let mut rustc = Command::new(rustc);
    accepted(rustc.args(arguments).current_dir(folder.path()).output());
}

#[test]
fn python_accepts_the_identifiers() {
    let mut text = String::new();
    for style in STYLES {
        let scope = Scope::new(&PYTHON, style);
        for identifier in scope.assign(nasty_names()).identifiers() {
            let _ = match style {
                Style::Type => writeln!(text, "class {identifier}:\n    pass"),
                _ => writeln!(text, "{identifier} = lambda {identifier}: {identifier}"),
            };
        }
    }
    let check = "import ast; ast.parse(open('names.py').read())";
    let folder = folder("names.py", &text);
    if let Some(output) = python(check, folder.path()) {
        accepted(Ok(output));
    }
}

#[test]
fn keywords_and_builtins_of_python_are_complete() {
    let folder = tempfile::tempdir().expect("a folder for tests");
    let lists = "import keyword, builtins\n\
        print(*keyword.kwlist)\n\
        print(*[name for name in dir(builtins) if name[0] != '_' and name not in keyword.kwlist])";
    let Some(output) = python(lists, folder.path()) else {
        return;
    };
    let text = String::from_utf8(accepted(Ok(output)).stdout).expect("names");
    let lists: Vec<Vec<&str>> = text.lines().map(|line| line.split(' ').collect()).collect();
    let [keywords, builtins] = &lists[..] else {
        panic!("two lists: {text}");
    };
    for keyword in keywords {
        assert!(!PYTHON.is_identifier(keyword), "{keyword}");
    }
    for name in builtins {
        assert!(PYTHON_BUILTINS.split(' ').any(|own| own == *name), "{name}");
        assert!(
            PYTHON.is_identifier(name),
            "{name} is a valid Python identifier"
        );
    }
}

#[test]
fn c_and_cpp_accept_the_identifiers() {
    for (compiler, standards, words) in [
        ("cc", &["-std=c11", "-std=c2x", "-std=gnu17"][..], ""),
        ("c++", &["-std=c++17", "-std=c++20"], CPP_KEYWORDS),
    ] {
        let mut text = String::new();
        for header in HEADERS.split(' ') {
            // C++ has these in another form, or not at all.
            let of_c = "complex stdatomic stdnoreturn tgmath threads iso646";
            if compiler == "cc" || !of_c.split(' ').any(|name| name == header) {
                let _ = writeln!(text, "#include <{header}.h>");
            }
        }
        for style in STYLES {
            let number = style as usize;
            let names = Scope::new(&C, style)
                .reserve(words.split_whitespace())
                .assign(nasty_names());
            for (i, identifier) in names.identifiers().enumerate() {
                let _ = writeln!(
                    text,
                    "static inline int f{number}_{i}(int {identifier}) {{ return {identifier}; }}"
                );
            }
            let fields: String = names
                .identifiers()
                .map(|identifier| format!("  int {identifier};\n"))
                .collect();
            let _ = writeln!(text, "struct s{number} {{\n{fields}}};");
        }
        let file = if compiler == "cc" {
            "names.c"
        } else {
            "names.cpp"
        };
        let folder = folder(file, &text);
        for standard in standards {
            let arguments = ["-fsyntax-only", "-w", standard, file];
            let output = Command::new(compiler)
                .args(arguments)
                .current_dir(folder.path())
                .output();
            if output.is_err() {
                println!("skipped: no {compiler}");
                continue;
            }
            accepted(output);
        }
    }
}

/// All macros without parameters that the standard headers of this machine define are avoided.
#[test]
fn macros_of_the_c_headers_are_avoided() {
    let includes: String = HEADERS
        .split(' ')
        .map(|header| format!("#include <{header}.h>\n"))
        .collect();
    let folder = folder("all.c", &includes);
    let output = Command::new("cc")
        .args(["-std=c11", "-E", "-dM", "all.c"])
        .current_dir(folder.path())
        .output();
    if output.is_err() {
        println!("skipped: no cc");
        return;
    }
    let text = String::from_utf8(accepted(output).stdout).expect("macros");
    let mut seen = 0;
    for line in text.lines() {
        let name = line
            .strip_prefix("#define ")
            .and_then(|rest| rest.split(' ').next());
        let name = name.expect("a definition");
        if !name.contains('(') {
            assert!(!C.is_identifier(name), "{name}");
            seen += 1;
        }
    }
    assert!(seen > 200, "only {seen} macros");
}

const STYLES: [Style; 3] = [Style::Value, Style::Type, Style::Constant];

/// The headers of C11.
const HEADERS: &str = "assert complex ctype errno fenv float inttypes iso646 limits locale math setjmp signal \
    stdalign stdarg stdatomic stdbool stddef stdint stdio stdlib stdnoreturn string tgmath threads time uchar wchar wctype";

fn alone(scope: &Scope, name: &str) -> String {
    scope.assign([name])[name].to_owned()
}

/// Some hundred names: words with a meaning in some language, unchanged and slightly changed, and
/// random combinations of pieces.
fn nasty_names() -> BTreeSet<String> {
    let words = "abstract alignas and as asm assert async await auto become bool box break case \
        char class complex const constexpr continue crate def default del do double dyn else enum \
        errno except extern False false final float fn for from gen global goto I if impl import \
        in inline int is lambda let linux long loop macro macro_rules match mod module move mut \
        NULL None new nonlocal not nullptr or override pass priv pub raise raw ref register \
        restrict return safe self Self short signed sizeof static stdin struct super switch \
        template this thread_local trait True true try type typedef typeof typeof_unqual union \
        unix unsafe unsigned unsized use va_arg virtual void volatile where while with xor yield \
        E EOF EPERM SIG SIGINT SIG_DFL INT INT8_MAX UINT_MAX PRId64 FLT_MAX LC_ALL i386 exp log";
    let changes = [
        ("", ""),
        ("", "_"),
        ("_", ""),
        ("__", "__"),
        ("", "'"),
        ("r#", ""),
        ("[]", ""),
        ("", "2"),
    ];
    let words = words
        .split_whitespace()
        .chain(CPP_KEYWORDS.split(' '))
        .chain(PYTHON_BUILTINS.split(' '));
    let changed =
        words.flat_map(|word| changes.map(|(before, after)| format!("{before}{word}{after}")));
    let pieces = [
        "", "_", "f", "F'", "0", "+", ".", "é", "\0", "\"", "\\", "*/", "//", "??/", "\n", "🦀",
    ];
    let pairs = pieces
        .iter()
        .flat_map(|a| pieces.iter().map(move |b| format!("{a}{b}")));
    let long = ["a", "a'", "_", "(", "漢"].map(|piece| piece.repeat(500));
    changed.chain(pairs).chain(long).collect()
}

/// The output of Python; `None`, with a message, if Python is not installed.
fn python(program: &str, folder: &Path) -> Option<Output> {
    // Isolated mode, without modules of the user or of the site.
    let arguments = ["-I", "-S", "-c", program];
    let output = Command::new("python3")
        .args(arguments)
        .current_dir(folder)
        .output();
    if output.is_err() {
        println!("skipped: no python3");
    }
    output.ok()
}

fn accepted(output: std::io::Result<Output>) -> Output {
    let output = output.expect("a program that starts");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors:.2000}");
    output
}

/// A folder with a file.
fn folder(name: &str, text: &str) -> TempDir {
    let folder = tempfile::tempdir().expect("a folder for tests");
    std::fs::write(folder.path().join(name), text).expect("a file for tests");
    folder
}
