//! Computes a picture with a Futhark program, on the backend that the user selects.
//!
//! The build script compiles `picture.fut` for all backends, and `include_program!` includes it as a
//! module.
#![forbid(unsafe_code)]

use std::fs::File;
use std::io::BufWriter;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

use clap::Parser;
use futhark_safe::{Backend, Config, ErrorKind};

futhark_safe::include_program!(picture);

/// Computes a picture with a Futhark program and writes it as a PNG file.
#[derive(Parser)]
struct Options {
    /// c, multicore, opencl, ...; default: the first one that works
    #[arg(long)]
    backend: Option<Backend>,
    /// Width and height in pixels
    #[arg(long, value_name = "WxH", default_value = "960x640", value_parser = parse_size)]
    size: (u32, u32),
    /// Average N x N points for each pixel
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(i64).range(1..=16))]
    samples: i64,
    /// Output file
    #[arg(long, default_value = "picture.png")]
    out: PathBuf,
}

fn parse_size(text: &str) -> Result<(u32, u32), &'static str> {
    let number = |text: &str| text.parse().ok().filter(|n| (1..=32768).contains(n));
    let (width, height) = text.split_once('x').unwrap_or_default();
    let size = number(width).zip(number(height));
    size.ok_or("expected two numbers from 1 to 32768, such as 960x640")
}

fn main() -> ExitCode {
    match run(&Options::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("error: {message}");
            ExitCode::FAILURE
        }
    }
}

fn run(options: &Options) -> Result<(), String> {
    let mut config = Config::new();
    if let Some(backend) = options.backend {
        config = config.backend(backend);
    }
    let start = Instant::now();
    let ctx = picture::Context::new(&config).map_err(|error| advise(&error))?;
    let ready = start.elapsed();

    let start = Instant::now();
    let pixels = render(&ctx, options).map_err(|error| advise(&error))?;
    let computed = start.elapsed();

    let path = options.out.display();
    write_png(options, &pixels)
        .map_err(|error| format!("cannot write {path}: {error}; choose another file with --out"))?;
    println!(
        "{}: {} x {} pixels in {:.3} s ({:.3} s to start), written to {path}",
        ctx.backend(),
        options.size.0,
        options.size.1,
        computed.as_secs_f64(),
        ready.as_secs_f64(),
    );
    Ok(())
}

fn write_png(options: &Options, pixels: &[u8]) -> Result<(), png::EncodingError> {
    let file = BufWriter::new(File::create(&options.out)?);
    let mut encoder = png::Encoder::new(file, options.size.0, options.size.1);
    encoder.set_color(png::ColorType::Rgb);
    let mut writer = encoder.write_header()?;
    writer.write_image_data(pixels)?;
    writer.finish()
}

/// Returns the pixels row by row, three bytes each.
fn render(ctx: &picture::Context, options: &Options) -> futhark_safe::Result<Vec<u8>> {
    let (width, height) = options.size;
    ctx.entry()
        .render(height.into(), width.into(), options.samples)?
        .to_vec()
}

/// Adds advice to an error.
fn advise(error: &futhark_safe::Error) -> String {
    let advice = match error.kind() {
        ErrorKind::Load => "--backend multicore needs no driver",
        ErrorKind::Start => "try --backend multicore or --backend c",
        ErrorKind::Unsupported => {
            "GPU backends are features of this package, for example: cargo run --features cuda"
        }
        ErrorKind::OutOfMemory => "choose a smaller --size",
        _ => return error.to_string(),
    };
    format!("{error}\n  {advice}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_limited() {
        assert_eq!(parse_size("20x32768"), Ok((20, 32768)));
        for wrong in ["20", "0x5", "5x32769", "5x-1", "x"] {
            assert!(parse_size(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn backends_agree() {
        let options = Options::parse_from(["picture", "--size=48x32", "--samples=1"]);
        let on = |backend| {
            let ctx = picture::Context::new(&Config::new().backend(backend)).unwrap();
            assert_eq!(ctx.backend(), backend);
            render(&ctx, &options).unwrap()
        };
        let wanted = on(Backend::C);
        assert_eq!(wanted.len(), 48 * 32 * 3);
        assert!(wanted.iter().max() > Some(&200) && wanted.iter().min() < Some(&20));
        let mut others = vec![Backend::Multicore];
        if cfg!(feature = "opencl") {
            others.push(Backend::OpenCl);
        }
        for backend in others {
            let got = on(backend);
            let differences = || wanted.iter().zip(&got).map(|(a, b)| a.abs_diff(*b));
            let largest = differences().max().unwrap_or(0);
            let far = differences().filter(|&difference| difference > 2).count();
            println!("c and {backend}: at most {largest} apart, {far} bytes by more than 2");
            if backend == Backend::Multicore {
                assert_eq!(largest, 0, "the same C code on the same processor");
            } else {
                // Devices may round differently, and near the set small differences grow.
                assert!(far * 100 <= wanted.len(), "{backend}: {far} bytes differ");
            }
        }
    }
}
