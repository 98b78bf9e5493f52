-- Entry points, parameters and types can have names that are keywords of Rust or C, or names that
-- a generated library or a wrapper uses itself.

type str = {impl: i32, trait: i32}

type box = #some i32 | #none

-- ==
-- entry: move
-- input { 1 } output { 2 }
entry move (mut: i32) : i32 = mut + 1

-- ==
-- entry: new
-- input { 1 2 } output { 3 }
entry new (self: i32) (super: i32) : i32 = self + super

-- ==
-- entry: fn
-- input { [1, 2] } output { [2, 4] }
-- input { empty([0]i32) } output { empty([0]i32) }
entry fn (crate: []i32) : []i32 = map (* 2) crate

-- ==
-- entry: report
-- input { } output { 7 }
entry report : i32 = 7

-- ==
-- entry: sync
-- input { 1f32 } output { 2f32 }
entry sync (ctx: f32) : f32 = ctx * 2

-- ==
-- entry: free
-- input { true } output { false }
entry free (out: bool) : bool = !out

-- ==
-- entry: int
-- input { 3i64 } output { 4i64 }
entry int (double: i64) : i64 = double + 1

-- ==
-- entry: return
-- input { 3 4 } output { -1 }
entry return (struct: i32) (void: i32) : i32 = struct - void

-- ==
-- entry: async
-- input { 5u8 } output { 5u8 }
entry async (await: u8) : u8 = await

-- ==
-- entry: context
-- input { 1 } output { 1 }
entry context (config: i32) : i32 = config

-- ==
-- entry: union
-- input { 1 2 3 } output { 6 }
entry union (in0: i32) (out0: i32) (ret: i32) : i32 = in0 + out0 + ret

-- ==
-- entry: main
-- input { 1 } output { -1 }
entry main (argc: i32) : i32 = -argc

entry clone (impl: i32) (trait: i32) : str = {impl, trait}

entry drop (ref: str) : i32 = ref.impl - ref.trait

entry unwrap (yield: box) : i32 = match yield case #some x -> x case #none -> 0

entry box (dyn: i32) : box = if dyn > 0 then #some dyn else #none

-- ==
-- entry: all
-- input { 5 3 } output { 2 5 }
-- input { -5 3 } output { -8 0 }
entry all (static: i32) (where: i32) : (i32, i32) =
  (drop (clone static where), unwrap (box static))
