//! The resolved form as JSON, for bridges that are not written in Rust.

mod functions;

use serde_core::ser::{Serialize, SerializeMap, Serializer};
use serde_json::{Value, json};

use functions::FunctionDocument;

use crate::elem::ElemType;
use crate::manifest::model::{Field, Structure, TypeKind};
use crate::manifest::model::{TypeId, TypeRef};
use crate::manifest::operation::OutputAliasing;
use crate::manifest::program::{EntryPoint, Program, ResultForm, Type};
use crate::manifest::read::RESOLVED_FORMAT;
use crate::version::Version;

/// Increases when a reader of the older format could misread the newer one. Additional
/// members do not change it.
const FORMAT_VERSION: u32 = 2;

impl Program {
    /// Returns the program as JSON, for bridges that are not written in Rust. It is
    /// complete: readers need no further tables. `futhark-manifest resolve` prints it.
    ///
    /// The format is stable: `format` is `"futhark-manifest-resolved"`, and
    /// `format_version`, now 2, increases when a reader of the older format could
    /// misread the newer one. New members may be added at any time.
    ///
    /// | member | content |
    /// |---|---|
    /// | `backend`, `compiler` | the backend's name; the compiler's `text` and `number`, `[0, 25, 32]`, or null for an [unknown](Version::is_known) version |
    /// | `interface` | [`text`](Program::interface_text) and [`hash`](Program::interface_hash), 16 hexadecimal digits |
    /// | `scalars` | per scalar type its `c_type` and `size` in bytes |
    /// | `types` | in dependency order: parts before wholes |
    /// | `entry_points` | by name |
    /// | `unknown` | members of the manifest that this crate does not know; types and entry points have their own |
    ///
    /// A *reference* is `{"scalar": "f32"}` or `{"type": 3}`, a place in `types`.
    ///
    /// A type has `name`, `doc`, `c_type` (of a handle), `c_struct`, `rank` and
    /// `functions`; and `kind`, on which the rest depends:
    ///
    /// | `kind` | additional members |
    /// |---|---|
    /// | `array` | `element`, a reference to a scalar |
    /// | `opaque` | nothing |
    /// | `record` | `fields`: `name` and `type`, a reference; `is_tuple`, `is_unit` |
    /// | `sum` | `variants`: `name` and `payload`, references |
    /// | `record_array` | `element`, a reference to a record; `fields`, each an array |
    /// | `opaque_array` | `element`, a reference to an opaque type |
    ///
    /// An entry point has `name`, `doc`, `attributes`, `tuning_params`, `inputs`
    /// (`name`, `type`, `consumed`), `outputs` as C returns them (`type`, `unique`,
    /// `aliasing`: `scalar`, `unique` or `shared`), `function`, and `result` in terms
    /// of the program: `form` (see [`ResultForm`]: `nothing`, `unit`, `one`,
    /// `several` or `tuple`) and `components`, references.
    ///
    /// A function has `name`, `operation` and `since` (see
    /// [`Operation`](crate::Operation)), `aliasing`, `field` or `variant` if it
    /// operates on one, `declaration` (C text), `result` (its C type), `returns`
    /// (`status`, `handle`, `shape`, `variant` or `raw_memory`: see
    /// [`Returns`](crate::c::Returns)) and `parameters`. A parameter has `name`,
    /// `c_type`, `role` (see [`ParameterRole`](crate::c::ParameterRole)) with
    /// `index` and `type` if it is one of several, and `passing` with
    /// `until_sync` if that applies (see [`Passing`](crate::c::Passing)).
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
        Document(Places::of(self))
    }
}

/// The resolved form of a program as JSON; see [`Program::to_json`].
pub struct Document<'p>(Places<'p>);

impl Serialize for Document<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (places, program) = (&self.0, self.0.program);
        let types = || {
            let types = program.types_in_order();
            types.map(|(id, ty)| TypeDocument { places, id, ty })
        };
        let entries = || {
            let entries = program.entries().iter().enumerate();
            entries.map(|(place, entry)| EntryDocument {
                places,
                place,
                entry,
            })
        };
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("format", RESOLVED_FORMAT)?;
        map.serialize_entry("format_version", &FORMAT_VERSION)?;
        map.serialize_entry("backend", program.backend.as_str())?;
        map.serialize_entry("compiler", &compiler(&program.version))?;
        let interface = json!({
            "hash": format!("{:016x}", program.interface_hash()),
            "text": program.interface_text(),
        });
        map.serialize_entry("interface", &interface)?;
        map.serialize_entry("scalars", &scalars())?;
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

fn compiler(version: &Version) -> Value {
    let number = version
        .number
        .filter(|_| version.is_known())
        .map(|(major, minor, patch)| [major, minor, patch]);
    json!({"text": version.text, "number": number})
}

fn scalars() -> Value {
    let scalar = |elem: &ElemType| {
        let about = json!({"c_type": elem.c_type(), "size": elem.size()});
        (elem.as_str().to_owned(), about)
    };
    ElemType::ALL.iter().map(scalar).collect()
}

