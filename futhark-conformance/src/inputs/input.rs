//! A value as a tree on the host, and the files of failing inputs, which later runs try first.

use crate::files::{key, replace_file};
use crate::harness::calls::{self, message_of, upload};
use crate::harness::make::Constructor;
use crate::values::HostValue;
use futhark_manifest::{ElemType, EntryPoint, Program, TypeRef};
use futhark_safe::ErrorKind;
use futhark_safe::dynamic::{Context, Value};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::{fmt, io};

/// The parts of a value, without names of types: these depend on the compiler, and their numbers on the backend.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Input {
    /// A record or tuple: its fields in the manifest's order.
    Record(Vec<Input>),
    /// An array of records: an array per field.
    Zip(Vec<Input>),
    /// A scalar or an array of scalars.
    #[serde(untagged)]
    Host(HostValue),
    /// A sum: one of its variants.
    #[serde(untagged)]
    Sum {
        variant: String,
        payload: Vec<Input>,
    },
    /// A result of an entry point, for types without visible parts.
    #[serde(untagged)]
    Made {
        #[serde(rename = "made_by")]
        entry: String,
        /// The index of the result.
        output: usize,
        arguments: Vec<Input>,
    },
}

/// Why a call has no results.
#[derive(Clone, Debug)]
pub enum Refusal {
    /// It failed, or its arguments could not be created.
    Error { kind: ErrorKind, message: String },
    /// The input does not fit the entry point, as one that was made for another program.
    Unfit,
}

impl From<futhark_safe::Error> for Refusal {
    fn from(error: futhark_safe::Error) -> Refusal {
        Refusal::Error {
            kind: error.kind(),
            message: message_of(&error),
        }
    }
}

impl Input {
    pub fn upload(&self, context: &Context, ty: TypeRef) -> Result<Value, Refusal> {
        let program = context.library().program();
        if let Input::Host(value) = self {
            return match elem_of(program, ty) {
                Some((elem, rank)) if (elem, rank) == (value.elem(), value.shape().len()) => {
                    Ok(upload(context, value)?)
                }
                _ => Err(Refusal::Unfit),
            };
        }
        if let Input::Made {
            entry,
            output,
            arguments,
        } = self
        {
            let entry = program.entry(entry).ok_or(Refusal::Unfit)?;
            if entry.outputs.get(*output).map(|output| output.ty) != Some(ty) {
                return Err(Refusal::Unfit);
            }
            let mut arguments = Input::upload_all(arguments, context, entry)?;
            let outputs = calls::call(context, entry, &mut arguments)?;
            return outputs.into_iter().nth(*output).ok_or(Refusal::Unfit);
        }
        let all = ty.as_type().map(|id| Constructor::all_of(program, id));
        let mut all = all.into_iter().flatten();
        let constructor = all.find(|one| one.empty() == self.with(Vec::new()));
        let constructor = constructor.ok_or(Refusal::Unfit)?;
        let (parts, types) = (self.parts(), constructor.parts());
        if parts.len() != types.len() {
            return Err(Refusal::Unfit);
        }
        let parts = parts.iter().zip(types);
        let parts = parts.map(|(input, ty)| input.upload(context, ty));
        let value = constructor.make(context, &parts.collect::<Result<Vec<_>, _>>()?)?;
        Ok(Value::Opaque(value))
    }

    /// A value of the same kind with these parts; a scalar or an array has none.
    #[must_use]
    pub fn with(&self, parts: Vec<Input>) -> Input {
        match self {
            Input::Host(value) => Input::Host(value.clone()),
            Input::Record(_) => Input::Record(parts),
            Input::Zip(_) => Input::Zip(parts),
            Input::Sum { variant, .. } => Input::Sum {
                variant: variant.clone(),
                payload: parts,
            },
            Input::Made { entry, output, .. } => Input::Made {
                entry: entry.clone(),
                output: *output,
                arguments: parts,
            },
        }
    }

    fn parts(&self) -> &[Input] {
        match self {
            Input::Host(_) => &[],
            Input::Record(parts)
            | Input::Zip(parts)
            | Input::Sum { payload: parts, .. }
            | Input::Made {
                arguments: parts, ..
            } => parts,
        }
    }

    pub fn upload_all(
        inputs: &[Input],
        context: &Context,
        entry: &EntryPoint,
    ) -> Result<Vec<Value>, Refusal> {
        if inputs.len() != entry.inputs.len() {
            return Err(Refusal::Unfit);
        }
        let pairs = inputs.iter().zip(&entry.inputs);
        pairs
            .map(|(input, parameter)| input.upload(context, parameter.ty))
            .collect()
    }

