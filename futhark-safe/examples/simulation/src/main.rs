//! A simulation with a state that lives across calls. It shows its progress, stops between calls on Ctrl-C, stores
//! its state in a file then and at the end, and continues from there the next time, also on another backend.
//!
//! ```text
//! cargo run --release -p futhark-example-simulation -- STEPS CHECKPOINT PICTURE.png
//! ```
#![forbid(unsafe_code)]

use std::error::Error;
use std::io::{ErrorKind, Write as _, stdout};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use futhark_safe::Untrusted;
use simulation::{Context, State};

futhark_safe::include_program!(simulation);

/// Rows and columns.
const SIZE: (i64, i64) = (256, 384);

/// Steps per call: a call cannot be interrupted, so it should be short, but longer than the cost of a call.
const STEPS_PER_CALL: i64 = 50;

struct Simulation {
    ctx: Context,
    state: State,
}

impl Simulation {
    /// Continues from a checkpoint, or starts if there is none.
    fn open(ctx: Context, checkpoint: &Path) -> Result<Simulation, Box<dyn Error>> {
        let state = match std::fs::read(checkpoint) {
            // `accept` checks that the bytes are a value of this type, stored by this program.
            Ok(bytes) => ctx.restore(&Untrusted::from_bytes(&bytes)?.accept::<State>()?)?,
            Err(error) if error.kind() == ErrorKind::NotFound => {
                ctx.entry().start(SIZE.0, SIZE.1)?
            }
            Err(error) => return Err(format!("{}: {error}", checkpoint.display()).into()),
        };
        Ok(Simulation { ctx, state })
    }

    fn advance(&mut self, steps: i64) -> futhark_safe::Result<()> {
        // The call consumes the state, and its memory is reused for the next one.
        self.state = self.ctx.entry().advance(&mut self.state, steps)?;
        Ok(())
    }

    /// Writes the state to another file first, so that an interruption leaves the previous checkpoint.
    fn save(&self, checkpoint: &Path) -> Result<(), Box<dyn Error>> {
        let new = checkpoint.with_extension("new");
        std::fs::write(&new, self.state.store()?.to_bytes()?)?;
        Ok(std::fs::rename(new, checkpoint)?)
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [steps, checkpoint, picture] = &arguments[..] else {
        return Err("usage: futhark-example-simulation STEPS CHECKPOINT PICTURE.png".into());
    };
    let (end, checkpoint) = (steps.parse::<i64>()?, Path::new(checkpoint));

    // A signal handler may only set a flag; the loop reads it between two calls.
    let stop = Arc::new(AtomicBool::new(false));
    signal_hook::flag::register(signal_hook::consts::SIGINT, stop.clone())?;

    let ctx = Context::new(&simulation::Config::new())?;
    let mut simulation = Simulation::open(ctx, checkpoint)?;
    let mut done = simulation.state.steps()?;
    println!(
        "{}: starts at step {done} of {end}",
        simulation.ctx.backend()
    );
    while done < end && !stop.load(Ordering::Relaxed) {
        simulation.advance(STEPS_PER_CALL.min(end - done))?;
        // Reading the result waits for the call: on a GPU, a call returns before its result is computed.
        done = simulation.state.steps()?;
        print!("\r{:3} %", 100 * done / end);
        stdout().flush()?;
    }
    println!();
    simulation.save(checkpoint)?;
    if done < end {
        println!("stopped at step {done}; run the same command to continue");
        return Ok(());
    }
    let pixels = simulation.ctx.entry().picture(&simulation.state)?;
    let [height, width] = pixels.shape().map(|n| n as u32);
    let grey = image::GrayImage::from_raw(width, height, pixels.to_vec()?);
    grey.ok_or("expected a byte per pixel")?.save(picture)?;
    println!("step {done}, written to {picture}");
    Ok(())
}
