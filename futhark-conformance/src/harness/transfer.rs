//! Copies scalars and arrays between the host and a context.

use super::steps::{StepResult, Stop};
use crate::values::HostValue;
use futhark_safe::dynamic::{Context, Scalar, Value};

/// Creates a value in a context from a value on the host.
pub fn upload(context: &Context, value: &HostValue) -> StepResult<Value> {
    if value.shape().is_empty() {
        let scalar = Scalar::from_bytes(value.elem(), value.bytes());
        let scalar = scalar.ok_or_else(|| Stop::error(format!("{value} is not a scalar")))?;
        return Ok(Value::Scalar(scalar));
    }
    let array = context.array_from_bytes(value.elem(), value.shape(), value.bytes())?;
    Ok(Value::Array(array))
}

/// Creates several values in a context.
///
/// # Errors
/// If the library reports an error.
pub fn upload_all(context: &Context, values: &[HostValue]) -> StepResult<Vec<Value>> {
    values.iter().map(|value| upload(context, value)).collect()
}

/// Copies a scalar or an array to the host.
pub fn download(value: &Value) -> StepResult<HostValue> {
    let (elem, shape, bytes) = match value {
        Value::Scalar(scalar) => (scalar.elem(), Vec::new(), scalar.to_bytes()),
        Value::Array(array) => (array.elem(), array.shape(), array.to_bytes()?),
        Value::Opaque(opaque) => {
            return Err(Stop::error(format!(
                "a value of type {} has no elements",
                opaque.type_name()
            )));
        }
    };
    let expected = shape.iter().product::<usize>() * elem.size();
    if bytes.len() != expected {
        let message = format!(
            "an array of shape {shape:?}: got {} bytes, expected {expected}",
            bytes.len()
        );
        return Err(Stop::mismatch(message));
    }
    Ok(HostValue::new(elem, shape, bytes))
}
