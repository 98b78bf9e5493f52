//! Writes the inputs to start from, made of the repository's programs: `seeds FOLDER`.

use futhark_conformance::blocks::{Source, TestBlocks};
use futhark_conformance::values::{self, data};
use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let into = PathBuf::from(env::args_os().nth(1).expect("a folder"));
    let mut count = 0;
    let mut write = |target: &str, contents: &[u8]| {
        count += 1;
        fs::create_dir_all(into.join(target))?;
        fs::write(into.join(target).join(count.to_string()), contents)
    };
    let programs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../programs");
    for topic in fs::read_dir(&programs)?.flatten() {
        for file in fs::read_dir(topic.path()).into_iter().flatten().flatten() {
            // Not the folders in it, and not compressed data.
            let Ok(source) = fs::read_to_string(file.path()) else {
                continue;
            };
            write("blocks", source.as_bytes())?;
            let cases = TestBlocks::parse(&source).map_or(Vec::new(), |blocks| blocks.cases);
            for case in cases.iter().step_by(5) {
                if let Source::Text(text) | Source::Script(text) = &case.input {
                    let values = values::parse(text).unwrap_or_default();
                    let binary: Vec<u8> = values.iter().flat_map(data::write).collect();
                    write("values", text.as_bytes())?;
                    write("values", &binary)?;
                }
            }
        }
    }
    let parts = [r#""shard":"1/2","#, r#""shard": "2/2","#].map(report);
    write("reports", parts.join("\0").as_bytes())?;
    write("reports", [report(""), report("")].join("\0").as_bytes())
}

/// The lines of a report.
fn report(shard: &str) -> String {
    let job = format!(
        r#""program":"a{}.fut","backend":"c","device":"cpu","compiler":"0.25.32""#,
        shard.len()
    );
    let records = ["pass", "fail", "expected-fail"].map(|outcome| {
        format!(r#"{{{job},"check":"blocks","case":"{outcome}","outcome":"{outcome}","cause":"mismatch","message":"<b>&\n]]>`*","seconds":0.5}}"#)
    });
    format!(
        r#"{{"schema":5,"generator":"g","seed":1,{shard}"compilers":[{{"version":"0.25.32","path":"f","hash":"12"}}],"options":["-v"],"devices":[{{"backend":"c","device":"cpu","kind":"real","usable":true,"reason":""}}]}}
{}
{{"kind":"finished",{job},"source":"12","seconds":1.5}}
{{"records":3}}
"#,
        records.join("\n")
    )
}
