//! A script that uses every operation of a context and verifies the results.

use futhark_safe::dynamic::{Arg, Array, Context, Opaque, Scalar, Value};
use futhark_safe::{ElemType, Error, ErrorKind};

/// Why the script ended early.
#[derive(Debug)]
pub enum Failure {
    /// The operation returned an error.
    Error(Error),
    /// The operation returned a wrong result.
    Wrong(String),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Failure {
        Failure::Error(error)
    }
}

/// Runs the script. Sets `operation` to the operation in progress.
///
/// # Errors
/// The first failure.
pub fn use_everything(context: &Context, operation: &mut &'static str) -> Result<(), Failure> {
    let mut begin = |name| *operation = name;
    begin("new");
    let xs = context.array(&[1i64, 2, 3, 4])?;
    let xss = context.array_nd(&[2, 3], &[1f32, 2.0, 3.0, 4.0, 5.0, 6.0])?;
    begin("values");
    same(xs.to_vec::<i64>()?, vec![1, 2, 3, 4])?;
    begin("index");
    same(xs.index(&[2])?, Scalar::I64(3))?;
    begin("shape");
    same(xss.shape(), vec![2, 3])?;
    begin("clone");
    let copy = xs.try_clone()?;
    same(copy.to_vec::<i64>()?, vec![1, 2, 3, 4])?;

    begin("entry point, scalar of a constant");
    same(
        scalar(call(context, "at", vec![3i64.into()])?)?,
        Scalar::I64(18),
    )?;
    begin("entry point that observes");
    let xs = Value::from(xs);
    let doubled = array(context.call("doubled", vec![Arg::Borrow(&xs)])?.remove(0))?;
    same(doubled.to_vec::<i64>()?, vec![2, 4, 6, 8])?;
    let turned = array(call(context, "turned", vec![xss.into()])?)?;
    same(turned.to_vec::<f32>()?, vec![1.0, 4.0, 2.0, 5.0, 3.0, 6.0])?;
    begin("entry point with several results");
    let mut sums = context.call("sums", vec![Arg::Borrow(&xs)])?;
    same(scalar(sums.remove(1))?, Scalar::I64(10))?;
    same(array(sums.remove(0))?.to_vec::<i64>()?, vec![1, 3, 6, 10])?;
    begin("entry point that consumes");
    let overwritten = array(call(context, "overwrite", vec![copy.into()])?)?;
    same(overwritten.to_vec::<i64>()?, vec![7, 7, 3, 4])?;
    begin("entry point that fails");
    let nine = Value::from(9i64);
    match context.call("checked", vec![Arg::Borrow(&xs), Arg::Borrow(&nine)]) {
        Ok(_) => return Err(Failure::Wrong("an index out of bounds was accepted".into())),
        Err(error) if error.kind() == ErrorKind::Program => {}
        Err(error) => return Err(error.into()),
    }

    begin("record");
    let record = Value::from(context.record("point", &[&2f32.into(), &3f32.into()])?);
    let columns = opaque(
        context
            .call("both", vec![Arg::Borrow(&xs), Arg::Borrow(&xs)])?
            .remove(0),
    )?;
    begin("project");
    same(scalar(opaque(record)?.project("y")?)?, Scalar::F32(3.0))?;
    let left = array(columns.project("left")?)?;
    same(left.to_vec::<i64>()?, vec![1, 2, 3, 4])?;
    begin("store");
    let stored = columns.store()?;
    begin("restore");
    let restored = Value::from(context.restore(&stored)?);
    let dot = context.call("dot", vec![Arg::Borrow(&restored)])?.remove(0);
    same(scalar(dot)?, Scalar::I64(30))?;
    begin("entry point that consumes a record");
    // It shares memory with `left`, so the call works on a copy.
    let added = array(call(context, "consumed", vec![columns.into()])?)?;
    same(added.to_vec::<i64>()?, vec![2, 4, 6, 8])?;
    same(left.to_vec::<i64>()?, vec![1, 2, 3, 4])?;

    begin("zip");
    let fs = |values: &[f32]| context.array_nd(&[2], values).map(Value::from);
    let points = context.zip("[]point", &[&fs(&[1.0, 2.0])?, &fs(&[3.0, 4.0])?])?;
    same(points.shape()?, vec![2])?;
    begin("index of an array of records");
    let point = opaque(points.index(&[1])?)?;
    same(scalar(point.project("x")?)?, Scalar::F32(2.0))?;
    begin("entry point, array of records");
    let line = opaque(call(context, "line", vec![3i64.into()])?)?;
    let xs_of_line = array(line.project("x")?)?;
    same(xs_of_line.to_vec::<f32>()?, vec![0.0, 1.0, 2.0])?;

    begin("sum");
    let corners = Value::from(context.array(&[1f32, 2.0, 4.0])?);
    let shape = context.sum("shape", "corners", &[&corners])?;
    begin("destruct");
    same(shape.variant()?, "corners".to_owned())?;
    let payload = array(shape.destruct("corners")?.remove(0))?;
    same(payload.to_vec::<f32>()?, vec![1.0, 2.0, 4.0])?;
    begin("entry point, sum");
    let size = call(context, "size", vec![shape.into()])?;
    same(scalar(size)?, Scalar::F32(7.0))?;

    begin("sync");
    context.sync()?;
    begin("free");
    drop((xs, doubled, turned, overwritten, restored, left, added));
    context.sync()?;
    begin("clear caches");
    context.clear_caches()?;
    begin("profiling");
    context.pause_profiling()?;
    context.unpause_profiling()?;
    begin("report");
    let report = context.report()?;
    same(report.is_empty(), false)
}

