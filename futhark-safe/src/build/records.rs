//! Records, tuples and sums.

use futhark_manifest::{Field, Record, Sum, TypeId, TypeRef, Variant};

use super::docs::code;
use super::module::{Module, list, method, observed, several_results};
use super::names;

/// A call or literal with a list, which is broken into lines if it is long.
pub(super) struct Expression {
    pub(super) before: String,
    pub(super) items: Vec<String>,
    pub(super) after: &'static str,
}

impl Expression {
    fn new(before: impl Into<String>, items: Vec<String>, after: &'static str) -> Expression {
        Expression {
            before: before.into(),
            items,
            after,
        }
    }

    pub(super) fn on_one_line(&self) -> String {
        format!("{}{}{}", self.before, self.items.join(", "), self.after)
    }
}

impl Module<'_> {
    pub(super) fn record(&self, id: TypeId, record: &Record) -> String {
        let rust = self.names.of(id);
        let docs = "Creates a value from its fields. Calls that take it check its sizes.";
        let new = self.constructor(docs, "new", id, &record.new, &record.fields);
        let mut methods = vec![new, self.fields_method(id, record)];
        let mut observed = String::new();
        if self.plain_record(TypeRef::Type(id)).is_some() {
            methods.push(self.plain_constructor(id, record));
            observed = self.observed_as(id, &self.fields_type(id, record), "from_fields, *");
        }
        methods.extend(self.field_methods(&record.fields));
        let methods = methods.join("\n");
        let view = match record.is_tuple() {
            true => String::new(),
            false => self.fields_struct(id, record),
        };
        let parts = self.parts_struct(id, &record.fields);
        format!("impl {rust} {{\n{methods}}}\n\n{view}{parts}{observed}")
    }

    pub(super) fn constructor(
        &self,
        docs: &str,
        name: &str,
        id: TypeId,
        cfun: &str,
        fields: &[Field],
    ) -> String {
        let mut parameters = vec!["context: &Context".to_owned()];
        let mut inputs = Vec::new();
        let parts = self.names.parts(id);
        if let Some(parts) = parts {
            let lifetime = if names::is_flat(fields) { "" } else { "<'_>" };
            parameters.push(format!("parts: {parts}{lifetime}"));
        }
        for (field, member) in fields.iter().zip(names::of_fields(fields)) {
            if parts.is_some() {
                inputs.push(observed(field.ty, &format!("parts.{member}")));
            } else {
                parameters.push(format!("{member}: {}", self.observed_type(field.ty)));
                inputs.push(observed(field.ty, &member));
            }
        }
        let body = list(8, &self.begin_call("context", cfun), &inputs, "])");
        method(docs, name, &parameters, self.names.of(id), &body)
    }

    pub(super) fn field_methods(&self, fields: &[Field]) -> Vec<String> {
        let members = fields.iter().zip(names::of_fields(fields));
        let methods = members.map(|(field, member)| {
            let docs = format!("Field {}.", self.in_futhark(field));
            let body = format!("        __f::part(self, {})\n", self.number(&field.project));
            let result = self.rust_type(field.ty);
            method(&docs, &member, &["&self".to_owned()], &result, &body)
        });
        methods.collect()
    }

    /// The method `fields`: records of scalars as plain structs or tuples, other fields as values.
    fn fields_method(&self, id: TypeId, record: &Record) -> String {
        let members = names::of_fields(&record.fields);
        let fields = record.fields.iter().zip(&members);
        let values = fields.map(|(field, member)| match self.plain_record(field.ty) {
            Some(_) => format!("self.{member}()?.fields()?"),
            None => format!("self.{member}()?"),
        });
        let literal = self.literal(id, record, &members, values.collect());
        let result = self.fields_type(id, record);
        let before = format!("Ok({}", literal.before);
        let body = list(8, &before, &literal.items, &format!("{})", literal.after));
        let docs =
            "Returns all fields. Fields that are records of scalars are plain structs or tuples.";
        method(docs, "fields", &["&self".to_owned()], &result, &body)
    }

    /// The function `from_fields`, which creates a record of scalars from a plain struct or tuple.
    fn plain_constructor(&self, id: TypeId, record: &Record) -> String {
        let rust = self.names.of(id);
        let members = names::of_fields(&record.fields);
        let body = if self.names.parts(id).is_some() && names::is_flat(&record.fields) {
            // The same struct.
            format!("        {rust}::new(context, fields)\n")
        } else {
            let fields = record.fields.iter().zip(&members).enumerate();
            let inputs = fields.map(|(i, (field, name))| {
                let value = format!("fields.{}", member(record, i, name));
                match self.plain_record(field.ty) {
                    Some((id, _)) => {
                        format!("&{}::from_fields(context, {value})?", self.names.of(id))
                    }
                    None => value,
                }
            });
            let call = self.constructor_call(id, "new", &members, inputs.collect());
            list(8, &call.before, &call.items, call.after)
        };
        let fields = format!("fields: {}", self.plain_type(TypeRef::Type(id)));
        let parameters = ["context: &Context".to_owned(), fields];
        let docs = "Creates a value from its fields.";
        method(docs, "from_fields", &parameters, rust, &body)
    }

    /// Lets calls that read a value of the type take host data, of which `make` makes one.
    pub(super) fn observed_as(&self, id: TypeId, data: &str, make: &str) -> String {
        let rust = self.names.of(id);
        format!("__futhark_safe::__observed_as!({data}, {rust}, {make});\n\n")
    }

    /// The struct or tuple for a record.
    pub(super) fn literal(
        &self,
        id: TypeId,
        record: &Record,
        members: &[String],
        values: Vec<String>,
    ) -> Expression {
        match record.is_tuple() {
            true => Expression::new("(", values, ")"),
            false => {
                let before = format!("{} {{ ", self.names.whole(id));
                Expression::new(before, labelled(members, values), " }")
            }
        }
    }

    pub(super) fn constructor_call(
        &self,
        id: TypeId,
        function: &str,
        members: &[String],
        mut inputs: Vec<String>,
    ) -> Expression {
        let call = format!("{}::{function}(", self.names.of(id));
        match self.names.parts(id) {
            Some(parts) => {
                let before = format!("{call}context, {parts} {{ ");
                Expression::new(before, labelled(members, inputs), " })")
            }
            None => {
                inputs.insert(0, "context".to_owned());
                Expression::new(call, inputs, ")")
            }
        }
    }

    fn fields_struct(&self, id: TypeId, record: &Record) -> String {
        let is_plain = self.plain_record(TypeRef::Type(id)).is_some();
        let has_short_tuples = record.fields.iter().all(|f| self.has_short_tuples(f.ty));
        let mut traits = match (is_plain, has_short_tuples) {
            (true, true) => vec!["Clone", "Copy", "Debug", "Default", "PartialEq"],
            (true, false) => vec!["Clone", "Copy"],
            (false, true) => vec!["Debug"],
            (false, false) => vec![],
        };
        if is_plain && has_short_tuples {
            traits.extend(self.serde);
        }
        let derive = match traits[..] {
            [] => String::new(),
            _ => format!("#[derive({})]\n", traits.join(", ")),
        };
        format!(
            "/// All fields of {}.\n{derive}pub struct {} {{\n{}}}\n\n",
            code(&self.program.get(id).name),
            self.names.whole(id),
            self.members(&record.fields, |ty| self.plain_type(ty))
        )
    }

    /// The struct of the arguments of a constructor, if it takes one that is not the struct of all fields.
    pub(super) fn parts_struct(&self, id: TypeId, fields: &[Field]) -> String {
        let Some(parts) = self.names.parts(id).filter(|_| !names::is_flat(fields)) else {
            return String::new();
        };
        let members = self.members(fields, |ty| match ty {
            TypeRef::Scalar(_) => self.rust_type(ty),
            TypeRef::Type(_) => format!("&'a {}", self.rust_type(ty)),
        });
        format!(
            "/// What a new {} is made of.\n#[derive(Clone, Copy, Debug)]\npub struct {parts}<'a> {{\n{members}}}\n\n",
            code(&self.program.get(id).name)
        )
    }

    fn members(&self, fields: &[Field], rust_type: impl Fn(TypeRef) -> String) -> String {
        let members = fields.iter().zip(names::of_fields(fields));
        let members = members.map(|(field, member)| {
            let (futhark, ty) = (self.in_futhark(field), rust_type(field.ty));
            format!("    /// {futhark}\n    pub {member}: {ty},\n")
        });
        members.collect()
    }

    /// The methods of a sum, and an enum of its variants.
    pub(super) fn sum(&self, id: TypeId, sum: &Sum) -> String {
        let (rust, whole) = (self.names.of(id), self.names.whole(id));
        let names = names::of_variants(sum);
        let (mut construct, mut destruct) = (String::new(), String::new());
        let mut in_futhark = String::new();
        for (i, (variant, name)) in sum.variants.iter().zip(&names).enumerate() {
            let path = format!("{whole}::{name}");
            construct += &self.construct_arm(&path, variant);
            destruct += &self.destruct_arm(i, &path, variant);
            in_futhark += &format!("            {i} => Ok({:?}),\n", variant.name);
        }
        let number = self.number(&sum.variant);
        let variants = self.variants_enum(id, sum, &names);
        let observed = self.observed_as(id, whole, "new,");
        format!(
            r"impl {rust} {{
    /// Creates a value of a variant.
    pub fn new(context: &Context, variant: &{whole}) -> Result<{rust}> {{
        match variant {{
{construct}        }}
    }}

    /// Returns the variant with its payload.
    pub fn destruct(&self) -> Result<{whole}> {{
        match self.__variant()? {{
{destruct}            number => Err(__f::no_variant::<{rust}>(number)),
        }}
    }}

    /// Returns the name of the variant in Futhark.
    pub fn variant_name(&self) -> Result<&'static str> {{
        match self.__variant()? {{
{in_futhark}            number => Err(__f::no_variant::<{rust}>(number)),
        }}
    }}

    fn __variant(&self) -> Result<i32> {{
        __f::part(self, {number})
    }}
}}

