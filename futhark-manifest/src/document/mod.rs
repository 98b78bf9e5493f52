//! The resolved form as JSON, for bridges that are not written in Rust.

mod functions;

use serde_json::{Value, json};

use crate::c::ERROR_CODES;
use crate::elem::ElemType;
use crate::model::{Field, Structure, TypeKind};
use crate::operation::OutputAliasing;
use crate::program::{EntryPoint, Program, ResultForm, Type, TypeId, TypeRef};
use crate::version::Version;

/// What stands in `format`.
const FORMAT: &str = "futhark-manifest-resolved";

/// Changes when a reader of the older form could misread the newer. Members that
/// are only added leave it as it is.
const FORMAT_VERSION: u32 = 1;

impl Program {
    /// The program as JSON, for bridges that are not written in Rust: everything
    /// that this crate knows about it, so that a reader needs no table of its
    /// own. `futhark-manifest resolve` prints it.
    ///
    /// The format is stable: `format` is `"futhark-manifest-resolved"`, and
    /// `format_version`, now 1, changes when a reader of the older form could
    /// misread the newer. New members may come at any time.
    ///
    /// | member | what it is |
    /// |---|---|
    /// | `backend`, `compiler` | the backend's name; the compiler's `text` and `number`, `[0, 25, 32]` or null |
    /// | `interface` | [`text`](Program::interface_text) and [`hash`](Program::interface_hash), 16 hexadecimal digits |
    /// | `scalars` | per scalar type its `c_type` and `size` in bytes |
    /// | `types` | in dependency order: parts before wholes |
    /// | `entry_points` | by name |
    /// | `library` | the functions that no manifest lists, [for this backend and version](Program::library_functions); `certain` where that is known |
    /// | `error_codes` | the codes that the header names |
    /// | `unknown` | members of the manifest that this crate does not know; types and entry points have their own |
    ///
    /// A *reference* is `{"scalar": "f32"}` or `{"type": 3}`, a place in `types`.
    ///
    /// A type has `name`, `doc`, `c_type` (of a handle), `c_struct`, `rank` and
    /// `functions`; and `kind`, on which the rest depends:
    ///
    /// | `kind` | what else |
    /// |---|---|
    /// | `array` | `element`, a reference to a scalar |
    /// | `opaque` | nothing |
    /// | `record` | `fields`: `name` and `type`, a reference; `is_tuple`, `is_unit` |
    /// | `sum` | `variants`: `name` and `payload`, references |
    /// | `record_array` | `element`, a reference to a record; `fields`, each an array |
    /// | `opaque_array` | `element`, a reference to an opaque type |
    ///
    /// An entry point has `name`, `doc`, `attributes`, `tuning_params`, `inputs`
    /// (`name`, `type`, `consumed`), `outputs` as C gives them (`type`, `unique`,
    /// `aliasing`: `scalar`, `unique` or `shared`), `function`, and `result` as
    /// the program means it: `form` (see [`ResultForm`]: `nothing`, `unit`, `one`,
    /// `several` or `tuple`) and `components`, references.
    ///
    /// A function has `name`, `operation` and `since` (see
    /// [`Operation`](crate::Operation)), `aliasing`, `field` or `variant` where it
    /// is about one, `declaration` (C text), `result` (its C type), `returns`
    /// (`status`, `handle`, `shape`, `variant` or `raw_memory`: see
    /// [`Returns`](crate::c::Returns)) and `parameters`. A parameter has `name`,
    /// `c_type`, `role` (see [`ParameterRole`](crate::c::ParameterRole)) with
    /// `index` and `type` where it is one of several, and `passing` with
    /// `until_sync` where that can matter (see [`Passing`](crate::c::Passing)).
    #[must_use]
    pub fn to_json(&self) -> Value {
        let places = Places::of(self);
        let types = self.types_in_order().map(|(id, ty)| places.ty(id, ty));
        let entries = self.entries().iter().enumerate();
        json!({
            "format": FORMAT,
            "format_version": FORMAT_VERSION,
            "backend": self.backend.as_str(),
            "compiler": compiler(&self.version),
            "interface": {
                "hash": format!("{:016x}", self.interface_hash()),
                "text": self.interface_text(),
            },
            "scalars": scalars(),
            "types": types.collect::<Value>(),
            "entry_points": entries.map(|(n, entry)| places.entry(n, entry)).collect::<Value>(),
            "library": self
                .library_functions()
                .map(|(function, certain)| functions::library(function, certain))
                .collect::<Value>(),
            "unknown": self.unknown,
            "error_codes": ERROR_CODES
                .iter()
                .map(|code| json!({"name": code.name, "value": code.value}))
                .collect::<Value>(),
        })
    }
}

fn compiler(version: &Version) -> Value {
    let number = version
        .number
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

/// Where each type stands in the document.
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

    fn references(&self, types: impl IntoIterator<Item = TypeRef>) -> Value {
        types.into_iter().map(|ty| self.reference(ty)).collect()
    }

    fn ty(&self, id: TypeId, ty: &Type) -> Value {
        let functions = self.program.functions_of(id);
        let mut json = json!({
            "name": ty.name,
            "doc": ty.doc,
            "unknown": ty.unknown,
            "c_type": ty.ctype,
            "c_struct": ty.c_struct(),
            "rank": ty.rank(),
            "functions": functions.map(|f| self.function(&f)).collect::<Value>(),
        });
        let mut set = |key: &str, value: Value| json[key] = value;
        let structure = match &ty.kind {
            TypeKind::Array(array) => {
                set("kind", "array".into());
                set("element", self.reference(TypeRef::Scalar(array.elem)));
                return json;
            }
            TypeKind::Opaque(opaque) => &opaque.structure,
        };
        match structure {
            Structure::Plain => set("kind", "opaque".into()),
            Structure::Record(record) => {
                set("kind", "record".into());
                set("fields", self.fields(&record.fields));
                set("is_tuple", record.is_tuple().into());
                set("is_unit", record.is_unit().into());
            }
            Structure::Sum(sum) => {
                let variants = sum.variants.iter().map(|variant| {
                    let payload = self.references(variant.payload.iter().copied());
                    json!({"name": variant.name, "payload": payload})
                });
                set("kind", "sum".into());
                set("variants", variants.collect());
            }
            Structure::RecordArray(array) => {
                set("kind", "record_array".into());
                set("element", self.reference(array.elem));
                set("fields", self.fields(&array.fields));
            }
            Structure::OpaqueArray(array) => {
                set("kind", "opaque_array".into());
                set("element", self.reference(array.elem));
            }
        }
        json
    }

    fn fields(&self, fields: &[Field]) -> Value {
        let field = |field: &Field| json!({"name": field.name, "type": self.reference(field.ty)});
        fields.iter().map(field).collect()
    }

    fn entry(&self, place: usize, entry: &EntryPoint) -> Value {
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
        json!({
            "name": entry.name,
            "doc": entry.doc,
            "unknown": entry.unknown,
            "attributes": entry.attributes,
            "tuning_params": entry.tuning_params,
            "inputs": inputs.collect::<Value>(),
            "outputs": outputs.collect::<Value>(),
            "result": {"form": word, "components": self.references(form.components())},
            "function": self.function(&self.program.function_of_entry(place)),
        })
    }
}
