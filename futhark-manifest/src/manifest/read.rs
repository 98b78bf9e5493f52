//! The reading stage: from text to a [`Manifest`]; written by hand, so that every error has its place.
//!
//! Known members are removed from each object one by one; the remaining ones are kept as unknown.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt;

use serde_core::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

use crate::elem::ElemType;
use crate::manifest::finding::{Code, Error, Finding, Path, describe, quote};
use crate::manifest::model::{
    ArrayOps, ArrayType, EntryPoint, Field, Input, Manifest, OpaqueArray, OpaqueOps, OpaqueType,
    Output, Outputs, Record, RecordArray, Structure, Sum, Type, TypeKind, Unknown, Variant,
};
use crate::text::alternatives;

/// The `format` of the resolved form, which `futhark-manifest resolve` prints.
pub(crate) const RESOLVED_FORMAT: &str = "futhark-manifest-resolved";

const FUNCTION: &str = "the name of a C function";
const TYPE_NAME: &str = "the name of a type";
const RANK: &str = "a positive integer";

type Result<T> = std::result::Result<T, Finding>;

pub(crate) fn manifest(text: &[u8]) -> std::result::Result<Manifest, Error> {
    let mut parts = Parts::default();
    let top = object(text, &mut |path, value| {
        let read = parts.read(path, value);
        if let (Err(finding), None) = (read, &parts.failed) {
            parts.failed = Some(finding);
        }
    })?;
    Ok(document(top, parts)?)
}

/// The types and entry points read so far.
#[derive(Default)]
struct Parts {
    types: BTreeMap<String, Type>,
    entry_points: BTreeMap<String, EntryPoint>,
    /// The first that could not be read.
    failed: Option<Finding>,
}

impl Parts {
    fn read(&mut self, path: &Path<'_>, value: Value) -> Result<()> {
        let Path::Key(section, name) = *path else {
            unreachable!("only members are given");
        };
        match section {
            Path::Key(_, "types") => drop(self.types.insert(name.to_owned(), r#type(value, path)?)),
            _ => {
                let entry = entry_point(value, path)?;
                self.entry_points.insert(name.to_owned(), entry);
            }
        }
        Ok(())
    }
}

/// Reads the text of an object.
///
/// Rejects duplicate members, since JSON readers disagree on which one counts, and anything but an object at
/// the top, before reading it. serde_json rejects JSON that is nested deeper than 128 levels.
///
/// A tree needs many times the memory of its text. Therefore the members of the objects `types` and
/// `entry_points` are passed to `sink` one by one and left out of the result.
pub(crate) fn object(text: &[u8], sink: &mut Sink<'_>) -> std::result::Result<Value, Error> {
    let reading = Reading {
        refused: RefCell::new(None),
        sink: RefCell::new(sink),
    };
    let root = Tree {
        path: Path::Root,
        reading: &reading,
    };
    let mut deserializer = serde_json::Deserializer::from_slice(text);
    let tree = root.deserialize(&mut deserializer);
    let read = tree.and_then(|tree| deserializer.end().map(|()| tree));
    read.map_err(|error| match reading.refused.into_inner() {
        Some(finding) => finding.into(),
        None => not_json(text, &error).into(),
    })
}

/// Receives the members of `types` and `entry_points`.
type Sink<'s> = dyn FnMut(&Path<'_>, Value) + 's;

/// The state that all parts of a tree share while it is read.
struct Reading<'r, 's> {
    /// Why valid JSON was refused.
    refused: RefCell<Option<Finding>>,
    sink: RefCell<&'r mut Sink<'s>>,
}

struct Tree<'a, 'r, 's> {
    path: Path<'a>,
    reading: &'a Reading<'r, 's>,
}

impl Tree<'_, '_, '_> {
    fn refuse<E: serde_core::de::Error>(&self, finding: Finding) -> E {
        *self.reading.refused.borrow_mut() = Some(finding);
        E::custom("refused")
    }

    /// Returns the value, unless it is the whole document, which must be an object.
    fn part<E: serde_core::de::Error>(
        &self,
        value: Value,
        what: &str,
    ) -> std::result::Result<Value, E> {
        match self.path {
            Path::Root => Err(self.refuse(not_a_manifest(what))),
            Path::Key(..) | Path::Index(..) => Ok(value),
        }
    }
}

