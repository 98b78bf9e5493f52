use futhark_safe::Error;
use my_crate::stats::{Config, Context};

fn main() -> Result<(), Error> {
    let ctx = Context::new(&Config::new())?;
    let xs = ctx.array(&[1.0f32, 2.0, 5.0])?;
    println!("{}: mean {}", ctx.backend(), ctx.entry().mean(&xs)?);
    println!("normalised {:?}", ctx.entry().normalise(xs)?.to_vec()?);
    Ok(())
}