/// Runs the rest of the script on a host backend, whose memory Rust can read and lend.
///
/// # Errors
/// The first failure.
pub fn use_host_memory(context: &Context, operation: &mut &'static str) -> Result<(), Failure> {
    let mut begin = |name| *operation = name;
    begin("view");
    let xs = context.array(&[1i64, 2, 3])?;
    let view = xs.view::<i64>()?.map(<[i64]>::to_vec);
    same(view, Some(vec![1, 2, 3]))?;
    begin("array of borrowed memory");
    // SAFETY: nothing writes to `xs`, which is dropped after the last use of its memory.
    let memory = unsafe { xs.raw_memory() }?;
    // SAFETY: as above; the memory has three elements.
    let lent = unsafe { context.array_from_raw(ElemType::I64, &[3], memory) }?;
    same(lent.to_vec::<i64>()?, vec![1, 2, 3])?;
    begin("entry point that consumes borrowed memory");
    let changed = array(call(context, "overwrite", vec![lent.into()])?)?;
    same(changed.to_vec::<i64>()?, vec![7, 7, 3])?;
    same(xs.to_vec::<i64>()?, vec![1, 2, 3])?;

    begin("sum, other variants");
    let circle = context.sum("shape", "circle", &[&2f32.into()])?;
    same(circle.variant()?, "circle".to_owned())?;
    let copy = context.restore(&circle.store()?)?;
    let radius = copy.destruct("circle")?.remove(0);
    same(scalar(radius)?, Scalar::F32(2.0))?;
    let nothing = context.sum("shape", "nothing", &[])?;
    same(nothing.destruct("nothing")?.len(), 0)?;
    begin("values of other types");
    let bytes = context.array_from_bytes(ElemType::I64, &[1], &[1, 0, 0, 0, 0, 0, 0, 0])?;
    same(bytes.to_bytes()?.len(), 8)?;
    let empty = context.array_nd::<f32>(&[0, 3], &[])?;
    same(empty.to_vec::<f32>()?, vec![])?;
    begin("operation that fails");
    let wrong = [context.array(&[1f32])?, context.array(&[1f32, 2.0])?].map(Value::from);
    match context.zip("[]point", &[&wrong[0], &wrong[1]]) {
        Ok(_) => return Err(Failure::Wrong("different lengths were zipped".into())),
        Err(error) if error.kind() == ErrorKind::InvalidArgument => {}
        Err(error) => return Err(error.into()),
    }

    begin("parallel loop");
    let (ns, ks) = ([5000i64; 16], [2000i64; 16]);
    let [ns, ks] = [&ns, &ks].map(|column| context.array(column).map(Value::from));
    let (ns, ks) = (ns?, ks?);
    // The scheduler measures the loop first, and then runs it in parallel.
    for _ in 0..3 {
        let rows = context.call("rows", vec![Arg::Borrow(&ns), Arg::Borrow(&ks)])?;
        same(row_sum(rows)?, 16)?;
    }
    begin("parallel loop that fails");
    let bad = Value::from(context.array(&[vec![5000i64; 15], vec![-5]].concat())?);
    match context.call("rows", vec![Arg::Borrow(&bad), Arg::Borrow(&ks)]) {
        Ok(_) => return Err(Failure::Wrong("a negative size was accepted".into())),
        Err(error) if error.kind() == ErrorKind::Program => {}
        Err(error) => return Err(error.into()),
    }
    begin("large arrays");
    // The runtime keeps blocks of 1 MiB and more.
    for _ in 0..2 {
        let sum = scalar(call(context, "large", vec![200_000i64.into()])?)?;
        same(sum, Scalar::I64((0..200_000).sum()))?;
    }
    begin("setting of a tuning parameter");
    same(context.tuning_params(), vec![])
}

fn row_sum(mut rows: Vec<Value>) -> Result<i64, Failure> {
    Ok(array(rows.remove(0))?.to_vec::<i64>()?.iter().sum())
}

fn call(context: &Context, entry: &str, args: Vec<Value>) -> Result<Value, Failure> {
    let args = args.into_iter().map(Arg::Consume).collect();
    Ok(context.call(entry, args)?.remove(0))
}

fn same<T: PartialEq + std::fmt::Debug>(is: T, wanted: T) -> Result<(), Failure> {
    if is == wanted {
        return Ok(());
    }
    Err(Failure::Wrong(format!("expected {wanted:?}, got {is:?}")))
}

fn array(value: Value) -> Result<Array, Failure> {
    match value {
        Value::Array(array) => Ok(array),
        other => Err(Failure::Wrong(format!("expected an array, got {other:?}"))),
    }
}

fn opaque(value: Value) -> Result<Opaque, Failure> {
    match value {
        Value::Opaque(opaque) => Ok(opaque),
        other => Err(Failure::Wrong(format!(
            "expected an opaque value, got {other:?}"
        ))),
    }
}

fn scalar(value: Value) -> Result<Scalar, Failure> {
    match value {
        Value::Scalar(scalar) => Ok(scalar),
        other => Err(Failure::Wrong(format!("expected a scalar, got {other:?}"))),
    }
}
