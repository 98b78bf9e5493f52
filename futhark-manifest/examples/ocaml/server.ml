(* Executes the commands of `futhark c --server` by means of the bridge, for futhark-conformance: ./server DIR/prog *)
open Futhark
open Yojson.Basic.Util

let context = load Sys.argv.(1)

(* Variables have a type, because an Int can have one of several. *)
let variables : (string, string * value) Hashtbl.t = Hashtbl.create 16
let variable name = try Hashtbl.find variables name with Not_found -> fail "Unknown variable: %s" name
let obj name = match variable name with _, Object obj -> obj | typ, _ -> fail "unexpected value of type %s" typ
let typ name = find "types" name context
let entry name = find "entry_points" name context
let scalars = keys (member "scalars" context.program)

let name_of reference = match member "scalar" reference with `String name -> name | _ -> text "name" (type_of context reference)
let types key json = List.map (fun part -> name_of (member "type" part)) (list key json)
let starred key part = (if to_bool (member key part) then "*" else "") ^ name_of (member "type" part)
let fields typ = types "fields" typ
let parts typ variant = List.map name_of (list "payload" (List.nth (list "variants" typ) (position variant (names "variants" typ))))

let values names types =
  if List.compare_lengths names types <> 0 then fail "expected %d variables" (List.length types);
  let value name expected =
    let actual, value = variable name in
    if actual = expected then value else fail "expected %s, got %s" expected actual in
  List.map2 value names types

(* Assigns the results of a function to new variables. *)
let define names types make =
  if List.compare_lengths (List.sort_uniq compare names) types <> 0 then fail "expected %d new variables" (List.length types);
  List.iter (fun name -> if Hashtbl.mem variables name then fail "Variable already exists: %s" name) names;
  List.iter2 (Hashtbl.add variables) names (List.combine types (make ()))

(* Scalars and arrays of scalars have Futhark's binary format: a header, the dimensions, and the elements. *)
let header element rank = Printf.sprintf "b\002%c%4s" (Char.chr rank) element
let chars data = Ctypes.(from_voidp char (to_voidp (bigarray_start genarray data)))

let write file = function
  | name, Object obj when text "kind" (typ name) = "array" ->
    let element = text "scalar" (member "element" obj.typ) in
    let (Kind kind) = kind element in
    let data = to_bigarray kind obj and n = Bytes.create 8 in
    output_string file (header element (Array.length (shape obj)));
    Array.iter (fun dim -> Bytes.set_int64_le n 0 (Int64.of_int dim); output_bytes file n) (shape obj);
    output_string file (Ctypes.string_from_ptr (chars data) ~length:(Bigarray.Genarray.size_in_bytes data))
  | _, Object obj -> output_string file (store obj)
  | name, value ->
    let (Scalar (c, to_c, _)) = scalar name in
    let place = Ctypes.(coerce (ptr c) (ptr char) (allocate c (to_c value))) in
    output_string file (header name 0 ^ Ctypes.(string_from_ptr place ~length:(sizeof c)))

let read file name =
  let is_scalar = List.mem name scalars in
  if is_scalar || text "kind" (typ name) = "array" then (
    let element = if is_scalar then name else text "scalar" (member "element" (typ name)) in
    let rank = if is_scalar then 0 else to_int (member "rank" (typ name)) in
    if really_input_string file 7 <> header element rank then fail "expected a value of type %s" name;
    let dims = Array.init rank (fun _ -> Int64.to_int (String.get_int64_le (really_input_string file 8) 0)) in
    let (Kind kind) = kind element in
    let data = Bigarray.Genarray.create kind C_layout dims in
    let bytes = really_input_string file (Bigarray.Genarray.size_in_bytes data) in
    String.iteri (fun i byte -> Ctypes.(chars data +@ i <-@ byte)) bytes;
    let (Scalar (c, _, of_c)) = scalar element in
    if is_scalar then of_c Ctypes.(!@(coerce (ptr char) (ptr c) (chars data))) else of_bigarray context name data)
  else
    let start = pos_in file in
    let value = restore context name (really_input_string file (in_channel_length file - start)) in
    (match value with Object obj -> seek_in file (start + String.length (store obj)) | _ -> ());
    value

(* Executes a command, and returns the lines of its answer. *)
let rec execute = function
  | [ "types" ] -> scalars @ names "types" context.program
  | [ "entry_points" ] -> names "entry_points" context.program
  | [ "inputs"; name ] -> List.map (starred "consumed") (list "inputs" (entry name))
  | [ "outputs"; name ] -> List.map (starred "unique") (list "outputs" (entry name))
  | [ "fields"; t ] -> List.map2 (Printf.sprintf "%s %s") (names "fields" (typ t)) (fields (typ t))
  | [ "variants"; t ] -> List.concat_map (fun v -> v :: List.map (( ^ ) "- ") (parts (typ t) v)) (names "variants" (typ t))
  | [ "variant"; name ] -> [ variant (obj name) ]
  | "destruct" :: from :: names -> execute ("destruct_as" :: from :: variant (obj from) :: names)
  | [ "clear" ] -> ignore (execute ("free" :: List.of_seq (Hashtbl.to_seq_keys variables))); clear_caches context; []
  | words -> perform words; []

and perform = function
  | "call" :: name :: names ->
    let outputs = types "outputs" (entry name) in
    let is_output i _ = i < List.length outputs in
    let arguments = values (List.filteri (fun i name -> not (is_output i name)) names) (types "inputs" (entry name)) in
    define (List.filteri is_output names) outputs (fun () ->
      let results = call_raw context name arguments in
      sync context;
      results)
  | "new" :: name :: t :: names -> define [ name ] [ t ] (fun () -> [ record context t (values names (fields (typ t))) ])
  | "zip" :: name :: t :: names -> define [ name ] [ t ] (fun () -> [ zip context t (values names (fields (typ t))) ])
  | "construct" :: name :: t :: variant :: names ->
    define [ name ] [ t ] (fun () -> [ construct context t variant (values names (parts (typ t) variant)) ])
  | [ "project"; name; from; part ] ->
    let from = obj from in
    define [ name ] [ List.nth (fields from.typ) (position part (names "fields" from.typ)) ] (fun () -> [ field from part ])
  | "unzip" :: from :: parts ->
    let from = obj from in
    define parts (fields from.typ) (fun () -> List.map (field from) (names "fields" from.typ))
  | "destruct_as" :: from :: variant :: names -> define names (parts (obj from).typ variant) (fun () -> payload (obj from) variant)
  | "free" :: names ->
    let freed = List.map variable names in
    List.iter (Hashtbl.remove variables) names;
    List.iter (function _, Object obj -> free obj | _ -> ()) freed
  | "store" :: path :: names ->
    let file = open_out_bin path in
    Fun.protect ~finally:(fun () -> close_out file) (fun () -> List.iter (fun name -> write file (variable name)) names)
  | "restore" :: path :: words ->
    let file = open_in_bin path and every parity = List.filteri (fun i _ -> i mod 2 = parity) words in
    Fun.protect ~finally:(fun () -> close_in file) (fun () ->
      define (every 0) (every 1) (fun () ->
        let values = List.map (read file) (every 1) in
        if pos_in file < in_channel_length file then fail "expected the end of %s" path else values))
  | command :: _ -> fail "Unknown command: %s" command
  | [] -> fail "expected a command"

let words line =
  let part i part = if i mod 2 = 1 then [ part ] else List.filter (( <> ) "") (String.split_on_char ' ' part) in
  List.concat (List.mapi part (String.split_on_char '"' line))

let rec serve () =
  print_endline "%%% OK";
  match read_line () with
  | exception End_of_file -> ()
  | line ->
    let failure text = [ "%%% FAILURE"; text ] in
    List.iter print_endline (try execute (words line) with Failed text -> failure text | e -> failure (Printexc.to_string e));
    serve ()

let () = serve ()
