//! Writes inputs from which fuzzing starts: `seeds FOLDER` writes `FOLDER/TARGET/*`.

use std::path::PathBuf;

fn main() -> std::io::Result<()> {
    let folder: PathBuf = std::env::args().nth(1).expect("usage: seeds FOLDER").into();
    for (target, _, seeds) in futhark_safe_fuzz::TARGETS {
        let folder = folder.join(target);
        std::fs::create_dir_all(&folder)?;
        for (i, seed) in seeds().into_iter().enumerate() {
            std::fs::write(folder.join(format!("seed-{i}")), seed)?;
        }
    }
    Ok(())
}
