//! Finds the constructs of a program, in its source, test blocks and manifest.

use super::super::{Construct, Scope, Topic};
use crate::blocks::{Case, Expected, Source, TestBlocks};
use futhark_manifest::{EntryPoint, Manifest, Program, Structure, Type, TypeKind, TypeRef};
use futhark_safe::compile::lexer;
use regex::Regex;
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::LazyLock;

/// The properties of a program that the list has.
pub struct Features {
    pub constructs: BTreeSet<Construct>,
    pub compiles: bool,
    /// The tags of its first test block.
    pub tags: Vec<String>,
}

impl Features {
    pub fn of(source: &str, compiled: Option<&Program>) -> Features {
        let mut found = Found::default();
        let blocks = TestBlocks::parse(source).unwrap_or_default();
        found.blocks(&blocks);
        if let Some(program) = compiled {
            found.program(program);
            found.source(source);
        }
        Features {
            constructs: found.0,
            compiles: compiled.is_some(),
            tags: blocks.tags,
        }
    }
}

#[derive(Default)]
struct Found(BTreeSet<Construct>);

impl Found {
    fn add(&mut self, scope: Scope, topic: Topic, name: impl Into<String>) {
        let name = name.into();
        self.0.insert(Construct { topic, name, scope });
    }

    fn by_compiler(&mut self, topic: Topic, name: impl Into<String>) {
        self.add(Scope::Compiler, topic, name);
    }

    fn program(&mut self, program: &Program) {
        self.by_compiler(Topic::Program, "a program");
        for ty in program.types() {
            self.ty(program, ty);
        }
        for entry in program.entries() {
            self.entry(program, entry);
        }
    }

    fn ty(&mut self, program: &Program, ty: &Type) {
        let opaque = match &ty.kind {
            TypeKind::Array(array) => {
                let rank = ranks(array.rank);
                self.by_compiler(Topic::Array, format!("array of {rank}"));
                self.add(Scope::Device, Topic::Array, "array");
                self.add(
                    Scope::Family,
                    Topic::Array,
                    format!("elements {}", array.elem),
                );
                self.add(
                    Scope::Run,
                    Topic::Array,
                    format!("{} of {rank}", array.elem),
                );
                return;
            }
            TypeKind::Opaque(opaque) => opaque,
        };
        let part = |part: &TypeRef| part_name(program, *part);
        match &opaque.structure {
            Structure::Plain => self.by_compiler(Topic::Opaque, "abstract"),
            Structure::Record(record) => {
                let what = if record.is_tuple() { "tuple" } else { "record" };
                self.by_compiler(Topic::Opaque, what);
                for field in &record.fields {
                    self.add(
                        Scope::Family,
                        Topic::Opaque,
                        format!("{what} with {}", part(&field.ty)),
                    );
                }
            }
            Structure::Sum(sum) => {
                self.by_compiler(Topic::Opaque, "sum");
                for variant in &sum.variants {
                    if variant.payload.is_empty() {
                        self.add(Scope::Family, Topic::Opaque, "variant without payload");
                    }
                    for ty in &variant.payload {
                        self.add(
                            Scope::Family,
                            Topic::Opaque,
                            format!("variant with {}", part(ty)),
                        );
                    }
                }
            }
            Structure::RecordArray(array) => {
                self.by_compiler(Topic::Opaque, "array of records");
                let rank = ranks(array.rank);
                self.add(
                    Scope::Family,
                    Topic::Opaque,
                    format!("array of records of {rank}"),
                );
            }
            Structure::OpaqueArray(array) => {
                self.by_compiler(Topic::Opaque, "array of opaque values");
                let elem = part(&array.elem);
                self.add(Scope::Family, Topic::Opaque, format!("array with {elem}"));
                let rank = ranks(array.rank);
                self.add(
                    Scope::Run,
                    Topic::Opaque,
                    format!("array of opaque values of {rank}"),
                );
            }
        }
        self.add(Scope::Device, Topic::Opaque, "opaque");
        for part in ty.parts() {
            if let TypeRef::Scalar(elem) = part {
                self.add(Scope::Run, Topic::Opaque, format!("component {elem}"));
            }
        }
    }

    fn entry(&mut self, program: &Program, entry: &EntryPoint) {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
        if !entry.name.chars().all(is_plain) {
            self.add(Scope::Family, Topic::Name, "name that C does not have");
        }
        if !entry.tuning_params.is_empty() {
            self.by_compiler(Topic::Tuning, "tuning parameters");
        }
        for attribute in &entry.attributes {
            self.add(Scope::Run, Topic::Entry, format!("attribute {attribute}"));
        }
        if entry.inputs.is_empty() {
            self.by_compiler(Topic::Entry, "no parameters");
        }
        for input in &entry.inputs {
            let name = part_name(program, input.ty);
            if input.is_consumed() {
                self.add(
                    Scope::Family,
                    Topic::Consumption,
                    format!("consumed {name}"),
                );
                self.add(Scope::Device, Topic::Consumption, "consumed");
            } else {
                self.by_compiler(Topic::Entry, format!("parameter: {name}"));
            }
            if let TypeRef::Scalar(elem) = input.ty {
                self.add(Scope::Run, Topic::Entry, format!("parameter {elem}"));
            }
        }
        for output in &entry.outputs {
            let name = part_name(program, output.ty);
            self.by_compiler(Topic::Entry, format!("result: {name}"));
            if let TypeRef::Scalar(elem) = output.ty {
                self.add(Scope::Run, Topic::Entry, format!("result {elem}"));
            }
        }
        if entry.outputs.len() != 1 {
            self.by_compiler(Topic::Entry, "no result or several");
        }
    }

