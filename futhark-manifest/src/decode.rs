//! From JSON to the raw form, by hand, so that every error has its place.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use crate::elem::ElemType;
use crate::error::{Error, ErrorKind, Warning, alternatives, describe, quote};
use crate::model::{
    ArrayOps, ArrayType, Field, Input, OpaqueArray, OpaqueOps, OpaqueType, Output, Record,
    RecordArray, Structure, Sum, TypeKind, Variant,
};
use crate::path::Path;
use crate::raw::{EntryPoint, Manifest, Outputs, Type};

const FUNCTION: &str = "the name of a C function";
const TYPE_NAME: &str = "the name of a type";
const RANK: &str = "a positive integer";

/// Reads the text of a manifest.
pub(crate) fn manifest(text: &str) -> Result<Manifest, Error> {
    let root = Path::Root;
    let json: Value = serde_json::from_str(text).map_err(|error| not_json(&error))?;
    let Some(members) = json.as_object().filter(|members| {
        let known = ["backend", "entry_points", "types"];
        known.iter().any(|key| members.contains_key(*key))
    }) else {
        let expected = "an object with \"backend\", \"entry_points\" and \"types\", \
                        as `futhark c --library` writes it next to the C file";
        let kind = ErrorKind::NotAManifest;
        return Err(Error::new(kind, &root, expected, describe(&json)));
    };

    let top = Object {
        members,
        path: &root,
    };
    let mut warnings = Warnings(Vec::new());
    warnings.unknown(&top, &["backend", "version", "entry_points", "types"]);
    let manifest = Manifest {
        backend: top.string("backend", "the name of a backend")?,
        version: top.optional_string("version", "the compiler's version")?,
        types: top.map("types", |value, path| r#type(value, path, &mut warnings))?,
        entry_points: top.map("entry_points", |value, path| {
            entry_point(value, path, &mut warnings)
        })?,
        warnings: warnings.sorted(),
    };
    Ok(manifest)
}

fn not_json(error: &serde_json::Error) -> Error {
    let (line, column) = (error.line(), error.column());
    let text = error.to_string();
    // The place stands in the error's kind; once is enough.
    let place = format!(" at line {line} column {column}");
    let found = text.strip_suffix(&place).unwrap_or(&text);
    let kind = ErrorKind::NotJson { line, column };
    Error::new(kind, &Path::Root, "a manifest in JSON", found)
}

fn entry_point(
    value: &Value,
    path: &Path<'_>,
    warnings: &mut Warnings,
) -> Result<EntryPoint, Error> {
    let entry = Object::new(value, path, "an entry point: an object")?;
    warnings.unknown(
        &entry,
        &[
            "cfun",
            "inputs",
            "outputs",
            "output",
            "tuning_params",
            "attributes",
            "doc",
        ],
    );
    let several = entry.optional("outputs");
    let single = entry.optional("output");
    let outputs = match (several, single) {
        (Some(_), Some(_)) => {
            let found = "both";
            let expected = "either \"outputs\" or \"output\"";
            let kind = ErrorKind::Inconsistent;
            return Err(Error::new(kind, path, expected, found));
        }
        (None, Some(value)) => {
            let path = path.key("output");
            Outputs::Single(output(value, &path, warnings)?)
        }
        // The error for neither names the older spelling, which has a plural.
        (_, None) => Outputs::Several(entry.list("outputs", "an array of results", |v, p| {
            output(v, p, warnings)
        })?),
    };
    Ok(EntryPoint {
        cfun: entry.string("cfun", FUNCTION)?,
        inputs: entry.list("inputs", "an array of parameters", |v, p| {
            input(v, p, warnings)
        })?,
        outputs,
        tuning_params: entry.strings("tuning_params", "the name of a tuning parameter")?,
        attributes: entry.strings("attributes", "an attribute")?,
        doc: entry.optional_string("doc", "a text")?,
    })
}

fn input(value: &Value, path: &Path<'_>, warnings: &mut Warnings) -> Result<Input<String>, Error> {
    let input = Object::new(value, path, "a parameter: an object")?;
    warnings.unknown(&input, &["name", "type", "unique"]);
    Ok(Input {
        name: input.string("name", "the name of a parameter")?,
        ty: input.string("type", TYPE_NAME)?,
        unique: input.bool("unique")?,
    })
}

fn output(
    value: &Value,
    path: &Path<'_>,
    warnings: &mut Warnings,
) -> Result<Output<String>, Error> {
    let output = Object::new(value, path, "a result: an object")?;
    warnings.unknown(&output, &["type", "unique"]);
    Ok(Output {
        ty: output.string("type", TYPE_NAME)?,
        unique: output.bool("unique")?,
    })
}

fn r#type(value: &Value, path: &Path<'_>, warnings: &mut Warnings) -> Result<Type, Error> {
    let object = Object::new(value, path, "a type: an object")?;
    let expected = "\"array\" or \"opaque\"";
    let kind = match object.required_str("kind", expected)? {
        "array" => {
            warnings.unknown(
                &object,
                &["kind", "ctype", "doc", "elemtype", "rank", "ops"],
            );
            TypeKind::Array(array(&object, warnings)?)
        }
        "opaque" => {
            warnings.unknown(
                &object,
                &[
                    "kind",
                    "ctype",
                    "doc",
                    "ops",
                    "record",
                    "sum",
                    "record_array",
                    "opaque_array",
                ],
            );
            TypeKind::Opaque(opaque(&object, warnings)?)
        }
        other => {
            let kind = ErrorKind::UnknownValue;
            return Err(Error::new(kind, &path.key("kind"), expected, quote(other)));
        }
    };
    Ok(Type {
        ctype: object.string("ctype", "a C type")?,
        kind,
        doc: object.optional_string("doc", "a text")?,
    })
}

