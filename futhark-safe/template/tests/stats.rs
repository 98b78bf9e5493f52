use futhark_safe::Error;
use my_crate::stats::{Config, Context};

#[test]
fn normalised_values_have_the_sum_one() -> Result<(), Error> {
    let ctx = Context::new(&Config::new())?;
    let xs = ctx.array(&[1.0f32, 2.0, 5.0])?;
    let shares = ctx.entry().normalise(xs)?.to_vec()?;
    assert_eq!(shares, [0.125, 0.25, 0.625]);
    Ok(())
}
