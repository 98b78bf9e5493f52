//! Values: arrays and opaque values, with their parts.

use std::cell::RefCell;
use std::rc::Rc;

/// A value, to which pointers of the table point.
#[derive(Clone)]
pub(crate) struct Value {
    pub(crate) parts: Vec<Part>,
    /// The dimensions of an array or of an array of records, to which `shape` points.
    dims: Box<[i64]>,
}

/// A scalar or an element: all element types of the program have four bytes.
#[derive(Clone, Copy)]
#[repr(C, align(4))]
pub(crate) struct Word(pub(crate) [u8; 4]);

/// A component of a value, in the type's order.
#[derive(Clone)]
pub(crate) enum Part {
    Scalar(Word),
    Array(Array),
}

/// An array in memory that values can share. As in the real runtime, the count belongs to the memory
/// and is not atomic.
#[derive(Clone)]
pub(crate) struct Array {
    pub(crate) dims: Vec<i64>,
    pub(crate) memory: Rc<RefCell<Memory>>,
}

pub(crate) struct Memory {
    pub(crate) words: Vec<Word>,
    /// The computation that should have written it failed, so its content is arbitrary.
    pub(crate) invalid: bool,
}

impl Value {
    pub(crate) fn new(parts: Vec<Part>) -> Value {
        let first = parts.iter().find_map(Part::array);
        let dims = first.map(|array| array.dims.clone()).unwrap_or_default();
        Value {
            parts,
            dims: dims.into(),
        }
    }

    pub(crate) fn dims(&self) -> &[i64] {
        &self.dims
    }

    pub(crate) fn arrays(&self) -> impl Iterator<Item = &Array> {
        self.parts.iter().filter_map(Part::array)
    }

    pub(crate) fn is_shared(&self) -> bool {
        self.arrays()
            .any(|array| Rc::strong_count(&array.memory) > 1)
    }

    pub(crate) fn is_invalid(&self) -> bool {
        self.arrays().any(|array| array.memory.borrow().invalid)
    }

    pub(crate) fn has_unwritten(&self) -> bool {
        let unwritten = |word: &Word| word.0 == Word::UNWRITTEN.0;
        self.arrays()
            .any(|array| array.memory.borrow().words.iter().any(unwritten))
    }

    /// A copy that shares no memory.
    pub(crate) fn duplicate(&self) -> Value {
        let parts = self.parts.iter().map(|part| match part {
            Part::Scalar(word) => Part::Scalar(*word),
            Part::Array(array) => {
                let words = array.memory.borrow().words.clone();
                Part::Array(Array::new(array.dims.clone(), words))
            }
        });
        Value::new(parts.collect())
    }
}

impl Word {
    /// An element that was not written. No test uses this value.
    pub(crate) const UNWRITTEN: Word = Word([0xa5; 4]);

    pub(crate) fn of(value: i32) -> Word {
        Word(value.to_ne_bytes())
    }

    pub(crate) fn to_int(self) -> i32 {
        i32::from_ne_bytes(self.0)
    }
}

impl Part {
    pub(crate) fn int(value: i32) -> Part {
        Part::Scalar(Word::of(value))
    }

    fn array(&self) -> Option<&Array> {
        match self {
            Part::Scalar(_) => None,
            Part::Array(array) => Some(array),
        }
    }

    pub(crate) fn to_int(&self) -> i32 {
        match self {
            Part::Scalar(word) => word.to_int(),
            Part::Array(_) => unreachable!("the part is an array"),
        }
    }
}

impl Array {
    pub(crate) fn new(dims: Vec<i64>, words: Vec<Word>) -> Array {
        Array {
            dims,
            memory: Rc::new(RefCell::new(Memory {
                words,
                invalid: false,
            })),
        }
    }

    pub(crate) fn of_ints(ints: impl IntoIterator<Item = i32>) -> Array {
        let words: Vec<Word> = ints.into_iter().map(Word::of).collect();
        Array::new(vec![words.len() as i64], words)
    }

    pub(crate) fn ints(&self) -> Vec<i32> {
        let memory = self.memory.borrow();
        memory.words.iter().copied().map(Word::to_int).collect()
    }

    /// The address of the elements. Does not borrow the cell, since another thread's call may be running;
    /// the vector itself never changes.
    pub(crate) fn address(&self) -> *const Word {
        // SAFETY: the memory lives as long as `self`; its words are never moved or resized.
        unsafe { (*self.memory.as_ptr()).words.as_ptr() }
    }

    /// The offset of the element with these indices, which are in bounds.
    pub(crate) fn offset(&self, indices: &[i64]) -> usize {
        let pairs = indices.iter().zip(&self.dims);
        pairs.fold(0, |offset, (&i, &dim)| offset * dim as usize + i as usize)
    }
}
