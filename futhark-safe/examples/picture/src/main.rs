//! Computes a picture with a Futhark program, on the backend that the user selects.
//!
//! The build script compiles `picture.fut` for all backends, and `include_program!` includes it as a
//! module.
#![forbid(unsafe_code)]

mod options;

use std::fs::File;
use std::io::BufWriter;
use std::process::ExitCode;
use std::time::Instant;

use futhark_safe::{Config, ErrorKind};
use options::Options;

futhark_safe::include_program!(picture);

fn main() -> ExitCode {
    let options = match Options::parse(std::env::args().skip(1)) {
        Ok(Some(options)) => options,
        Ok(None) => {
            print!("{}", options::HELP);
            return ExitCode::SUCCESS;
        }
        Err(message) => {
            eprintln!("error: {message}");
            return ExitCode::from(2);
        }
    };
    match run(&options) {
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
        options.width,
        options.height,
        computed.as_secs_f64(),
        ready.as_secs_f64(),
    );
    Ok(())
}

fn write_png(options: &Options, pixels: &[u8]) -> Result<(), png::EncodingError> {
    let file = BufWriter::new(File::create(&options.out)?);
    let size = |pixels: usize| u32::try_from(pixels).expect("`Options::parse` limits it to 32768");
    let mut encoder = png::Encoder::new(file, size(options.width), size(options.height));
    encoder.set_color(png::ColorType::Rgb);
    let mut writer = encoder.write_header()?;
    writer.write_image_data(pixels)?;
    writer.finish()
}

/// Returns the pixels row by row, three bytes each.
fn render(ctx: &picture::Context, options: &Options) -> futhark_safe::Result<Vec<u8>> {
    // Sizes are i64 in Futhark; the limits of the command line are far lower.
    let (height, width) = (options.height as i64, options.width as i64);
    ctx.entry()
        .render(height, width, options.samples as i64)?
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
    use futhark_safe::Backend;

    #[test]
    fn backends_agree() {
        let options = Options::parse(["--size=48x32".to_owned(), "--samples=1".to_owned()])
            .unwrap()
            .unwrap();
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
