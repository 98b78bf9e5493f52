//! From the raw form to the resolved one: references, and what must fit.

use std::collections::HashMap;

use crate::backend::{Backend, UnknownBackend};
use crate::check;
use crate::elem::ElemType;
use crate::error::{Error, ErrorKind, quote};
use crate::model::{
    ArrayType, Field, Input, OpaqueArray, OpaqueType, Output, Record, RecordArray, Structure, Sum,
    TypeKind, Variant,
};
use crate::path::Path;
use crate::program::{EntryPoint, Program, Type, TypeId, TypeRef};
use crate::raw::{self, Manifest, Outputs};
use crate::version::Version;

/// The bytes of a stored value have one byte for the rank.
const MAX_RANK: usize = 255;

/// Resolves every reference, and checks what can be checked.
pub(crate) fn program(manifest: &Manifest) -> Result<Program, Error> {
    let root = Path::Root;
    let backend: Backend = manifest.backend.parse().map_err(|_| {
        let kind = ErrorKind::UnknownValue;
        let found = quote(&manifest.backend);
        Error::new(kind, &root.key("backend"), UnknownBackend::known(), found)
    })?;
    let mut resolver = Resolver::new(manifest)?;

    let path = root.key("types");
    let types = manifest
        .types
        .iter()
        .map(|(name, ty)| resolver.ty(name, ty, &path.key(name)))
        .collect::<Result<Vec<Type>, Error>>()?;
    check::types(&types)?;

    let path = root.key("entry_points");
    let entries = manifest
        .entry_points
        .iter()
        .map(|(name, entry)| resolver.entry(name, entry, &path.key(name)))
        .collect::<Result<Vec<EntryPoint>, Error>>()?;

    Ok(Program {
        backend,
        version: Version::new(manifest.version.as_deref().unwrap_or_default()),
        types,
        entries,
    })
}

struct Resolver<'m> {
    ids: HashMap<&'m str, TypeId>,
    /// Where each C name was first seen. Functions and structs have different
    /// name spaces in C, but no two of them agree in a Futhark library.
    c_names: HashMap<&'m str, String>,
}

impl<'m> Resolver<'m> {
    fn new(manifest: &'m Manifest) -> Result<Self, Error> {
        let root = Path::Root;
        let path = root.key("types");
        if u32::try_from(manifest.types.len()).is_err() {
            let expected = "fewer than 4294967296 types";
            let found = manifest.types.len().to_string();
            return Err(Error::new(ErrorKind::Inconsistent, &path, expected, found));
        }
        let names = manifest.types.keys().enumerate();
        Ok(Resolver {
            ids: names
                .map(|(index, name)| (name.as_str(), TypeId::new(index)))
                .collect(),
            c_names: HashMap::new(),
        })
    }

    fn ty(&mut self, name: &str, ty: &'m raw::Type, path: &Path<'_>) -> Result<Type, Error> {
        if ElemType::from_name(name).is_some() {
            let expected = "no description of a scalar type";
            return Err(Error::new(
                ErrorKind::Inconsistent,
                path,
                expected,
                quote(name),
            ));
        }
        let ctype_path = path.key("ctype");
        let tag = check::struct_pointer(&ty.ctype, &ctype_path)?;
        self.claim(tag, &ctype_path)?;
        Ok(Type {
            name: name.to_owned(),
            ctype: ty.ctype.clone(),
            kind: match &ty.kind {
                TypeKind::Array(array) => TypeKind::Array(self.array(array, path)?),
                TypeKind::Opaque(opaque) => TypeKind::Opaque(self.opaque(opaque, path)?),
            },
            doc: ty.doc.clone(),
        })
    }

    fn array(&mut self, array: &'m ArrayType, path: &Path<'_>) -> Result<ArrayType, Error> {
        check_rank(array.rank, path)?;
        let ops = &array.ops;
        let path = path.key("ops");
        self.function(&ops.free, "free", &path)?;
        self.function(&ops.shape, "shape", &path)?;
        self.function(&ops.values, "values", &path)?;
        self.function(&ops.new, "new", &path)?;
        self.optional(&ops.index, "index", &path)?;
        self.optional(&ops.new_raw, "new_raw", &path)?;
        self.optional(&ops.values_raw, "values_raw", &path)?;
        Ok(array.clone())
    }

