#![cfg_attr(fuzzing, no_main)]

futhark_safe_fuzz::fuzz!(futhark_safe_fuzz::stored::run);
