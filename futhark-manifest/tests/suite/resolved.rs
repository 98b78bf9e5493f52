//! The JSON of the resolved form: its schema describes every member and every word, and the page has the same content.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;
use std::{env, fs};

use futhark_manifest::Backend;
use futhark_manifest::schema::RESOLVED_SCHEMA;
use serde_json::{Value, json};

use crate::common::{faultless, fixture, read};
use crate::samples;

fn schema() -> Value {
    serde_json::from_str(RESOLVED_SCHEMA).expect("JSON")
}

/// The resolved forms of fixtures and samples, also for a GPU backend.
fn documents() -> Vec<(String, Value)> {
    let programs = samples::programs().into_iter();
    let programs = programs.flat_map(|(file, program)| {
        let mut on_gpu = program.clone();
        on_gpu.backend = Backend::OpenCl;
        [program, on_gpu].map(|program| (file.display().to_string(), program.to_json()))
    });
    programs.collect()
}

/// The schema without the permission to add members.
fn strict(schema: &mut Value) {
    match schema {
        Value::Object(members) => {
            members.values_mut().for_each(strict);
            if members.contains_key("properties") && members.contains_key("description") {
                members.insert("additionalProperties".to_owned(), json!(false));
            }
        }
        Value::Array(items) => items.iter_mut().for_each(strict),
        _ => {}
    }
}

#[test]
fn the_schema_describes_every_member() {
    let schema = schema();
    if let Err(error) = jsonschema::draft202012::meta::validate(&schema) {
        panic!("{error} at {}", error.instance_path());
    }
    let mut exact = schema.clone();
    strict(&mut exact);
    let validator = jsonschema::draft202012::new(&exact).expect("it is valid");
    for (file, document) in documents() {
        let errors = validator.iter_errors(&document);
        let errors: Vec<String> = errors
            .map(|error| format!("{}: {error:.200}", error.instance_path()))
            .collect();
        assert_eq!(errors, [""; 0], "{file}");
    }
    // New members are not an error for readers.
    let lenient = jsonschema::draft202012::new(&schema).expect("it is valid");
    let mut newer = faultless(&fixture("0.26.4"), "0.26.4").to_json();
    newer["types"][0]["later"] = json!(1);
    assert!(lenient.is_valid(&newer) && !validator.is_valid(&newer));
    newer["types"][0]["kind"] = json!("list");
    assert!(!lenient.is_valid(&newer));
}

/// The values of a member anywhere in a document.
fn values(json: &Value, member: &str, found: &mut BTreeSet<String>) {
    match json {
        Value::Object(members) => {
            if let Some(Value::String(text)) = members.get(member) {
                found.insert(text.clone());
            }
            for value in members.values() {
                values(value, member, found);
            }
        }
        Value::Array(items) => items.iter().for_each(|item| values(item, member, found)),
        _ => {}
    }
}

/// No word of the schema is invented: each occurs in a document.
#[test]
fn each_word_of_the_schema_occurs() {
    let (schema, documents) = (schema(), documents());
    for (definition, member) in [
        ("type", "kind"),
        ("function", "operation"),
        ("function", "aliasing"),
        ("function", "returns"),
        ("parameter", "role"),
        ("parameter", "passing"),
        ("result", "form"),
        ("output", "aliasing"),
    ] {
        let mut found = BTreeSet::new();
        for (_, document) in &documents {
            values(document, member, &mut found);
        }
        let property = &schema["$defs"][definition]["properties"][member];
        let words = property["enum"].as_array().or(property["oneOf"].as_array());
        for word in words.expect("an enumeration") {
            let word = word["const"].as_str().or(word.as_str()).expect("a word");
            assert!(found.contains(word), "{definition}.{member}: {word}");
        }
    }
}

/// If set, the test updates the page instead of comparing it.
const UPDATE: &str = "FUTHARK_UPDATE_DOCS";

const BEGIN: &str = "<!-- members -->\n";
const END: &str = "<!-- end -->";

