//! From text to a tree in which no member was lost.

use std::cell::RefCell;
use std::fmt;

use serde_core::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

use super::Path;

/// Reads the text of an object.
///
/// An object that names a member twice is refused: whichever of the two a reader
/// takes, another reader takes the other. So is anything but an object at the
/// top, before it is read. JSON that is nested deeper than 128 levels is refused
/// by serde_json.
pub(crate) fn read(text: &[u8]) -> Result<Value, (serde_json::Error, Option<Refused>)> {
    let refused = RefCell::new(None);
    let mut deserializer = serde_json::Deserializer::from_slice(text);
    let tree = Tree::root(&refused).deserialize(&mut deserializer);
    let read = tree.and_then(|tree| deserializer.end().map(|()| tree));
    read.map_err(|error| (error, refused.into_inner()))
}

/// Why a tree was refused that is JSON.
pub(crate) enum Refused {
    /// The top is no object, but this.
    NotAnObject(&'static str),
    /// The pointer to a member that stands there a second time.
    Twice(String),
}

/// What [`read`] builds, for any deserializer.
pub(crate) struct Tree<'a> {
    path: Path<'a>,
    refused: &'a RefCell<Option<Refused>>,
}

impl<'a> Tree<'a> {
    /// The whole document. What is wrong with it goes to `refused`.
    pub(crate) fn root(refused: &'a RefCell<Option<Refused>>) -> Tree<'a> {
        let path = Path::Root;
        Tree { path, refused }
    }

    fn refuse<E: serde_core::de::Error>(&self, reason: Refused, text: impl fmt::Display) -> E {
        *self.refused.borrow_mut() = Some(reason);
        E::custom(text)
    }

    /// A value that cannot be the whole document.
    fn part<E: serde_core::de::Error>(&self, value: Value, what: &'static str) -> Result<Value, E> {
        match self.path {
            Path::Root => Err(self.refuse(Refused::NotAnObject(what), what)),
            Path::Key(..) | Path::Index(..) => Ok(value),
        }
    }
}

impl<'de> DeserializeSeed<'de> for Tree<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Tree<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        let mut members = Map::new();
        while let Some(key) = map.next_key::<String>()? {
            let path = self.path.key(&key);
            if members.contains_key(&key) {
                return Err(self.refuse(Refused::Twice(path.to_string()), "a member twice"));
            }
            let refused = self.refused;
            let value = map.next_value_seed(Tree { path, refused })?;
            members.insert(key, value);
        }
        Ok(Value::Object(members))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Value, A::Error> {
        // An array at the top can be long: it is not read at all.
        self.part::<A::Error>(Value::Null, "an array")?;
        let mut items = Vec::new();
        loop {
            let path = self.path.index(items.len());
            let refused = self.refused;
            match seq.next_element_seed(Tree { path, refused })? {
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
        // Formats other than JSON have numbers that JSON has not.
        let number = Number::from_f64(value);
        let number = number.ok_or_else(|| E::custom("a number that JSON cannot write"))?;
        self.part(Value::Number(number), "a number")
    }

    fn visit_str<E: serde_core::de::Error>(self, value: &str) -> Result<Value, E> {
        self.visit_string(value.to_owned())
    }

    fn visit_string<E: serde_core::de::Error>(self, value: String) -> Result<Value, E> {
        self.part(Value::String(value), "a text")
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
