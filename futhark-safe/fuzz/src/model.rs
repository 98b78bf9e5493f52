//! What values contain and what calls return, in plain Rust.

use Data::{Array, Int, Opaque};
use ErrorKind::{ContextLost, OutOfMemory, Program};
use futhark_manifest::{Field, Structure};
use futhark_safe::dynamic::{self, Scalar, Value};
use futhark_safe::{ErrorKind, Result};

/// The content of a value.
#[derive(Clone, Debug, PartialEq)]
pub enum Data {
    Int(i64),
    Array(Vec<usize>, Vec<i64>),
    /// The variant of a sum; its payload, the fields of a record, the columns of an array of records, or other elements.
    Opaque(Option<String>, Vec<Data>),
}

/// The results of an operation, or the kinds of errors that it can fail with.
pub type Outcome<T = Vec<Data>> = Result<T, Vec<ErrorKind>>;

impl Data {
    pub fn vector(elements: &[i64]) -> Data {
        Array(vec![elements.len()], elements.to_vec())
    }

    pub fn ints(&self) -> &[i64] {
        match self {
            Array(_, elements) => elements,
            other => panic!("expected an array of integers: {other:?}"),
        }
    }

    /// The array with another element; the program fails if the index is out of bounds.
    fn with(&self, i: &Data, x: &Data) -> Outcome<Data> {
        let (Int(i), Int(x)) = (i, x) else {
            panic!("expected integers: {i:?} {x:?}")
        };
        let mut changed = self.ints().to_vec();
        *changed.get_mut(*i as usize).ok_or(vec![Program])? = *x;
        Ok(Data::vector(&changed))
    }

    pub fn read(value: &Value) -> Result<Data> {
        match value {
            Value::Scalar(Scalar::I64(x)) => Ok(Int(*x)),
            Value::Scalar(other) => panic!("no program returns {other:?}"),
            Value::Array(array) => Ok(Array(array.shape(), array.to_vec()?)),
            Value::Opaque(opaque) => {
                let parts = read_parts(opaque)?;
                let parts = parts.iter().map(Data::read).collect::<Result<_>>()?;
                Ok(Opaque(opaque.variant().ok(), parts))
            }
        }
    }
}

/// Reads what [`Data::Opaque`] contains.
pub fn read_parts(opaque: &dynamic::Opaque) -> Result<Vec<Value>> {
    let project = |field: &Field| opaque.project(&field.name);
    match &opaque.ty().as_opaque().expect("it is opaque").structure {
        Structure::Record(record) => record.fields.iter().map(project).collect(),
        Structure::RecordArray(array) => array.fields.iter().map(project).collect(),
        Structure::Sum(sum) => {
            let variant = opaque.variant()?;
            let mut others = sum.variants.iter().filter(|other| other.name != variant);
            assert!(others.all(|other| opaque.destruct(&other.name).is_err()));
            opaque.destruct(&variant)
        }
        _ => {
            let count = opaque.shape()?[0] as i64;
            opaque.index(&[count]).expect_err("out of bounds");
            (0..count).map(|i| opaque.index(&[i])).collect()
        }
    }
}

/// The quotients, rounded down. Threads fail in any order.
fn divide(xs: &[i64], ys: &[i64]) -> Outcome<Data> {
    if xs.len() != ys.len() {
        return Err(vec![Program]);
    }
    let (mut quotients, mut kinds) = (vec![], vec![]);
    for (&a, &b) in xs.iter().zip(ys) {
        match a.checked_div(b) {
            Some(q) => quotients.push(q - i64::from(a % b != 0 && (a < 0) != (b < 0))),
            None => kinds.push(if b == 0 { Program } else { ContextLost }),
        }
    }
    match kinds.is_empty() {
        true => Ok(Data::vector(&quotients)),
        false => Err(kinds),
    }
}

/// The outcome of a call with arguments of the right types.
pub fn call(entry: &str, args: &[Data]) -> Outcome {
    let vector = Data::vector;
    let results = match (entry, args) {
        ("constant", []) => vec![vector(&[10, 20, 30, 40])],
        ("same", [x]) => vec![x.clone()],
        ("split", [Int(k), Array(_, xs)]) => {
            let (a, b) = xs.split_at_checked(*k as usize).ok_or(vec![Program])?;
            vec![Int(*k), vector(a), vector(b)]
        }
        ("exchange", [a, b, i, x]) => vec![b.with(i, x)?, a.with(&Int(0), &Int(2))?],
        ("replicate", [Int(n @ 0..1000), Int(x)]) => vec![vector(&vec![*x; *n as usize])],
        ("replicate", _) => return Err(vec![OutOfMemory, Program]),
        ("divide", [Int(a), Array(_, bs)]) => vec![divide(&vec![*a; bs.len()], bs)?],
        ("divide", [Opaque(_, vec)]) => vec![divide(vec[0].ints(), vec[1].ints())?],
        ("poke", [Opaque(variant, parts), x]) if matches!(parts[..], [_, Int(_), ..]) => {
            let mut parts = parts.clone();
            parts[0] = parts[0].with(&parts[1], x)?;
            vec![Opaque(variant.clone(), parts)]
        }
        ("poke", [shape, _]) => vec![shape.clone()],
        ("put", [Opaque(_, columns), i, Opaque(_, point)]) => {
            let columns = columns.iter().zip(point).map(|(xs, x)| xs.with(i, x));
            vec![Opaque(None, columns.collect::<Outcome<_>>()?)]
        }
        ("paint", [Array(_, xs), colour]) => {
            let paint = |&x: &i64| match x {
                1.. => Opaque(Some("rgb".into()), vec![Int(x), Int(2)]),
                _ => colour.clone(),
            };
            vec![Opaque(None, xs.iter().map(paint).collect())]
        }
        (entry, args) => panic!("the model has no {entry} of {args:?}"),
    };
    Ok(results)
}
