(* Calls Futhark programs through ctypes. Libraries that `futhark-library` has built check handles, copy what they would
   overwrite, lock, and keep a context until its values are freed, so this bridge does none of this. *)
open Ctypes
open Yojson.Basic.Util

(* A C function failed, with the library's text; or its arguments are wrong. *)
exception Failed of string

let fail format = Printf.ksprintf (fun text -> raise (Failed text)) format

type context = { library : Dl.library; pointer : unit ptr; program : Yojson.Basic.t }

(* An Int has the bits of a u64 or an f16: OCaml has no half-precision numbers. Fields make a record or tuple for an argument. *)
type value = Int of int64 | Float of float | Bool of bool | Fields of value list | Object of obj | Memory of unit ptr

(* A value of the library. The garbage collector frees it, but does not see how large it is: call `free` for large ones. *)
and obj = { context : context; typ : Yojson.Basic.t; mutable handle : unit ptr }

(* A scalar type: in C, to C, from C. *)
type scalar = Scalar : 'a typ * (value -> 'a) * ('a -> value) -> scalar

let scalar name =
  let integer c of_int64 to_int64 =
    let to_c = function Int n when to_int64 (of_int64 n) = n -> of_int64 n | _ -> fail "expected an %s" name in
    Scalar (c, to_c, fun n -> Int (to_int64 n)) in
  let short bits n = Int64.(to_int (shift_right (shift_left n (64 - bits)) (64 - bits))) in
  let real c = Scalar (c, (function Float x -> x | _ -> fail "expected an %s" name), fun x -> Float x) in
  match name with
  | "i8" -> integer int8_t (short 8) Int64.of_int
  | "i16" -> integer int16_t (short 16) Int64.of_int
  | "i32" -> integer int32_t Int64.to_int32 Int64.of_int32
  | "i64" -> integer int64_t Fun.id Fun.id
  | "u8" -> integer uint8_t Unsigned.UInt8.of_int64 Unsigned.UInt8.to_int64
  | "u16" | "f16" -> integer uint16_t Unsigned.UInt16.of_int64 Unsigned.UInt16.to_int64
  | "u32" -> integer uint32_t Unsigned.UInt32.of_int64 Unsigned.UInt32.to_int64
  | "u64" -> integer uint64_t Unsigned.UInt64.of_int64 Unsigned.UInt64.to_int64
  | "f32" -> real float
  | "f64" -> real double
  | _ -> Scalar (bool, (function Bool b -> b | _ -> fail "expected a bool"), fun b -> Bool b)

(* Calls a C function whose parameters are known only at run time. *)
type argument = Argument : 'a typ * 'a -> argument
type 'r application = Application : ('a -> 'b) fn * (('a -> 'b) -> 'r) -> 'r application

let rec apply : type r. r typ -> argument list -> r application = fun returned -> function
  | [] -> Application (void @-> returning returned, fun f -> f ())
  | [ Argument (c, value) ] -> Application (c @-> returning returned, fun f -> f value)
  | Argument (c, value) :: rest ->
    let (Application (fn, apply)) = apply returned rest in
    Application (c @-> fn, fun f -> apply (f value))

let c library name returned arguments =
  let (Application (fn, apply)) = apply returned arguments in
  apply (Foreign.foreign ~from:library name fn)

let pointer p = Argument (ptr void, p)

let error library context =
  let text = c library "futhark_context_get_error" (ptr void) [ pointer context ] in
  let copy = if is_null text then None else Some (coerce (ptr void) string text) in
  Foreign.foreign "free" (ptr void @-> returning void) text;
  copy

let check context success =
  if not success then fail "%s" (Option.value (error context.library context.pointer) ~default:"failed without a message")

(* The resolved manifest *)
let text key json = to_string (member key json)
let list key json = to_list (member key json)
let names key json = List.map (text "name") (list key json)
let type_of context reference = List.nth (list "types" context.program) (to_int (member "type" reference))

let find key name context =
  try List.find (fun json -> text "name" json = name) (list key context.program) with Not_found -> fail "%s: unknown name %s" key name