    fn opaque(
        &mut self,
        opaque: &'m OpaqueType<String>,
        path: &Path<'_>,
    ) -> Result<OpaqueType, Error> {
        let ops_path = path.key("ops");
        self.function(&opaque.ops.free, "free", &ops_path)?;
        self.optional(&opaque.ops.store, "store", &ops_path)?;
        self.optional(&opaque.ops.restore, "restore", &ops_path)?;
        let structure = match &opaque.structure {
            Structure::Plain => Structure::Plain,
            Structure::Record(record) => {
                Structure::Record(self.record(record, &path.key("record"))?)
            }
            Structure::Sum(sum) => Structure::Sum(self.sum(sum, &path.key("sum"))?),
            Structure::RecordArray(array) => {
                Structure::RecordArray(self.record_array(array, &path.key("record_array"))?)
            }
            Structure::OpaqueArray(array) => {
                Structure::OpaqueArray(self.opaque_array(array, &path.key("opaque_array"))?)
            }
        };
        Ok(OpaqueType {
            ops: opaque.ops.clone(),
            structure,
        })
    }

    fn record(&mut self, record: &'m Record<String>, path: &Path<'_>) -> Result<Record, Error> {
        self.function(&record.new, "new", path)?;
        Ok(Record {
            fields: self.fields(&record.fields, path)?,
            new: record.new.clone(),
        })
    }

    fn sum(&mut self, sum: &'m Sum<String>, path: &Path<'_>) -> Result<Sum, Error> {
        self.function(&sum.variant, "variant", path)?;
        let path = path.key("variants");
        if sum.variants.is_empty() {
            let kind = ErrorKind::Inconsistent;
            let found = "an empty array";
            return Err(Error::new(kind, &path, "at least one variant", found));
        }
        let names = sum.variants.iter().map(|variant| variant.name.as_str());
        check::distinct(names, &path, "variant")?;
        let variants = sum.variants.iter().enumerate().map(|(index, variant)| {
            let path = path.index(index);
            self.function(&variant.construct, "construct", &path)?;
            self.function(&variant.destruct, "destruct", &path)?;
            let path = path.key("payload");
            let payload = variant.payload.iter().enumerate();
            Ok(Variant {
                name: variant.name.clone(),
                construct: variant.construct.clone(),
                destruct: variant.destruct.clone(),
                payload: payload
                    .map(|(index, name)| self.type_ref(name, &path.index(index)))
                    .collect::<Result<_, _>>()?,
            })
        });
        Ok(Sum {
            variants: variants.collect::<Result<_, Error>>()?,
            variant: sum.variant.clone(),
        })
    }

    fn record_array(
        &mut self,
        array: &'m RecordArray<String>,
        path: &Path<'_>,
    ) -> Result<RecordArray, Error> {
        check_rank(array.rank, path)?;
        self.function(&array.zip, "zip", path)?;
        self.function(&array.index, "index", path)?;
        self.function(&array.shape, "shape", path)?;
        self.optional(&array.new, "new", path)?;
        self.optional(&array.set, "set", path)?;
        Ok(RecordArray {
            rank: array.rank,
            elem: self.type_ref(&array.elem, &path.key("elemtype"))?,
            fields: self.fields(&array.fields, path)?,
            zip: array.zip.clone(),
            index: array.index.clone(),
            shape: array.shape.clone(),
            new: array.new.clone(),
            set: array.set.clone(),
        })
    }

    fn opaque_array(
        &mut self,
        array: &'m OpaqueArray<String>,
        path: &Path<'_>,
    ) -> Result<OpaqueArray, Error> {
        check_rank(array.rank, path)?;
        self.function(&array.index, "index", path)?;
        self.function(&array.shape, "shape", path)?;
        self.optional(&array.new, "new", path)?;
        self.optional(&array.set, "set", path)?;
        Ok(OpaqueArray {
            rank: array.rank,
            elem: self.type_ref(&array.elem, &path.key("elemtype"))?,
            index: array.index.clone(),
            shape: array.shape.clone(),
            new: array.new.clone(),
            set: array.set.clone(),
        })
    }

