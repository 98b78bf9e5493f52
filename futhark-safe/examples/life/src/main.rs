//! Draws the game of Life as an animated GIF. A Futhark program computes the generations and the pixels.
//!
//! ```text
//! cargo run --release -p futhark-example-life -- OUTPUT.gif [GENERATIONS]
//! ```
#![forbid(unsafe_code)]

use std::error::Error;
use std::fs::File;
use std::io::BufWriter;

use image::codecs::gif::{GifEncoder, Repeat};
use image::{Delay, Frame, RgbaImage};

futhark_safe::include_program!(life);

/// Rows and columns of the world, and pixels per cell.
const SIZE: (i64, i64, i64) = (96, 144, 4);

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (output, generations) = match &arguments[..] {
        [output] => (output, 200),
        [output, generations] => (output, generations.parse()?),
        _ => return Err("usage: futhark-example-life OUTPUT.gif [GENERATIONS]".into()),
    };
    let mut gif = GifEncoder::new(BufWriter::new(File::create(output)?));
    gif.set_repeat(Repeat::Infinite)?;

    let ctx = life::Context::new(&life::Config::new())?;
    let (rows, columns, pixels_per_cell) = SIZE;
    let mut world = ctx.entry().start(rows, columns)?;
    for _ in 0..generations {
        let pixels = ctx.entry().draw(pixels_per_cell, &world)?;
        let [height, width, _] = pixels.shape().map(|n| n as u32);
        let picture = RgbaImage::from_raw(width, height, pixels.to_vec()?);
        let picture = picture.ok_or("expected four bytes per pixel")?;
        gif.encode_frame(Frame::from_parts(
            picture,
            0,
            0,
            Delay::from_numer_denom_ms(50, 1),
        ))?;
        // The world moves into the call, and the next generation takes its place.
        world = ctx.entry().step(world)?;
    }
    let alive = world.to_vec()?.iter().filter(|&&cell| cell == 255).count();
    println!(
        "{}: {generations} generations, {alive} cells alive, written to {output}",
        ctx.backend()
    );
    Ok(())
}
