//! The functions that a manifest lists, and their prototypes.

use std::collections::HashSet;

use crate::common::{faultless, files_below, fixture, fixtures, read};
use futhark_manifest::c::{CType, ParameterRole, Passing, Prototype, Returns};
use futhark_manifest::{
    Aliasing, Backend, Operation, OutputAliasing, Owner, Program, TypeId, TypeRef,
};

/// Each fixture with the version that its file is named after.
fn all_fixtures() -> Vec<((u32, u32, u32), String, Program)> {
    let files = files_below(&fixtures(), "json");
    let read = files.iter().map(|file| {
        let text = read(file);
        let program = faultless(&text, file.display());
        let version = program.version.number.expect("fixtures have a version");
        (version, text, program)
    });
    read.collect()
}

const GIVES_HANDLE: Passing = Passing::GivesHandle { after_sync: false };

fn program() -> Program {
    faultless(&fixture("0.25.36"), "0.25.36")
}

fn prototype_of(program: &Program, name: &str) -> Prototype {
    let mut functions = program.functions();
    let function = functions.find(|function| function.name == name);
    program.prototype(&function.unwrap_or_else(|| panic!("{name} is listed")))
}

/// `functions` yields every text of the manifest with the prefix of a function, each once.
#[test]
fn functions_yields_every_function_once() {
    for (version, text, program) in all_fixtures() {
        let quoted = text.split('"').filter(|text| text.starts_with("futhark_"));
        let listed: HashSet<&str> = quoted.collect();
        let walked: Vec<&str> = program.functions().map(|function| function.name).collect();
        assert_eq!(
            walked.iter().copied().collect::<HashSet<_>>(),
            listed,
            "{version:?}"
        );
        assert_eq!(walked.len(), listed.len(), "{version:?}");

        let prototypes: Vec<String> = program.prototypes().map(|one| one.name).collect();
        assert_eq!(prototypes, walked, "{version:?}");
        let by_type: usize = program
            .types_with_ids()
            .map(|(id, _)| program.functions_of(id).count())
            .sum();
        assert_eq!(by_type + program.entries().len(), walked.len());
    }
}

#[test]
fn types_come_after_their_parts() {
    for (version, _, program) in all_fixtures() {
        let mut seen = HashSet::new();
        for (id, ty) in program.types_in_order() {
            let parts = ty.parts().filter_map(|part| part.as_type());
            for part in parts {
                assert!(seen.contains(&part), "{version:?}: {}", ty.name);
            }
            assert!(seen.insert(id));
        }
        assert_eq!(seen.len(), program.types().len());
    }
}

#[test]
fn types_come_first_and_entry_points_last() {
    let program = program();
    let places: Vec<_> = program
        .functions()
        .map(|function| match function.owner {
            Owner::Type(id) => (0, id.index()),
            Owner::Entry(index) => (1, index),
        })
        .collect();
    assert!(places.is_sorted());
}

/// No fixture lists an operation before the version that `since` returns, and each operation
/// occurs in a fixture.
#[test]
fn operations_appear_in_the_version_that_since_returns() {
    let mut seen = HashSet::new();
    for (version, _, program) in all_fixtures() {
        for function in program.functions() {
            let since = function.operation.since();
            assert!(
                since.is_none_or(|since| since <= version),
                "{function:?} in {version:?}"
            );
            seen.insert(function.operation);
        }
    }
    for operation in Operation::ALL {
        assert!(seen.contains(operation), "{operation}: no fixture has one");
    }
}

