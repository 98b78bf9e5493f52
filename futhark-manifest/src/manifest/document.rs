//! The resolved form as JSON, for bridges that are not written in Rust. Defines all words of the format.

use serde_core::ser::{Serialize, SerializeMap, Serializer};
use serde_json::{Value, json};

use crate::elem::ElemType;
use crate::manifest::c::{Parameter, ParameterRole as Role, Passing, Returns};
use crate::manifest::model::{Field, Structure, TypeId, TypeKind, TypeRef};
use crate::manifest::operation::{Aliasing, Function, Operation, OutputAliasing};
use crate::manifest::program::{EntryPoint, Program, ResultForm, Type};
use crate::manifest::read::RESOLVED_FORMAT;

const FORMAT_VERSION: u32 = 2;

impl Program {
    /// Returns the program as JSON, for bridges that are not written in Rust. It is
    /// complete: readers need no further tables. `futhark-manifest resolve` prints it.
    ///
    /// [`resolved`](crate::resolved) documents every member; `schema::RESOLVED_SCHEMA` is its JSON Schema. The format is
    /// stable: `format_version`, now 2, increases when a reader of the older format could misread the newer one. New
    /// members may be added at any time.
    ///
    /// The value needs more than a hundred times the memory of the manifest's text; to write
    /// the document, serialize [`document`](Program::document).
    #[must_use]
    pub fn to_json(&self) -> Value {
        let value = serde_json::to_value(self.document());
        value.expect("the document has no maps with keys other than strings")
    }

    /// The document of [`to_json`](Program::to_json), to be serialized. It is generated during
    /// serialization, so writing it needs almost no memory.
    #[must_use]
    pub fn document(&self) -> Document<'_> {
        let mut places = vec![0; self.types().len()];
        for (place, (id, _)) in self.types_in_order().enumerate() {
            places[id.index()] = place;
        }
        Document {
            program: self,
            places,
        }
    }
}

/// The resolved form of a program as JSON; see [`Program::to_json`].
pub struct Document<'p> {
    program: &'p Program,
    /// The index of each type in the document.
    places: Vec<usize>,
}

impl Serialize for Document<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let program = self.program;
        let version = &program.version;
        let number = version.number.filter(|_| version.is_known());
        let scalars = ElemType::ALL.iter().map(|elem| {
            let kind = match elem.as_str().as_bytes()[0] {
                b'i' => "signed",
                b'u' => "unsigned",
                b'f' => "float",
                _ => "bool",
            };
            let about = json!({"kind": kind, "c_type": elem.c_type(), "size": elem.size()});
            (elem.as_str().to_owned(), about)
        });
        let types = || program.types_in_order().map(|(id, ty)| self.ty(id, ty));
        let entries = || (0..program.entries().len()).map(|place| self.entry(place));
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("format", RESOLVED_FORMAT)?;
        map.serialize_entry("format_version", &FORMAT_VERSION)?;
        map.serialize_entry("backend", program.backend_name())?;
        map.serialize_entry("compiler", &json!({"text": version.text, "number": number}))?;
        map.serialize_entry(
            "interface",
            &json!({
                "hash": format!("{:016x}", program.interface_hash()),
                "text": program.interface_text(),
            }),
        )?;
        map.serialize_entry("scalars", &scalars.collect::<Value>())?;
        map.serialize_entry("types", &List(types))?;
        map.serialize_entry("entry_points", &List(entries))?;
        map.serialize_entry("unknown", &program.unknown)?;
        map.end()
    }
}

/// Serializes the items of an iterator one at a time.
struct List<F>(F);

impl<F, I> Serialize for List<F>
where
    F: Fn() -> I,
    I: IntoIterator<Item: Serialize>,
{
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq((self.0)())
    }
}

