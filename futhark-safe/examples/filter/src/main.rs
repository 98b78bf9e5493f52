//! Filters a PNG file, so that it looks painted: pixels go from the crate `image` to a Futhark program and back.
//!
//! ```text
//! cargo run --release -p futhark-example-filter -- INPUT.png OUTPUT.png [RADIUS]
//! ```
#![forbid(unsafe_code)]

use std::error::Error;

use image::RgbImage;

futhark_safe::include_program!(filter);

/// Filters a picture. Squares of `radius` + 1 pixels per side become strokes of a brush.
fn paint(
    ctx: &filter::Context,
    picture: &RgbImage,
    radius: i64,
) -> Result<RgbImage, Box<dyn Error>> {
    let (width, height) = picture.dimensions();
    // The bytes of an `RgbImage` are rows of red, green and blue.
    let pixels = ctx.array_nd([height as usize, width as usize, 3], picture.as_raw())?;
    let painted = ctx.entry().paint(radius, &pixels)?.to_vec()?;
    RgbImage::from_raw(width, height, painted).ok_or_else(|| "the size has changed".into())
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (input, output, radius) = match &arguments[..] {
        [input, output] => (input, output, 4),
        [input, output, radius] => (input, output, radius.parse::<u8>()?),
        _ => return Err("usage: futhark-example-filter INPUT.png OUTPUT.png [RADIUS]".into()),
    };
    let picture = image::open(input)?.into_rgb8();
    let ctx = filter::Context::new(&filter::Config::new())?;
    paint(&ctx, &picture, radius.into())?.save(output)?;
    let (width, height) = picture.dimensions();
    println!(
        "{}: {width} x {height} pixels, written to {output}",
        ctx.backend()
    );
    Ok(())
}