impl<'de> DeserializeSeed<'de> for Tree<'_, '_, '_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(
        self,
        deserializer: D,
    ) -> std::result::Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Tree<'_, '_, '_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> std::result::Result<Value, A::Error> {
        let reading = self.reading;
        let is_section = matches!(self.path, Path::Key(Path::Root, "types" | "entry_points"));
        let mut members = Map::new();
        while let Some(key) = map.next_key::<String>()? {
            let path = self.path.key(&key);
            if members.contains_key(&key) {
                let again =
                    Finding::new(Code::DuplicateMember, &path, "each member once", "it again");
                return Err(self.refuse(again));
            }
            let mut value = map.next_value_seed(Tree { path, reading })?;
            if is_section {
                // Keep the name, to detect a duplicate.
                (reading.sink.borrow_mut())(&path, value.take());
            }
            members.insert(key, value);
        }
        if is_section {
            members = Map::new();
        }
        Ok(Value::Object(members))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> std::result::Result<Value, A::Error> {
        // Reject an array at the top without reading it, because it can be long.
        self.part::<A::Error>(Value::Null, "an array")?;
        let mut items = Vec::new();
        loop {
            let path = self.path.index(items.len());
            let reading = self.reading;
            match seq.next_element_seed(Tree { path, reading })? {
                Some(item) => items.push(item),
                None => return Ok(Value::Array(items)),
            }
        }
    }

    fn visit_bool<E: serde_core::de::Error>(self, value: bool) -> std::result::Result<Value, E> {
        self.part(Value::Bool(value), "a truth value")
    }

    fn visit_i64<E: serde_core::de::Error>(self, value: i64) -> std::result::Result<Value, E> {
        self.part(value.into(), "a number")
    }

    fn visit_u64<E: serde_core::de::Error>(self, value: u64) -> std::result::Result<Value, E> {
        self.part(value.into(), "a number")
    }

    fn visit_f64<E: serde_core::de::Error>(self, value: f64) -> std::result::Result<Value, E> {
        self.part(value.into(), "a number")
    }

    fn visit_str<E: serde_core::de::Error>(self, value: &str) -> std::result::Result<Value, E> {
        self.visit_string(value.to_owned())
    }

    fn visit_string<E: serde_core::de::Error>(
        self,
        value: String,
    ) -> std::result::Result<Value, E> {
        self.part(Value::String(value), "a string")
    }

    fn visit_unit<E: serde_core::de::Error>(self) -> std::result::Result<Value, E> {
        self.part(Value::Null, "null")
    }
}

fn not_json(text: &[u8], error: &serde_json::Error) -> Finding {
    let said = error.to_string();
    let found = match other_file(text) {
        Some(found) => found.to_owned(),
        None if error.is_eof() => format!("an incomplete file ({said})"),
        None => format!("invalid JSON ({said})"),
    };
    Finding::new(Code::NotJson, &Path::Root, "a manifest in JSON", found)
}

/// Recognizes files that users pass by mistake, and encodings that their tools produce.
fn other_file(text: &[u8]) -> Option<&'static str> {
    let code = "C code: the manifest is the file prog.json next to prog.c and prog.h";
    let program = "a Futhark program: `futhark c --library prog.fut` makes its manifest, prog.json";
    let starts = |words: &[&str]| words.iter().any(|word| text.starts_with(word.as_bytes()));
    Some(match text {
        [] => "an empty file",
        _ if text.iter().all(u8::is_ascii_whitespace) => "nothing but white space",
        [0xef, 0xbb, 0xbf, ..] => "a byte order mark before it, which JSON does not allow",
        [0xff, 0xfe, 0, 0, ..] | [0, 0, 0xfe, 0xff, ..] | [_, 0, 0, 0, ..] | [0, 0, 0, _, ..] => {
            "text in UTF-32: convert it to UTF-8"
        }
        [0xff, 0xfe, ..] | [0xfe, 0xff, ..] | [b'{', 0, ..] | [0, b'{', ..] => {
            "text in UTF-16: convert it to UTF-8"
        }
        [0x1f, 0x8b, ..] => "data compressed by gzip",
        _ if text.contains(&0) => "binary data",
        _ if std::str::from_utf8(text).is_err() => "text that is not UTF-8",
        _ if starts(&["#", "/*", "//"]) => code,
        _ if starts(&[
            "--", "entry ", "def ", "let ", "type ", "module ", "import ", "open ",
        ]) =>
        {
            program
        }
        _ => return None,
    })
}

