//! Reads JSON into a [`Manifest`]; written by hand, so that every error has its place.
//!
//! Known members are removed from each object one by one; the remaining ones are kept as unknown.

use std::collections::BTreeMap;

use serde_core::de::{Deserialize, DeserializeSeed, Deserializer, Error as _};
use serde_json::{Map, Value};

use crate::elem::ElemType;
use crate::manifest::code::Code;
use crate::manifest::error::Error;
use crate::manifest::finding::{Finding, describe, quote};
use crate::manifest::json::{Path, Position, Reading, Refused, Sink, read};
use crate::manifest::model::{
    ArrayOps, ArrayType, Field, Input, OpaqueArray, OpaqueOps, OpaqueType, Output, Record,
    RecordArray, Structure, Sum, TypeKind, Unknown, Variant,
};
use crate::manifest::syntax::{EntryPoint, Manifest, Outputs, Type};
use crate::text::alternatives;

/// The `format` of the resolved form, which `futhark-manifest resolve` prints.
pub(crate) const RESOLVED_FORMAT: &str = "futhark-manifest-resolved";

const FUNCTION: &str = "the name of a C function";
const TYPE_NAME: &str = "the name of a type";
const RANK: &str = "a positive integer";

type Result<T> = std::result::Result<T, Finding>;

/// Reads the text of a manifest.
pub(crate) fn manifest(text: &[u8]) -> std::result::Result<Manifest, Error> {
    let mut parts = Parts::default();
    let top = json(text, &mut |path, value| parts.read(path, value))?;
    document(top, parts).map_err(|finding| match std::str::from_utf8(text) {
        Ok(text) => Error::of(finding).locate(text),
        // Unreachable: the text was read as JSON, which is UTF-8.
        Err(_) => Error::of(finding),
    })
}

/// Reads the text of an object. Passes each type and entry point to `sink` and leaves them out of the result.
pub(crate) fn json(text: &[u8], sink: &mut Sink<'_>) -> std::result::Result<Value, Error> {
    read(text, sink).map_err(|(error, reason)| {
        let position = Position::of_error(text, &error);
        match reason {
            Some(reason) => Error::of(refused(reason).at(position)),
            None => Error::of(not_json(text, &error).at(position)),
        }
    })
}

/// Reads a manifest from parsed JSON.
pub(crate) fn tree(json: Value) -> std::result::Result<Manifest, Error> {
    if !json.is_object() {
        return Err(Error::of(not_a_manifest(describe(&json))));
    }
    let read = from_deserializer(json).expect("a value can be read as a value");
    read.map_err(Error::of)
}

impl<'de> Deserialize<'de> for Manifest {
    /// Reads any format with JSON's data model. Errors name the place, but not line and column as
    /// those of [`Manifest::parse`] do.
    fn deserialize<D: Deserializer<'de>>(
        deserializer: D,
    ) -> std::result::Result<Manifest, D::Error> {
        from_deserializer(deserializer)?.map_err(D::Error::custom)
    }
}

fn from_deserializer<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> std::result::Result<Result<Manifest>, D::Error> {
    let mut parts = Parts::default();
    let top = {
        let mut sink = |path: &Path<'_>, value| parts.read(path, value);
        let reading = Reading::new(&mut sink);
        let top = reading.root().deserialize(deserializer);
        top.map_err(|error| match reading.refused.into_inner() {
            Some(reason) => D::Error::custom(refused(reason)),
            None => error,
        })?
    };
    Ok(document(top, parts))
}

/// The types and entry points read so far.
#[derive(Default)]
struct Parts {
    types: Section<Type>,
    entry_points: Section<EntryPoint>,
}

impl Parts {
    fn read(&mut self, path: &Path<'_>, value: Value) {
        let Path::Key(section, name) = *path else {
            unreachable!("only members are given");
        };
        match section {
            Path::Key(_, "types") => self.types.insert(name, r#type(value, path)),
            _ => self.entry_points.insert(name, entry_point(value, path)),
        }
    }
}

/// An object whose keys are names of the program.
struct Section<T> {
    items: BTreeMap<String, T>,
    /// The first name, in order, whose item could not be read.
    failed: Option<(String, Finding)>,
}

impl<T> Default for Section<T> {
    fn default() -> Self {
        let (items, failed) = (BTreeMap::new(), None);
        Section { items, failed }
    }
}

impl<T> Section<T> {
    fn insert(&mut self, name: &str, item: Result<T>) {
        match item {
            Ok(item) => drop(self.items.insert(name.to_owned(), item)),
            Err(finding) => {
                let is_first = |(first, _): &(String, Finding)| name < first.as_str();
                if self.failed.as_ref().is_none_or(is_first) {
                    self.failed = Some((name.to_owned(), finding));
                }
            }
        }
    }

    fn finish(self) -> Result<BTreeMap<String, T>> {
        match self.failed {
            Some((_, finding)) => Err(finding),
            None => Ok(self.items),
        }
    }
}

fn not_json(text: &[u8], error: &serde_json::Error) -> Finding {
    let said = error.to_string();
    // The finding has a position of its own.
    let place = format!(" at line {} column {}", error.line(), error.column());
    let said = said.strip_suffix(&place).unwrap_or(&said);
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

fn refused(reason: Refused) -> Finding {
    match reason {
        Refused::NotAnObject(found) => not_a_manifest(found),
        Refused::Twice(pointer) => {
            let expected = "each member once";
            Finding::new(Code::DuplicateMember, &Path::Root, expected, "it again").moved(pointer)
        }
    }
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
    let mut top = Object::new(json, &root, "an object")?;
    Ok(Manifest {
        backend: top.string("backend", "the name of a backend")?,
        version: top.optional_string("version", "the compiler's version")?,
        types: top.object("types", "an object", |_| parts.types.finish())?,
        entry_points: top.object("entry_points", "an object", |_| parts.entry_points.finish())?,
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
