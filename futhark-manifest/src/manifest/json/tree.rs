//! Reads JSON into a tree and rejects duplicate members.

use std::cell::RefCell;
use std::fmt;

use serde_core::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

use super::Path;

/// Reads the text of an object.
///
/// Rejects duplicate members, since JSON readers disagree on which one counts, and anything but an
/// object at the top, before reading it. serde_json rejects JSON that is nested deeper than 128 levels.
///
/// A tree needs many times the memory of its text. Therefore the members of the objects `types` and
/// `entry_points` are passed to `sink` one by one and left out of the tree.
pub(crate) fn read(
    text: &[u8],
    sink: &mut Sink<'_>,
) -> Result<Value, (serde_json::Error, Option<Refused>)> {
    let reading = Reading::new(sink);
    let mut deserializer = serde_json::Deserializer::from_slice(text);
    let tree = reading.root().deserialize(&mut deserializer);
    let read = tree.and_then(|tree| deserializer.end().map(|()| tree));
    read.map_err(|error| (error, reading.refused.into_inner()))
}

/// Receives the members of `types` and `entry_points`.
pub(crate) type Sink<'s> = dyn FnMut(&Path<'_>, Value) + 's;

/// The state that all parts of a tree share while it is read.
pub(crate) struct Reading<'s> {
    /// Why the document was refused.
    pub(crate) refused: RefCell<Option<Refused>>,
    sink: RefCell<&'s mut Sink<'s>>,
}

impl<'s> Reading<'s> {
    pub(crate) fn new<'a: 's>(sink: &'s mut Sink<'a>) -> Reading<'s> {
        let refused = RefCell::new(None);
        let sink = RefCell::new(sink as &mut Sink<'s>);
        Reading { refused, sink }
    }

    /// The seed that reads the whole document.
    pub(crate) fn root(&self) -> Tree<'_, 's> {
        let path = Path::Root;
        Tree {
            path,
            reading: self,
        }
    }
}

/// Why valid JSON was rejected.
pub(crate) enum Refused {
    /// The top is not an object, but this.
    NotAnObject(&'static str),
    /// The pointer to a duplicate member.
    Twice(String),
}

/// Builds the tree, for any deserializer.
pub(crate) struct Tree<'a, 's> {
    path: Path<'a>,
    reading: &'a Reading<'s>,
}

impl Tree<'_, '_> {
    fn refuse<E: serde_core::de::Error>(&self, reason: Refused, text: impl fmt::Display) -> E {
        *self.reading.refused.borrow_mut() = Some(reason);
        E::custom(text)
    }

    /// Returns the value, unless it is the whole document, which must be an object.
    fn part<E: serde_core::de::Error>(&self, value: Value, what: &'static str) -> Result<Value, E> {
        match self.path {
            Path::Root => Err(self.refuse(Refused::NotAnObject(what), what)),
            Path::Key(..) | Path::Index(..) => Ok(value),
        }
    }
}

impl<'de> DeserializeSeed<'de> for Tree<'_, '_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Tree<'_, '_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        let reading = self.reading;
        let is_section = matches!(self.path, Path::Key(Path::Root, "types" | "entry_points"));
        let mut members = Map::new();
        while let Some(key) = map.next_key::<String>()? {
            let path = self.path.key(&key);
            if members.contains_key(&key) {
                return Err(self.refuse(Refused::Twice(path.to_string()), "a member twice"));
            }
            let mut value = map.next_value_seed(Tree { path, reading })?;
            if is_section {
                // Keep the name, to detect a duplicate.
                (reading.sink.borrow_mut())(&path, value.take());
            }
            members.insert(key, value);
        }
        if is_section {
            members = Map::new();
        }
        Ok(Value::Object(members))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Value, A::Error> {
        // Reject an array at the top without reading it, because it can be long.
        self.part::<A::Error>(Value::Null, "an array")?;
        let mut items = Vec::new();
        loop {
            let path = self.path.index(items.len());
            let reading = self.reading;
            match seq.next_element_seed(Tree { path, reading })? {
                Some(item) => items.push(item),
                None => return Ok(Value::Array(items)),
            }
        }
    }

    fn visit_bool<E: serde_core::de::Error>(self, value: bool) -> Result<Value, E> {
        self.part(Value::Bool(value), "a truth value")
    }

    fn visit_i64<E: serde_core::de::Error>(self, value: i64) -> Result<Value, E> {
        self.part(value.into(), "a number")
    }

    fn visit_u64<E: serde_core::de::Error>(self, value: u64) -> Result<Value, E> {
        self.part(value.into(), "a number")
    }

    fn visit_f64<E: serde_core::de::Error>(self, value: f64) -> Result<Value, E> {
        // Other formats have numbers that JSON lacks, such as NaN.
        let number = Number::from_f64(value);
        let number = number.ok_or_else(|| E::custom("a number that JSON cannot represent"))?;
        self.part(Value::Number(number), "a number")
    }

    fn visit_str<E: serde_core::de::Error>(self, value: &str) -> Result<Value, E> {
        self.visit_string(value.to_owned())
    }

    fn visit_string<E: serde_core::de::Error>(self, value: String) -> Result<Value, E> {
        self.part(Value::String(value), "a string")
    }

    fn visit_unit<E: serde_core::de::Error>(self) -> Result<Value, E> {
        self.part(Value::Null, "null")
    }

    fn visit_none<E: serde_core::de::Error>(self) -> Result<Value, E> {
        self.visit_unit()
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        self.deserialize(deserializer)
    }
}