fn not_a_manifest(found: impl Into<String>) -> Finding {
    let expected = "an object with \"backend\", \"entry_points\" and \"types\" \
                    (written by `futhark c --library`)";
    Finding::new(Code::NotAManifest, &Path::Root, expected, found)
}

/// Builds the manifest from the top object and the types and entry points.
fn document(json: Value, parts: Parts) -> Result<Manifest> {
    let root = Path::Root;
    let known = ["backend", "entry_points", "types"];
    let has_any = |members: &Map<String, Value>| known.iter().any(|key| members.contains_key(*key));
    if !json.as_object().is_some_and(has_any) {
        return Err(not_a_manifest(describe(&json)));
    }
    if json["format"] == RESOLVED_FORMAT {
        let found = "a resolved document, which `futhark-manifest resolve` prints";
        return Err(not_a_manifest(found));
    }
    if let Some(finding) = parts.failed {
        return Err(finding);
    }
    let mut top = Object::new(json, &root, "an object")?;
    Ok(Manifest {
        backend: top.string("backend", "the name of a backend")?,
        version: top.optional_string("version", "the compiler's version")?,
        types: top.object("types", "an object", |_| Ok(parts.types))?,
        entry_points: top.object("entry_points", "an object", |_| Ok(parts.entry_points))?,
        unknown: top.rest(),
    })
}

fn entry_point(value: Value, path: &Path<'_>) -> Result<EntryPoint> {
    let mut entry = Object::new(value, path, "an entry point (an object)")?;
    let outputs = match (entry.has("outputs"), entry.has("output")) {
        (true, true) => {
            let expected = "either \"outputs\" or \"output\"";
            return Err(Finding::new(Code::Ambiguous, path, expected, "both"));
        }
        (false, true) => {
            let value = entry.required("output", "a result")?;
            Outputs::Single(output(value, &path.key("output"))?)
        }
        // If both are missing, the error names the older spelling, `outputs`.
        (_, false) => Outputs::Several(entry.list("outputs", "an array of results", output)?),
    };
    Ok(EntryPoint {
        cfun: entry.string("cfun", FUNCTION)?,
        inputs: entry.list("inputs", "an array of parameters", input)?,
        outputs,
        tuning_params: entry.strings("tuning_params", "the name of a tuning parameter")?,
        attributes: entry.strings("attributes", "an attribute")?,
        doc: entry.optional_string("doc", "a string")?,
        unknown: entry.rest(),
    })
}

fn input(value: Value, path: &Path<'_>) -> Result<Input<String>> {
    let mut input = Object::new(value, path, "a parameter (an object)")?;
    Ok(Input {
        name: input.string("name", "the name of a parameter")?,
        ty: input.string("type", TYPE_NAME)?,
        unique: input.bool("unique")?,
        unknown: input.rest(),
    })
}

fn output(value: Value, path: &Path<'_>) -> Result<Output<String>> {
    let mut output = Object::new(value, path, "a result (an object)")?;
    Ok(Output {
        ty: output.string("type", TYPE_NAME)?,
        unique: output.bool("unique")?,
        unknown: output.rest(),
    })
}

fn r#type(value: Value, path: &Path<'_>) -> Result<Type> {
    let mut object = Object::new(value, path, "a type (an object)")?;
    let expected = "\"array\" or \"opaque\"";
    let kind = match object.string("kind", expected)?.as_str() {
        "array" => TypeKind::Array(array(&mut object)?),
        "opaque" => TypeKind::Opaque(opaque(&mut object)?),
        other => {
            let path = path.key("kind");
            return Err(Finding::new(
                Code::UnknownValue,
                &path,
                expected,
                quote(other),
            ));
        }
    };
    Ok(Type {
        ctype: object.string("ctype", "a C type")?,
        kind,
        doc: object.optional_string("doc", "a string")?,
        unknown: object.rest(),
    })
}