/// Prototypes as C text, at least one of each operation. `ctx` stands for the first parameter.
const PROTOTYPES: &str = "\
struct futhark_i32_2d *futhark_new_i32_2d(ctx, const int32_t *data, int64_t dim0, int64_t dim1);
struct futhark_bool_1d *futhark_new_raw_bool_1d(ctx, unsigned char *data, int64_t dim0);
int futhark_free_i32_2d(ctx, struct futhark_i32_2d *arr);
int futhark_values_bool_1d(ctx, struct futhark_bool_1d *arr, bool *data);
int futhark_index_i32_2d(ctx, int32_t *out, struct futhark_i32_2d *arr, int64_t i0, int64_t i1);
unsigned char *futhark_values_raw_bool_1d(ctx, struct futhark_bool_1d *arr);
const int64_t *futhark_shape_bool_1d(ctx, struct futhark_bool_1d *arr);
int futhark_free_opaque_state(ctx, struct futhark_opaque_state *obj);
int futhark_store_opaque_state(ctx, const struct futhark_opaque_state *obj, void **p, size_t *n);
struct futhark_opaque_state *futhark_restore_opaque_state(ctx, const void *p);
int futhark_project_opaque_5e1f_level(ctx, int32_t *out, const struct futhark_opaque_5e1f *obj);
int futhark_project_opaque_5e1f_tags(ctx, struct futhark_i32_1d **out, const struct futhark_opaque_5e1f *obj);
int futhark_new_opaque_5e1f(ctx, struct futhark_opaque_5e1f **out, const int32_t f_level, const struct futhark_i32_1d *f_tags);
int futhark_new_opaque_unit(ctx, struct futhark_opaque_unit **out);
int futhark_new_opaque_state_dead(ctx, struct futhark_opaque_state **out);
int futhark_new_opaque_state_shut(ctx, struct futhark_opaque_state **out, const int32_t v0, const bool v1);
int futhark_destruct_opaque_state_shut(ctx, int32_t *v0, bool *v1, const struct futhark_opaque_state *obj);
int futhark_variant_opaque_state(ctx, const struct futhark_opaque_state *v);
int futhark_project_opaque_arr5e1f_tags(ctx, struct futhark_i32_2d **out, const struct futhark_opaque_arr5e1f *obj);
int futhark_zip_opaque_arr5e1f(ctx, struct futhark_opaque_arr5e1f **out, const struct futhark_i32_1d *f_level, const struct futhark_i32_2d *f_tags);
int futhark_index_opaque_arr5e1f(ctx, struct futhark_opaque_5e1f **out, struct futhark_opaque_arr5e1f *arr, int64_t i0);
const int64_t *futhark_shape_opaque_arr5e1f(ctx, struct futhark_opaque_arr5e1f *arr);
int futhark_new_opaque_arr5e1f(ctx, struct futhark_opaque_arr5e1f **out, struct futhark_opaque_5e1f **elems, int64_t dim0);
int futhark_set_opaque_arr5e1f(ctx, struct futhark_opaque_arr5e1f *arr, struct futhark_opaque_5e1f *elem, int64_t i0);
int futhark_index_opaque_arr2d_state(ctx, struct futhark_opaque_state **out, struct futhark_opaque_arr2d_state *arr, int64_t i0, int64_t i1);
const int64_t *futhark_shape_opaque_arr2d_state(ctx, struct futhark_opaque_arr2d_state *arr);
int futhark_new_opaque_arr2d_state(ctx, struct futhark_opaque_arr2d_state **out, struct futhark_opaque_state **elems, int64_t dim0, int64_t dim1);
int futhark_set_opaque_arr2d_state(ctx, struct futhark_opaque_arr2d_state *arr, struct futhark_opaque_state *elem, int64_t i0, int64_t i1);
int futhark_entry_count(ctx, int32_t *out0, struct futhark_i32_1d **out1, const struct futhark_i32_1d *in0);
int futhark_entry_discard(ctx, const struct futhark_opaque_unit *in0);
";

#[test]
fn prototypes_are_displayed_as_in_headers() {
    let program = program();
    let mut missing: HashSet<&str> = PROTOTYPES.lines().collect();
    let mut seen = HashSet::new();
    for function in program.functions() {
        let text = program.prototype(&function).to_string();
        if missing.remove(&*text.replace("struct futhark_context *ctx", "ctx")) {
            seen.insert(function.operation);
        }
    }
    assert_eq!(missing, HashSet::new());
    for operation in Operation::ALL {
        assert!(seen.contains(operation), "{operation}");
    }
}

/// From 0.26.1 an entry point has one output parameter, without a number.
#[test]
fn a_single_result_has_no_number() {
    let program = faultless(&fixture("0.26.1"), "0.26.1");
    assert_eq!(
        prototype_of(&program, "futhark_entry_range").to_string(),
        "int futhark_entry_range(struct futhark_context *ctx, struct futhark_opaque_minmax **out, const struct futhark_i32_1d *in0);"
    );
}

#[test]
fn backends_differ_in_raw_memory_and_asynchronous_results() {
    let program = program();
    let mut functions = program.functions();
    let new_raw = functions.find(|one| one.operation == Operation::ArrayNewRaw);
    let new_raw = new_raw.expect("it is listed");
    let mut functions = program.functions();
    let values = functions.find(|one| one.operation == Operation::ArrayValues);
    let values = values.expect("it is listed");
    for (backend, raw, until_sync) in [
        (Backend::C, "unsigned char *", false),
        (Backend::Multicore, "unsigned char *", false),
        (Backend::Ispc, "unsigned char *", false),
        (Backend::OpenCl, "cl_mem", true),
        (Backend::Cuda, "CUdeviceptr", true),
        (Backend::Hip, "hipDeviceptr_t", true),
    ] {
        let data = &program.prototype_for(&new_raw, backend).parameters[1];
        assert_eq!(data.ty.to_string(), raw, "{backend}");
        assert_eq!(data.passing, Passing::Lent);
        let data = &program.prototype_for(&values, backend).parameters[2];
        assert_eq!(
            data.passing,
            Passing::HostWritten { until_sync },
            "{backend}"
        );
    }
}

