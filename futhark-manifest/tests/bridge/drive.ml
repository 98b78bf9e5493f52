(* Tests the bridge examples/ocaml/futhark.ml: ./drive DIR/everything DIR/negative_size
   These are the hardened libraries of programs/bridges/everything.fut and programs/kills/negative_size.fut. *)
open Futhark

let expect what holds = if not holds then failwith what

(* The call must fail with a message that contains the text. *)
let expect_refused text call =
  match call () with
  | exception Failed message ->
    let n = String.length text in
    let found = ref false in
    String.iteri (fun i _ -> if i + n <= String.length message && String.sub message i n = text then found := true) message;
    expect (Printf.sprintf "expected %S, got %S" text message) !found
  | _ -> failwith ("expected an error: " ^ text)

let obj = function Object obj -> obj | _ -> failwith "expected an object"
let array kind dims values = Bigarray.(reshape (genarray_of_array1 (Array1.of_array kind C_layout values)) dims)
let flat kind value =
  let data = to_bigarray kind (obj value) in
  let n = Array.fold_left ( * ) 1 (Bigarray.Genarray.dims data) in
  List.init n (Bigarray.Array1.get (Bigarray.reshape_1 data n))

let resident_megabytes () =
  let file = open_in "/proc/self/status" in
  let rec find () = try Scanf.sscanf (input_line file) "VmRSS: %d" (fun kb -> kb / 1024) with Scanf.Scan_failure _ -> find () in
  Fun.protect ~finally:(fun () -> close_in file) find