    /// All scalars and arrays in the tree, including those of nested calls.
    pub fn leaves(&self) -> Box<dyn Iterator<Item = &HostValue> + '_> {
        match self {
            Input::Host(value) => Box::new(std::iter::once(value)),
            whole => Box::new(whole.parts().iter().flat_map(Input::leaves)),
        }
    }
}

/// The element type and rank of a scalar or an array.
pub fn elem_of(program: &Program, ty: TypeRef) -> Option<(ElemType, usize)> {
    match ty {
        TypeRef::Scalar(elem) => Some((elem, 0)),
        TypeRef::Type(id) => program
            .get(id)
            .as_array()
            .map(|array| (array.elem, array.rank)),
    }
}

/// Formats the value in Futhark's notation, as far as there is one.
impl fmt::Display for Input {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts: Vec<String> = self.parts().iter().map(Input::to_string).collect();
        match self {
            Input::Host(value) => value.fmt(f),
            Input::Record(_) => write!(f, "({})", parts.join(", ")),
            Input::Zip(_) => write!(f, "zip ({})", parts.join(") (")),
            Input::Sum { variant, .. } if parts.is_empty() => write!(f, "#{variant}"),
            Input::Sum { variant, .. } => write!(f, "#{variant} ({})", parts.join(") (")),
            Input::Made { entry, output, .. } => {
                if *output > 0 {
                    write!(f, "result {output} of ")?;
                }
                write!(f, "{entry} ({})", parts.join(") ("))
            }
        }
    }
}

/// The arguments of a call that failed, or that runs (`Store::record_running`).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Kept {
    pub entry: String,
    /// Where it failed, and the message, for people.
    pub found: String,
    pub arguments: Vec<Input>,
}

/// The files of one program. Programs with the same file name share a folder; inputs that do not
/// fit a program are skipped.
#[derive(Clone, Debug)]
pub struct Store {
    folder: PathBuf,
    running: PathBuf,
}

impl Store {
    /// Opens the files of a program in `folder`, for a check in a job. Other jobs may have the program open as well.
    ///
    /// If an earlier process died, its last input is kept, unless it `was_slow` only.
    #[must_use]
    pub fn open(folder: &Path, program: &Path, job: &str, was_slow: bool) -> Store {
        let stem = program.file_stem().unwrap_or_default().to_string_lossy();
        let folder = folder.join(plain(&stem));
        // Programs with the same file name share the folder, but are not the same job.
        let program = key(&[program.as_os_str().as_encoded_bytes()]);
        let running = folder.join(format!("{}-{program}.running", plain(job)));
        let store = Store { folder, running };
        if let Ok(kept) = Kept::read(&store.running)
            && !was_slow
        {
            // If the file cannot be written, the next run generates the same inputs again.
            let _ = store.keep(&kept);
        }
        store.clear_running();
        store
    }

    /// The inputs of an entry point, in the order of their file names.
    #[must_use]
    pub fn inputs_of(&self, entry: &str) -> Vec<Kept> {
        let mut files: Vec<PathBuf> = std::fs::read_dir(&self.folder)
            .into_iter()
            .flatten()
            .filter_map(|file| Some(file.ok()?.path()))
            .filter(|path| {
                path.extension()
                    .is_some_and(|extension| extension == "json")
            })
            .collect();
        files.sort();
        // Ignores other files and unreadable ones.
        let kept = files.iter().filter_map(|path| Kept::read(path).ok());
        kept.filter(|kept| kept.entry == entry).collect()
    }

    /// Writes an input; replaces an equal one.
    pub fn keep(&self, kept: &Kept) -> io::Result<PathBuf> {
        let arguments = format!("{:?}", kept.arguments);
        let key = key(&[kept.entry.as_bytes(), arguments.as_bytes()]);
        let name = format!("{}-{key}.json", plain(&kept.entry));
        let path = self.folder.join(name);
        replace_file(&path, kept.text()?.as_bytes())?;
        Ok(path)
    }

    /// Records the next input, in case it kills the process.
    pub fn record_running(&self, kept: &Kept) {
        // Only a convenience, so errors are ignored.
        let _ = std::fs::create_dir_all(&self.folder);
        let text = kept.text();
        let _ = text.and_then(|text| std::fs::write(&self.running, text));
    }

    /// Removes the record.
    pub fn clear_running(&self) {
        let _ = std::fs::remove_file(&self.running);
    }
}

impl Kept {
    pub fn read(path: &Path) -> io::Result<Kept> {
        Ok(serde_json::from_str(&std::fs::read_to_string(path)?)?)
    }

    fn text(&self) -> io::Result<String> {
        let mut text = serde_json::to_string_pretty(self)?;
        text.push('\n');
        Ok(text)
    }
}

