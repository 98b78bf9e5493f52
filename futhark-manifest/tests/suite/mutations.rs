//! Every change of a valid manifest is detected at the right depth: when the text is read, by
//! the schema, by the consistency rules, or by the C compiler, which compares the assertions with the header.
//!
//! Every node of a manifest is changed in every way that is listed here. Changes that cannot be
//! detected are listed with the reason.

use std::collections::{BTreeMap, HashSet};
use std::mem::discriminant;

use futhark_manifest::{Code, Manifest, schema};
use serde_json::{Value, json};

use crate::common::{faultless, pointers};
use crate::schema::whole;

/// The first depth that finds a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Depth {
    Text,
    Schema,
    Semantics,
    Header,
    Nowhere,
}

struct Base {
    json: Value,
    /// The assertions that hold for the header of the manifest.
    assertions: HashSet<String>,
}

impl Base {
    /// Every member that any version writes.
    fn new() -> Base {
        let mut json = whole();
        json["entry_points"]["split"]["cfun"] = json!("futhark_entry_split");
        let program = faultless(&json.to_string(), "every member");
        Base {
            json,
            assertions: program.assertions("h").lines().map(str::to_owned).collect(),
        }
    }

    fn depth(&self, text: &str) -> Depth {
        let parsed = Manifest::parse(text);
        let by_text = [Code::NotJson, Code::DuplicateMember];
        if parsed.as_ref().is_err_and(|e| by_text.contains(&e.code())) {
            return Depth::Text;
        }
        let json = serde_json::from_str(text).expect("it is JSON");
        if schema::validate(&json).is_err() {
            return Depth::Schema;
        }
        let manifest = parsed.expect("what the schema accepts is read");
        if !manifest.check().is_empty() {
            return Depth::Semantics;
        }
        let program = manifest.resolve().expect("there is no finding");
        // The assertions are exact: others do not hold for the same header.
        let assertions = program.assertions("h");
        if assertions
            .lines()
            .any(|line| !self.assertions.contains(line))
        {
            return Depth::Header;
        }
        Depth::Nowhere
    }
}

fn parent(pointer: &str) -> (&str, String) {
    let (parent, key) = pointer.rsplit_once('/').expect("not the top");
    (parent, key.replace("~1", "/").replace("~0", "~"))
}

/// A way to change a node: returns the new text, or `None` if it does not apply to the node.
type Mutation = fn(&Value, &str) -> Option<String>;