let () =
  let ctx = load Sys.argv.(1) in
  let call name arguments = call ctx name arguments in
  let one name arguments = List.hd (call name arguments) in
  let ints values = of_bigarray ctx "[]i32" (array Bigarray.int32 [| Array.length values |] values) in
  let doubles values = of_bigarray ctx "[]f64" (array Bigarray.float64 [| Array.length values |] values) in
  let point x y = record ctx "point" [ Float x; Float y ] in

  (* Scalars and arrays *)
  let largest = List.map (fun n -> Int n) [ 127L; 32767L; 2147483647L; Int64.max_int; 255L; 65535L; 4294967295L; -1L; 0x3800L ] in
  let lowest = List.map (fun n -> Int n) [ -128L; -32768L; -2147483648L; Int64.min_int; 0L; 0L; 0L; 0L; 0x3e00L ] in
  let floats x truth = [ Float x; Float x; Bool truth ] in
  expect "scalars" (call "scalars" (largest @ floats 0.5 true) = lowest @ floats 1.5 false);
  expect_refused "expected an i32" (fun () -> call "divided" [ Int 2147483648L; Int 1L ]);
  let matrix = of_bigarray ctx "[][]i32" (array Bigarray.int32 [| 2; 3 |] [| 1l; 2l; 3l; 4l; 5l; 6l |]) in
  let transposed = one "transposed" [ matrix ] in
  expect "shape" (shape (obj transposed) = [| 3; 2 |]);
  expect "transposed" (flat Bigarray.int32 transposed = [ 1l; 4l; 2l; 5l; 3l; 6l ]);
  expect "index" (index (obj transposed) [ 2; 0 ] = Int 3L);
  expect_refused "another kind" (fun () -> to_bigarray Bigarray.float64 (obj matrix));
  expect "operators" (call "+++" [ Int 1L; Int 2L ] = [ Int 3L ]);

  (* Records, tuples and sums *)
  let segment = record ctx "segment" [ Fields [ Float 0.; Float 0. ]; point 3. 4. ] in
  expect "length" (call "segment_length" [ segment ] = [ Float 5. ]);
  let from = field (obj (one "turned" [ segment ])) "from" in
  expect "fields" (List.map (field (obj from)) [ "x"; "y" ] = [ Float 3.; Float 4. ]);
  expect "tuples" (call "range" [ ints [| 4l; -1l; 9l |] ] = [ Int (-1L); Int 9L ]);
  expect "tuples" (call "width" [ Fields [ Int 1L; Int 5L ] ] = [ Int 4L ]);
  let grown variant payload = obj (one "grown" [ construct ctx "shape" variant payload ]) in
  (match destruct (grown "circle" [ Float 2. ]) with "circle", [ Float 3. ] -> () | _ -> failwith "circle");
  (match destruct (grown "label" [ Int 1L; Bool false ]) with "label", [ Int 2L; Bool true ] -> () | _ -> failwith "label");
  (match destruct (grown "path" [ doubles [| 1. |] ]) with
  | "path", [ xs ] -> expect "path" (flat Bigarray.float64 xs = [ 2. ])
  | _ -> failwith "path");
  expect "nullary" (destruct (grown "point" []) = ("point", []));
  expect_refused "variant" (fun () -> payload (grown "point" []) "circle");
  let mirrored = obj (one "mirrored" [ zip ctx "[]point" [ doubles [| 1.; 2. |]; doubles [| 3.; 4. |] ] ]) in
  expect "mirrored" (flat Bigarray.float64 (field mirrored "x") = [ 3.; 4. ]);
  expect "elements" (field (obj (index mirrored [ 1 ])) "y" = Float 2.);
  expect_refused "" (fun () -> zip ctx "[]point" [ doubles [| 1. |]; doubles [| 1.; 2. |] ]);
  expect "restore" (field (obj (restore ctx "point" (store (obj (point 1. 2.))))) "y" = Float 2.);

  (* Errors have the library's text, and the context works afterwards. *)
  expect_refused "out of bounds" (fun () -> call "at" [ ints [| 1l |]; Int 10L ]);
  expect_refused "division by zero" (fun () -> call "divided" [ Int 7L; Int 0L ]);
  expect_refused "invalid sizes" (fun () -> call "dot" [ ints [| 1l; 2l |]; ints [| 3l |] ]);
  expect_refused "has type point; expected []i32" (fun () -> call "dot" [ point 1. 2.; ints [| 3l |] ]);
  expect_refused "not a value of this context" (fun () -> Futhark.call (load Sys.argv.(1)) "same" [ ints [| 3l |] ]);
  expect_refused "too few arguments" (fun () -> call "divided" [ Int 7L ]);

  (* Consumption *)
  let xs = ints [| 1l; 2l; 3l |] in
  let ys = one "same" [ xs ] in
  expect "cleared" (flat Bigarray.int32 (one "cleared" [ ys; Int 1L ]) = [ 1l; 0l; 3l ]);
  expect "other values" (flat Bigarray.int32 xs = [ 1l; 2l; 3l ]);
  expect_refused "consumed" (fun () -> shape (obj ys));
  expect_refused "consumed" (fun () -> call "cleared" [ ys; Int 1L ]);
  free (obj ys);
  ignore (call "cleared" [ one "table" [ Int 0L ]; Int 0L ]);
  expect "constants" (flat Bigarray.int32 (one "table" [ Int 0L ]) = [ 10l; 20l; 30l ]);
  free (obj xs);
  expect_refused "NULL" (fun () -> call "same" [ xs ]);

  (* The garbage collector frees values: 1.6 GB are allocated. *)
  let data = Bigarray.Genarray.create Bigarray.int32 C_layout [| 2_000_000 |] in
  for _ = 1 to 200 do
    ignore (call "same" [ of_bigarray ctx "[]i32" data ]);
    Gc.full_major ()
  done;
  expect "memory" (resident_megabytes () < 800);

  (* Two libraries in one process *)
  let other = load Sys.argv.(2) in
  expect_refused "negative" (fun () -> Futhark.call other "fill" [ Int (-5L); Int 7L ]);
  expect "fill" (flat Bigarray.int32 (List.hd (Futhark.call other "fill" [ Int 2L; Int 7L ])) = [ 7l; 7l ]);
  expect "answer" (call "answer" [] = [ Int 42L ]);
  print_endline "passed"