{variants}{observed}"
        )
    }

    fn construct_arm(&self, path: &str, variant: &Variant) -> String {
        let names: Vec<String> = (0..variant.payload.len())
            .map(|i| format!("v{i}"))
            .collect();
        let payload = variant.payload.iter().zip(&names);
        let inputs = payload.map(|(&ty, name)| match ty {
            TypeRef::Scalar(_) => observed(ty, &format!("*{name}")),
            TypeRef::Type(_) => observed(ty, name),
        });
        let call = self.begin_call("context", &variant.construct);
        let before = format!("{} => {call}", pattern(path, &names));
        list(12, &before, &inputs.collect::<Vec<_>>(), "]),")
    }

    fn destruct_arm(&self, i: usize, path: &str, variant: &Variant) -> String {
        let number = self.number(&variant.destruct);
        match variant.payload.len() {
            0 => format!("            {i} => Ok({path}),\n"),
            1 => format!("            {i} => Ok({path}(__f::part(self, {number})?)),\n"),
            n => {
                let call = format!("__f::parts(self, {number}");
                let body = several_results(16, &call, &[], "", n, path);
                format!("            {i} => {{\n{body}            }}\n")
            }
        }
    }

    fn variants_enum(&self, id: TypeId, sum: &Sum, names: &[String]) -> String {
        let mut payloads = sum.variants.iter().flat_map(|variant| &variant.payload);
        let mut traits = vec!["Debug"];
        if payloads.all(|ty| ty.as_scalar().is_some()) {
            traits = vec!["Clone", "Copy", "Debug", "PartialEq"];
            traits.extend(self.serde);
        }
        let mut variants = String::new();
        for (variant, name) in sum.variants.iter().zip(names) {
            let mut futhark = format!("#{}", variant.name);
            let mut types = Vec::new();
            for &ty in &variant.payload {
                futhark += &format!(" {}", self.program.name_of(ty));
                types.push(self.rust_type(ty));
            }
            let rust = pattern(name, &types);
            variants += &format!("    /// {}\n    {rust},\n", code(&futhark));
        }
        format!(
            "/// The variants of {}.\n#[derive({})]\npub enum {} {{\n{variants}}}\n\n",
            code(&self.program.get(id).name),
            traits.join(", "),
            self.names.whole(id)
        )
    }
}

/// Field `i` of the struct or tuple for a record: its name, or its index.
pub(super) fn member(record: &Record, i: usize, name: &str) -> String {
    match record.is_tuple() {
        true => i.to_string(),
        false => name.to_owned(),
    }
}

fn labelled(members: &[String], values: Vec<String>) -> Vec<String> {
    let fields = members.iter().zip(values);
    fields
        .map(|(member, value)| format!("{member}: {value}"))
        .collect()
}

/// `Name`, or `Name(a, b)`.
fn pattern(name: &str, items: &[String]) -> String {
    match items {
        [] => name.to_owned(),
        _ => format!("{name}({})", items.join(", ")),
    }
}
