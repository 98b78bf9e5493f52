//! With the feature `serde`: a stored value serializes as the bytes of its frame.
//!
//! Deserialized bytes can have any origin, so they become an [`Untrusted`].

use std::fmt;

use serde_core::de::value::SeqAccessDeserializer;
use serde_core::de::{Deserialize, Deserializer, Error as _, SeqAccess, Visitor};
use serde_core::ser::{Error as _, Serialize, Serializer};

use super::{Stored, Untrusted};
use crate::program::OpaqueTag;

impl<G: OpaqueTag> Serialize for Stored<G> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let bytes = self.to_bytes().map_err(S::Error::custom)?;
        serializer.serialize_bytes(&bytes)
    }
}

impl<'de> Deserialize<'de> for Untrusted {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Untrusted, D::Error> {
        deserializer.deserialize_bytes(Bytes)
    }
}

struct Bytes;

impl<'de> Visitor<'de> for Bytes {
    type Value = Untrusted;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the bytes of a stored value of a Futhark program")
    }

    fn visit_bytes<E: serde_core::de::Error>(self, bytes: &[u8]) -> Result<Untrusted, E> {
        Untrusted::from_bytes(bytes).map_err(E::custom)
    }

    /// Formats without a bytes type use a list of numbers.
    fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<Untrusted, A::Error> {
        // Reads the size hint as untrusted.
        let bytes = Vec::<u8>::deserialize(SeqAccessDeserializer::new(list))?;
        Untrusted::from_bytes(&bytes).map_err(A::Error::custom)
    }
}
