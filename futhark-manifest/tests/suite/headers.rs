//! Parsing headers, and comparing them with manifests.

use std::collections::{BTreeSet, HashSet};
use std::fmt::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::common::{faultless, files_below, fixture, fixtures, read};
use crate::toolchain::{compilers, generate, manifests_of_the_corpus};
use futhark_manifest::c::{self, BeyondItem, DisagreementCode, Group, Header};
use futhark_manifest::{Backend, Program};

/// A header as a compiler would write it, without the library's functions.
fn header_of(program: &Program) -> String {
    let mut text = format!("#define FUTHARK_BACKEND_{}\n", program.backend);
    text.push_str("struct futhark_context_config;\nstruct futhark_context;\n");
    for ty in program.types() {
        writeln!(text, "struct {};", ty.c_ident()).expect("a string takes any text");
    }
    for prototype in program.prototypes() {
        writeln!(text, "{prototype}").expect("a string takes any text");
    }
    text
}

#[test]
fn generated_headers_agree_with_their_manifest() {
    for file in files_below(&fixtures(), "json") {
        let program = faultless(&read(&file), file.display());
        let header = Header::parse(&header_of(&program));
        assert_eq!(header.unread, [], "{}", file.display());
        assert_eq!(header.backend(), Some(program.backend));
        let agreement = c::agree(&program, &header);
        assert_eq!(agreement.disagreements, [], "{}", file.display());
        let groups: Vec<_> = agreement.beyond.iter().map(|one| one.group).collect();
        assert_eq!(groups, [Group::Configuration, Group::Context]);
    }
}

/// Damages of a header, with the code and the name of the expected disagreement.
const DAMAGES: &[(&str, &str, DisagreementCode, &str)] = &[
    // A text of the header, its replacement, and the expected disagreement.
    (
        "int futhark_free_i32_1d(struct futhark_context *ctx, struct futhark_i32_1d *arr);",
        "",
        DisagreementCode::UndeclaredFunction,
        "futhark_free_i32_1d",
    ),
    (
        "int futhark_free_i32_1d(struct futhark_context *ctx, struct futhark_i32_1d *arr);",
        "int futhark_free_i32_1D(struct futhark_context *ctx, struct futhark_i32_1d *arr);",
        DisagreementCode::UndeclaredFunction,
        "futhark_free_i32_1d",
    ),
    (
        "int futhark_free_i32_1d(struct futhark_context *ctx, struct futhark_i32_1d *arr);",
        "// int futhark_free_i32_1d(struct futhark_context *ctx, struct futhark_i32_1d *arr);",
        DisagreementCode::UndeclaredFunction,
        "futhark_free_i32_1d",
    ),
    (
        "const int32_t *data, int64_t dim0);",
        "const uint32_t *data, int64_t dim0);",
        DisagreementCode::DifferentPrototype,
        "futhark_new_i32_1d",
    ),
    (
        "const int32_t *data, int64_t dim0);",
        "int32_t *data, int64_t dim0);",
        DisagreementCode::DifferentPrototype,
        "futhark_new_i32_1d",
    ),
    (
        "const int32_t *data, int64_t dim0);",
        "const int32_t *const data, int64_t dim0);",
        DisagreementCode::DifferentPrototype,
        "futhark_new_i32_1d",
    ),
    (
        "const int32_t f_level",
        "int32_t f_level",
        DisagreementCode::DifferentPrototype,
        "futhark_new_opaque_5e1f",
    ),
    (
        "struct futhark_opaque_minmax **out, const int32_t f_0, const int32_t f_1",
        "struct futhark_opaque_minmax **out, const int32_t f_0",
        DisagreementCode::DifferentPrototype,
        "futhark_new_opaque_minmax",
    ),
    (
        "struct futhark_opaque_minmax **out, const int32_t f_0, const int32_t f_1",
        "const int32_t f_0, struct futhark_opaque_minmax **out, const int32_t f_1",
        DisagreementCode::DifferentPrototype,
        "futhark_new_opaque_minmax",
    ),
    (
        "struct futhark_opaque_minmax **out, const int32_t f_0",
        "struct futhark_opaque_minmax *out, const int32_t f_0",
        DisagreementCode::DifferentPrototype,
        "futhark_new_opaque_minmax",
    ),
    (
        "int64_t i0, int64_t i1);",
        "int64_t i0, int64_t i1, int64_t i2);",
        DisagreementCode::DifferentPrototype,
        "futhark_index_i32_2d",
    ),
    (
        "int64_t dim0, int64_t dim1);",
        "int dim0, int64_t dim1);",
        DisagreementCode::DifferentPrototype,
        "futhark_new_i32_2d",
    ),
    (
        "const int64_t *futhark_shape_bool_1d",
        "int64_t *futhark_shape_bool_1d",
        DisagreementCode::DifferentPrototype,
        "futhark_shape_bool_1d",
    ),
    (
        "int futhark_variant_opaque_state",
        "void futhark_variant_opaque_state",
        DisagreementCode::DifferentPrototype,
        "futhark_variant_opaque_state",
    ),
    (
        "unsigned char *futhark_values_raw_bool_1d",
        "cl_mem futhark_values_raw_bool_1d",
        DisagreementCode::DifferentPrototype,
        "futhark_values_raw_bool_1d",
    ),
    (
        "struct futhark_opaque_state;",
        "",
        DisagreementCode::UndeclaredStruct,
        "futhark_opaque_state",
    ),
    (
        "int futhark_variant_opaque_state(struct futhark_context *ctx, const struct futhark_opaque_state *v);",
        "int futhark_variant_opaque_state(struct futhark_context *ctx, const struct futhark_opaque_state *v);\n\
         int futhark_variant_opaque_state(struct futhark_context *ctx, const struct futhark_opaque_state *v);",
        DisagreementCode::DeclaredTwice,
        "futhark_variant_opaque_state",
    ),
    (
        "#define FUTHARK_BACKEND_c",
        "#define FUTHARK_BACKEND_opencl",
        DisagreementCode::BackendMacroDisagrees,
        "FUTHARK_BACKEND_opencl",
    ),
    (
        "#define FUTHARK_BACKEND_c",
        "#define FUTHARK_BACKEND_c\n#define FUTHARK_BACKEND_webgpu",
        DisagreementCode::BackendMacroDisagrees,
        "FUTHARK_BACKEND_webgpu",
    ),
];