fn array(object: &Object<'_>, warnings: &mut Warnings) -> Result<ArrayType, Error> {
    let rank = object.rank()?;
    let name = object.required_str("elemtype", "the name of a scalar type")?;
    let Some(elem) = ElemType::from_name(name) else {
        let names: Vec<&str> = ElemType::ALL.iter().map(|elem| elem.as_str()).collect();
        let path = object.path.key("elemtype");
        let kind = ErrorKind::UnknownValue;
        return Err(Error::new(kind, &path, alternatives(&names), quote(name)));
    };
    let ops = object.object("ops", "the array's C functions: an object", |ops| {
        warnings.unknown(
            &ops,
            &[
                "free",
                "shape",
                "values",
                "new",
                "index",
                "new_raw",
                "values_raw",
            ],
        );
        Ok(ArrayOps {
            free: ops.string("free", FUNCTION)?,
            shape: ops.string("shape", FUNCTION)?,
            values: ops.string("values", FUNCTION)?,
            new: ops.string("new", FUNCTION)?,
            index: ops.optional_string("index", FUNCTION)?,
            new_raw: ops.optional_string("new_raw", FUNCTION)?,
            values_raw: ops.optional_string("values_raw", FUNCTION)?,
        })
    })?;
    Ok(ArrayType { elem, rank, ops })
}

fn opaque(object: &Object<'_>, warnings: &mut Warnings) -> Result<OpaqueType<String>, Error> {
    let ops = object.object("ops", "the type's C functions: an object", |ops| {
        warnings.unknown(&ops, &["free", "store", "restore"]);
        Ok(OpaqueOps {
            free: ops.string("free", FUNCTION)?,
            store: ops.optional_string("store", FUNCTION)?,
            restore: ops.optional_string("restore", FUNCTION)?,
        })
    })?;
    Ok(OpaqueType {
        ops,
        structure: structure(object, warnings)?,
    })
}

fn structure(object: &Object<'_>, warnings: &mut Warnings) -> Result<Structure<String>, Error> {
    let keys = ["record", "sum", "record_array", "opaque_array"];
    let present: Vec<&str> = keys
        .into_iter()
        .filter(|key| object.optional(key).is_some())
        .collect();
    match present[..] {
        [] => Ok(Structure::Plain),
        ["record"] => object
            .object("record", "a record: an object", |o| record(&o, warnings))
            .map(Structure::Record),
        ["sum"] => object
            .object("sum", "a sum type: an object", |o| sum(&o, warnings))
            .map(Structure::Sum),
        ["record_array"] => object
            .object("record_array", "an array of records: an object", |o| {
                record_array(&o, warnings)
            })
            .map(Structure::RecordArray),
        ["opaque_array"] => object
            .object("opaque_array", "an array of opaques: an object", |o| {
                opaque_array(&o, warnings)
            })
            .map(Structure::OpaqueArray),
        _ => {
            let expected = format!("at most one of {}", keys.join(", "));
            let kind = ErrorKind::Inconsistent;
            let found = present.join(" and ");
            Err(Error::new(kind, object.path, expected, found))
        }
    }
}

