// The table: everything that one compiled program offers, for one backend.
//
// Every program × backend that futhark-sys builds exports exactly one symbol,
// a constant `struct fut_table`. The Rust side knows this header and nothing
// else of the generated C. Its bindings are committed in src/bindings.rs and
// a test compares them with what bindgen makes of this file today.
//
// This header holds fixed-width integers, pointers and functions only (no
// enums, no `long`, no `FILE`), so that it means the same on every platform.
//
// Threads: no function here may run at the same time as another one on the
// same context. The caller holds one lock per context around each call.

#ifndef FUTHARK_TABLE_H
#define FUTHARK_TABLE_H

#include <stddef.h>
#include <stdint.h>

// Raised whenever anything below changes its meaning or its place.
#define FUT_ABI 4u

// What a call answers.
#define FUT_OK 0        // done
#define FUT_FAILED 1    // the C function reported a failure; the context goes on
#define FUT_MEMORY 2    // as FAILED, and the reason is known: no memory
#define FUT_LOST 3      // the runtime died in this call or before; the context is never entered again
#define FUT_UNAVAILABLE 4 // a library of the backend, or a symbol of it, cannot be loaded
#define FUT_REFUSED 5   // a setting that this backend does not have, or a value it does not take; or arguments
                        // that were refused before the C function was called

// Why a call failed, decided by the place in the runtime that reported it; `struct fut_failure`.
#define FUT_CAUSE_UNKNOWN 0u   // the runtime or the driver
#define FUT_CAUSE_PROGRAM 1u   // a check in the program: bounds, division by zero, an assertion, …
#define FUT_CAUSE_SIZES 2u     // the arguments of an entry point do not fit each other
#define FUT_CAUSE_ARGUMENT 3u  // any other function refused its arguments

// Which call a failure belongs to. Anything but FUT_OF_CALL makes the results of all calls
// since the last successful wait suspect.
#define FUT_OF_CALL 0u     // the call that reports it
#define FUT_OF_EARLIER 1u  // an earlier call whose work had not been waited for
#define FUT_OF_EITHER 2u   // one or the other

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
// Type number of `types[i]` is FUT_FIRST_TYPE + i.
#define FUT_FIRST_TYPE 16u

// The kinds of `struct fut_type`.
#define FUT_ARRAY 0u
#define FUT_OPAQUE 1u

// Flags of `struct fut_slot`.
#define FUT_CONSUMED 1u

// Flags of `struct fut_function`.
#define FUT_ENTRY_POINT 1u

// Flags of `struct fut_table`.
#define FUT_HARDENED 1u // integer traps are compiled in
#define FUT_GPU 2u      // results of array type may still be under way when a call returns

// A context, with its configuration and what the hooks know about it.
struct fut_context;

// Every wrapped function has this shape. `out[i]` points to room for result i:
// the scalar itself, or a pointer for a value. `in[i]` points to a scalar, or is the
// value's own pointer. Rooms for values are NULL after anything but FUT_OK.
typedef int32_t (*fut_call)(struct fut_context *ctx, void *const *out, const void *const *in);

// One result or parameter.
struct fut_slot {
  uint32_t type;
  uint32_t flags;
  const char *name;  // parameters of entry points, as the manifest has it; otherwise NULL
};

// An entry point, or an operation that makes values of values (construct, project, zip …).
struct fut_function {
  const char *name;  // the C function's name, unique in a table
  const char *label; // what it is, for messages: "entry point mean", "field x of pt"
  uint32_t flags;
  const struct fut_slot *out;
  const struct fut_slot *in;
  uint32_t n_out;
  uint32_t n_in;
  fut_call call;
};

// One component of an opaque value as it lies in memory: rank 0 is a scalar at
// `offset`, otherwise `offset` holds a pointer to an array. The rest is what every value
// of the type obeys, as far as the type says so.
struct fut_component {
  uint32_t elem;
  uint32_t rank;
  uint32_t variants;  // not 0: tags of a sum, each less than this
  uint32_t like;      // if `shared` is not 0: an earlier component …
  uint32_t shared;    // … that has the same size in this many outer dimensions
  uint64_t offset;
  uint64_t shape;     // arrays: where in the array its `int64_t[rank]` shape is
};

// How a call failed. Text is NUL-terminated or NULL, and its bytes need not be UTF-8.
struct fut_failure {
  uint32_t cause;     // FUT_CAUSE_…
  uint32_t origin;    // FUT_OF_…
  int32_t code;       // what the C function returned
  const char *words;  // what futhark-sys itself has to say
  const char *text;   // what the runtime said, unchanged
};