/// The index of each type in the document.
struct Places<'p> {
    program: &'p Program,
    places: Vec<usize>,
}

impl<'p> Places<'p> {
    fn of(program: &'p Program) -> Places<'p> {
        let mut places = vec![0; program.types().len()];
        for (place, (id, _)) in program.types_in_order().enumerate() {
            places[id.index()] = place;
        }
        Places { program, places }
    }

    fn reference(&self, ty: TypeRef) -> Value {
        match ty {
            TypeRef::Scalar(elem) => json!({"scalar": elem.as_str()}),
            TypeRef::Type(id) => json!({"type": self.places[id.index()]}),
        }
    }
}

struct TypeDocument<'p> {
    places: &'p Places<'p>,
    id: TypeId,
    ty: &'p Type,
}

impl Serialize for TypeDocument<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let TypeDocument { places, id, ty } = *self;
        let functions = || {
            let functions = places.program.functions_of(id);
            functions.map(|function| FunctionDocument { places, function })
        };
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("name", &ty.name)?;
        map.serialize_entry("doc", &ty.doc)?;
        map.serialize_entry("unknown", &ty.unknown)?;
        map.serialize_entry("c_type", &ty.ctype)?;
        map.serialize_entry("c_struct", ty.c_struct())?;
        map.serialize_entry("rank", &ty.rank())?;
        let structure = match &ty.kind {
            TypeKind::Array(array) => {
                map.serialize_entry("kind", "array")?;
                let element = places.reference(TypeRef::Scalar(array.elem));
                map.serialize_entry("element", &element)?;
                None
            }
            TypeKind::Opaque(opaque) => Some(&opaque.structure),
        };
        match structure {
            None => {}
            Some(Structure::Plain) => map.serialize_entry("kind", "opaque")?,
            Some(Structure::Record(record)) => {
                map.serialize_entry("kind", "record")?;
                map.serialize_entry("fields", &fields(places, &record.fields))?;
                map.serialize_entry("is_tuple", &record.is_tuple())?;
                map.serialize_entry("is_unit", &record.is_unit())?;
            }
            Some(Structure::Sum(sum)) => {
                let variants = || {
                    sum.variants.iter().map(|variant| {
                        let payload = variant.payload.iter().map(|&ty| places.reference(ty));
                        json!({"name": variant.name, "payload": payload.collect::<Value>()})
                    })
                };
                map.serialize_entry("kind", "sum")?;
                map.serialize_entry("variants", &List(variants))?;
            }
            Some(Structure::RecordArray(array)) => {
                map.serialize_entry("kind", "record_array")?;
                map.serialize_entry("element", &places.reference(array.elem))?;
                map.serialize_entry("fields", &fields(places, &array.fields))?;
            }
            Some(Structure::OpaqueArray(array)) => {
                map.serialize_entry("kind", "opaque_array")?;
                map.serialize_entry("element", &places.reference(array.elem))?;
            }
        }
        map.serialize_entry("functions", &List(functions))?;
        map.end()
    }
}

fn fields<'p>(places: &'p Places<'p>, fields: &'p [Field]) -> impl Serialize + 'p {
    List(move || {
        let fields = fields.iter();
        fields.map(|field| json!({"name": field.name, "type": places.reference(field.ty)}))
    })
}

struct EntryDocument<'p> {
    places: &'p Places<'p>,
    place: usize,
    entry: &'p EntryPoint,
}

impl Serialize for EntryDocument<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let EntryDocument {
            places,
            place,
            entry,
        } = *self;
        let inputs = || {
            entry.inputs.iter().map(|input| {
                json!({
                    "name": input.name,
                    "type": places.reference(input.ty),
                    "consumed": input.is_consumed(),
                })
            })
        };
        let outputs = || {
            entry.outputs.iter().map(|output| {
                let aliasing = match output.aliasing() {
                    OutputAliasing::Scalar => "scalar",
                    OutputAliasing::Unique => "unique",
                    OutputAliasing::Shared => "shared",
                };
                json!({
                    "type": places.reference(output.ty),
                    "unique": output.unique,
                    "aliasing": aliasing,
                })
            })
        };
        let form = entry.result_form(places.program);
        let word = match form {
            ResultForm::Nothing => "nothing",
            ResultForm::Unit(_) => "unit",
            ResultForm::One(_) => "one",
            ResultForm::Several(_) => "several",
            ResultForm::Tuple { .. } => "tuple",
        };
        let components = form.components().map(|ty| places.reference(ty));
        let result = json!({"form": word, "components": components.collect::<Value>()});
        let function = places.program.function_of_entry(place);
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("name", &entry.name)?;
        map.serialize_entry("doc", &entry.doc)?;
        map.serialize_entry("unknown", &entry.unknown)?;
        map.serialize_entry("attributes", &entry.attributes)?;
        map.serialize_entry("tuning_params", &entry.tuning_params)?;
        map.serialize_entry("inputs", &List(inputs))?;
        map.serialize_entry("outputs", &List(outputs))?;
        map.serialize_entry("result", &result)?;
        map.serialize_entry("function", &FunctionDocument { places, function })?;
        map.end()
    }
}
