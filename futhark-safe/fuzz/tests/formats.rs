//! Replays regressions of the targets that read files, and runs their seeds, changed ones too, from a fixed seed.

#[test]
fn changed_seeds_are_refused_or_valid() {
    let mut random = fastrand::Rng::with_seed(3);
    for (target, run, seeds) in futhark_safe_fuzz::TARGETS.into_iter().skip(1) {
        let seeds = seeds();
        assert!(seeds.len() > 1, "{target}");
        let files = std::fs::read_dir(format!("regressions/{target}"));
        for file in files.into_iter().flatten() {
            run(&std::fs::read(file.unwrap().path()).unwrap());
        }
        seeds.iter().for_each(|seed| run(seed));
        for _ in 0..2000 {
            let mut bytes = random.choice(&seeds).expect("there are some").clone();
            for _ in 0..random.usize(1..4) {
                let i = random.usize(..bytes.len());
                bytes[i] = random.u8(..);
            }
            run(&bytes);
        }
    }
}