const MUTATIONS: &[(&str, Mutation)] = &[
    ("delete a member", |json, at| {
        edit_object(json, at, |members, key| drop(members.remove(key)))
    }),
    ("delete an item", |json, at| {
        edit_array(json, at, |items, n| drop(items.remove(n)))
    }),
    ("rename a member", |json, at| {
        edit_object(json, at, |members, key| {
            let value = members.remove(key).expect("it is there");
            members.insert(format!("{key}_"), value);
        })
    }),
    ("a member in two spellings", |json, at| {
        edit_object(json, at, |members, key| {
            let value = members[key].clone();
            members.insert(format!("{key}_"), value);
        })
    }),
    ("a member twice", |json, at| {
        // Only text can have duplicate members.
        let marked = edit_object(json, at, |members, key| {
            let value = members[key].clone();
            members.insert("\u{1}".to_owned(), value);
        })?;
        let (_, key) = parent(at);
        Some(marked.replace("\"\\u0001\"", &json!(key).to_string()))
    }),
    ("an item twice", |json, at| {
        edit_array(json, at, |items, n| items.insert(n, items[n].clone()))
    }),
    ("exchange two items", |json, at| {
        let mut changed = false;
        let text = edit_array(json, at, |items, n| {
            changed = n > 0 && items[n] != items[n - 1];
            items.swap(n, n.saturating_sub(1));
        })?;
        changed.then_some(text)
    }),
    ("an unknown member", |json, at| {
        let mut json = json.clone();
        json.pointer_mut(at)?
            .as_object_mut()?
            .insert("later".into(), json!([1]));
        Some(json.to_string())
    }),
    ("null", |json, at| retype(json, at, json!(null))),
    ("a truth value", |json, at| retype(json, at, json!(true))),
    ("a number", |json, at| retype(json, at, json!(3))),
    ("a fraction", |json, at| retype(json, at, json!(1.5))),
    ("a text", |json, at| retype(json, at, json!("text"))),
    ("an array", |json, at| retype(json, at, json!([]))),
    ("an object", |json, at| retype(json, at, json!({}))),
    ("another truth value", |json, at| {
        match json.pointer(at)? {
            Value::Bool(truth) => replace(json, at, json!(!truth)),
            _ => None,
        }
    }),
    ("one more", |json, at| {
        let number = json.pointer(at)?.as_u64()?;
        replace(json, at, json!(number + 1))
    }),
    ("nought", |json, at| {
        json.pointer(at)?
            .as_u64()
            .and_then(|_| replace(json, at, json!(0)))
    }),
    ("a huge number", |json, at| {
        json.pointer(at)?
            .as_u64()
            .and_then(|_| replace(json, at, json!(u64::MAX)))
    }),
    ("a longer text", |json, at| {
        let text = json.pointer(at)?.as_str()?;
        replace(json, at, json!(format!("{text}x")))
    }),
    ("no text", |json, at| {
        json.pointer(at)?
            .as_str()
            .and_then(|_| replace(json, at, json!("")))
    }),
    ("a text that C would run", |json, at| {
        json.pointer(at)?.as_str()?;
        replace(json, at, json!("f(); system(\"\")"))
    }),
    ("another C function's name", |json, at| {
        let other = json!("futhark_entry_range");
        let is_name = json.pointer(at)?.as_str()?.starts_with("futhark_");
        (is_name && json.pointer(at)? != &other).then(|| replace(json, at, other))?
    }),
    ("another type", |json, at| {
        let (_, key) = parent(at);
        let text = json.pointer(at)?.as_str()?;
        let is_type = ["type", "elemtype"].contains(&&*key) || at.contains("/payload/");
        let other = if text == "i64" { "u16" } else { "i64" };
        is_type.then(|| replace(json, at, json!(other)))?
    }),
    ("nothing in it", |json, at| match json.pointer(at)? {
        Value::Array(items) if !items.is_empty() => replace(json, at, json!([])),
        Value::Object(members) if !members.is_empty() => replace(json, at, json!({})),
        _ => None,
    }),
];

fn edit_object(
    json: &Value,
    at: &str,
    edit: impl FnOnce(&mut serde_json::Map<String, Value>, &str),
) -> Option<String> {
    let mut json = json.clone();
    let (parent, key) = parent(at);
    edit(json.pointer_mut(parent)?.as_object_mut()?, &key);
    Some(json.to_string())
}

fn edit_array(json: &Value, at: &str, edit: impl FnOnce(&mut Vec<Value>, usize)) -> Option<String> {
    let mut json = json.clone();
    let (parent, key) = parent(at);
    edit(json.pointer_mut(parent)?.as_array_mut()?, key.parse().ok()?);
    Some(json.to_string())
}

fn replace(json: &Value, at: &str, value: Value) -> Option<String> {
    let mut json = json.clone();
    *json.pointer_mut(at)? = value;
    Some(json.to_string())
}

/// A value of another JSON type.
fn retype(json: &Value, at: &str, value: Value) -> Option<String> {
    let kind = |value: &Value| (discriminant(value), value.is_f64());
    let old = json.pointer(at)?;
    (kind(old) != kind(&value)).then(|| replace(json, at, value))?
}

