//! What values contain and what calls return, in plain Rust.

use Class::{Lost, Memory, Program, Sizes};
use Data::{Array, Int, Opaque};
use futhark_safe::ErrorKind;

/// The content of a value.
#[derive(Clone, Debug, PartialEq)]
pub enum Data {
    Int(i64),
    Array(Vec<usize>, Vec<i64>),
    /// The variant of a sum; its payload, the fields of a record, the columns of an array of records, or other elements.
    Opaque(Option<String>, Vec<Data>),
}

/// The results of an operation, or the classes of errors that it can fail with.
pub type Outcome<T = Vec<Data>> = Result<T, Vec<Class>>;

/// Why an operation fails.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Class {
    /// A check in the program, now or in a pending call that should have written an argument.
    Program,
    /// The sizes of an entry point's arguments disagree.
    Sizes,
    /// The shapes of the columns of an array of records disagree, or an index is out of bounds.
    Shapes,
    Memory,
    /// The context was lost.
    Lost,
    /// An argument of another type or variant, one that was consumed before, or too few.
    Argument,
    /// A value of another context.
    Foreign,
    /// Bytes that another program stored.
    Bytes,
}

impl Class {
    /// The kind of the error in Rust.
    pub fn kind(self) -> ErrorKind {
        match self {
            Program | Sizes => ErrorKind::Program,
            Memory => ErrorKind::OutOfMemory,
            Lost => ErrorKind::ContextLost,
            Class::Shapes | Class::Argument => ErrorKind::InvalidArgument,
            Class::Foreign => ErrorKind::WrongContext,
            Class::Bytes => ErrorKind::Restore,
        }
    }

    /// The code that a function of a hardened library returns.
    pub fn code(self) -> i32 {
        match self {
            Sizes | Class::Shapes | Lost | Class::Bytes => 1,
            Program | Class::Argument | Class::Foreign => 2,
            Memory => 3,
        }
    }
}

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

    /// Whether it is an array without elements.
    pub fn is_empty(&self) -> bool {
        matches!(self, Array(_, elements) if elements.is_empty())
            || matches!(self, Opaque(None, parts) if parts.is_empty())
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
}

/// The quotients, rounded down. Threads fail in any order.
fn divide(xs: &[i64], ys: &[i64]) -> Outcome<Data> {
    if xs.len() != ys.len() {
        return Err(vec![Sizes]);
    }
    let (mut quotients, mut kinds) = (vec![], vec![]);
    for (&a, &b) in xs.iter().zip(ys) {
        match a.checked_div(b) {
            Some(q) => quotients.push(q - i64::from(a % b != 0 && (a < 0) != (b < 0))),
            None => kinds.push(if b == 0 { Program } else { Lost }),
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
        ("replicate", _) => return Err(vec![Memory, Program]),
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