fn record(object: &Object<'_>, warnings: &mut Warnings) -> Result<Record<String>, Error> {
    warnings.unknown(object, &["fields", "new"]);
    Ok(Record {
        fields: fields(object, warnings)?,
        new: object.string("new", FUNCTION)?,
    })
}

fn sum(object: &Object<'_>, warnings: &mut Warnings) -> Result<Sum<String>, Error> {
    warnings.unknown(object, &["variant", "variants"]);
    Ok(Sum {
        variant: object.string("variant", FUNCTION)?,
        variants: object.list("variants", "an array of variants", |v, p| {
            variant(v, p, warnings)
        })?,
    })
}

fn variant(
    value: &Value,
    path: &Path<'_>,
    warnings: &mut Warnings,
) -> Result<Variant<String>, Error> {
    let variant = Object::new(value, path, "a variant: an object")?;
    warnings.unknown(&variant, &["name", "construct", "destruct", "payload"]);
    Ok(Variant {
        name: variant.string("name", "the name of a variant")?,
        construct: variant.string("construct", FUNCTION)?,
        destruct: variant.string("destruct", FUNCTION)?,
        payload: variant.list("payload", "an array of type names", |v, p| {
            string(v, p, TYPE_NAME)
        })?,
    })
}

fn record_array(
    object: &Object<'_>,
    warnings: &mut Warnings,
) -> Result<RecordArray<String>, Error> {
    warnings.unknown(
        object,
        &[
            "rank", "elemtype", "fields", "zip", "index", "shape", "new", "set",
        ],
    );
    Ok(RecordArray {
        rank: object.rank()?,
        elem: object.string("elemtype", TYPE_NAME)?,
        fields: fields(object, warnings)?,
        zip: object.string("zip", FUNCTION)?,
        index: object.string("index", FUNCTION)?,
        shape: object.string("shape", FUNCTION)?,
        new: object.optional_string("new", FUNCTION)?,
        set: object.optional_string("set", FUNCTION)?,
    })
}

fn opaque_array(
    object: &Object<'_>,
    warnings: &mut Warnings,
) -> Result<OpaqueArray<String>, Error> {
    warnings.unknown(
        object,
        &["rank", "elemtype", "index", "shape", "new", "set"],
    );
    Ok(OpaqueArray {
        rank: object.rank()?,
        elem: object.string("elemtype", TYPE_NAME)?,
        index: object.string("index", FUNCTION)?,
        shape: object.string("shape", FUNCTION)?,
        new: object.optional_string("new", FUNCTION)?,
        set: object.optional_string("set", FUNCTION)?,
    })
}

fn fields(object: &Object<'_>, warnings: &mut Warnings) -> Result<Vec<Field<String>>, Error> {
    object.list("fields", "an array of fields", |value, path| {
        let field = Object::new(value, path, "a field: an object")?;
        warnings.unknown(&field, &["name", "type", "project"]);
        Ok(Field {
            name: field.string("name", "the name of a field")?,
            ty: field.string("type", TYPE_NAME)?,
            project: field.string("project", FUNCTION)?,
        })
    })
}

fn string(value: &Value, path: &Path<'_>, what: &str) -> Result<String, Error> {
    match value {
        Value::String(text) => Ok(text.clone()),
        other => Err(wrong_type(path, what, other)),
    }
}

fn wrong_type(path: &Path<'_>, expected: &str, found: &Value) -> Error {
    Error::new(ErrorKind::WrongType, path, expected, describe(found))
}

/// A JSON object and where it stands.
struct Object<'a> {
    members: &'a Map<String, Value>,
    path: &'a Path<'a>,
}

