//! Computes on several machines by MPI. Each rank has a Futhark context and a device of its own, and a block of the rows
//! of a plate. Neighbours exchange their edges before each step. Any number of ranks gives the same result.
//!
//! ```text
//! cargo build --release
//! mpirun -n 4 target/release/futhark-example-mpi [ROWS] [STEPS]
//! ```
//!
//! Debian's packages are `libopenmpi-dev` and `openmpi-bin`. For GPUs build with `--features cuda`.
#![forbid(unsafe_code)]

use std::error::Error;
use std::time::Instant;

use futhark_safe::{Backend, Config};
use mpi::collective::SystemOperation;
use mpi::datatype::PartitionMut;
use mpi::topology::SimpleCommunicator;
use mpi::traits::*;

futhark_safe::include_program!(heat);

/// A context on the device of this rank. Ranks of one machine use its devices in turn.
fn context(world: &SimpleCommunicator) -> futhark_safe::Result<heat::Context> {
    let mut config = Config::new();
    let backend = heat::Context::backends()?[0];
    // The backends c and multicore have no device to choose.
    if !matches!(backend, Backend::C | Backend::Multicore) {
        let devices = heat::Context::devices(backend)?.len();
        let rank_on_machine = world.split_shared(0).rank();
        config = config.device_number(rank_on_machine as usize % devices.max(1));
    }
    heat::Context::new(&config)
}

/// Sends a row to rank `to` and returns the row that rank `from` sends: `edge` if the plate ends there.
fn exchange(world: &SimpleCommunicator, row: &[f64], to: i32, from: i32, edge: &[f64]) -> Vec<f64> {
    let mut received = edge.to_vec();
    let exists = |rank: i32| (0..world.size()).contains(&rank);
    // The send does not block: all ranks send before they receive.
    mpi::request::scope(|scope| {
        let sent = exists(to).then(|| world.process_at_rank(to).immediate_send(scope, row));
        if exists(from) {
            world.process_at_rank(from).receive_into(&mut received[..]);
        }
        if let Some(sent) = sent {
            sent.wait();
        }
    });
    received
}

/// A hash of all cells, equal only if each bit is equal.
fn hash(cells: &[f64]) -> u64 {
    cells.iter().fold(0xcbf2_9ce4_8422_2325, |hash, cell| {
        (hash ^ cell.to_bits()).wrapping_mul(0x100_0000_01b3)
    })
}

fn main() {
    let universe = mpi::initialize().expect("MPI is not initialized yet");
    let world = universe.world();
    if let Err(error) = run(&world) {
        eprintln!("rank {}: {error}", world.rank());
        // The other ranks may wait for this one, so it cannot just end.
        world.abort(1);
    }
}

fn run(world: &SimpleCommunicator) -> Result<(), Box<dyn Error>> {
    let (rank, size) = (i64::from(world.rank()), i64::from(world.size()));
    let mut numbers = std::env::args().skip(1).map(|text| text.parse::<i64>());
    let rows = numbers.next().unwrap_or(Ok(1024))?;
    let steps = numbers.next().unwrap_or(Ok(200))?;
    if rows < size {
        return Err(format!("expected at least a row per rank, got {rows} rows").into());
    }

    let ctx = context(world)?;
    let first_row = |rank: i64| rows * rank / size;
    let offset = first_row(rank);
    let mut block = ctx
        .entry()
        .start(rows, rows, offset, first_row(rank + 1) - offset)?;
    world.barrier();
    let start = Instant::now();
    for _ in 0..steps {
        // Only the edges leave the device.
        let (first, last) = (block.first()?.to_vec()?, block.last()?.to_vec()?);
        let (up, down) = (world.rank() - 1, world.rank() + 1);
        let below = exchange(world, &first, up, down, &last);
        let above = exchange(world, &last, down, up, &first);
        block = ctx.entry().step(&above, &block, &below)?;
    }
    let mut hottest = 0.0;
    let of_block = ctx.entry().hottest(&block)?;
    world.all_reduce_into(&of_block, &mut hottest, SystemOperation::max());
    let seconds = start.elapsed().as_secs_f64();

    // All cells, at rank 0.
    let cells = block.cells()?.to_vec()?;
    let root = world.process_at_rank(0);
    if world.rank() != 0 {
        root.gather_varcount_into(&cells[..]);
        return Ok(());
    }
    let cells_before = |rank: i64| i32::try_from(first_row(rank) * rows);
    let starts = (0..=size)
        .map(cells_before)
        .collect::<Result<Vec<i32>, _>>()?;
    let counts: Vec<i32> = starts.windows(2).map(|pair| pair[1] - pair[0]).collect();
    let mut all = vec![0.0; (rows * rows) as usize];
    let mut parts = PartitionMut::new(&mut all[..], counts, &starts[..size as usize]);
    root.gather_varcount_into_root(&cells[..], &mut parts);
    println!(
        "{size} ranks on {}: {rows} x {rows} cells, {steps} steps in {seconds:.3} s",
        ctx.backend()
    );
    println!(
        "hottest: {hottest:.6}, hash of all cells: {:016x}",
        hash(&all)
    );
    Ok(())
}