    fn blocks(&mut self, blocks: &TestBlocks) {
        if blocks.compile_error.is_some() {
            self.by_compiler(Topic::Case, "expected compile error");
        }
        if !blocks.warnings.is_empty() {
            self.by_compiler(Topic::Case, "expected warning");
        }
        for tag in &blocks.tags {
            self.add(Scope::Run, Topic::Case, format!("tag {tag}"));
        }
        for case in &blocks.cases {
            self.case(case);
        }
    }

    fn case(&mut self, case: &Case) {
        let input = match &case.input {
            Source::Text(_) => "values",
            Source::File(_) => "file",
            Source::Random(_) => "random input",
            Source::Script(_) => "script",
            Source::ScriptFile(_) => "script file",
        };
        self.add(Scope::Family, Topic::Case, format!("input: {input}"));
        self.notation(&case.input);
        if let Expected::Values(source) = &case.expected {
            self.notation(source);
        }
        match &case.expected {
            Expected::Success => self.add(Scope::Run, Topic::Case, "expected success"),
            Expected::Values(Source::Text(_)) => self.by_compiler(Topic::Case, "expected values"),
            Expected::Values(_) => self.add(Scope::Run, Topic::Case, "expected values in a file"),
            Expected::Auto => self.add(Scope::Family, Topic::Case, "expected automatically"),
            Expected::Error(pattern) => {
                self.by_compiler(Topic::Failure, "expected error");
                self.add(Scope::Device, Topic::Failure, "error on the device");
                self.add(Scope::Run, Topic::Failure, format!("error {pattern}"));
            }
        }
    }

    fn notation(&mut self, source: &Source) {
        static TOKEN: LazyLock<Regex> = LazyLock::new(|| {
            let token = r#"[iuf](?:8|16|32|64)\b|empty|nan|inf|true|false|0[xb]|_|[0-9][eEpP]|"|\[\[|\[|--"#;
            Regex::new(token).expect("a valid expression")
        });
        let (Source::Text(text) | Source::Random(text) | Source::Script(text)) = source else {
            return;
        };
        for token in TOKEN.find_iter(text) {
            let token = token
                .as_str()
                .trim_start_matches(|c: char| c.is_ascii_digit() && c != '0');
            self.add(Scope::Run, Topic::Case, format!("notation {token}"));
        }
    }

    fn source(&mut self, source: &str) {
        static OPERATOR: LazyLock<Regex> = LazyLock::new(|| {
            Regex::new(&format!(r"^(?:{OPERATORS}|\+\+)$")).expect("a valid expression")
        });
        for [before, token] in lexer::pairs(source) {
            if before.text == "#[" {
                self.add(Scope::Family, Topic::Operator, format!("#[{}", token.text));
            } else if OPERATOR.is_match(token.text) {
                let name = token.text.trim_end_matches(|c: char| c.is_ascii_digit());
                self.add(Scope::Family, Topic::Operator, name);
            }
        }
    }
}

/// Functions of Futhark's prelude and keywords for which the compiler generates code of different
/// kinds. `map2` and the like count as `map`.
const OPERATORS: &str = "map[2-5]?|zip[2-5]?|unzip[2-5]?|reduce|reduce_comm|scan|filter|partition[2-3]?|hist|\
    reduce_by_index(?:_2d|_3d)?|scatter(?:_2d|_3d)?|accumulate|iota|replicate|rotate|transpose|reverse|concat|\
    flatten(?:_3d|_4d)?|unflatten(?:_3d|_4d)?|tabulate(?:_2d|_3d)?|take|drop|split|head|last|foldl|foldr|\
    loop|while|if|match|with|assert|vjp|jvp|opaque|copy|manifest|sized";

fn ranks(rank: usize) -> String {
    match rank {
        1 | 2 => format!("rank {rank}"),
        _ => "rank 3 or more".to_owned(),
    }
}

/// The kind of a field, a payload, a parameter or a result.
fn part_name(program: &Program, part: TypeRef) -> &'static str {
    let TypeRef::Type(id) = part else {
        return "scalar";
    };
    match &program.get(id).kind {
        TypeKind::Array(_) => "array",
        TypeKind::Opaque(opaque) => match &opaque.structure {
            Structure::Plain => "abstract",
            Structure::Record(record) if record.is_tuple() => "tuple",
            Structure::Record(_) => "record",
            Structure::Sum(_) => "sum",
            Structure::RecordArray(_) => "array of records",
            Structure::OpaqueArray(_) => "array of opaque values",
        },
    }
}

#[test]
fn constructs_come_from_manifest_test_blocks_and_source() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../futhark-manifest/tests/fixtures");
    let manifest = std::fs::read_to_string(folder.join("0.25.31.json")).unwrap();
    let program = Manifest::parse(&manifest)
        .and_then(Manifest::into_program)
        .unwrap();
    let source = "-- ==\n-- entry: f\n-- input { 1 } error: wrong\nentry f = map2 (+--) #[unroll] loop -- scan\n\
         #[attr(\"a filter --\")] def map' x = '\"' ++ take' #drop\n";
    let features = Features::of(source, Some(&program));
    let names: Vec<&str> = features
        .constructs
        .iter()
        .map(|c| c.name.as_str())
        .collect();
    for name in [
        "sum",
        "record",
        "array of records",
        "input: values",
        "expected error",
        "map",
        "loop",
        "#[unroll",
        "#[attr",
        "++",
    ] {
        assert!(names.contains(&name), "{name} is missing in {names:?}");
    }
    for name in ["scan", "filter", "take", "drop"] {
        assert!(!names.contains(&name), "{name}");
    }
}