#[test]
fn damaged_headers_disagree() {
    let program = faultless(&fixture("0.25.36"), "0.25.36");
    let whole = header_of(&program);
    for (text, damage, code, name) in DAMAGES {
        assert!(whole.contains(text), "{text}: not in the header");
        let header = Header::parse(&whole.replacen(text, damage, 1));
        let agreement = c::agree(&program, &header);
        let [disagreement] = &agreement.disagreements[..] else {
            panic!("{text} -> {damage}: {:?}", agreement.disagreements);
        };
        assert_eq!(
            (disagreement.code, &*disagreement.name),
            (*code, *name),
            "{text} -> {damage}"
        );
        let told = disagreement.to_string();
        assert!(told.starts_with(code.as_str()), "{told}");
        // A different declaration is reported with its line.
        let found = disagreement.line.map(|line| header_line(&header, line));
        assert_eq!(found.is_some(), disagreement.found.is_some(), "{told}");
        assert!(found.is_none_or(|declared| declared), "{told}");
    }
    for code in DisagreementCode::ALL {
        let mut codes = DAMAGES.iter().map(|(_, _, code, _)| code);
        assert!(
            codes.any(|damage| damage == code),
            "{code}: no damage causes it"
        );
    }
}

fn header_line(header: &Header, line: usize) -> bool {
    header.declarations.iter().any(|one| one.line == line)
        || header.defines.iter().any(|one| one.line == line)
}

