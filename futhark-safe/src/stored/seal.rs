//! Sealed values: a frame and a MAC of it, under a key of the user.

#![allow(
    unsafe_code,
    reason = "only `seal` makes MACs under the key, which SAFETY.md states as a premise"
)]

use std::fmt;

use hmac_sha256::HMAC;

use super::untrusted::Found;
use super::{Stored, Untrusted, fail, to_bytes};
use crate::context::Context;
use crate::error::Result;
use crate::ffi::Bytes;
use crate::opaque::OpaqueTag;

/// The first bytes of the authenticated data, so that a MAC for another purpose under the same key is not
/// valid for a stored value.
const DOMAIN: &[u8] = b"futhark-safe sealed value 1\0";
/// The length of the MAC, which follows the frame.
const MAC: usize = 32;

/// A secret key for [`Stored::seal`].
///
/// Needs the feature `mac`. Generate its bytes with a cryptographic random number generator, and store them
/// where nobody who can change the sealed values can read them.
#[derive(Clone)]
pub struct Key([u8; 32]);

impl Key {
    /// A key of these bytes.
    #[must_use]
    pub const fn new(bytes: [u8; 32]) -> Key {
        Key(bytes)
    }
}

impl From<[u8; 32]> for Key {
    fn from(bytes: [u8; 32]) -> Key {
        Key(bytes)
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key(..)")
    }
}

impl<G: OpaqueTag> Stored<G> {
    /// Returns frame, body and a MAC of them, for [`unseal`](Self::unseal): HMAC-SHA256 under `key`,
    /// which nobody without the key can make.
    ///
    /// Needs the feature `mac`. Takes values of every type, also those that
    /// [`Untrusted::accept`] refuses.
    pub fn seal(&self, key: &Key) -> Result<Vec<u8>> {
        seal(&self.bytes, key)
    }

    /// Returns the value that [`seal`](Self::seal) sealed under the same key.
    ///
    /// Safe under the premise that every MAC under `key` for sealed values comes from `seal`: the
    /// key is secret, and no other code makes such MACs.
    ///
    /// # Errors
    /// [`ErrorKind::Restore`](crate::ErrorKind::Restore): another key, or changed bytes; another program, another
    /// version of it or of its compiler, another type.
    pub fn unseal(key: &Key, bytes: &[u8]) -> Result<Stored<G>> {
        unseal(key, bytes, |untrusted| untrusted.find::<G>(None)).map(Stored::of)
    }

    /// As [`unseal`](Self::unseal), for the program of a context that was made of a library
    /// (`Context::with_library`, feature `dynamic`).
    pub fn unseal_for(ctx: &Context<G::Program>, key: &Key, bytes: &[u8]) -> Result<Stored<G>> {
        unseal(key, bytes, |untrusted| untrusted.find::<G>(Some(ctx))).map(Stored::of)
    }
}

pub(crate) fn seal(bytes: &Bytes, key: &Key) -> Result<Vec<u8>> {
    let mut sealed = to_bytes(bytes)?;
    let mac = mac(key, &sealed).finalize();
    sealed.extend(mac);
    Ok(sealed)
}

pub(crate) fn unseal(
    key: &Key,
    bytes: &[u8],
    find: impl FnOnce(&Untrusted) -> Result<Found>,
) -> Result<Bytes> {
    let Some((frame, expected)) = bytes.split_last_chunk::<MAC>() else {
        return Err(fail(format!(
            "not a sealed value: expected more than {MAC} bytes, got {}",
            bytes.len()
        )));
    };
    // Before anything is read from the frame. The comparison takes the same time wherever the MACs differ.
    if !mac(key, frame).finalize_verify(expected) {
        return Err(fail(
            "the MAC does not match: the value was sealed with another key or not at all, or the bytes were \
             changed",
        ));
    }
    let untrusted = Untrusted::from_bytes(frame)?;
    let found = find(&untrusted)?;
    // SAFETY: the MAC is correct, so `seal` made it (its premise) for this frame. It takes stored values only, so the
    // program and type that the frame names, which `find` has found, stored this body.
    Ok(unsafe { found.bytes(untrusted.into_body()) })
}

fn mac(key: &Key, frame: &[u8]) -> HMAC {
    let mut mac = HMAC::new(key.0);
    mac.update(DOMAIN);
    mac.update(frame);
    mac
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Computed by another implementation, as documented: HMAC-SHA256 of the domain and the frame.
    #[test]
    fn the_mac_is_as_documented() {
        let key = Key::new(std::array::from_fn(|i| i as u8));
        let mac = mac(&key, b"frame").finalize();
        assert_eq!(mac[..8], [0xf6, 0xac, 0x8c, 0xb9, 0x6c, 0x25, 0x02, 0xef]);
    }

    #[test]
    fn debug_output_hides_the_key() {
        let key = Key::from([0xab; 32]);
        assert_eq!(format!("{:?} {:?}", key, key.clone()), "Key(..) Key(..)");
    }
}