/// Why a change cannot be detected: the C code does not contain the changed value, and nothing
/// else in the manifest depends on it.
fn invisible(mutation: &str, at: &str) -> Option<&'static str> {
    let steps: Vec<&str> = at.split('/').skip(1).collect();
    let is = |pattern: &[&str]| {
        let fits = |(own, want): (&&str, &&str)| *want == "*" || own == want;
        steps.len() == pattern.len() && steps.iter().zip(pattern).all(fits)
    };
    let deleted = ["delete a member", "nothing in it"].contains(&mutation);
    let text = ["a longer text", "no text", "a text that C would run"].contains(&mutation);
    let listed = ["delete an item", "an item twice", "exchange two items"].contains(&mutation);

    let free_text = [
        &["entry_points", "*", "doc"][..],
        &["types", "*", "doc"],
        &["entry_points", "*", "attributes", "*"],
        &["entry_points", "*", "tuning_params", "*"],
    ];
    let optional = [
        &["entry_points", "*", "doc"][..],
        &["types", "*", "doc"],
        &["entry_points", "*", "attributes"],
        &["entry_points", "*", "tuning_params"],
    ];
    if mutation == "a longer text" && is(&["version"]) {
        return Some("only its beginning counts");
    }
    if (text || listed) && free_text.iter().any(|pattern| is(pattern)) {
        return Some("free text");
    }
    if deleted && optional.iter().any(|pattern| is(pattern)) {
        return Some("older compilers do not write it");
    }
    if text && is(&["entry_points", "*", "inputs", "*", "name"]) {
        return Some("names of parameters are not in C");
    }
    if mutation == "another truth value" && steps.last() == Some(&"unique") {
        return Some("consumption is not in C types");
    }
    if mutation == "rename a member" && is(&["entry_points", "*"]) {
        return Some(NAME);
    }
    let structures = ["record", "sum", "record_array", "opaque_array"];
    let fewer = match mutation {
        "nothing in it" => is(&["entry_points"]),
        "delete a member" => {
            let structure = is(&["types", "*", "*"]) && structures.contains(&steps[2]);
            is(&["entry_points", "*"]) || (structure && !CELL_FIELDS.starts_with(at))
        }
        "delete an item" => is(&["types", "*", "sum", "variants", "*"]),
        _ => false,
    };
    if fewer {
        return Some("no assertion fails if the header declares more functions");
    }
    let gone = ["delete a member", "rename a member"].contains(&mutation);
    if gone && is(&["types", "[]bool"]) {
        return Some("nothing refers to it, and headers may declare arrays of their own");
    }
    if text && of_a_part(at) && !at.starts_with(CELL_FIELDS) {
        return Some(NAME);
    }
    None
}

const NAME: &str = "the Futhark name is not in the C code";

/// Whether this is the name of a field of a record or of a variant.
fn of_a_part(at: &str) -> bool {
    at.ends_with("/name") && (at.contains("/record/fields/") || at.contains("/sum/variants/"))
}

/// The fields of a record that has an array type, whose field names must agree.
const CELL_FIELDS: &str = "/types/{level: i32, tags: []i32}/record/fields";

#[test]
fn every_change_is_found_at_the_expected_depth() {
    let base = Base::new();
    assert_eq!(base.depth(&base.json.to_string()), Depth::Nowhere);
    let nodes = pointers(&base.json).split_off(1); // not the top
    let mut table: BTreeMap<&str, [usize; 5]> = BTreeMap::new();
    let mut reasons: BTreeMap<&str, usize> = BTreeMap::new();
    let mut wrong = Vec::new();
    for &(name, mutation) in MUTATIONS {
        for at in &nodes {
            let Some(text) = mutation(&base.json, at) else {
                continue;
            };
            let depth = base.depth(&text);
            table.entry(name).or_default()[depth as usize] += 1;
            match (depth, invisible(name, at)) {
                (Depth::Nowhere, Some(reason)) => *reasons.entry(reason).or_default() += 1,
                (Depth::Nowhere, None) => wrong.push(format!("{name} at {at}: not found")),
                (_, Some(NAME)) if of_a_part(at) => {} // by the order of the parts
                (_, Some(reason)) => wrong.push(format!("{name} at {at}: found, but {reason}")),
                (_, None) => {}
            }
        }
    }
    println!("{:28} text schema semantics header nowhere", "");
    for (name, [text, schema, semantics, header, nowhere]) in &table {
        println!("{name:28} {text:4} {schema:6} {semantics:9} {header:6} {nowhere:7}");
    }
    for (reason, count) in &reasons {
        println!("found nowhere, {count} times: {reason}");
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert_eq!(table.len(), MUTATIONS.len(), "each kind applies somewhere");
}