/// A file name that is valid on every file system.
fn plain(name: &str) -> String {
    let fits = |c: char| c.is_ascii_alphanumeric() || "_.-".contains(c);
    name.chars()
        .map(|c| if fits(c) { c } else { '_' })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::elements::{Taste, fill};
    use super::*;

    #[test]
    fn inputs_are_displayed_in_futhark_notation() {
        let one = HostValue::new(ElemType::I32, vec![], 1i32.to_ne_bytes().to_vec());
        let one = Input::Host(one);
        let sum = Input::Sum {
            variant: "some".into(),
            payload: vec![one.clone()],
        };
        let made = Input::Made {
            entry: "make".into(),
            output: 1,
            arguments: vec![Input::Record(vec![one.clone(), sum]), one],
        };
        assert_eq!(
            made.to_string(),
            "result 1 of make ((1i32, #some (1i32))) (1i32)"
        );
        assert_eq!(made.leaves().count(), 3);
    }

    fn case() -> Kept {
        let all = ElemType::ALL.iter();
        let mut arguments: Vec<Input> = all
            .map(|&elem| Input::Host(fill(3, elem, &[2, 9], Taste::Wild)))
            .collect();
        arguments.push(Input::Host(fill(3, ElemType::F32, &[0, 3], Taste::Wild)));
        let signalling_nans = [0x7f80_0001, 0xffbf_ffff];
        arguments.push(Input::Host(HostValue::of_bits(
            ElemType::F32,
            &[2],
            signalling_nans,
        )));
        let made = Input::Made {
            entry: "make".into(),
            output: 1,
            arguments: arguments.clone(),
        };
        let sum = Input::Sum {
            variant: "x'".into(),
            payload: vec![made, Input::Record(vec![])],
        };
        Kept {
            entry: "+^".into(),
            arguments: vec![Input::Zip(arguments), sum],
            found: "on c".into(),
        }
    }

    #[test]
    fn a_case_round_trips_through_its_file() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path(), Path::new("x/a b.fut"), "c", false);
        let path = store.keep(&case()).unwrap();
        assert_eq!(path, store.keep(&case()).unwrap(), "the same once only");
        assert_eq!(store.inputs_of("+^"), [case()]);
        assert_eq!(store.inputs_of("other"), []);
        std::fs::write(path.with_file_name("z.json"), "{}").unwrap();
        assert_eq!(store.inputs_of("+^").len(), 1);
    }

    #[test]
    fn programs_with_the_same_file_name_do_not_take_each_others_last_input() {
        let folder = tempfile::tempdir().unwrap();
        let open = |program: &str| Store::open(folder.path(), Path::new(program), "c", false);
        open("x/same.fut").record_running(&case());
        assert_eq!(open("y/same.fut").inputs_of("+^"), []);
        assert_eq!(open("x/same.fut").inputs_of("+^"), [case()]);
    }

    #[test]
    fn files_of_earlier_versions_are_read() {
        let text = r#"{"entry": "f", "found": "on c", "arguments": [
            {"record": [{"value": "u8", "shape": [2], "bits": ["0x7", "0x0"], "shown": "[7u8, 0]"}]},
            {"zip": []}, {"variant": "x", "payload": []}, {"made_by": "g", "output": 1, "arguments": []}]}"#;
        let kept: Kept = serde_json::from_str(text).unwrap();
        let sum = Input::Sum {
            variant: "x".into(),
            payload: vec![],
        };
        let made = Input::Made {
            entry: "g".into(),
            output: 1,
            arguments: vec![],
        };
        let record = Input::Record(vec![Input::Host(HostValue::of_bits(
            ElemType::U8,
            &[2],
            [7, 0],
        ))]);
        assert_eq!(kept.arguments, [record, Input::Zip(vec![]), sum, made]);
        let wrong = text.replace("[2]", "[3]");
        assert!(serde_json::from_str::<Kept>(&wrong).is_err());
    }

    #[test]
    fn the_input_that_killed_a_process_is_kept() {
        let folder = tempfile::tempdir().unwrap();
        let open = || Store::open(folder.path(), Path::new("a.fut"), "c 0.25", false);
        open().record_running(&case());
        assert_eq!(open().inputs_of("+^"), [case()]);
        let store = open();
        store.record_running(&case());
        store.clear_running();
        assert_eq!(open().inputs_of("+^").len(), 1);

        let slow = Kept {
            entry: "slow".into(),
            ..case()
        };
        store.record_running(&slow);
        let store = Store::open(folder.path(), Path::new("a.fut"), "c 0.25", true);
        assert_eq!(store.inputs_of("slow"), []);
    }
}
