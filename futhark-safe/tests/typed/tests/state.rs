//! A state in a struct, which calls consume through `&mut`: replaced by each call, kept by a refused one, spent
//! by one that fails.

use futhark_safe::{ErrorKind, Result};
use futhark_safe_typed_tests::state::{self, State};

use super::support::{each, says};

/// The idiom: a value lives in a field across calls.
struct Simulation {
    ctx: state::Context,
    state: State,
}

impl Simulation {
    fn new(ctx: &state::Context) -> Result<Simulation> {
        let (pos, vel) = (ctx.array(&[0.0, 1.0])?, ctx.array(&[1.0, -2.0])?);
        let state = ctx.entry().start(&pos, &vel)?;
        Ok(Simulation {
            ctx: ctx.clone(),
            state,
        })
    }

    fn step(&mut self, dt: f64) -> Result<()> {
        self.state = self.ctx.entry().step(&mut self.state, dt)?;
        Ok(())
    }

    fn place(&mut self, i: i64, p: f64) -> Result<()> {
        self.state = self.ctx.entry().place(&mut self.state, i, p)?;
        Ok(())
    }

    fn pos(&self) -> Result<Vec<f64>> {
        self.state.pos()?.to_vec()
    }

    /// The address of the positions; `None` on a GPU.
    fn address(&self) -> Option<usize> {
        let pos = self.state.pos().unwrap();
        pos.view().map(|view| view.as_ptr().addr())
    }
}

/// Expects the error for a spent value.
fn is_spent<T>(result: Result<T>, words: &str) {
    says(result, ErrorKind::InvalidArgument, words);
}

#[test]
fn a_state_is_changed_in_place_without_copies() {
    each(|ctx: state::Context| {
        let mut simulation = Simulation::new(&ctx).unwrap();
        simulation.place(0, 0.0).unwrap();
        let address = simulation.address();
        assert_eq!(address.is_none(), ctx.backend().is_gpu());
        for i in 0..100 {
            simulation.place(0, f64::from(i)).unwrap();
            assert_eq!(simulation.address(), address);
        }
        assert_eq!(simulation.pos().unwrap(), [99.0, 1.0]);
        // A copy is made where something else shares the memory.
        let held = simulation.state.pos().unwrap();
        simulation.place(1, 7.0).unwrap();
        assert_eq!(held.to_vec().unwrap(), [99.0, 1.0]);
        assert_eq!(simulation.pos().unwrap(), [99.0, 7.0]);
    });
}

#[test]
fn a_refused_call_leaves_the_state() {
    each(|ctx: state::Context| {
        let entry = ctx.entry();
        let mut simulation = Simulation::new(&ctx).unwrap();
        // An array of another size: the entry point compares the sizes before it runs.
        let long = ctx.array(&[1.0; 3]).unwrap();
        says(
            entry.push(&mut simulation.state, &long),
            ErrorKind::Program,
            "sizes of the arguments",
        );
        assert_eq!(simulation.pos().unwrap(), [0.0, 1.0]);
        // The other argument is spent.
        let (mut xs, mut spent) = (ctx.array(&[5.0]).unwrap(), ctx.array(&[6.0]).unwrap());
        entry.bump(&mut spent, 0).unwrap();
        is_spent(
            entry.exchange(&mut xs, &mut spent),
            "argument 1 was consumed",
        );
        is_spent(
            entry.exchange(&mut spent, &mut xs),
            "argument 0 was consumed",
        );
        is_spent(spent.to_vec(), "consumed by entry point bump: assign");
        assert!(spent.view().is_none());
        assert_eq!(format!("{spent:?}"), "Array<f64>(spent)");
        let by = ctx.array(&[1.0, 1.0]).unwrap();
        assert_eq!(xs.to_vec().unwrap(), [5.0]);
        // It works afterwards.
        simulation.state = entry.push(&mut simulation.state, &by).unwrap();
        simulation.step(1.0).unwrap();
        assert_eq!(simulation.pos().unwrap(), [2.0, 0.0]);
        let (a, b) = entry.exchange(&mut xs, ctx.array(&[8.0]).unwrap()).unwrap();
        assert_eq!((a.get(0).unwrap(), b.get(0).unwrap()), (1.0, 2.0));
    });
}

#[test]
fn a_failed_call_spends_the_state_until_another_is_assigned() {
    each(|ctx: state::Context| {
        let mut simulation = Simulation::new(&ctx).unwrap();
        simulation.step(1.0).unwrap();
        let checkpoint = simulation.state.try_clone().unwrap();
        // On a GPU as well: one scalar index is checked on the host.
        let error = simulation.place(9, 0.0).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Program, "{error}");
        let words = "consumed by entry point place, which failed: assign another value";
        let state = &simulation.state;
        is_spent(state.pos(), words);
        is_spent(state.steps(), words);
        is_spent(state.fields(), words);
        is_spent(state.try_clone(), words);
        is_spent(state.store(), words);
        assert_eq!(
            format!("{state:?}"),
            format!("Opaque<{}>(spent)", state.type_name())
        );
        is_spent(
            simulation.step(1.0),
            "argument 0 was consumed by entry point place",
        );
        simulation.state = checkpoint;
        simulation.step(1.0).unwrap();
        assert_eq!(simulation.pos().unwrap(), [2.0, -3.0]);
    });
}