#[test]
fn the_page_has_every_member_and_an_example_of_each_construct() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/resolved.md");
    let old = read(&path);
    let (before, rest) = old.split_once(BEGIN).expect("the members have a beginning");
    let (_, after) = rest.split_once(END).expect("the members have an end");
    let new = format!("{before}{BEGIN}{}{END}{after}", members());
    if env::var_os(UPDATE).is_some() {
        fs::write(&path, new).expect("the file can be written");
    } else {
        assert!(
            old == new,
            "{} is out of date: run this test with {UPDATE}=1",
            path.display()
        );
    }
}

/// The page lists the functions that the assertions know.
#[test]
fn the_page_has_the_functions_of_every_library() {
    let page = read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/resolved.md"));
    let mut program = faultless(&fixture("0.26.4"), "0.26.4");
    for &backend in Backend::ALL {
        program.backend = backend;
        let assertions = program.assertions("prog.h");
        let library = assertions.split("FUTHARK_ASSERT(").filter(|line| {
            line.starts_with("futhark_context_") || line.starts_with("futhark_get_tuning_param_")
        });
        let names: Vec<&str> = library.filter_map(|line| line.split(',').next()).collect();
        assert!(names.len() >= 19, "{names:?}");
        for name in names {
            assert!(page.contains(&format!("{name}(")), "{name}");
        }
    }
}

/// The part of the page that is generated.
fn members() -> String {
    let schema = schema();
    let mut text = String::from("\n");
    section(&mut text, &schema);
    for definition in [
        "compiler",
        "version",
        "interface",
        "scalar",
        "reference",
        "type",
        "field",
        "variant",
        "entry_point",
        "input",
        "output",
        "result",
        "function",
        "parameter",
    ] {
        section(&mut text, &schema["$defs"][definition]);
        if definition == "type" {
            examples_of_types(&mut text);
        }
        if definition == "function" {
            let operation = &schema["$defs"]["function"]["properties"]["operation"];
            operations(&mut text, &operation["oneOf"]);
        }
        if definition == "entry_point" {
            let program = faultless(&fixture("0.26.4"), "0.26.4").to_json();
            text += "The entry point `entry grow (cells: *[]cell) (by: i32): *[]cell`:\n\n";
            example(&mut text, named(&program["entry_points"], "grow"));
        }
    }
    text
}

fn section(text: &mut String, schema: &Value) {
    let word = |key: &str| schema[key].as_str().expect("each definition has it");
    let _ = write!(text, "### {}\n\n{}\n\n", word("title"), word("description"));
    let Some(properties) = schema["properties"].as_object() else {
        return;
    };
    text.push_str("| member | value | |\n|---|---|---|\n");
    // Required members first, in the order of the schema.
    let required = schema["required"].as_array().into_iter().flatten();
    let mut names: Vec<&str> = required.filter_map(Value::as_str).collect();
    let count = names.len();
    names.extend(
        properties
            .keys()
            .filter(|name| {
                !schema["required"]
                    .as_array()
                    .is_some_and(|all| all.contains(&json!(name)))
            })
            .map(String::as_str),
    );
    for (place, name) in names.iter().enumerate() {
        let property = &properties[*name];
        let optional = if place < count { "" } else { " (optional)" };
        let description = property["description"]
            .as_str()
            .expect("each member has one");
        let _ = writeln!(
            text,
            "| `{name}`{optional} | {} | {description} |",
            kind(property)
        );
    }
    text.push('\n');
}

/// The kind of a value in words.
fn kind(schema: &Value) -> String {
    if let Some(target) = schema["$ref"].as_str() {
        let name = target.rsplit('/').next().unwrap_or_default();
        return name.replace('_', " ");
    }
    if let Some(words) = schema["enum"].as_array() {
        let all_words = words
            .iter()
            .map(|word| format!("`{}`", word.to_string().replace('"', "")));
        return all_words.collect::<Vec<_>>().join(", ");
    }
    if schema["oneOf"].is_array() {
        return "a word".to_owned();
    }
    if !schema["const"].is_null() {
        return format!("`{}`", schema["const"]);
    }
    if let Some(kinds) = schema["anyOf"].as_array() {
        return kinds.iter().map(kind).collect::<Vec<_>>().join(" or ");
    }
    match &schema["type"] {
        Value::Array(kinds) => kinds
            .iter()
            .filter_map(Value::as_str)
            .collect::<Vec<_>>()
            .join(" or "),
        kind if kind == "array" => format!("array of {}", self::kind(&schema["items"])),
        kind if kind == "object" && schema["additionalProperties"].is_object() => {
            format!("object of {}", self::kind(&schema["additionalProperties"]))
        }
        kind => kind.as_str().expect("a kind").to_owned(),
    }
}