/// An element of a device, or its handle, is complete after a sync in every version, although
/// newer versions wait in some operations.
#[test]
fn elements_of_devices_are_complete_after_a_sync() {
    for version in ["0.25.19", "0.25.36"] {
        let program = faultless(&fixture(version), version);
        let indexing = program
            .functions()
            .filter(|one| one.operation.as_str().ends_with(".index"));
        for function in indexing {
            for (backend, after_sync) in [(Backend::OpenCl, true), (Backend::C, false)] {
                let passing = program.prototype_for(&function, backend).parameters[1].passing;
                let expected = match function.operation {
                    Operation::ArrayIndex => Passing::GivesScalar { after_sync },
                    _ => Passing::GivesHandle { after_sync },
                };
                assert_eq!(passing, expected, "{version}: {}", function.name);
            }
        }
    }
}

#[test]
fn parameters_have_roles_and_ownership() {
    let program = program();
    let id = |name: &str| -> TypeId { program.type_named(name).expect(name) };
    let cells = TypeRef::Type(id("[]{level: i32, tags: []i32}"));
    let by = program.entry("grow").expect("it is listed").inputs[1].ty;

    let grow = prototype_of(&program, "futhark_entry_grow");
    let argument = |index, ty| ParameterRole::Argument { index, ty };
    let output = ParameterRole::Output {
        index: 0,
        ty: cells,
    };
    let parts = grow.parameters.iter().map(|one| (one.role, one.passing));
    let expected = [
        (
            ParameterRole::Context,
            Passing::Borrowed { until_sync: false },
        ),
        (output, GIVES_HANDLE),
        (argument(0, cells), Passing::Consumed),
        (argument(1, by), Passing::Scalar),
    ];
    assert_eq!(parts.collect::<Vec<_>>(), expected);
    assert_eq!((grow.result, grow.returns), (CType::INT, Returns::Status));

    for (name, place, expected) in [
        ("futhark_free_opaque_state", 1, "Value, Freed"),
        ("futhark_set_opaque_arr5e1f", 1, "Value, Overwritten"),
        (
            "futhark_store_opaque_state",
            2,
            "Bytes, GivesBytes { until_sync: false }",
        ),
        ("futhark_store_opaque_state", 3, "ByteCount, GivesByteCount"),
        (
            "futhark_restore_opaque_state",
            1,
            "Bytes, HostRead { until_sync: false }",
        ),
        ("futhark_index_i32_2d", 4, "Index(1), Scalar"),
        ("futhark_new_i32_2d", 2, "Dimension(0), Scalar"),
    ] {
        let parameter = &prototype_of(&program, name).parameters[place];
        let found = format!("{:?}, {:?}", parameter.role, parameter.passing);
        assert_eq!(found, expected, "{name}");
    }
    for (name, returns) in [
        ("futhark_new_i32_2d", Returns::Handle),
        ("futhark_restore_opaque_state", Returns::Handle),
        ("futhark_shape_i32_2d", Returns::Shape { rank: 2 }),
        ("futhark_variant_opaque_state", Returns::Variant),
        ("futhark_values_raw_i32_1d", Returns::RawMemory),
        ("futhark_new_opaque_unit", Returns::Status),
    ] {
        assert_eq!(prototype_of(&program, name).returns, returns, "{name}");
    }
}

/// An operation has an aliasing of values if and only if it returns a handle.
#[test]
fn operations_that_return_handles_have_aliasing() {
    for (_, _, program) in all_fixtures() {
        for function in program.functions() {
            let prototype = program.prototype(&function);
            let gives = prototype.returns == Returns::Handle
                || prototype
                    .parameters
                    .iter()
                    .any(|one| matches!(one.passing, Passing::GivesHandle { .. }));
            let told = matches!(
                function.operation.aliasing(),
                Aliasing::Fresh
                    | Aliasing::Arguments
                    | Aliasing::CallersMemory
                    | Aliasing::PerOutput
            );
            assert!(told || !gives, "{function:?}");
            // Projecting a scalar field, and an empty payload or scalar result, return no handle.
            let may_not = [Aliasing::Arguments, Aliasing::PerOutput];
            assert!(gives || !told || may_not.contains(&function.operation.aliasing()));
        }
    }
}

#[test]
fn results_that_are_not_unique_may_share() {
    let program = program();
    let aliasing = |name: &str| -> Vec<OutputAliasing> {
        let entry = program.entry(name).expect(name);
        entry
            .outputs
            .iter()
            .map(|output| output.aliasing())
            .collect()
    };
    assert_eq!(aliasing("grow"), [OutputAliasing::Unique]);
    assert_eq!(
        aliasing("count"),
        [OutputAliasing::Scalar, OutputAliasing::Shared]
    );
}
