// The table: the functions and types of one compiled program, for one backend.
//
// Every program × backend that futhark-sys builds exports exactly one symbol,
// a constant `struct fut_table`. This header is the only interface between the Rust
// side and the generated C. Its bindings are committed in src/bindings.rs; a test
// compares them with the output of bindgen.
//
// Types contain only fixed-width integers, pointers and functions (no enums, no
// `long`, no `FILE`), so that the layout is the same on every platform.
//
// Threads: at most one function may run on a context at a time. The caller holds a lock per
// context around each call.

#ifndef FUTHARK_TABLE_H
#define FUTHARK_TABLE_H

#include <stddef.h>
#include <stdint.h>

// Incremented when the meaning or the layout of anything below changes.
#define FUT_ABI 12u

// The result of a call.
#define FUT_OK 0        // success
#define FUT_FAILED 1    // the C function reported a failure; the context remains usable
#define FUT_MEMORY 2    // as FUT_FAILED, because memory was missing
#define FUT_LOST 3      // a fatal failure of the runtime in this call or an earlier one; the context is never entered again
#define FUT_UNAVAILABLE 4 // a library of the backend, or a symbol in it, cannot be loaded
#define FUT_REFUSED 5   // a setting or value that this backend does not support; or arguments that were rejected
                        // before the C function was called

// Why a call failed, by the function of the runtime that reported it; see `struct fut_failure`.
#define FUT_CAUSE_UNKNOWN 0u   // the runtime or the driver; after FUT_REFUSED, no function of the runtime
#define FUT_CAUSE_PROGRAM 1u   // a check in the program: bounds, division by zero, an assertion, …
#define FUT_CAUSE_SIZES 2u     // the sizes of an entry point's arguments do not match
#define FUT_CAUSE_ARGUMENT 3u  // any other function rejected its arguments, or would have done so after FUT_REFUSED

// Which call caused a failure.
#define FUT_OF_CALL 0u     // the call that reports the failure
#define FUT_OF_EARLIER 1u  // an earlier call whose work was still pending
#define FUT_OF_EITHER 2u   // either of these

// Element types, also the first type numbers.
#define FUT_I8 0u
#define FUT_I16 1u
#define FUT_I32 2u
#define FUT_I64 3u
#define FUT_U8 4u
#define FUT_U16 5u
#define FUT_U32 6u
#define FUT_U64 7u
#define FUT_F16 8u
#define FUT_F32 9u
#define FUT_F64 10u
#define FUT_BOOL 11u
// The type number of `types[i]` is FUT_FIRST_TYPE + i.
#define FUT_FIRST_TYPE 16u

// The kinds of `struct fut_type`.
#define FUT_ARRAY 0u
#define FUT_OPAQUE 1u

// Whether bytes whose components obey the rules of `struct fut_component` are always a value that the program
// could have got from its constructors (`coverage` of `struct fut_type`).
#define FUT_COVERAGE_UNKNOWN 0u   // the components could not be matched with the manifest
#define FUT_COVERAGE_FULL 1u      // yes: scalars, arrays, records, sums of scalars, and arrays of these
#define FUT_COVERAGE_SUM 2u       // no: variants of a sum share components that are arrays or other values
#define FUT_COVERAGE_ABSTRACT 3u  // no: a type without a structure in the manifest

// Flags of `struct fut_slot`.
#define FUT_CONSUMED 1u // the call may overwrite the argument: its type is unique in the manifest (`*[]f32`); see `call`

// Flags of `struct fut_function`.
#define FUT_ENTRY_POINT 1u
#define FUT_CONSUMES 2u // a parameter has FUT_CONSUMED

// Flags of `struct fut_table`.
#define FUT_HARDENED 1u // sizes and divisions are checked, and bounds that the Futhark compiler does not check
#define FUT_GPU 2u      // results of array type can be pending when a call returns
#define FUT_PARTIAL 4u  // with FUT_HARDENED: checks are missing, because the Futhark compiler is not known