impl Document<'_> {
    fn reference(&self, ty: TypeRef) -> Value {
        match ty {
            TypeRef::Scalar(elem) => json!({"scalar": elem.as_str()}),
            TypeRef::Type(id) => json!({"type": self.places[id.index()]}),
        }
    }

    fn ty(&self, id: TypeId, ty: &Type) -> Value {
        let functions = self.program.functions_of(id);
        let functions = functions.map(|function| self.function(&function));
        let mut json = json!({
            "name": ty.name,
            "doc": ty.doc,
            "unknown": ty.unknown,
            "c_type": ty.ctype,
            "c_struct": ty.c_struct(),
            "rank": ty.rank(),
            "functions": functions.collect::<Value>(),
        });
        let kind = match &ty.kind {
            TypeKind::Array(array) => {
                json["element"] = self.reference(TypeRef::Scalar(array.elem));
                "array"
            }
            TypeKind::Opaque(opaque) => match &opaque.structure {
                Structure::Plain => "opaque",
                Structure::Record(record) => {
                    json["fields"] = self.fields(&record.fields);
                    json["is_tuple"] = record.is_tuple().into();
                    json["is_unit"] = record.is_unit().into();
                    "record"
                }
                Structure::Sum(sum) => {
                    let variants = sum.variants.iter().map(|variant| {
                        let payload = variant.payload.iter().map(|&ty| self.reference(ty));
                        json!({"name": variant.name, "payload": payload.collect::<Value>()})
                    });
                    json["variants"] = variants.collect();
                    "sum"
                }
                Structure::RecordArray(array) => {
                    json["element"] = self.reference(array.elem);
                    json["fields"] = self.fields(&array.fields);
                    "record_array"
                }
                Structure::OpaqueArray(array) => {
                    json["element"] = self.reference(array.elem);
                    "opaque_array"
                }
            },
        };
        json["kind"] = kind.into();
        json
    }

    fn fields(&self, fields: &[Field]) -> Value {
        let field = |field: &Field| json!({"name": field.name, "type": self.reference(field.ty)});
        fields.iter().map(field).collect()
    }

    fn entry(&self, place: usize) -> Value {
        let entry: &EntryPoint = &self.program.entries()[place];
        let inputs = entry.inputs.iter().map(|input| {
            json!({
                "name": input.name,
                "type": self.reference(input.ty),
                "consumed": input.is_consumed(),
            })
        });
        let outputs = entry.outputs.iter().map(|output| {
            let aliasing = match output.aliasing() {
                OutputAliasing::Scalar => "scalar",
                OutputAliasing::Unique => "unique",
                OutputAliasing::Shared => "shared",
            };
            json!({
                "type": self.reference(output.ty),
                "unique": output.unique,
                "aliasing": aliasing,
            })
        });
        let form = entry.result_form(self.program);
        let word = match form {
            ResultForm::Nothing => "nothing",
            ResultForm::Unit(_) => "unit",
            ResultForm::One(_) => "one",
            ResultForm::Several(_) => "several",
            ResultForm::Tuple { .. } => "tuple",
        };
        let components = form.components().map(|ty| self.reference(ty));
        json!({
            "name": entry.name,
            "doc": entry.doc,
            "unknown": entry.unknown,
            "attributes": entry.attributes,
            "tuning_params": entry.tuning_params,
            "inputs": inputs.collect::<Value>(),
            "outputs": outputs.collect::<Value>(),
            "result": {"form": word, "components": components.collect::<Value>()},
            "function": self.function(&self.program.function_of_entry(place)),
        })
    }

    fn function(&self, function: &Function<'_>) -> Value {
        let prototype = self.program.prototype(function);
        let operation = function.operation;
        let aliasing = match operation.aliasing() {
            Aliasing::NoValue => "no_value",
            Aliasing::Fresh => "fresh",
            Aliasing::Arguments => "arguments",
            Aliasing::CallersMemory => "callers_memory",
            Aliasing::Exposed => "exposed",
            Aliasing::Overwrites => "overwrites",
            Aliasing::PerOutput => "per_output",
        };
        let returns = match prototype.returns {
            Returns::Status => "status",
            Returns::Handle => "handle",
            Returns::Shape { .. } => "shape",
            Returns::Variant => "variant",
            Returns::RawMemory => "raw_memory",
        };
        let parameters = prototype.parameters.iter().map(|one| self.parameter(one));
        let mut json = json!({
            "operation": operation.as_str(),
            "since": operation.since(),
            "aliasing": aliasing,
            "name": prototype.name,
            "declaration": prototype.to_string(),
            "result": prototype.result.to_string(),
            "returns": returns,
            "parameters": parameters.collect::<Value>(),
        });
        if let Some(part) = function.part {
            let of_variant = [Operation::SumConstruct, Operation::SumDestruct].contains(&operation);
            json[if of_variant { "variant" } else { "field" }] = part.into();
        }
        json
    }

    fn parameter(&self, parameter: &Parameter) -> Value {
        let (role, index, ty) = match parameter.role {
            Role::Context => ("context", None, None),
            Role::Value => ("value", None, None),
            Role::Data(elem) => ("data", None, Some(TypeRef::Scalar(elem))),
            Role::RawMemory(elem) => ("raw_memory", None, Some(TypeRef::Scalar(elem))),
            Role::Dimension(index) => ("dimension", Some(index), None),
            Role::Index(index) => ("index", Some(index), None),
            Role::Field { index, ty } => ("field", Some(index), Some(ty)),
            Role::Payload { index, ty } => ("payload", Some(index), Some(ty)),
            Role::Argument { index, ty } => ("argument", Some(index), Some(ty)),
            Role::Element(ty) => ("element", None, Some(ty)),
            Role::Elements(ty) => ("elements", None, Some(ty)),
            Role::Output { index, ty } => ("output", Some(index), Some(ty)),
            Role::Bytes => ("bytes", None, None),
            Role::ByteCount => ("byte_count", None, None),
        };
        let (passing, until_sync) = match parameter.passing {
            Passing::Scalar => ("scalar", None),
            Passing::Borrowed { until_sync } => ("borrowed", Some(until_sync)),
            Passing::Consumed => ("consumed", None),
            Passing::Overwritten => ("overwritten", None),
            Passing::Freed => ("freed", None),
            Passing::HostRead { until_sync } => ("host_read", Some(until_sync)),
            Passing::HostWritten { until_sync } => ("host_written", Some(until_sync)),
            Passing::Lent => ("lent", None),
            Passing::GivesScalar { after_sync } => ("gives_scalar", Some(after_sync)),
            Passing::GivesHandle { after_sync } => ("gives_handle", Some(after_sync)),
            Passing::GivesBytes { until_sync } => ("gives_bytes", Some(until_sync)),
            Passing::GivesByteCount => ("gives_byte_count", None),
        };
        let mut json = json!({
            "name": parameter.name,
            "c_type": parameter.ty.to_string(),
            "role": role,
            "passing": passing,
        });
        let optional = [
            ("index", index.map(Value::from)),
            ("type", ty.map(|ty| self.reference(ty))),
            ("until_sync", until_sync.map(Value::from)),
        ];
        for (key, value) in optional {
            if let Some(value) = value {
                json[key] = value;
            }
        }
        json
    }
}