let rec position name = function
  | [] -> fail "unknown name %s" name
  | first :: rest -> if first = name then 0 else 1 + position name rest

(* The C function of an operation; `part` is the index of a field or variant. *)
let operation ?part typ name =
  let part = match part with None -> `Null | Some i -> `Int i in
  let fits f =
    List.nth (String.split_on_char '.' (text "operation" f)) 1 = name
    && (match member "field" f with `Null -> member "variant" f | field -> field) = part in
  try List.find fits (list "functions" typ) with Not_found -> fail "%s has no operation %s" (text "name" typ) name

let free obj =
  let handle = obj.handle and name = text "name" (operation obj.typ "free") in
  obj.handle <- null;
  check obj.context (c obj.context.library name int [ pointer obj.context.pointer; pointer handle ] = 0)

let wrap context typ handle =
  let obj = { context; typ; handle } in
  Gc.finalise (fun obj -> try free obj with Failed _ -> () (* A finaliser must not raise. *)) obj;
  Object obj

(* What a C function returns, and whether it has succeeded. *)
type 'r returned = Returned of 'r typ * ('r -> bool)

let status = Returned (int, ( = ) 0)
let number = Returned (int, fun n -> n >= 0)
let address = Returned (ptr void, fun p -> not (is_null p))

(* Calls a C function of the manifest. Its inputs are the parameters other than the context and the results. *)
let rec run : type r. context -> Yojson.Basic.t -> r returned -> value list -> r * value list =
  fun context f (Returned (returned, succeeded)) inputs ->
  let outputs = ref [] and waiting = ref inputs and passed = ref [] in
  let argument parameter =
    match (text "role" parameter, !waiting) with
    | "context", _ -> pointer context.pointer
    | "output", _ ->
      let slot = to_voidp (allocate uint64_t Unsigned.UInt64.zero) in
      outputs := (member "type" parameter, slot) :: !outputs;
      pointer slot
    | _, input :: rest ->
      let input = match input with
        | Fields fields -> create context (operation (type_of context (member "type" parameter)) "new") fields
        | input -> input in
      waiting := rest;
      passed := input :: !passed;
      to_c context parameter input
    | _ -> fail "too few arguments" in
  let arguments = List.map argument (list "parameters" f) in
  if List.length !waiting > 0 then fail "too many arguments";
  let result = c context.library (text "name" f) returned arguments in
  ignore (Sys.opaque_identity !passed); (* The collector must not free values, or memory, before. *)
  check context (succeeded result);
  (result, List.rev_map (of_c context) !outputs)

and to_c context parameter value =
  match (text "passing" parameter, value) with
  | "scalar", _ ->
    (* Dimensions and indices have no type. *)
    let name = match member "type" parameter with `Null -> "i64" | reference -> text "scalar" reference in
    let (Scalar (c, to_c, _)) = scalar name in
    Argument (c, to_c value)
  | _, Object obj -> pointer obj.handle
  | _, Memory p -> pointer p
  | _ -> fail "expected a value of type %s" (text "name" (type_of context (member "type" parameter)))

and of_c context (reference, slot) =
  match member "scalar" reference with
  | `String name -> let (Scalar (c, _, of_c)) = scalar name in of_c !@(from_voidp c slot)
  | _ -> wrap context (type_of context reference) !@(from_voidp (ptr void) slot)

and create context f inputs = List.hd (snd (run context f status inputs))

let on obj f inputs = snd (run obj.context f status (Object obj :: inputs))

(* A record from its fields, and an array of records from an array per field; `field` reads one of either. *)
let record context name fields = create context (operation (find "types" name context) "new") fields
let zip context name arrays = create context (operation (find "types" name context) "zip") arrays
let field obj name = List.hd (on obj (operation obj.typ "project" ~part:(position name (names "fields" obj.typ))) [])

(* Values of sum types *)
let construct context name variant payload =
  let typ = find "types" name context in
  create context (operation typ "construct" ~part:(position variant (names "variants" typ))) payload

let variant obj = List.nth (names "variants" obj.typ) (fst (run obj.context (operation obj.typ "variant") number [ Object obj ]))
let payload obj variant = on obj (operation obj.typ "destruct" ~part:(position variant (names "variants" obj.typ))) []
let destruct obj = let name = variant obj in (name, payload obj name)

(* Arrays *)
let size n = Int (Int64.of_int n)
let index obj indices = List.hd (on obj (operation obj.typ "index") (List.map size indices))

let shape obj =
  let dims = from_voidp int64_t (fst (run obj.context (operation obj.typ "shape") address [ Object obj ])) in
  Array.init (to_int (member "rank" obj.typ)) (fun i -> Int64.to_int !@(dims +@ i))

type kind = Kind : ('a, 'b) Bigarray.kind -> kind

(* The kind of bigarray that has elements of a scalar type *)
let kind element =
  Bigarray.(match element with
  | "i8" -> Kind Int8_signed | "u8" | "bool" -> Kind Int8_unsigned | "i16" -> Kind Int16_signed
  | "u16" | "f16" -> Kind Int16_unsigned | "i32" | "u32" -> Kind Int32 | "i64" | "u64" -> Kind Int64
  | "f32" -> Kind Float32 | _ -> Kind Float64)

let memory typ data =
  if kind (text "scalar" (member "element" typ)) <> Kind (Bigarray.Genarray.kind data) then
    fail "%s needs another kind of bigarray" (text "name" typ);
  Memory (to_voidp (bigarray_start genarray data))

let of_bigarray context name data =
  let typ = find "types" name context and dims = Array.to_list (Bigarray.Genarray.dims data) in
  wrap context typ (fst (run context (operation typ "new") address (memory typ data :: List.map size dims)))

let to_bigarray kind obj =
  let data = Bigarray.Genarray.create kind C_layout (shape obj) in
  ignore (on obj (operation obj.typ "values") [ memory obj.typ data ]);
  data

(* The bytes of an opaque value. Restore them only for the same program and type: C cannot check them. *)
let store obj =
  let size = allocate size_t Unsigned.Size_t.zero in
  let store p = ignore (on obj (operation obj.typ "store") [ Memory p; Memory (to_voidp size) ]) in
  store null;
  let length = Unsigned.Size_t.to_int !@size in
  let bytes = allocate_n char ~count:length in
  store (to_voidp (allocate (ptr char) bytes));
  string_from_ptr bytes ~length

let restore context name bytes =
  let typ = find "types" name context and start = CArray.start (CArray.of_string bytes) in
  wrap context typ (fst (run context (operation typ "restore") address [ Memory (to_voidp start) ]))

(* The results of an entry point as C returns them; `call` returns the components of a tuple. *)
let call_raw context name arguments =
  snd (run context (member "function" (find "entry_points" name context)) status arguments)

let call context name arguments =
  match (text "form" (member "result" (find "entry_points" name context)), call_raw context name arguments) with
  | "tuple", [ Object obj ] -> List.map (field obj) (names "fields" obj.typ)
  | _, results -> results

let sync context = check context (c context.library "futhark_context_sync" int [ pointer context.pointer ] = 0)
let clear_caches context = check context (c context.library "futhark_context_clear_caches" int [ pointer context.pointer ] = 0)

(* The prefix DIR/prog means DIR/libprog.so and DIR/prog.resolved.json. *)
let load prefix =
  let program = Yojson.Basic.from_file (prefix ^ ".resolved.json") in
  if member "format_version" program <> `Int 2 then fail "expected format version 2";
  let library = Dl.dlopen ~flags:[ RTLD_NOW ] ~filename:Filename.(concat (dirname prefix) ("lib" ^ basename prefix ^ ".so")) in
  let config = c library "futhark_context_config_new" (ptr void) [] in
  let context = { library; pointer = c library "futhark_context_new" (ptr void) [ pointer config ]; program } in
  c library "futhark_context_config_free" void [ pointer config ];
  Gc.finalise (fun context -> c context.library "futhark_context_free" void [ pointer context.pointer ]) context;
  Option.iter (fail "%s") (error library context.pointer);
  context
