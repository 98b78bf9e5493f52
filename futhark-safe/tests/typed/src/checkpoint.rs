//! A simulation that saves its state and resumes from it, without `unsafe`.

use futhark_safe::stored::Key;
use futhark_safe::{OpaqueTag, Program, Result, Stored, Untrusted};

/// A context, and a state that each step replaces.
pub struct Simulation<G: OpaqueTag> {
    /// The context of the state.
    pub ctx: futhark_safe::Context<G::Program>,
    /// The state.
    pub state: G,
}

impl<P: Program, G: OpaqueTag<Program = P>> Simulation<G> {
    /// The state as bytes, which anyone may change.
    pub fn save(&self) -> Result<Vec<u8>> {
        self.state.store()?.to_bytes()
    }

    /// Resumes from bytes of unknown origin, in a context of any backend.
    pub fn resume(ctx: &futhark_safe::Context<P>, bytes: &[u8]) -> Result<Simulation<G>> {
        let stored = Untrusted::from_bytes(bytes)?.accept::<G>()?;
        Ok(Simulation {
            ctx: ctx.clone(),
            state: ctx.restore(&stored)?,
        })
    }

    /// The state as bytes that are authenticated.
    pub fn seal(&self, key: &Key) -> Result<Vec<u8>> {
        self.state.store()?.seal(key)
    }

    /// Resumes from bytes that were sealed under this key.
    pub fn unseal(
        ctx: &futhark_safe::Context<P>,
        key: &Key,
        bytes: &[u8],
    ) -> Result<Simulation<G>> {
        Ok(Simulation {
            ctx: ctx.clone(),
            state: ctx.restore(&Stored::unseal(key, bytes)?)?,
        })
    }
}
