//! What values contain and what calls return, in plain Rust.

use Data::{Array, Int, Opaque};
use futhark_manifest::{Field, Structure};
use futhark_safe::dynamic::{Scalar, Value};
use futhark_safe::{ErrorKind, Result};

/// The content of a value.
#[derive(Clone, Debug, PartialEq)]
pub enum Data {
    Int(i64),
    Array(Vec<usize>, Vec<i64>),
    /// The variant of a sum; fields, payload or elements.
    Opaque(Option<String>, Vec<Data>),
}

/// What a call does: it fails with one of these kinds, or returns these results.
#[derive(Default)]
pub struct Outcome {
    pub kinds: Vec<ErrorKind>,
    pub results: Vec<Data>,
    /// Whether the call starts, which spends arguments.
    pub starts: bool,
}

impl Data {
    pub fn vector(elements: &[i64]) -> Data {
        Array(vec![elements.len()], elements.to_vec())
    }

    fn record(fields: Vec<Data>) -> Data {
        Opaque(None, fields)
    }

    fn sum(variant: &str, payload: Vec<Data>) -> Data {
        Opaque(Some(variant.into()), payload)
    }

    /// The elements of an array of records with these columns.
    pub fn points(columns: &[Data]) -> Vec<Data> {
        let columns = columns[0].ints().iter().zip(columns[1].ints());
        let point = |(&x, &y)| Data::record(vec![Int(x), Int(y)]);
        columns.map(point).collect()
    }

    fn int(&self) -> i64 {
        match self {
            Int(x) => *x,
            other => panic!("expected an integer: {other:?}"),
        }
    }

    pub fn ints(&self) -> &[i64] {
        match self {
            Array(_, elements) => elements,
            other => panic!("expected an array of integers: {other:?}"),
        }
    }

    pub fn parts(&self) -> &[Data] {
        match self {
            Opaque(_, parts) => parts,
            other => panic!("expected an opaque value: {other:?}"),
        }
    }

    /// The number of integers in an array.
    pub fn count(&self) -> usize {
        self.ints().len()
    }

    /// A field of all elements.
    pub fn column(&self, i: usize) -> Data {
        let elements = self.parts().iter();
        let column: Vec<i64> = elements.map(|element| element.parts()[i].int()).collect();
        Data::vector(&column)
    }

    /// The array with another element; `None` if the index is out of bounds.
    fn with(&self, i: &Data, element: &Data) -> Option<Data> {
        let (mut changed, i) = (self.clone(), usize::try_from(i.int()).ok()?);
        match &mut changed {
            Array(_, elements) => *elements.get_mut(i)? = element.int(),
            Opaque(_, elements) => *elements.get_mut(i)? = element.clone(),
            Int(_) => return None,
        }
        Some(changed)
    }

    /// The content of a value.
    pub fn read(value: &Value) -> Result<Data> {
        let opaque = match value {
            Value::Scalar(Scalar::I64(x)) => return Ok(Int(*x)),
            Value::Scalar(other) => panic!("no program returns {other:?}"),
            Value::Array(array) => return Ok(Array(array.shape(), array.to_vec()?)),
            Value::Opaque(opaque) => opaque,
        };
        let mut variant = None;
        let structure = &opaque.ty().as_opaque().expect("it is opaque").structure;
        let project = |field: &Field| opaque.project(&field.name);
        let parts: Result<Vec<Value>> = match structure {
            Structure::Record(record) => record.fields.iter().map(project).collect(),
            Structure::Sum(_) => opaque.destruct(variant.insert(opaque.variant()?)),
            _ => {
                let indices = 0..opaque.shape()?[0] as i64;
                indices.map(|i| opaque.index(&[i])).collect()
            }
        };
        let parts = parts?.iter().map(Data::read).collect::<Result<_>>()?;
        Ok(Opaque(variant, parts))
    }
}

/// The quotient, rounded down.
fn divide(a: i64, b: i64) -> Result<i64, ErrorKind> {
    match a.checked_div(b) {
        Some(q) => Ok(q - i64::from(a % b != 0 && (a < 0) != (b < 0))),
        None if b == 0 => Err(ErrorKind::Program),
        None => Err(ErrorKind::ContextLost),
    }
}

