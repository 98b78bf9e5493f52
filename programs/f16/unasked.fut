-- Entry points without a test block return the same results on every
-- backend. (Known not to hold on multicore: the generated code converts
-- half-precision numbers to integers at the start and the end of a parallel
-- loop.)

entry sum (xs: []f16) : f16 = f16.sum xs

entry largest (xs: []f16) : f16 = f16.maximum xs

entry scaled (a: f16) (xs: []f16) : []f16 = map (* a) xs

entry prefix (xs: []f16) : []f16 = scan (+) 0 xs
