//! Passes scalars and arrays of one and two dimensions to a Futhark program, and reads its results.
//!
//! ```text
//! cargo run -p futhark-example-hello
//! ```
#![forbid(unsafe_code)]

futhark_safe::include_program!(hello);

fn main() -> futhark_safe::Result<()> {
    // Starts the program on the first backend of build.rs that works on this machine.
    let ctx = hello::Context::new(&hello::Config::new())?;
    println!("backend: {}", ctx.backend());

    // Arrays are in the memory of the context: a slice is copied there once.
    let xs = ctx.array(&[1.0, 2.0, 6.0])?;
    let ys = ctx.array(&[10.0, 20.0, 30.0])?;
    println!("mean: {}", ctx.entry().mean(&xs)?);
    // The result can be the argument of another call without a copy.
    let zs = ctx.entry().axpy(0.5, &xs, &ys)?;
    println!("axpy: {:?}", zs.to_vec()?);

    // The type has the number of dimensions: `Array<i64, 2>`.
    let table: hello::Array<i64, 2> = ctx.entry().products(3, 4)?;
    let [rows, columns] = table.shape();
    println!("{rows} x {columns} products:");
    // Elements are in row-major order.
    for row in table.to_vec()?.chunks(columns) {
        println!("  {row:?}");
    }
    // Several results are a tuple.
    let (of_rows, of_columns) = ctx.entry().sums(&table)?;
    println!("sums of rows: {:?}", of_rows.to_vec()?);
    println!("sums of columns: {:?}", of_columns.to_vec()?);

    // A two-dimensional array of elements in row-major order.
    let matrix = ctx.array_nd([2, 3], &[1, 2, 3, 4, 5, 6])?;
    println!(
        "columns of {matrix:?}: {:?}",
        ctx.entry().sums(&matrix)?.1.to_vec()?
    );

    // Wrong sizes are an error, after which the context remains usable.
    let error = ctx.entry().axpy(1.0, &xs, &[1.0]);
    println!("error: {}", error.expect_err("the lengths differ"));
    Ok(())
}
