-- | A kernel between an upload and a download.
entry twice (xs: []f32) : []f32 = map (* 2) xs