/// The outcome of a call with arguments of the right types.
pub fn call(entry: &str, args: &[Data]) -> Outcome {
    use ErrorKind::{OutOfMemory, Program};
    let mut kinds = vec![Program];
    let (vector, record) = (Data::vector, Data::record);
    let part = |i: usize, part: usize| args[i].parts()[part].clone();
    let results: Option<Vec<Data>> = match (entry, args) {
        ("exchange" | "divide_all", [a, b]) if a.count() != b.count() => return kinds.into(),
        ("step", [v]) if v.parts()[0].count() != v.parts()[1].count() => return kinds.into(),
        ("same", [x]) => Some(vec![x.clone()]),
        ("put" | "repaint", [xs, i, x]) => xs.with(i, x).map(|xs| vec![xs]),

        ("constant", []) => Some(vec![vector(&[10, 20, 30, 40])]),
        ("split", [k, xs]) => {
            let parts = xs.ints().split_at_checked(k.int() as usize);
            parts.map(|(a, b)| vec![vector(a), vector(b)])
        }
        ("exchange", [a, b]) => {
            let parts = b.with(&Int(0), &Int(1)).zip(a.with(&Int(0), &Int(2)));
            parts.map(|(a, b)| vec![a, b])
        }
        ("transpose", [Array(shape, xs)]) => {
            let turned = (0..shape[1]).flat_map(|j| xs.iter().skip(j).step_by(shape[1]));
            let turned = turned.copied().collect();
            Some(vec![Array(vec![shape[1], shape[0]], turned)])
        }
        ("flatten", [xs]) => Some(vec![vector(xs.ints())]),
        ("replicate", [Int(n @ 0..1000), x]) => Some(vec![vector(&vec![x.int(); *n as usize])]),
        ("replicate", [Int(n), _]) => {
            let is_size = *n > 0 && n.checked_mul(8).is_some();
            kinds = vec![if is_size { OutOfMemory } else { Program }];
            None
        }
        ("divide", [a, b]) => match divide(a.int(), b.int()) {
            Ok(quotient) => Some(vec![Int(quotient)]),
            Err(kind) => {
                kinds = vec![kind];
                None
            }
        },
        ("divide_all", [a, b]) => {
            let all = a.ints().iter().zip(b.ints()).map(|(&a, &b)| divide(a, b));
            // Threads fail in any order.
            kinds = all.clone().filter_map(Result::err).collect();
            all.collect::<Result<Vec<i64>, _>>()
                .ok()
                .map(|all| vec![vector(&all)])
        }

        ("swap", [_]) => Some(vec![record(vec![part(0, 1), part(0, 0)])]),
        ("poke_nest", [_, x]) => {
            let inner = part(0, 1);
            let left = inner.parts()[0].with(&part(0, 0), x);
            left.map(|left| vec![left, inner.parts()[1].clone()])
        }
        ("step", [_]) => {
            let (xs, ys) = (part(0, 0), part(0, 1));
            let moved = xs
                .ints()
                .iter()
                .zip(ys.ints())
                .map(|(x, y)| x.wrapping_add(*y));
            let moved = vector(&moved.collect::<Vec<_>>());
            Some(vec![record(vec![moved, ys])])
        }

        ("poke", [Opaque(None, _), x]) => {
            let left = part(0, 0).with(&Int(0), x);
            left.map(|left| vec![record(vec![left, part(0, 1)])])
        }
        ("poke", [Opaque(Some(variant), _), x]) if variant == "path" => {
            let xs = part(0, 0).with(&part(0, 1), x);
            xs.map(|xs| vec![Data::sum("path", vec![xs, part(0, 1)])])
        }
        ("poke", [shape, _]) => Some(vec![shape.clone()]),

        ("paint", [xs, colour]) => {
            let paint = |&x: &i64| match x {
                1.. => Data::sum("rgb", vec![Int(x), Int(2)]),
                _ => colour.clone(),
            };
            Some(vec![record(xs.ints().iter().map(paint).collect())])
        }
        (entry, args) => panic!("the model has no {entry} of {args:?}"),
    };
    let starts = true;
    match results {
        Some(results) => Outcome {
            results,
            starts,
            kinds: vec![],
        },
        None => Outcome {
            kinds,
            starts,
            results: vec![],
        },
    }
}

/// Of a call that does not start.
impl From<Vec<ErrorKind>> for Outcome {
    fn from(kinds: Vec<ErrorKind>) -> Outcome {
        Outcome {
            kinds,
            ..Outcome::default()
        }
    }
}
