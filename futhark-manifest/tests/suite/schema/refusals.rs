//! Changes that the schema rejects: at least one for each constraint.

/// A change of a manifest that the schema rejects:
///
/// - the place of the change, as a JSON pointer;
/// - the new value, in JSON; empty to remove the old value;
/// - the violated keyword, as a JSON pointer into the schema;
/// - the message.
pub type Refusal = (&'static str, &'static str, &'static str, &'static str);

/// Changes of the manifest that has every member.
pub const REFUSALS: &[Refusal] = &[
    // The top.
    (
        "/backend",
        "",
        "/required",
        r#"expected a member "backend", found none"#,
    ),
    (
        "/types",
        "",
        "/required",
        r#"expected a member "types", found none"#,
    ),
    (
        "/entry_points",
        "",
        "/required",
        r#"expected a member "entry_points", found none"#,
    ),
    (
        "/backend",
        r#""vulkan""#,
        "/$defs/backend/enum",
        r#"expected a backend: c, multicore, ispc, opencl, cuda or hip, found "vulkan""#,
    ),
    (
        "/backend",
        "3",
        "/$defs/backend/enum",
        "expected a backend: c, multicore, ispc, opencl, cuda or hip, found 3",
    ),
    (
        "/version",
        "0.25",
        "/properties/version/type",
        "expected the compiler's version, found 0.25",
    ),
    (
        "/entry_points",
        "[]",
        "/properties/entry_points/type",
        "expected the entry points (an object), found an empty array",
    ),
    (
        "/types",
        r#""none""#,
        "/properties/types/type",
        r#"expected the types (an object), found "none""#,
    ),
    // Entry points.
    (
        "/entry_points/grow",
        "null",
        "/$defs/entry_point/type",
        "expected an entry point (an object), found null",
    ),
    (
        "/entry_points/grow/cfun",
        "",
        "/$defs/entry_point/required",
        r#"expected a member "cfun", found none"#,
    ),
    (
        "/entry_points/grow/inputs",
        "",
        "/$defs/entry_point/required",
        r#"expected a member "inputs", found none"#,
    ),
    (
        "/entry_points/grow/output",
        "",
        "/$defs/entry_point/else/required",
        r#"expected a member "outputs", found none"#,
    ),
    (
        "/entry_points/grow/outputs",
        "[]",
        "/$defs/entry_point/then/properties/outputs",
        "expected no 'outputs' beside 'output', found an empty array",
    ),
    (
        "/entry_points/grow/inputs",
        "{}",
        "/$defs/entry_point/properties/inputs/type",
        "expected an array of parameters, found an empty object",
    ),
    (
        "/entry_points/split/outputs",
        r#"{"type": "i32", "unique": true}"#,
        "/$defs/entry_point/properties/outputs/type",
        "expected an array of results, found an object",
    ),
    (
        "/entry_points/grow/tuning_params",
        r#""tile""#,
        "/$defs/entry_point/properties/tuning_params/type",
        r#"expected an array of strings, found "tile""#,
    ),
    (
        "/entry_points/split/tuning_params/0",
        "3",
        "/$defs/entry_point/properties/tuning_params/items/type",
        "expected the name of a tuning parameter, found 3",
    ),
    (
        "/entry_points/grow/attributes",
        r#"{"keep": true}"#,
        "/$defs/entry_point/properties/attributes/type",
        "expected an array of strings, found an object",
    ),
    (
        "/entry_points/grow/attributes/1",
        r#"["cost"]"#,
        "/$defs/entry_point/properties/attributes/items/type",
        "expected an attribute, found an array",
    ),
    (
        "/entry_points/grow/doc",
        "null",
        "/$defs/doc/type",
        "expected a string, found null",
    ),
    (
        "/entry_points/grow/inputs/1",
        r#""i32""#,
        "/$defs/input/type",
        r#"expected a parameter (an object), found "i32""#,
    ),
    (
        "/entry_points/grow/inputs/1/unique",
        "",
        "/$defs/input/required",
        r#"expected a member "unique", found none"#,
    ),
    (
        "/entry_points/grow/inputs/1/name",
        "1",
        "/$defs/input/properties/name/type",
        "expected the name of a parameter, found 1",
    ),
    (
        "/entry_points/grow/inputs/1/unique",
        r#""no""#,
        "/$defs/input/properties/unique/type",
        r#"expected true or false, found "no""#,
    ),
    (
        "/entry_points/grow/inputs/1/type",
        "false",
        "/$defs/type_name/type",
        "expected the name of a type, found false",
    ),
    (
        "/entry_points/grow/inputs/1/type",
        r#""""#,
        "/$defs/type_name/minLength",
        r#"expected the name of a type, found """#,
    ),
    (
        "/entry_points/grow/output",
        "[]",
        "/$defs/output/type",
        "expected a result (an object), found an empty array",
    ),
    (
        "/entry_points/split/outputs/1/type",
        "",
        "/$defs/output/required",
        r#"expected a member "type", found none"#,
    ),
    (
        "/entry_points/split/outputs/1/unique",
        "0",
        "/$defs/output/properties/unique/type",
        "expected true or false, found 0",
    ),
    // Types.
    (
        "/types/a~1b~0c",
        r#""i32""#,
        "/$defs/type/type",
        r#"expected a type (an object), found "i32""#,
    ),
    (
        "/types/[]i32/kind",
        "",
        "/$defs/type/required",
        r#"expected a member "kind", found none"#,
    ),
    (
        "/types/state/ctype",
        "",
        "/$defs/type/required",
        r#"expected a member "ctype", found none"#,
    ),
    (
        "/types/state/ops",
        "",
        "/$defs/type/required",
        r#"expected a member "ops", found none"#,
    ),
    (
        "/types/[]i32/kind",
        r#""list""#,
        "/$defs/type/properties/kind/enum",
        r#"expected a kind of type: array or opaque, found "list""#,
    ),
    (
        "/types/state/ctype",
        r#"["struct a *"]"#,
        "/$defs/c_struct_pointer/type",
        "expected a pointer to a C struct: 'struct NAME *', found an array",
    ),
    (
        "/types/state/ctype",
        r#""struct a; struct b *""#,
        "/$defs/c_struct_pointer/pattern",
        r#"expected a pointer to a C struct: 'struct NAME *', found "struct a; struct b *""#,
    ),
    (
        "/types/state/doc",
        r#"["two", "lines"]"#,
        "/$defs/doc/type",
        "expected a string, found an array",
    ),
    // Arrays.
    (
        "/types/[]i32/rank",
        "",
        "/$defs/array/required",
        r#"expected a member "rank", found none"#,
    ),
    (
        "/types/[]i32/rank",
        r#""two""#,
        "/$defs/rank/type",
        r#"expected an integer from 1 to 255, found "two""#,
    ),
    (
        "/types/[]i32/rank",
        "1.5",
        "/$defs/rank/type",
        "expected an integer from 1 to 255, found 1.5",
    ),
    (
        "/types/[]i32/rank",
        "0",
        "/$defs/rank/minimum",
        "expected an integer from 1 to 255, found 0",
    ),
    (
        "/types/[]i32/rank",
        "256",
        "/$defs/rank/maximum",
        "expected an integer from 1 to 255, found 256",
    ),
    (
        "/types/[]i32/elemtype",
        r#""i128""#,
        "/$defs/element_type/enum",
        r#"expected a scalar type: i8, i16, i32, i64, u8, u16, u32, u64, f16, f32, f64 or bool, found "i128""#,
    ),
    (
        "/types/[]i32/ops",
        "null",
        "/$defs/array_ops/type",
        "expected the array's C functions (an object), found null",
    ),
    (
        "/types/[]i32/ops/values",
        "",
        "/$defs/array_ops/required",
        r#"expected a member "values", found none"#,
    ),
    (
        "/types/[]i32/ops/index",
        "true",
        "/$defs/c_function/type",
        "expected the name of a C function, found true",
    ),
    (
        "/types/[]i32/ops/new_raw",
        r#""f; exit(1)""#,
        "/$defs/c_function/pattern",
        r#"expected the name of a C function, found "f; exit(1)""#,
    ),
    // Opaque types.
    (
        "/types/state/ops",
        "[]",
        "/$defs/opaque_ops/type",
        "expected the type's C functions (an object), found an empty array",
    ),
    (
        "/types/state/ops/free",
        "",
        "/$defs/opaque_ops/required",
        r#"expected a member "free", found none"#,
    ),
    (
        "/types/{level: i32, tags: []i32}/sum",
        r#"{"variant": "a", "variants": [{"name": "b", "construct": "c", "destruct": "d", "payload": []}]}"#,
        "/$defs/opaque/dependentSchemas/record/properties/sum",
        "expected nothing beside 'record', found an object",
    ),
    (
        "/types/{level: i32, tags: []i32}/record_array",
        r#"{"rank": 1, "elemtype": "t", "fields": [], "zip": "a", "index": "b", "shape": "c"}"#,
        "/$defs/opaque/dependentSchemas/record/properties/record_array",
        "expected nothing beside 'record', found an object",
    ),
    (
        "/types/{level: i32, tags: []i32}/opaque_array",
        r#"{"rank": 1, "elemtype": "t", "index": "a", "shape": "b"}"#,
        "/$defs/opaque/dependentSchemas/record/properties/opaque_array",
        "expected nothing beside 'record', found an object",
    ),
    (
        "/types/state/record_array",
        r#"{"rank": 1, "elemtype": "t", "fields": [], "zip": "a", "index": "b", "shape": "c"}"#,
        "/$defs/opaque/dependentSchemas/sum/properties/record_array",
        "expected nothing beside 'sum', found an object",
    ),
    (
        "/types/state/opaque_array",
        r#"{"rank": 1, "elemtype": "t", "index": "a", "shape": "b"}"#,
        "/$defs/opaque/dependentSchemas/sum/properties/opaque_array",
        "expected nothing beside 'sum', found an object",
    ),
    (
        "/types/[]{level: i32, tags: []i32}/opaque_array",
        r#"{"rank": 1, "elemtype": "t", "index": "a", "shape": "b"}"#,
        "/$defs/opaque/dependentSchemas/record_array/properties/opaque_array",
        "expected nothing beside 'record_array', found an object",
    ),
    // Records.
    (
        "/types/{level: i32, tags: []i32}/record",
        "[]",
        "/$defs/record/type",
        "expected a record (an object), found an empty array",
    ),
    (
        "/types/{level: i32, tags: []i32}/record/new",
        "",
        "/$defs/record/required",
        r#"expected a member "new", found none"#,
    ),
    (
        "/types/{level: i32, tags: []i32}/record/fields",
        "2",
        "/$defs/fields/type",
        "expected an array of fields, found 2",
    ),
    (
        "/types/{level: i32, tags: []i32}/record/fields/1",
        r#""tags""#,
        "/$defs/fields/items/type",
        r#"expected a field (an object), found "tags""#,
    ),
    (
        "/types/{level: i32, tags: []i32}/record/fields/1/project",
        "",
        "/$defs/fields/items/required",
        r#"expected a member "project", found none"#,
    ),
    (
        "/types/{level: i32, tags: []i32}/record/fields/1/name",
        "1",
        "/$defs/fields/items/properties/name/type",
        "expected the name of a field, found 1",
    ),
    // Sums.
    (
        "/types/state/sum",
        r#""state""#,
        "/$defs/sum/type",
        r#"expected a sum type (an object), found "state""#,
    ),
    (
        "/types/state/sum/variant",
        "",
        "/$defs/sum/required",
        r#"expected a member "variant", found none"#,
    ),
    (
        "/types/state/sum/variants",
        "{}",
        "/$defs/sum/properties/variants/type",
        "expected an array of at least one variant, found an empty object",
    ),
    (
        "/types/state/sum/variants",
        "[]",
        "/$defs/sum/properties/variants/minItems",
        "expected an array of at least one variant, found an empty array",
    ),
    (
        "/types/state/sum/variants/2",
        r#"["shut"]"#,
        "/$defs/variant/type",
        "expected a variant (an object), found an array",
    ),
    (
        "/types/state/sum/variants/2/destruct",
        "",
        "/$defs/variant/required",
        r#"expected a member "destruct", found none"#,
    ),
    (
        "/types/state/sum/variants/2/name",
        "null",
        "/$defs/variant/properties/name/type",
        "expected the name of a variant, found null",
    ),
    (
        "/types/state/sum/variants/2/payload",
        r#""i32""#,
        "/$defs/variant/properties/payload/type",
        r#"expected an array of type names, found "i32""#,
    ),
    (
        "/types/state/sum/variants/2/payload/1",
        r#"["bool"]"#,
        "/$defs/type_name/type",
        "expected the name of a type, found an array",
    ),
    // Arrays of records and of opaques.
    (
        "/types/[]{level: i32, tags: []i32}/record_array",
        "true",
        "/$defs/record_array/type",
        "expected an array of records (an object), found true",
    ),
    (
        "/types/[]{level: i32, tags: []i32}/record_array/zip",
        "",
        "/$defs/record_array/required",
        r#"expected a member "zip", found none"#,
    ),
    (
        "/types/[]{level: i32, tags: []i32}/record_array/rank",
        "0",
        "/$defs/rank/minimum",
        "expected an integer from 1 to 255, found 0",
    ),
    (
        "/types/[][]state/opaque_array",
        "3",
        "/$defs/opaque_array/type",
        "expected an array of opaque values (an object), found 3",
    ),
    (
        "/types/[][]state/opaque_array/elemtype",
        "",
        "/$defs/opaque_array/required",
        r#"expected a member "elemtype", found none"#,
    ),
    (
        "/types/[][]state/opaque_array/set",
        r#""a b""#,
        "/$defs/c_function/pattern",
        r#"expected the name of a C function, found "a b""#,
    ),
];