    fn fields(
        &mut self,
        fields: &'m [Field<String>],
        path: &Path<'_>,
    ) -> Result<Vec<Field>, Error> {
        let path = path.key("fields");
        let names = fields.iter().map(|field| field.name.as_str());
        check::distinct(names, &path, "field")?;
        let fields = fields.iter().enumerate().map(|(index, field)| {
            let path = path.index(index);
            self.function(&field.project, "project", &path)?;
            Ok(Field {
                name: field.name.clone(),
                ty: self.type_ref(&field.ty, &path.key("type"))?,
                project: field.project.clone(),
            })
        });
        fields.collect()
    }

    fn entry(
        &mut self,
        name: &str,
        entry: &'m raw::EntryPoint,
        path: &Path<'_>,
    ) -> Result<EntryPoint, Error> {
        self.function(&entry.cfun, "cfun", path)?;
        Ok(EntryPoint {
            name: name.to_owned(),
            cfun: entry.cfun.clone(),
            inputs: self.inputs(&entry.inputs, &path.key("inputs"))?,
            outputs: match &entry.outputs {
                Outputs::Single(output) => vec![self.output(output, &path.key("output"))?],
                Outputs::Several(outputs) => {
                    let path = path.key("outputs");
                    let outputs = outputs.iter().enumerate();
                    outputs
                        .map(|(index, output)| self.output(output, &path.index(index)))
                        .collect::<Result<_, _>>()?
                }
            },
            tuning_params: entry.tuning_params.clone(),
            attributes: entry.attributes.clone(),
            doc: entry.doc.clone(),
        })
    }

    fn inputs(&self, inputs: &[Input<String>], path: &Path<'_>) -> Result<Vec<Input>, Error> {
        let inputs = inputs.iter().enumerate().map(|(index, input)| {
            Ok(Input {
                name: input.name.clone(),
                ty: self.type_ref(&input.ty, &path.index(index).key("type"))?,
                unique: input.unique,
            })
        });
        inputs.collect()
    }

    fn output(&self, output: &Output<String>, path: &Path<'_>) -> Result<Output, Error> {
        Ok(Output {
            ty: self.type_ref(&output.ty, &path.key("type"))?,
            unique: output.unique,
        })
    }

    fn type_ref(&self, name: &str, path: &Path<'_>) -> Result<TypeRef, Error> {
        let scalar = || ElemType::from_name(name).map(TypeRef::Scalar);
        let listed = self.ids.get(name).copied().map(TypeRef::Type);
        listed.or_else(scalar).ok_or_else(|| {
            let expected = "a scalar type or one that is described under /types";
            Error::new(ErrorKind::Dangling, path, expected, quote(name))
        })
    }

    fn function(&mut self, name: &'m str, key: &str, path: &Path<'_>) -> Result<(), Error> {
        let path = path.key(key);
        check::c_identifier(name, &path)?;
        self.claim(name, &path)
    }

    fn optional(
        &mut self,
        name: &'m Option<String>,
        key: &str,
        path: &Path<'_>,
    ) -> Result<(), Error> {
        match name {
            Some(name) => self.function(name, key, path),
            None => Ok(()),
        }
    }

    /// Notes a C name, which must not have been noted before: two types that
    /// share a function would silently free or read each other's values.
    fn claim(&mut self, name: &'m str, path: &Path<'_>) -> Result<(), Error> {
        match self.c_names.insert(name, path.to_string()) {
            None => Ok(()),
            Some(first) => Err(Error::new(
                ErrorKind::Duplicate,
                path,
                "a C name that nothing else has",
                format!("{}, which {first} has", quote(name)),
            )),
        }
    }
}

fn check_rank(rank: usize, path: &Path<'_>) -> Result<(), Error> {
    let expected = match rank {
        1..=MAX_RANK => return Ok(()),
        0 => "a positive integer".to_owned(),
        _ => format!("an integer of at most {MAX_RANK}"),
    };
    let kind = ErrorKind::Inconsistent;
    let path = path.key("rank");
    Err(Error::new(kind, &path, expected, rank.to_string()))
}