fn array(object: &mut Object<'_>) -> Result<ArrayType> {
    let rank = object.rank()?;
    let name = object.string("elemtype", "the name of a scalar type")?;
    let Some(elem) = ElemType::from_name(&name) else {
        let names: Vec<&str> = ElemType::ALL.iter().map(|elem| elem.as_str()).collect();
        let path = object.path.key("elemtype");
        let (code, expected) = (Code::UnknownValue, alternatives(&names));
        return Err(Finding::new(code, &path, expected, quote(&name)));
    };
    let ops = object.object("ops", "the array's C functions (an object)", |mut ops| {
        Ok(ArrayOps {
            free: ops.string("free", FUNCTION)?,
            shape: ops.string("shape", FUNCTION)?,
            values: ops.string("values", FUNCTION)?,
            new: ops.string("new", FUNCTION)?,
            index: ops.optional_string("index", FUNCTION)?,
            new_raw: ops.optional_string("new_raw", FUNCTION)?,
            values_raw: ops.optional_string("values_raw", FUNCTION)?,
            unknown: ops.rest(),
        })
    })?;
    Ok(ArrayType { elem, rank, ops })
}

fn opaque(object: &mut Object<'_>) -> Result<OpaqueType<String>> {
    let ops = object.object("ops", "the type's C functions (an object)", |mut ops| {
        Ok(OpaqueOps {
            free: ops.string("free", FUNCTION)?,
            store: ops.optional_string("store", FUNCTION)?,
            restore: ops.optional_string("restore", FUNCTION)?,
            unknown: ops.rest(),
        })
    })?;
    Ok(OpaqueType {
        ops,
        structure: structure(object)?,
    })
}

fn structure(object: &mut Object<'_>) -> Result<Structure<String>> {
    let keys = ["record", "sum", "record_array", "opaque_array"];
    let present: Vec<&str> = keys.into_iter().filter(|key| object.has(key)).collect();
    match present[..] {
        [] => Ok(Structure::Plain),
        ["record"] => object
            .object("record", "a record (an object)", record)
            .map(Structure::Record),
        ["sum"] => object
            .object("sum", "a sum type (an object)", sum)
            .map(Structure::Sum),
        ["record_array"] => object
            .object(
                "record_array",
                "an array of records (an object)",
                record_array,
            )
            .map(Structure::RecordArray),
        ["opaque_array"] => object
            .object(
                "opaque_array",
                "an array of opaques (an object)",
                opaque_array,
            )
            .map(Structure::OpaqueArray),
        _ => {
            let expected = format!("at most one of {}", keys.join(", "));
            let found = present.join(" and ");
            Err(Finding::new(Code::Ambiguous, object.path, expected, found))
        }
    }
}

fn record(mut object: Object<'_>) -> Result<Record<String>> {
    Ok(Record {
        fields: fields(&mut object)?,
        new: object.string("new", FUNCTION)?,
        unknown: object.rest(),
    })
}

fn sum(mut object: Object<'_>) -> Result<Sum<String>> {
    Ok(Sum {
        variant: object.string("variant", FUNCTION)?,
        variants: object.list("variants", "an array of variants", variant)?,
        unknown: object.rest(),
    })
}

fn variant(value: Value, path: &Path<'_>) -> Result<Variant<String>> {
    let mut variant = Object::new(value, path, "a variant (an object)")?;
    Ok(Variant {
        name: variant.string("name", "the name of a variant")?,
        construct: variant.string("construct", FUNCTION)?,
        destruct: variant.string("destruct", FUNCTION)?,
        payload: variant.list("payload", "an array of type names", |v, p| {
            string(v, p, TYPE_NAME)
        })?,
        unknown: variant.rest(),
    })
}

fn record_array(mut object: Object<'_>) -> Result<RecordArray<String>> {
    Ok(RecordArray {
        rank: object.rank()?,
        elem: object.string("elemtype", TYPE_NAME)?,
        fields: fields(&mut object)?,
        zip: object.string("zip", FUNCTION)?,
        index: object.string("index", FUNCTION)?,
        shape: object.string("shape", FUNCTION)?,
        new: object.optional_string("new", FUNCTION)?,
        set: object.optional_string("set", FUNCTION)?,
        unknown: object.rest(),
    })
}

fn opaque_array(mut object: Object<'_>) -> Result<OpaqueArray<String>> {
    Ok(OpaqueArray {
        rank: object.rank()?,
        elem: object.string("elemtype", TYPE_NAME)?,
        index: object.string("index", FUNCTION)?,
        shape: object.string("shape", FUNCTION)?,
        new: object.optional_string("new", FUNCTION)?,
        set: object.optional_string("set", FUNCTION)?,
        unknown: object.rest(),
    })
}

