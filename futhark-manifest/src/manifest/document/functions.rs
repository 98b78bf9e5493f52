//! C functions in the document. Defines all words of the format.

use serde_core::ser::{Serialize, SerializeMap, Serializer};
use serde_json::{Value, json};

use super::{List, Places};
use crate::manifest::c::{Parameter, ParameterRole as Role, Passing, Prototype, Returns};
use crate::manifest::model::TypeRef;
use crate::manifest::operation::{Aliasing, Function, Operation};

pub(super) struct FunctionDocument<'p> {
    pub(super) places: &'p Places<'p>,
    pub(super) function: Function<'p>,
}

impl Serialize for FunctionDocument<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let FunctionDocument { places, function } = self;
        let prototype = places.program.prototype(function);
        let aliasing = match function.operation.aliasing() {
            Aliasing::NoValue => "no_value",
            Aliasing::Fresh => "fresh",
            Aliasing::Arguments => "arguments",
            Aliasing::CallersMemory => "callers_memory",
            Aliasing::Exposed => "exposed",
            Aliasing::Overwrites => "overwrites",
            Aliasing::PerOutput => "per_output",
        };
        let since = function.operation.since();
        let since = since.map(|(major, minor, patch)| [major, minor, patch]);
        let parameters = || {
            let parameters = prototype.parameters.iter();
            parameters.map(|one| parameter(places, one))
        };
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("operation", function.operation.as_str())?;
        map.serialize_entry("since", &since)?;
        map.serialize_entry("aliasing", aliasing)?;
        map.serialize_entry("name", &prototype.name)?;
        map.serialize_entry("declaration", &prototype.to_string())?;
        map.serialize_entry("result", &prototype.result.to_string())?;
        map.serialize_entry("returns", returns(&prototype))?;
        map.serialize_entry("parameters", &List(parameters))?;
        if let Some(part) = function.part {
            let of_variant = matches!(
                function.operation,
                Operation::SumConstruct | Operation::SumDestruct
            );
            map.serialize_entry(if of_variant { "variant" } else { "field" }, &part)?;
        }
        map.end()
    }
}

fn parameter(places: &Places<'_>, parameter: &Parameter) -> Value {
    let (word, index, ty) = match parameter.role {
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
    let (passing, until_sync) = passing(parameter.passing);
    let mut json = json!({
        "name": parameter.name,
        "c_type": parameter.ty.to_string(),
        "role": word,
        "passing": passing,
    });
    let optional = [
        ("index", index.map(Value::from)),
        ("type", ty.map(|ty| places.reference(ty))),
        ("until_sync", until_sync.map(Value::from)),
    ];
    for (key, value) in optional {
        if let Some(value) = value {
            json[key] = value;
        }
    }
    json
}

/// The word for a passing, and whether it lasts until the next sync; `None` if it never does.
fn passing(passing: Passing) -> (&'static str, Option<bool>) {
    match passing {
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
    }
}

fn returns(prototype: &Prototype) -> &'static str {
    match prototype.returns {
        Returns::Status => "status",
        Returns::Handle => "handle",
        Returns::Shape { .. } => "shape",
        Returns::Variant => "variant",
        Returns::RawMemory => "raw_memory",
    }
}
