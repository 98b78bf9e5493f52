//! Scalars, arrays, consumption, errors and threads.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::{Arc, Mutex};

use futhark_safe::{Backend, ErrorKind};
use futhark_safe_typed_tests::{basics, names};

use super::support::{context, each};

#[test]
fn comments_in_the_source_document_the_module() {
    let module = include_str!(concat!(env!("OUT_DIR"), "/basics.rs"));
    let comment = module.find("/// The sum of two numbers, which wraps.\n");
    let method = module.find("pub fn add(");
    assert!(comment.is_some() && comment < method, "{module}");
    let page = include_str!(concat!(env!("OUT_DIR"), "/basics.md"));
    let example = "let result = ctx.entry().add(a, b)?;";
    assert!(page.contains(example), "{page}");
    assert!(
        page.starts_with("Scalars, arrays, several results"),
        "{page}"
    );
}

#[test]
fn observed_arguments_can_be_host_data() {
    each(|ctx: basics::Context| {
        let data = vec![1.0f32, 2.0, 6.0];
        assert_eq!(ctx.entry().mean(&data).unwrap(), 3.0);
        assert_eq!(ctx.entry().mean(&data[1..]).unwrap(), 4.0);
        // The parameter determines the type of the literals.
        assert_eq!(ctx.entry().mean(&[2.0, 4.0]).unwrap(), 3.0);
        assert_eq!(ctx.entry().identity(&[]).unwrap().shape(), [0]);
        let error = ctx.entry().element(&[1, 2], 2).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Program, "{error}");
        assert_eq!(ctx.entry().element(&[1, 2], 1).unwrap(), 2);
    });
}

#[test]
fn observed_arguments_can_be_behind_pointers() {
    each(|ctx: basics::Context| {
        let mut xs = ctx.array(&[1.0f32, 3.0]).unwrap();
        assert_eq!(ctx.entry().mean(&&xs).unwrap(), 2.0);
        let xs_by_mut = &mut xs;
        assert_eq!(ctx.entry().mean(xs_by_mut).unwrap(), 2.0);
        let xs = Arc::new(Mutex::new(xs));
        assert_eq!(ctx.entry().mean(&xs.lock().unwrap()).unwrap(), 2.0);
        let xs = Rc::new(RefCell::new(Box::new([1.0, 3.0])));
        assert_eq!(ctx.entry().mean(&xs.borrow()).unwrap(), 2.0);
    });
}

#[test]
fn arrays_are_passed_and_returned() {
    each(|ctx: basics::Context| {
        let xs = ctx.array(&[1.0f32, 2.0, 6.0]).unwrap();
        assert_eq!(ctx.entry().mean(&xs).unwrap(), 3.0);
        let (a, b) = ctx
            .entry()
            .split_at(2, &ctx.array(&[1, 2, 3]).unwrap())
            .unwrap();
        assert_eq!(
            (a.to_vec().unwrap(), b.to_vec().unwrap()),
            (vec![1, 2], vec![3])
        );
        let m = ctx
            .array_nd([2, 3], &[1.0f64, 2.0, 3.0, 4.0, 5.0, 6.0])
            .unwrap();
        let t = ctx.entry().transpose_it(&m).unwrap();
        assert_eq!(t.shape(), [3, 2]);
        assert_eq!(t.to_vec().unwrap(), [1.0, 4.0, 2.0, 5.0, 3.0, 6.0]);
        assert_eq!(t.get([2, 1]).unwrap(), 6.0);
        let flipped = ctx
            .entry()
            .flip(&ctx.array(&[true, false]).unwrap())
            .unwrap();
        assert_eq!(flipped.to_vec().unwrap(), [false, true]);
        let empty = ctx.array::<f32>(&[]).unwrap();
        assert!(empty.to_vec().unwrap().is_empty());
    });
}

#[test]
fn values_that_share_memory_do_not_change() {
    each(|ctx: basics::Context| {
        let entry = ctx.entry();
        // An alias: a result that shares memory with its argument.
        let xs = ctx.array(&[1, 2, 3]).unwrap();
        let alias = entry.identity(&xs).unwrap();
        let changed = entry.set_first(xs, 99).unwrap();
        assert_eq!(changed.to_vec().unwrap(), [99, 2, 3]);
        assert_eq!(alias.to_vec().unwrap(), [1, 2, 3]);
        // A slice of the argument.
        let (head, tail) = entry.split_at(1, &changed).unwrap();
        let again = entry.set_first(changed, -1).unwrap();
        assert_eq!(
            (head.to_vec().unwrap(), tail.to_vec().unwrap()),
            (vec![99], vec![2, 3])
        );
        assert_eq!(again.to_vec().unwrap(), [-1, 2, 3]);
        // A constant of the program.
        for _ in 0..2 {
            let constant = entry.constant().unwrap();
            assert_eq!(constant.to_vec().unwrap(), [10, 20, 30, 40]);
            assert_eq!(
                entry.set_first(constant, 7).unwrap().to_vec().unwrap(),
                [7, 20, 30, 40]
            );
        }
    });
}

/// The names of the source, not those of the generated method.
#[test]
fn mismatched_sizes_are_in_the_error_with_the_names_of_the_parameters() {
    let ctx: names::Context = context(Backend::C);
    let (three, two) = (ctx.array(&[1, 2, 3]).unwrap(), ctx.array(&[4, 5]).unwrap());
    let error = ctx.entry().inner(&three, &two).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Program, "{error}");
    let sizes = "(argument 0 `xs'` is [3]i32, argument 1 `move` is [2]i32)";
    assert!(error.to_string().contains(sizes), "{error}");
    assert_eq!(ctx.entry().inner(&two, &two).unwrap(), 41);
}

#[test]
fn names_follow_the_documented_rule() {
    let ctx: names::Context = context(Backend::C);
    let entry = ctx.entry();
    assert_eq!(entry.r#move(1).unwrap(), 1);
    assert_eq!(entry.new(2).unwrap(), 2);
    assert_eq!(entry.r#fn(3).unwrap(), 3);
    assert_eq!(entry.report(4, 0).unwrap(), 4);
    assert_eq!(entry.f_prime(5).unwrap(), 7, "this is its name in Futhark");
    assert_eq!(entry.f_prime_hbddaec9d(5).unwrap(), 6, "the name of f'");
    assert_eq!(entry.call(1, 2).unwrap(), 3);
}

#[test]
fn values_cross_threads_and_outlive_the_context() {
    each(|ctx: basics::Context| {
        let xs = ctx.array(&[5, 6]).unwrap();
        drop(ctx);
        let back = std::thread::spawn(move || xs.to_vec().unwrap())
            .join()
            .unwrap();
        assert_eq!(back, [5, 6]);
    });
}

#[test]
fn many_threads_share_a_context() {
    each(|ctx: basics::Context| {
        std::thread::scope(|scope| {
            for t in 0..4 {
                let ctx = &ctx;
                scope.spawn(move || {
                    for i in 0..50 {
                        let xs = ctx.array(&[t, i, 3]).unwrap();
                        assert_eq!(ctx.entry().element(&xs, 1).unwrap(), i);
                        let error = ctx.entry().element(&xs, i64::from(100 + t)).unwrap_err();
                        assert!(
                            error.to_string().contains(&format!("[{}]", 100 + t)),
                            "another thread's message: {error}"
                        );
                    }
                });
            }
        });
    });
}