fn fields(object: &mut Object<'_>) -> Result<Vec<Field<String>>> {
    object.list("fields", "an array of fields", |value, path| {
        let mut field = Object::new(value, path, "a field (an object)")?;
        Ok(Field {
            name: field.string("name", "the name of a field")?,
            ty: field.string("type", TYPE_NAME)?,
            project: field.string("project", FUNCTION)?,
            unknown: field.rest(),
        })
    })
}

fn string(value: Value, path: &Path<'_>, expected: &str) -> Result<String> {
    match value {
        Value::String(text) => Ok(text),
        other => Err(wrong_type(path, expected, &other)),
    }
}

fn wrong_type(path: &Path<'_>, expected: &str, found: &Value) -> Finding {
    Finding::new(Code::WrongType, path, expected, describe(found))
}

/// A JSON object whose members are removed as they are read, with its place.
struct Object<'a> {
    members: Map<String, Value>,
    path: &'a Path<'a>,
}

impl<'a> Object<'a> {
    fn new(value: Value, path: &'a Path<'a>, expected: &str) -> Result<Self> {
        match value {
            Value::Object(members) => Ok(Object { members, path }),
            other => Err(wrong_type(path, expected, &other)),
        }
    }

    fn has(&self, key: &str) -> bool {
        self.members.contains_key(key)
    }

    /// The remaining, unknown members.
    fn rest(self) -> Unknown {
        // A map that has become empty still holds memory for eleven members.
        if self.members.is_empty() {
            Unknown::new()
        } else {
            self.members
        }
    }

    fn required(&mut self, key: &str, expected: &str) -> Result<Value> {
        self.members.remove(key).ok_or_else(|| {
            let path = self.path.key(key);
            Finding::new(Code::MissingMember, &path, expected, "nothing")
        })
    }

    fn string(&mut self, key: &str, expected: &str) -> Result<String> {
        string(self.required(key, expected)?, &self.path.key(key), expected)
    }

    fn optional_string(&mut self, key: &str, expected: &str) -> Result<Option<String>> {
        let value = self.members.remove(key);
        let read = |value| string(value, &self.path.key(key), expected);
        value.map(read).transpose()
    }

    fn bool(&mut self, key: &str) -> Result<bool> {
        let expected = "true or false";
        let value = self.required(key, expected)?;
        let wrong = || wrong_type(&self.path.key(key), expected, &value);
        value.as_bool().ok_or_else(wrong)
    }

    /// The member `rank`. The checking stage validates its limits.
    fn rank(&mut self) -> Result<usize> {
        let value = self.required("rank", RANK)?;
        let wrong = || wrong_type(&self.path.key("rank"), RANK, &value);
        let rank = value.as_u64().ok_or_else(wrong)?;
        usize::try_from(rank).map_err(|_| wrong())
    }

    fn object<T>(
        &mut self,
        key: &str,
        expected: &str,
        read: impl FnOnce(Object<'_>) -> Result<T>,
    ) -> Result<T> {
        let value = self.required(key, expected)?;
        let path = self.path.key(key);
        read(Object::new(value, &path, expected)?)
    }

    fn list<T>(
        &mut self,
        key: &str,
        expected: &str,
        read: impl Fn(Value, &Path<'_>) -> Result<T>,
    ) -> Result<Vec<T>> {
        let path = self.path.key(key);
        match self.required(key, expected)? {
            Value::Array(items) => {
                // Most lists are short, and growing would over-allocate.
                let mut list = Vec::with_capacity(items.len());
                for (index, item) in items.into_iter().enumerate() {
                    list.push(read(item, &path.index(index))?);
                }
                Ok(list)
            }
            other => Err(wrong_type(&path, expected, &other)),
        }
    }

    /// An array of strings that older compilers do not write.
    fn strings(&mut self, key: &str, expected: &str) -> Result<Option<Vec<String>>> {
        if !self.has(key) {
            return Ok(None);
        }
        let read = |value, path: &Path<'_>| string(value, path, expected);
        self.list(key, "an array of strings", read).map(Some)
    }
}