// A context, with its configuration and the state of the hooks.
struct fut_context;

// Every wrapped function has this type; `enter` calls it, except `shape` and `raw_memory`. `out[i]` points to memory
// for result i: a scalar, or a pointer to a value or a text, which is NULL before the call: after a failure, what is
// there is freed. `in[i]` points to a scalar, or to the value itself. After a failure, results that are values are
// NULL, or not to be used if the context is lost.
typedef int32_t (*fut_call)(struct fut_context *ctx, void *const *out, const void *const *in);

// One result or parameter.
struct fut_slot {
  uint32_t type;
  uint32_t flags;
  const char *name;  // parameters of entry points: the name in the manifest; otherwise NULL
};

// An entry point, or an operation on values (construct, project, zip …).
struct fut_function {
  const char *name;  // the name of the C function, unique in a table
  // A description for messages: "field x of pt"; for entry points "entry point " and the name in the
  // manifest.
  const char *label;
  uint32_t flags;
  const struct fut_slot *out;
  const struct fut_slot *in;
  uint32_t n_out;
  uint32_t n_in;
  uint32_t n_tuning_params;
  const char *const *tuning_params;  // entry points: the names of the parameters that influence it
  // The wrapper, by FUT_WRAP_ENTRY, FUT_WRAP_OPERATION or FUT_WRAP_VARIANT. It refuses to return the payload of a sum of
  // another variant.
  fut_call call;
};

// One component of an opaque value in memory. Rank 0: a scalar at `offset`; otherwise a pointer to an
// array at `offset`. The other fields are invariants of all values of the type.
struct fut_component {
  uint32_t elem;
  uint32_t rank;
  uint32_t variants;  // not 0: the tag of a sum with this number of variants
  uint32_t like;      // if `shared` is not 0: an earlier component …
  uint32_t shared;    // … with the same size in this number of outer dimensions
  uint64_t offset;
  uint64_t shape;     // arrays: the offset of the `int64_t[rank]` shape in the array
};

// The elements of one column of an array of records, and the `int64_t[rank]` shape. Both live as long as the
// array. Without elements, the memory can be NULL.
struct fut_column {
  void *memory;
  const int64_t *shape;
};

// How a call failed. Texts are NUL-terminated or NULL, and need not be UTF-8.
struct fut_failure {
  uint32_t cause;     // FUT_CAUSE_…
  uint32_t origin;    // FUT_OF_…
  int32_t code;       // the return value of the C function
  uint32_t started;   // not 0: the call can have overwritten the arguments that it consumes
  // Unless the origin is FUT_OF_CALL: the numbers of the earlier calls that can have caused it, as `enter` got them. NULL: unknown,
  // or too many.
  const uint32_t *suspects;
  uint32_t n_suspects;
  uint64_t invalidates;  // not 0: results with this number can be invalid (`pending` of `struct fut_table`)
  const char *words;  // the message of futhark-sys
  const char *text;   // the unchanged message of the runtime
};