/// Dropping a line, or a `const`, a star or a word of a type in a prototype, is detected.
#[test]
fn every_dropped_token_or_line_is_a_disagreement() {
    let program = faultless(&fixture("0.25.36"), "0.25.36");
    let whole = header_of(&program);
    // Skip the macro and the structs that no manifest lists.
    let (start, _) = whole.match_indices('\n').nth(2).expect("three lines");
    let found = |text: &str| !c::agree(&program, &Header::parse(text)).is_full();
    let mut dropped = 0;
    for needle in ["const ", "*", "struct ", "int64_t ", "(", ")", ";", ","] {
        for (at, _) in whole.match_indices(needle).filter(|(at, _)| *at > start) {
            let damaged = format!("{}{}", &whole[..at], &whole[at + needle.len()..]);
            let line = whole[..at].lines().count();
            assert!(found(&damaged), "line {line}: {needle:?} dropped");
            dropped += 1;
        }
    }
    let lines: Vec<&str> = whole.lines().collect();
    for number in 3..lines.len() {
        let mut rest = lines.clone();
        let line = rest.remove(number);
        assert!(found(&rest.join("\n")), "{line} dropped");
    }
    println!(
        "{dropped} words and {} lines dropped, all noticed",
        lines.len() - 3
    );
}

/// A truncated header is parsed up to its end.
#[test]
fn truncated_headers_are_parsed() {
    let program = faultless(&fixture("0.21.13"), "0.21.13");
    let whole = header_of(&program);
    let mut declared = 0;
    for end in 0..whole.len().min(5000) {
        let header = Header::parse(&whole[..end]);
        assert!(header.declarations.len() >= declared && header.unread.len() <= 1);
        declared = header.declarations.len();
    }
    assert!(declared > 10);
}

/// Names of parameters, white space, comments and the order are ignored.
#[test]
fn parameter_names_comments_and_order_are_ignored() {
    let program = faultless(&fixture("0.25.36"), "0.25.36");
    let mut lines: Vec<String> = header_of(&program).lines().map(str::to_owned).collect();
    for line in &mut lines {
        *line = line
            .replace(" *arr", "\n/* the array */ * array")
            .replace("**out", "* * slot");
    }
    lines.reverse();
    let header = Header::parse(&lines.join("\n"));
    assert_eq!(header.unread, []);
    assert_eq!(c::agree(&program, &header).disagreements, []);
}

