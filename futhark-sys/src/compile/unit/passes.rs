//! The sizes that the functions of a program pass to the runtime.

use std::ops::Range;

use crate::compile::generated::expr::{self, Expr};
use crate::compile::generated::statement::{Kind, Statement, matches};

/// What the runtime does with the sizes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    /// The bytes of an allocation, in its call or in the condition in front of it.
    Allocate,
    /// The iterations of a parallel loop of multicore, the elements that a function of a GPU backend fills, or the grid, the
    /// block and the shared memory of a kernel.
    Count,
    /// The shape of a copy.
    Copy,
    /// The scheduler in place of a size: the task of a parallel loop of multicore has the number of iterations.
    Start,
}

/// The sizes that a statement passes on.
pub(super) struct Passed<'s, 'a> {
    pub purpose: Purpose,
    /// The function, or a field of a task.
    pub function: &'a str,
    pub arguments: &'s [Expr<'a>],
    /// None if the call is not in a known form.
    pub sizes: Vec<&'s Expr<'a>>,
}

const REALLOCATE: &str = "lexical_realloc";

/// The functions of the runtime that get sizes or start parallel loops, and the places of sizes in their arguments.
const RECEIVERS: [(&str, Purpose, Range<usize>); 8] = [
    // memblock_alloc(ctx, &mem, SIZE, "mem")
    ("memblock_alloc", Purpose::Allocate, 2..3),
    ("memblock_alloc_device", Purpose::Allocate, 2..3),
    // lexical_realloc(ctx, &mem, &mem_cached_sizze, SIZE)
    (REALLOCATE, Purpose::Allocate, 3..4),
    // futrts_builtinzhreplicate_i32(ctx, mem, COUNT, value)
    ("futrts_builtinzh*", Purpose::Count, 2..3),
    // gpu_kernel_f(ctx, GRID, GRID, GRID, BLOCK, BLOCK, BLOCK, SHARED, …)
    ("gpu_kernel_*", Purpose::Count, 1..8),
    // lmad_copy_4b(ctx, …, (int64_t []) {SHAPE, …})
    ("lmad_copy_*", Purpose::Copy, 0..0),
    // scheduler_prepare_task(&ctx->scheduler, &task)
    ("scheduler_prepare_task", Purpose::Start, 0..1),
    ("scheduler_execute_task", Purpose::Start, 0..1),
];

impl<'s, 'a> Passed<'s, 'a> {
    /// What a statement passes on outside of the statements in it.
    pub(super) fn all(statement: &'s Statement<'a>) -> Vec<Passed<'s, 'a>> {
        let own = match &statement.kind {
            // if (mem_cached_sizze < SIZE) { err = lexical_realloc(ctx, &mem, &mem_cached_sizze, SIZE); … }
            Kind::If(condition, inner) => (condition.operands("<"))
                .filter(|sides| reallocates(&inner[0], &sides[0]))
                .map(|sides| (Purpose::Allocate, REALLOCATE, &sides[1])),
            Kind::Assign { target, value, .. } => {
                is_iterations(target).then_some((Purpose::Count, "iterations", value))
            }
            _ => None,
        };
        let own = own.map(|(purpose, function, size)| Passed {
            purpose,
            function,
            arguments: &[],
            sizes: vec![size],
        });
        let calls = statement.parts().into_iter().filter_map(Passed::of);
        own.into_iter().chain(calls).collect()
    }

    /// What an expression passes on if it calls one of the [`RECEIVERS`].
    pub(super) fn of(expr: &'s Expr<'a>) -> Option<Passed<'s, 'a>> {
        let expr::Kind::Call(function, arguments) = &expr.kind else {
            return None;
        };
        let mut rows = RECEIVERS.iter();
        let (_, purpose, places) = rows.find(|row| matches(row.0, function))?;
        let is_known = arguments.first().is_some_and(|first| match purpose {
            Purpose::Start => first.to_string() == "&ctx->scheduler",
            _ => first.name() == Some("ctx"),
        });
        let sizes = match purpose {
            Purpose::Copy => arguments.last().map(shape),
            _ => arguments.get(places.clone()).map(Vec::from_iter),
        };
        Some(Passed {
            purpose: *purpose,
            function,
            arguments,
            sizes: sizes.filter(|_| is_known).unwrap_or_default(),
        })
    }
}

/// Whether the target of an assignment is the number of iterations of a task.
pub(super) fn is_iterations(target: &Expr<'_>) -> bool {
    matches!(target.kind, expr::Kind::Member(_, ".", "iterations"))
}

/// Whether the statement enlarges the memory whose size the variable `cached` is.
fn reallocates(statement: &Statement<'_>, cached: &Expr<'_>) -> bool {
    let mut is_cached = |expr: &Expr<'_>| {
        let size = expr.arguments(REALLOCATE)?.get(2)?.operands("&")?;
        (size[0] == *cached).then_some(())
    };
    statement.find(&mut is_cached).is_some()
}

/// The elements of `(int64_t []) {a, b}`.
fn shape<'s, 'a>(list: &'s Expr<'a>) -> Vec<&'s Expr<'a>> {
    match &list.kind {
        expr::Kind::Cast(_, list) if matches!(list.kind, expr::Kind::List(_)) => {
            list.parts().iter().collect()
        }
        _ => Vec::new(),
    }
}
