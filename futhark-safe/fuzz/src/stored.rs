//! Bytes of stored values: what `accept` accepts is a value of its type.

use futhark_safe::dynamic::{Arg, Context, Library, Stored};
use futhark_safe::{Config, ErrorKind, Untrusted};
use futhark_sys::checksum::checksum;

use crate::face::{Rust, read};

/// A frame around a body, as `futhark_safe::stored` defines it.
fn frame(program: &str, type_name: &str, body: &[u8]) -> Vec<u8> {
    let mut head = b"\x89FUT\r\n\x1a\n\x01".to_vec();
    head.push(cfg!(target_endian = "big").into());
    head.extend((program.len() as u16).to_le_bytes());
    head.extend((type_name.len() as u32).to_le_bytes());
    head.extend((body.len() as u64).to_le_bytes());
    let rest = [program.as_bytes(), type_name.as_bytes(), body].concat();
    let sum = checksum(&[&head, &rest]).to_le_bytes();
    [&head[..], &sum, &rest].concat()
}

/// Accepts, restores and uses a frame. If the first byte is 255, the others are the frame, otherwise it is the number of a
/// program, and they are the number of a type and a body.
pub fn run(bytes: &[u8]) {
    let Some((&[program, ty], body)) = bytes.split_first_chunk() else {
        return;
    };
    let frame = match program {
        255 => bytes[1..].to_vec(),
        _ => {
            let library = &crate::linked()[usize::from(program) % crate::linked().len()][0];
            let types = library.program().types();
            let name = &types[usize::from(ty) % types.len()].name;
            frame(library.program_id(), name, body)
        }
    };
    let untrusted = match Untrusted::from_bytes(&frame) {
        Ok(untrusted) => untrusted,
        Err(error) => return assert_eq!(error.kind(), ErrorKind::Restore, "{error}"),
    };
    for libraries in crate::linked() {
        let library = &libraries[usize::from(ty) / 128 % libraries.len()];
        match library.accept(untrusted.clone()) {
            Ok(stored) => {
                assert_eq!(stored.to_bytes().expect("a frame"), frame);
                use_value(library, &stored);
            }
            Err(error) => {
                let kinds = [ErrorKind::Restore, ErrorKind::Unsupported];
                assert!(kinds.contains(&error.kind()), "{error}");
            }
        }
    }
}

/// Reads the value, and passes it to every entry point that takes it; calls can fail, since sizes may disagree.
fn use_value(library: &Library, stored: &Stored) {
    let ctx = Context::new(library, &Config::new()).expect("a context starts");
    let restore = || ctx.restore(stored).expect("the runtime accepts it");
    let again = restore().store().expect("it was restored");
    assert_eq!(again.body(), stored.body());
    read::<Rust>(&restore().into()).expect("it was restored");
    let program = library.program();
    for entry in program.entries() {
        let names = entry.inputs.iter().map(|input| program.name_of(input.ty));
        let args = names.map(|name| match name {
            "i64" => Some(Arg::Consume(1i64.into())),
            "[]i64" => Some(Arg::Consume(ctx.array(&[1i64, 2]).ok()?.into())),
            name => (name == stored.type_name()).then(|| Arg::Consume(restore().into())),
        });
        let Some(args) = args.collect::<Option<_>>() else {
            continue;
        };
        match ctx.call(&entry.name, args) {
            Ok(results) => assert!(results.iter().all(|result| read::<Rust>(result).is_ok())),
            Err(error) if error.kind() == ErrorKind::ContextLost => return,
            Err(error) => assert_eq!(error.kind(), ErrorKind::Program, "{error}"),
        }
    }
}

/// Values that a user stored.
pub fn seeds() -> Vec<Vec<u8>> {
    let mut user = crate::user::User::<Rust>::new(crate::linked());
    let mut random = fastrand::Rng::with_seed(1);
    let mut seeds = vec![];
    for _ in 0..8 {
        user.run(&(0..4000).map(|_| random.u8(..)).collect::<Vec<_>>());
        for (stored, program, _) in &user.stored {
            let mut types = crate::linked()[*program][0].program().types().iter();
            let ty = types.position(|ty| ty.name == stored.type_name());
            let head = [*program as u8, ty.expect("of the program") as u8];
            seeds.push([&head[..], stored.body()].concat());
            seeds.push([&[255], &stored.to_bytes().expect("a frame")[..]].concat());
        }
    }
    seeds
}