/// Unlisted array types are distinguished from other declarations, independent of their
/// names.
#[test]
fn unlisted_declarations_are_grouped() {
    let program = faultless(&fixture("0.25.36"), "0.25.36");
    let mut text = header_of(&program);
    text.push_str(
        "struct inner;\n\
         const int64_t *inner_shape(struct futhark_context *ctx, struct inner *arr);\n\
         int inner_free(struct futhark_context *ctx, struct inner *arr);\n\
         struct unknown;\n\
         int unknown_free(struct futhark_context *ctx, struct unknown *obj);\n\
         char *futhark_context_report(struct futhark_context *ctx);\n\
         int futhark_get_tuning_param_count(void);\n\
         void futhark_context_config_set_num_threads(struct futhark_context_config *cfg, int n);\n",
    );
    let agreement = c::agree(&program, &Header::parse(&text));
    assert!(agreement.is_full());
    let beyond: Vec<(Group, &str)> = agreement
        .beyond
        .iter()
        .map(|one| match &one.item {
            BeyondItem::Function(function) => (one.group, &*function.name),
            BeyondItem::Struct(structure) => (one.group, &*structure.tag),
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(
        beyond,
        [
            (Group::Configuration, "futhark_context_config"),
            (Group::Context, "futhark_context"),
            (Group::Tuning, "futhark_get_tuning_param_count"),
            (Group::Profiling, "futhark_context_report"),
            (Group::Backend, "futhark_context_config_set_num_threads"),
            (Group::HiddenArray, "inner"),
            (Group::HiddenArray, "inner_shape"),
            (Group::HiddenArray, "inner_free"),
            (Group::Other, "unknown"),
            (Group::Other, "unknown_free"),
        ]
    );
}

/// The prototypes in a compiler's header equal those of its manifest to the last character, and
/// all other functions are in the table of the library.
fn assert_header_agrees(manifest: &Path) {
    let what = manifest.display();
    let program = faultless(&read(manifest), &what);
    let text = read(&manifest.with_extension("h"));
    let header = Header::parse(&text);
    assert_eq!(header.unread, [], "{what}");
    assert_eq!(header.backend(), Some(program.backend), "{what}");
    let agreement = c::agree(&program, &header);
    assert_eq!(agreement.disagreements, [], "{what}");
    assert!(agreement.is_full(), "{what}: {:?}", agreement.beyond);
    for code in c::ERROR_CODES {
        let value = code.value.to_string();
        let mut defines = header.defines.iter();
        assert!(
            defines.any(|one| one.name == code.name && one.value == value),
            "{what}: {code:?}"
        );
    }

    let version = program
        .version
        .number
        .expect("compilers state their version");
    let library = c::library().iter();
    let library = library.filter(|one| one.exists(program.backend, version) != Some(false));
    let listed: HashSet<&str> = program.functions().map(|one| one.name).collect();
    let mut expected: BTreeSet<String> = program.prototypes().map(|one| one.to_string()).collect();
    expected.extend(library.map(|one| nameless(&one.declaration)));
    let declared = header.declarations.iter().map(|one| {
        // The names of parameters of library functions depend on the compiler.
        if listed.contains(&*one.name) {
            text_of_line(&text, one.line)
        } else {
            nameless(one)
        }
    });
    let declared: BTreeSet<String> = declared.collect();
    let over: Vec<_> = declared.difference(&expected).collect();
    let missing: Vec<_> = expected.difference(&declared).collect();
    assert!(
        over.is_empty() && missing.is_empty(),
        "{what}: over {over:#?}, missing {missing:#?}"
    );

    let mut structs: Vec<&str> = header.structs.iter().map(|one| &*one.tag).collect();
    let mut expected: Vec<&str> = program.types().iter().map(|ty| ty.c_ident()).collect();
    expected.extend(["futhark_context", "futhark_context_config"]);
    structs.sort_unstable();
    expected.sort_unstable();
    assert_eq!(structs, expected, "{what}");
}

fn text_of_line(text: &str, line: usize) -> String {
    text.lines()
        .nth(line - 1)
        .expect("the line is there")
        .to_owned()
}

fn nameless(declaration: &c::Declaration) -> String {
    let mut declaration = declaration.clone();
    for parameter in &mut declaration.parameters {
        parameter.name = None;
    }
    declaration.to_string()
}

#[test]
fn headers_of_the_corpus_agree() {
    for manifest in manifests_of_the_corpus() {
        assert_header_agrees(manifest);
    }
}

#[test]
fn headers_of_all_backends_agree() {
    let source = fixtures().join("everything.fut");
    for compiler in compilers() {
        for &backend in Backend::ALL {
            match generate(&compiler, backend, &source) {
                Ok(manifest) => assert_header_agrees(&manifest),
                Err(text) if backend == Backend::Ispc => {
                    // The code generator for ispc runs the ISPC compiler, which is often missing.
                    println!("skipped: {} {backend}: {text}", compiler.display());
                }
                Err(text) => panic!("{} {backend}: {text}", compiler.display()),
            }
        }
    }
}

/// For a C compiler, our prototypes are valid redeclarations of those in the generated header.
#[test]
fn a_c_compiler_accepts_our_prototypes_with_the_header() {
    let cc = || Command::new("cc");
    if cc()
        .arg("--version")
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_err()
    {
        println!("skipped: no C compiler");
        return;
    }
    let source = fixtures().join("everything.fut");
    for compiler in compilers() {
        let manifest = generate(&compiler, Backend::C, &source).expect("it compiles");
        let program = faultless(&read(&manifest), manifest.display());
        let header = manifest.with_extension("h");
        let ours = format!("#include \"{}\"\n{}", header.display(), header_of(&program));
        let file = manifest.with_file_name("redeclared.c");
        let accepts = |text: &str| {
            std::fs::write(&file, text).expect("a writable folder");
            let status = cc()
                .args(["-std=c99", "-fsyntax-only", "-Werror", "-w"])
                .arg(&file)
                .stderr(Stdio::null())
                .status();
            status.expect("it has run before").success()
        };
        assert!(accepts(&ours), "{}", file.display());
        let damaged = ours.replacen("int64_t dim0", "float dim0", 1);
        assert!(!accepts(&damaged), "a wrong prototype was accepted");
    }
}