impl<'a> Object<'a> {
    fn new(value: &'a Value, path: &'a Path<'a>, expected: &str) -> Result<Self, Error> {
        match value {
            Value::Object(members) => Ok(Object { members, path }),
            other => Err(wrong_type(path, expected, other)),
        }
    }

    fn optional(&self, key: &str) -> Option<&'a Value> {
        self.members.get(key)
    }

    fn required(&self, key: &str, expected: &str) -> Result<&'a Value, Error> {
        self.optional(key).ok_or_else(|| {
            let path = self.path.key(key);
            Error::new(ErrorKind::Missing, &path, expected, "nothing")
        })
    }

    fn required_str(&self, key: &str, expected: &str) -> Result<&'a str, Error> {
        let value = self.required(key, expected)?;
        let wrong = || wrong_type(&self.path.key(key), expected, value);
        value.as_str().ok_or_else(wrong)
    }

    fn string(&self, key: &str, expected: &str) -> Result<String, Error> {
        string(self.required(key, expected)?, &self.path.key(key), expected)
    }

    fn optional_string(&self, key: &str, expected: &str) -> Result<Option<String>, Error> {
        let value = self.optional(key);
        let read = |value| string(value, &self.path.key(key), expected);
        value.map(read).transpose()
    }

    fn bool(&self, key: &str) -> Result<bool, Error> {
        let expected = "true or false";
        let value = self.required(key, expected)?;
        let wrong = || wrong_type(&self.path.key(key), expected, value);
        value.as_bool().ok_or_else(wrong)
    }

    /// The member `rank`. Zero is left to the resolver, which knows the limits.
    fn rank(&self) -> Result<usize, Error> {
        let value = self.required("rank", RANK)?;
        let wrong = || wrong_type(&self.path.key("rank"), RANK, value);
        let rank = value.as_u64().ok_or_else(wrong)?;
        usize::try_from(rank).map_err(|_| wrong())
    }

    fn object<T>(
        &self,
        key: &str,
        expected: &str,
        read: impl FnOnce(Object<'_>) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let value = self.required(key, expected)?;
        let path = self.path.key(key);
        read(Object::new(value, &path, expected)?)
    }

    /// A member that is an object whose keys are names.
    fn map<T>(
        &self,
        key: &str,
        mut read: impl FnMut(&Value, &Path<'_>) -> Result<T, Error>,
    ) -> Result<BTreeMap<String, T>, Error> {
        self.object(key, "an object", |object| {
            let mut map = BTreeMap::new();
            for (name, value) in object.members {
                let item = read(value, &object.path.key(name))?;
                map.insert(name.clone(), item);
            }
            Ok(map)
        })
    }

    fn list<T>(
        &self,
        key: &str,
        expected: &str,
        mut read: impl FnMut(&Value, &Path<'_>) -> Result<T, Error>,
    ) -> Result<Vec<T>, Error> {
        let path = self.path.key(key);
        match self.required(key, expected)? {
            Value::Array(items) => items
                .iter()
                .enumerate()
                .map(|(index, item)| read(item, &path.index(index)))
                .collect(),
            other => Err(wrong_type(&path, expected, other)),
        }
    }

    /// An array of strings, empty where there is none.
    fn strings(&self, key: &str, what: &str) -> Result<Vec<String>, Error> {
        match self.optional(key) {
            None => Ok(Vec::new()),
            Some(_) => self.list(key, "an array of strings", |v, p| string(v, p, what)),
        }
    }
}

struct Warnings(Vec<Warning>);

impl Warnings {
    /// Notes the members that are not among the known ones.
    fn unknown(&mut self, object: &Object<'_>, known: &[&str]) {
        for (key, value) in object.members {
            if !known.contains(&key.as_str()) {
                self.0.push(Warning {
                    pointer: object.path.key(key).to_string(),
                    message: format!("unknown member: {}", describe(value)),
                });
            }
        }
    }

    /// By place, so that the order does not depend on how the map iterates.
    fn sorted(mut self) -> Vec<Warning> {
        self.0.sort_by(|a, b| a.pointer.cmp(&b.pointer));
        self.0
    }
}