// A type that is not a scalar. Operations that a type lacks are NULL. Beside each operation: the macro in fut_wrappers.h that
// makes its wrapper, for arrays of scalars / for opaque values if they differ.
struct fut_type {
  const char *name;  // the name in the manifest
  uint32_t kind;
  uint32_t elem;     // arrays, and opaque values that are arrays: type number of an element
  uint32_t rank;     // arrays, and opaque values that are arrays; otherwise 0
  uint32_t n_components;
  uint32_t coverage; // opaque values: FUT_COVERAGE_…
  const struct fut_component *components;
  // Not 0: another value, the program or the caller can have the same memory, so a call that overwrites it
  // would change more than this value.
  int32_t (*is_shared)(const void *value);
  fut_call free;       // in: value. FUT_WRAP_FREE
  fut_call duplicate;  // out: value; in: value. FUT_WRAP_DUPLICATE
  fut_call shape;      // out: const int64_t *; in: value. FUT_WRAP_SHAPE
  // out: value; in: data, const int64_t dims[rank]. The data of an opaque array is
  // one pointer per element. Arrays of scalars have a third argument, `const int32_t later`: if it is
  // not 0, a GPU backend can read the data until a later wait (see `sync`). On host backends their data
  // can be NULL: the elements are not initialised, and the caller writes them before any other call
  // gets the value.
  fut_call create;     // FUT_WRAP_NEW / FUT_WRAP_OPAQUE_NEW
  // out: data; in: value, const int32_t later. If `later` is not 0, a GPU backend can write the data
  // until a later wait; the value may be changed or freed before that.
  fut_call values;     // FUT_WRAP_VALUES
  // out: element; in: value, const int64_t indices[rank]
  fut_call index;      // FUT_WRAP_INDEX / FUT_WRAP_OPAQUE_INDEX
  // in: value, element, const int64_t indices[rank]; changes the value
  fut_call set;        // FUT_WRAP_OPAQUE_SET
  fut_call stored_size; // out: size_t; in: value. FUT_WRAP_STORED_SIZE
  fut_call store;      // out: bytes, whose number is stored_size; in: value. FUT_WRAP_STORE
  fut_call restore;    // out: value; in: bytes. FUT_WRAP_RESTORE
  // Arrays of scalars: the backend's own memory, which is an address on the host, a cl_mem, a
  // CUdeviceptr or a hipDeviceptr_t, converted to a pointer. Elements are in row-major order, as in
  // `values`. out: void *; in: value. Does not enter the context, like `shape`.
  fut_call raw_memory; // FUT_WRAP_RAW_MEMORY
  // out: value; in: memory, const int64_t dims[rank]. The memory is borrowed: it is never freed
  // here, and always counts as shared.
  fut_call borrow;     // FUT_WRAP_BORROW
  // Host backends: arrays of records of scalars, at any depth, whose components are the columns, in the
  // order of the fields. Shapes of columns can differ only if plain C calls made the array.
  // out: struct fut_column[n_components]; in: value.
  fut_call columns;    // FUT_WRAP_COLUMNS
  // out: value, struct fut_column[n_components]; in: const int64_t dims[rank]. The elements are not
  // initialised, and the caller writes them before any other call gets the value.
  fut_call create_columns; // FUT_WRAP_COLUMNS
};

// The settings of a context: FUT_SET_name.
#define FUT_SETTING(name, setter, other, kind, lack) FUT_SET_##name,
#define FUT_OWN_SETTING(name) FUT_SET_##name,
enum fut_setting_kind {
#include "fut_settings.def"
};
#undef FUT_SETTING
#undef FUT_OWN_SETTING

struct fut_setting {
  uint32_t what;  // FUT_SET_…
  int64_t number;
  const char *text;
  const void *object;
};

// Receives what the runtime prints to stderr or to its log. Called on any thread of the context, also
// by several at a time, until the context is freed. It must not enter a context.
struct fut_log {
  void (*write)(void *data, const char *text, size_t length);
  void *data;
};

struct fut_table {
  uint32_t abi;   // FUT_ABI
  uint32_t size;  // sizeof(struct fut_table)
  uint32_t flags;
  const char *backend;
  const char *manifest;    // the JSON text of the manifest
  const char *program;     // identifies source, compiler version and layouts; equal for all backends
  uint64_t interface_hash; // of the manifest's API, equal for all backends of a program
  uint64_t functions_hash; // of the names of `types`, and of the names, results and parameters of `functions`

  const struct fut_type *types;  // sorted by name
  uint32_t n_types;
  const struct fut_function *functions;  // sorted by name
  uint32_t n_functions;

  // A description of a device has five lines: the name and version of the platform, the name of the
  // device, the version of the driver, and the bytes of its memory. Texts are freed with free_text.

