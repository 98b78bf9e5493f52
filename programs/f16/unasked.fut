-- Entry points without a single test block: what a backend makes of them is compared
-- with what another one makes of them. (Known not to hold on multicore: the compilers'
-- own code turns half precision numbers into integers on the way into a parallel loop
-- and out of it.)

entry sum (xs: []f16) : f16 = f16.sum xs

entry largest (xs: []f16) : f16 = f16.maximum xs

entry scaled (a: f16) (xs: []f16) : []f16 = map (* a) xs

entry prefix (xs: []f16) : []f16 = scan (+) 0 xs
