//! The sizes that the functions of a program pass to the runtime.

use std::ops::Range;

use futhark_manifest::Version;

use crate::compile::error::Error;
use crate::compile::generated::expr::{self, Expr};
use crate::compile::generated::statement::{Kind, Statement, matches};

/// What the runtime does with the sizes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    /// The bytes of an allocation, in its call or in the condition in front of it.
    Allocate,
    /// The iterations of a parallel loop of multicore.
    Iterate,
    /// The elements that a function of a GPU backend fills.
    Fill,
    /// Grid, block and shared memory of a kernel.
    Launch,
    /// The shape of a copy.
    Copy,
}

/// The sizes that a statement passes on.
pub(super) struct Passed<'s, 'a> {
    pub purpose: Purpose,
    pub function: &'a str,
    pub arguments: &'s [Expr<'a>],
    pub sizes: Vec<&'s Expr<'a>>,
}

const REALLOCATE: &str = "lexical_realloc";

/// The functions of the runtime that get sizes, and the places of these in their arguments after `ctx`.
const RECEIVERS: [(&str, Purpose, Range<usize>); 6] = [
    // memblock_alloc(ctx, &mem, SIZE, "mem")
    ("memblock_alloc", Purpose::Allocate, 2..3),
    ("memblock_alloc_device", Purpose::Allocate, 2..3),
    // lexical_realloc(ctx, &mem, &mem_cached_sizze, SIZE)
    (REALLOCATE, Purpose::Allocate, 3..4),
    // futrts_builtinzhreplicate_i32(ctx, mem, COUNT, value)
    ("futrts_builtinzh*", Purpose::Fill, 2..3),
    // gpu_kernel_f(ctx, GRID, GRID, GRID, BLOCK, BLOCK, BLOCK, SHARED, …)
    ("gpu_kernel_*", Purpose::Launch, 1..8),
    // lmad_copy_4b(ctx, …, (int64_t []) {SHAPE, …})
    ("lmad_copy_*", Purpose::Copy, 0..0),
];

/// The functions of multicore that start a parallel loop, and ours, which check the number of iterations.
pub(super) const LOOPS: [(&str, &str); 2] = [
    ("scheduler_prepare_task", "fut_prepare_task"),
    ("scheduler_execute_task", "fut_execute_task"),
];

pub(super) fn is_receiver_of_runtime(name: &str) -> bool {
    let is_of_runtime = |purpose| matches!(purpose, Purpose::Allocate | Purpose::Copy);
    let mut rows = RECEIVERS.iter();
    rows.any(|(pattern, purpose, _)| is_of_runtime(*purpose) && matches(pattern, name))
}

impl<'s, 'a> Passed<'s, 'a> {
    /// What a statement passes on outside of the statements in it.
    pub(super) fn all(
        statement: &'s Statement<'a>,
        version: &Version,
    ) -> Result<Vec<Passed<'s, 'a>>, Error> {
        let mut all = Vec::new();
        let own = |purpose, size| Passed {
            purpose,
            function: "",
            arguments: &[],
            sizes: vec![size],
        };
        match &statement.kind {
            Kind::If(condition, inner) => {
                // if (mem_cached_sizze < SIZE) { err = lexical_realloc(ctx, &mem, &mem_cached_sizze, SIZE); … }
                if let Some([cached, size]) = condition.operands("<")
                    && inner[0]
                        .as_block()
                        .first()
                        .is_some_and(|first| reallocates(first, cached))
                {
                    all.push(own(Purpose::Allocate, size));
                }
            }
            Kind::Assign { target, value, .. } => {
                if let expr::Kind::Member(_, ".", "iterations") = target.kind {
                    all.push(own(Purpose::Iterate, value));
                }
            }
            _ => {}
        }
        for expr in statement.expressions() {
            calls(expr, &mut all).map_err(|name| {
                let why = format!("the size in `{}` cannot be read", statement.text);
                Error::unsupported(version, name, &why)
            })?;
        }
        match all
            .iter()
            .flat_map(|passed| &passed.sizes)
            .find(|size| !size.is_number())
        {
            None => Ok(all),
            Some(size) => {
                let why = format!("the size in `{}` cannot be read", statement.text);
                Err(Error::unsupported(version, size.text, &why))
            }
        }
    }
}

/// Whether the statement enlarges the memory whose size the variable `cached` is.
fn reallocates(statement: &Statement<'_>, cached: &Expr<'_>) -> bool {
    let mut is_cached = |expr: &Expr<'_>| {
        let size = expr.arguments(REALLOCATE)?.get(2)?.operands("&")?;
        (size[0] == *cached).then_some(())
    };
    statement.find(&mut is_cached).is_some()
}

/// Adds the calls in an expression; the error is a function that gets its sizes in an unknown form.
fn calls<'s, 'a>(expr: &'s Expr<'a>, all: &mut Vec<Passed<'s, 'a>>) -> Result<(), &'a str> {
    if let expr::Kind::Call(function, arguments) = &expr.kind
        && let Some((_, purpose, places)) = RECEIVERS.iter().find(|row| matches(row.0, function))
    {
        let sizes = match (arguments.first(), purpose) {
            (Some(ctx), _) if ctx.name() != Some("ctx") => None,
            (_, Purpose::Copy) => arguments.last().and_then(shape),
            _ => arguments
                .get(places.clone())
                .map(|sizes| sizes.iter().collect()),
        };
        all.push(Passed {
            purpose: *purpose,
            function,
            arguments,
            sizes: sizes.ok_or(*function)?,
        });
    }
    expr.parts()
        .into_iter()
        .try_for_each(|part| calls(part, all))
}

/// The elements of `(int64_t []) {a, b}`.
fn shape<'s, 'a>(list: &'s Expr<'a>) -> Option<Vec<&'s Expr<'a>>> {
    match &list.kind {
        expr::Kind::Cast(_, list) => match &list.kind {
            expr::Kind::List(elements) => Some(elements.iter().collect()),
            _ => None,
        },
        _ => None,
    }
}