  // opencl; NULL on other backends. The device that a context with these settings would use. NULL if
  // there is no device or a setting is rejected; context_new reports the reason.
  char *(*device)(const struct fut_setting *settings, uint32_t n);
  // GPU backends; NULL on others. The devices of the backend, or, if it does not return FUT_OK, the
  // reason. The text can be NULL.
  int32_t (*devices)(char **text);
  // GPU backends; NULL on others. The source of the device code. NULL if memory is missing.
  char *(*device_source)(void);
  // Creates a context. Returns NULL only if memory is missing. If *status is not FUT_OK, only
  // failure and context_free may be called.
  struct fut_context *(*context_new)(const struct fut_setting *settings, uint32_t n, int32_t *status);
  // Frees a context without values. On GPU backends, the memory of a lost context, and of one whose
  // initialisation failed, is leaked.
  void (*context_free)(struct fut_context *ctx);
  // The failure of the last call that did not return FUT_OK; valid until the next call.
  // `which` 0: why the call failed. 1: another failure that the wait after the call reported, or
  // NULL (GPU backends).
  const struct fut_failure *(*failure)(struct fut_context *ctx, uint32_t which);
  // GPU backends; NULL on others. Work on the device has numbered outcomes: a wait that succeeds completes all that is pending,
  // one that fails can invalidate it. After a call that returned FUT_OK: the number of the outcome on which its work
  // depends; 0 if it left none. Results depend on the outcomes of the arguments as well, which they can be parts of: the
  // larger number counts. Not after `shape` and `raw_memory`, which do not enter the context.
  uint64_t (*pending)(struct fut_context *ctx);
  // GPU backends; NULL on others. Waits for the driver, without the runtime, so that it works for a
  // lost context too. FUT_OK: the device no longer accesses host memory. Otherwise the driver cannot
  // wait, or belongs to a parent process.
  int32_t (*drain)(struct fut_context *ctx);

  // Calls a function of the table. A fatal failure ends the call and not the process. `number`: any by which the caller
  // knows the call, if its work fails later.
  int32_t (*enter)(fut_call call, uint32_t number, struct fut_context *ctx, void *const *out, const void *const *in);
  // The same for functions[number]. An argument that the function consumes and whose memory is shared is copied, so that no
  // other value changes; so is one that is passed twice. `copies` has a place for each parameter, and is NULL for a function
  // without FUT_CONSUMES; afterwards it is not NULL for each argument that was copied.
  int32_t (*call)(const struct fut_table *table, uint32_t number, struct fut_context *ctx, void *const *out,
                  const void *const *in, const void **copies);

  // Waits for all work. Transfers with `later` are complete when it returns FUT_OK. After any other
  // result but FUT_LOST, the device no longer accesses their memory. So it is after every call that
  // returned FUT_FAILED or FUT_MEMORY.
  fut_call sync;
  fut_call clear_caches;         // waits first, as does report
  fut_call pause_profiling;
  fut_call unpause_profiling;
  fut_call report;               // out: char *, freed with free_text
  fut_call memory;               // out: int64_t[4]: bytes on the host and their maximum, the same for the device
  fut_call context_device;       // out: char *; GPU backends, NULL on others
  fut_call command_queue;        // out: cl_command_queue; opencl, NULL on others
  void (*free_text)(char *text);

  // For direct calls of the generated functions (raw modules). `lend` waits and returns the context
  // of the generated code. Until `take_back` is called on the same thread, no other function here may
  // be called on the context, and a fatal failure ends the process. `take_back` waits, and reports
  // the failures of those calls.
  fut_call lend;                 // out: struct futhark_context *
  // `code`: of the call that failed, otherwise 0. Not called by `enter`.
  int32_t (*take_back)(struct fut_context *ctx, int32_t code);

  // Constants of the program, for i < n_tuning_params.
  uint32_t n_tuning_params;
  const char *(*tuning_param_name)(uint32_t i);
  const char *(*tuning_param_class)(uint32_t i);
  int64_t (*tuning_param_default)(uint32_t i);  // 0: chosen for the device when a context is created
};

#endif