/// An array of scalars in full, and of each other kind the members that it has beyond those of all types.
fn examples_of_types(text: &mut String) {
    let program = faultless(&fixture("0.26.4"), "0.26.4").to_json();
    let mut array = named(&program["types"], "[]i32").clone();
    array["functions"]
        .as_array_mut()
        .expect("functions")
        .truncate(1);
    text.push_str("An array of scalars, `[]i32`, with the first of its functions only:\n\n");
    example(text, &array);
    text.push_str("The members that only some kinds have, in other types of this program (the kind `opaque` has none):\n\n");
    text.push_str("| type | members |\n|---|---|\n");
    for (title, name) in [
        (
            "`type cell = {level: i32, tags: []i32}`",
            "{level: i32, tags: []i32}",
        ),
        ("`type minmax = (i32, i32)`", "minmax"),
        ("`()`", "()"),
        (
            "`type state = #dead \\| #live cell \\| #shut i32 bool`",
            "state",
        ),
        ("`[]cell`", "[]{level: i32, tags: []i32}"),
        ("`[][]state`", "[][]state"),
    ] {
        let mut members = named(&program["types"], name).clone();
        let object = members.as_object_mut().expect("an object");
        for member in ["name", "doc", "unknown", "c_type", "c_struct", "functions"] {
            object.remove(member);
        }
        let _ = writeln!(text, "| {title} | `{members}` |");
    }
    text.push('\n');
}

/// Each operation with its meaning and a declaration.
fn operations(text: &mut String, words: &Value) {
    let programs = ["0.26.4", "0.25.36"].map(|version| faultless(&fixture(version), version));
    text.push_str("| operation | | for example |\n|---|---|---|\n");
    for word in words.as_array().expect("a list") {
        let name = word["const"].as_str().expect("a word");
        let mut functions = programs.iter().flat_map(|program| {
            let functions = program.functions();
            functions.map(move |function| (function.operation, program.prototype(&function)))
        });
        let (_, prototype) = functions
            .find(|(operation, _)| operation.as_str() == name)
            .expect("each operation occurs");
        let declaration = prototype.to_string();
        let declaration = declaration.replace("struct futhark_context *ctx", "ctx");
        let meaning = word["description"].as_str().expect("each has one");
        let _ = writeln!(text, "| `{name}` | {meaning} | `{declaration}` |");
    }
    text.push('\n');
}

fn named<'j>(list: &'j Value, name: &str) -> &'j Value {
    let items = list.as_array().expect("a list");
    let found = items.iter().find(|item| item["name"] == name);
    found.unwrap_or_else(|| panic!("{name} is listed"))
}

/// Writes an object with a member per line, and an item per line in arrays of objects.
fn example(text: &mut String, json: &Value) {
    text.push_str("```json\n");
    write_json(text, json, 0);
    text.push_str("\n```\n\n");
}

fn write_json(text: &mut String, json: &Value, depth: usize) {
    let short = json.to_string();
    if short.len() + 2 * depth < 110 && depth > 0 {
        text.push_str(&short);
        return;
    }
    let (open, close, items): (_, _, Vec<(String, &Value)>) = match json {
        Value::Object(members) => {
            let members = members
                .iter()
                .map(|(key, value)| (format!("{}: ", json!(key)), value));
            ('{', '}', members.collect())
        }
        Value::Array(items) => (
            '[',
            ']',
            items.iter().map(|item| (String::new(), item)).collect(),
        ),
        _ => {
            text.push_str(&short);
            return;
        }
    };
    text.push(open);
    for (number, (key, value)) in items.iter().enumerate() {
        let comma = if number == 0 { "" } else { "," };
        let _ = write!(text, "{comma}\n{:1$}{key}", "", 2 * (depth + 1));
        write_json(text, value, depth + 1);
    }
    let _ = write!(text, "\n{:1$}{close}", "", 2 * depth);
}