// A type that is not a scalar. Operations that a type lacks are NULL.
struct fut_type {
  const char *name;  // as the manifest has it
  uint32_t kind;
  uint32_t elem;     // arrays, and opaque values that are arrays: type number of an element
  uint32_t rank;     // arrays, and opaque values that are arrays; otherwise 0
  uint32_t n_components;
  const struct fut_component *components;
  // The largest reference count of the value's memory. 1: nothing else shares
  // it; 0: it has none. Anything else, and memory that is not counted: shared.
  int32_t (*references)(const void *value);
  fut_call free;       // in: value
  fut_call duplicate;  // out: value; in: value
  fut_call shape;      // out: const int64_t *; in: value
  // out: value; in: data, const int64_t dims[rank]. The data of an opaque array is
  // one pointer per element.
  fut_call create;
  fut_call values;     // out: data; in: value
  fut_call index;      // out: element; in: value, const int64_t indices[rank]
  fut_call set;        // in: value, element, const int64_t indices[rank]; changes the value
  fut_call stored_size; // out: size_t; in: value
  fut_call store;      // out: bytes, as many as stored_size said; in: value
  fut_call restore;    // out: value; in: bytes
  // Arrays of scalars, memory as the backend has it: an address on the host, a cl_mem, a
  // CUdeviceptr, a hipDeviceptr_t; made a pointer where it is none. Elements are in
  // row-major order, as `values` copies them.
  fut_call raw_memory; // out: void *; in: value. Enters nothing, as `shape`
  // out: value; in: memory, const int64_t dims[rank]. The value and all that share its
  // memory only borrow that: nothing here frees it, and it counts as shared for ever.
  fut_call borrow;
};

// What a context can be told before it exists.
#define FUT_SET_DEBUGGING 0u
#define FUT_SET_PROFILING 1u
#define FUT_SET_LOGGING 2u
#define FUT_SET_CACHE_FILE 3u       // text
#define FUT_SET_TUNING_PARAM 4u     // text = its name, number = its value
#define FUT_SET_NUM_THREADS 5u      // number
#define FUT_SET_DEVICE 6u           // text
#define FUT_SET_PLATFORM 7u         // text
#define FUT_SET_BUILD_OPTION 8u     // text
#define FUT_SET_BLOCK_SIZE 9u       // number
#define FUT_SET_GRID_SIZE 10u       // number
#define FUT_SET_TILE_SIZE 11u       // number
#define FUT_SET_REG_TILE_SIZE 12u   // number
#define FUT_SET_THRESHOLD 13u       // number
#define FUT_SET_UNIFIED_MEMORY 14u  // number: 0 or 1

struct fut_setting {
  uint32_t what;
  int64_t number;
  const char *text;
};

struct fut_table {
  uint32_t abi;   // FUT_ABI
  uint32_t size;  // sizeof(struct fut_table)
  uint32_t flags;
  const char *backend;
  const char *manifest;    // the JSON text that the compiler wrote
  const char *program;     // names source, compiler version and layouts; equal for all backends
  uint64_t interface_hash; // of the manifest's API, equal for all backends of a program
  uint64_t functions_hash; // of the names of `types`, and of the names, results and parameters of `functions`

  const struct fut_type *types;  // sorted by name
  uint32_t n_types;
  const struct fut_function *functions;  // sorted by name
  uint32_t n_functions;

  // opencl, NULL on other backends. The device that a context with these settings would use:
  // four lines of text, which are the platform's name and version, the device's name and the
  // driver's version. Freed with free_text. NULL if there is no device, or a setting is refused;
  // context_new says why.
  char *(*device)(const struct fut_setting *settings, uint32_t n);
  // Makes a context. Always gives one back (NULL only without memory for it);
  // unless *status is FUT_OK it can only be asked for its failure and freed.
  struct fut_context *(*context_new)(const struct fut_setting *settings, uint32_t n, int32_t *status);
  // Frees a context that has no values left. Of a lost one, and of one whose set-up failed
  // half-way, GPU backends leak the memory.
  void (*context_free)(struct fut_context *ctx);
  // How the last call that did not answer FUT_OK failed; lives until the next call.
  // `which` 0: why the call failed. 1: another failure that the wait after it reported, or
  // NULL (GPU backends).
  const struct fut_failure *(*failure)(struct fut_context *ctx, uint32_t which);
  // After a call that answered FUT_OK: which calls started kernels that check the program and
  // have not been waited for. 0: none, 1: this one and possibly earlier ones, 2: only
  // earlier ones. Always 0 on backends other than GPU ones.
  int32_t (*unchecked)(struct fut_context *ctx);

  fut_call sync;
  fut_call clear_caches;         // waits first, as does report
  fut_call pause_profiling;
  fut_call unpause_profiling;
  fut_call report;               // out: char *, freed with free_text
  void (*free_text)(char *text);

  // For calls of the generated functions that do not go through this table (raw modules).
  // `lend` waits, and gives the generated code's own context. From then on until
  // `take_back`, on the same thread, nothing else here is called on the context, and
  // what would end a call ends the process. `take_back` waits, and answers for those calls.
  fut_call lend;                 // out: struct futhark_context *
  fut_call take_back;            // in: int32_t, the code of the call that failed, otherwise 0

  uint32_t n_tuning_params;
  const char *(*tuning_param_name)(uint32_t i);
  const char *(*tuning_param_class)(uint32_t i);

  // 0: the hooks of this build work (a trap was sprung and caught).
  int32_t (*self_test)(void);
};

#endif
