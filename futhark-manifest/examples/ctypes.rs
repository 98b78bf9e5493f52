//! Writes a Python module (ctypes) for a compiled Futhark program. Needs only the
//! resolved form.
//!
//! ```text
//! futhark c --library prog.fut
//! cc -O3 -std=c99 -shared -fPIC prog.c -o libprog.so -lm
//! cargo run --example ctypes prog.json > prog.py
//! ```
//!
//! The module begins with `ctypes_runtime.py`, which is the same for every
//! program. `ctypes_from_json.py` writes the same module without Rust.

use std::error::Error;

use futhark_manifest::c::{
    CType, LibraryReturns, ParameterRole as Role, Passing, Primitive, Returns,
};
use futhark_manifest::names::{Names, PYTHON, PYTHON_BUILTINS, Scope, Style};
use futhark_manifest::{
    EntryPoint, Field, Function, Manifest, Operation, Program, Record, ResultForm, Structure, Type,
    TypeId, TypeKind, TypeRef,
};

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args().nth(1).ok_or("usage: ctypes MANIFEST")?;
    let program = Manifest::parse(&std::fs::read_to_string(path)?)?.resolve()?;
    print!("{}", python_module(&program));
    Ok(())
}

/// The Python module of a program.
pub fn python_module(program: &Program) -> String {
    let classes = Scope::new(&PYTHON, Style::Type)
        .reserve(PYTHON_BUILTINS)
        .reserve(words(CLASSES))
        .assign(program.types().iter().map(|ty| &ty.name));
    let bridge = Bridge { program, classes };
    let types = program.types_in_order();
    let types: String = types.map(|(id, ty)| bridge.class(id, ty)).collect();
    let runtime = include_str!("ctypes_runtime.py");
    let context = bridge.context();
    format!("# @generated from the manifest of a Futhark program.\n\n{runtime}{types}{context}")
}

/// Reserved names of classes.
const CLASSES: &str = "Array BOOL Context F16 F32 F64 FutharkError I16 I32 I64 I8 Opaque OpaqueArray \
    Program Sum Tuple U16 U32 U64 U8 Value";

/// Reserved names of fields and variants: members of values, and parameters.
const MEMBERS: &str = "ELEMENT NAME OPERATIONS RANK VARIANTS _data _do _flat _handle _label \
    _operation _place argument cls copy ctx free from_elements handle match replaced restore self \
    shape slot store take zip";

/// Reserved names of entry points: members of contexts.
const METHODS: &str = "FUNCTIONS INTERFACE LIBRARY _c _call _check _config _context _errors _free \
    _garbage _live _lock _process _text close report";

/// Operations that are not offered, because they lend memory that is not garbage collected.
const RAW: [Operation; 2] = [Operation::ArrayNewRaw, Operation::ArrayValuesRaw];

struct Bridge<'p> {
    program: &'p Program,
    classes: Names,
}

impl Bridge<'_> {
    fn class(&self, id: TypeId, ty: &Type) -> String {
        let (base, element) = match &ty.kind {
            TypeKind::Array(array) => ("Array", Some(TypeRef::Scalar(array.elem))),
            TypeKind::Opaque(opaque) => match &opaque.structure {
                Structure::Record(record) if record.is_tuple() => ("Tuple", None),
                Structure::Plain | Structure::Record(_) => ("Opaque", None),
                Structure::Sum(_) => ("Sum", None),
                Structure::RecordArray(array) => ("OpaqueArray", Some(array.elem)),
                Structure::OpaqueArray(array) => ("OpaqueArray", Some(array.elem)),
            },
        };
        let name = &self.classes[&ty.name];
        let about = format!("The Futhark type {}.", ty.name);
        let about = docstring(ty.doc.as_ref().unwrap_or(&about));
        let mut text = format!("\n\nclass {name}({base}):\n    {about}\n");
        text += &format!("    NAME = {}\n", literal(&ty.name));
        if let Some(element) = element {
            let element = self.class_of(element);
            text += &format!("    ELEMENT, RANK = {element}, {}\n", ty.rank());
        }
        let functions = self.functions_of(id).filter(|f| f.part.is_none());
        let operations = functions.map(|function| {
            let (_, operation) = function
                .operation
                .as_str()
                .split_once('.')
                .unwrap_or_default();
            format!("{}: {}", literal(operation), literal(function.name))
        });
        text += &table("OPERATIONS = {", operations, "}");
        self.parts(id, ty, text)
    }

    /// Adds the members for fields or variants to a class.
    fn parts(&self, id: TypeId, ty: &Type, mut text: String) -> String {
        let structure = ty.as_opaque().map(|opaque| &opaque.structure);
        let parts = match structure {
            Some(Structure::Record(record)) => field_names(&record.fields),
            Some(Structure::RecordArray(array)) => field_names(&array.fields),
            Some(Structure::Sum(sum)) => {
                let variants = sum.variants.iter().map(|variant| {
                    let payload = self.classes_of(variant.payload.iter().copied());
                    format!(
                        "({}, {}, [{payload}])",
                        literal(&variant.name),
                        literal(&variant.destruct)
                    )
                });
                text += &table("VARIANTS = [", variants, "]");
                members(sum.variants.iter().map(|variant| &*variant.name))
            }
            _ => Vec::new(),
        };
        for function in self.functions_of(id) {
            let part = function.part.map_or("", |part| &parts[part]);
            text += &match function.operation {
                Operation::RecordNew => self.method("", "__new__(cls, ctx", &parts, &function),
                Operation::RecordArrayZip => {
                    self.method("    @classmethod\n", "zip(cls, ctx", &parts, &function)
                }
                Operation::RecordProject | Operation::RecordArrayProject => {
                    self.method("    @property\n", &format!("{part}(self"), &[], &function)
                }
                Operation::SumConstruct => {
                    // All parameters except the context and the result.
                    let count = self.program.prototype(&function).parameters.len() - 2;
                    let payload: Vec<_> = (0..count).map(|index| format!("v{index}")).collect();
                    self.method(
                        "    @classmethod\n",
                        &format!("{part}(cls, ctx"),
                        &payload,
                        &function,
                    )
                }
                _ => continue,
            }
        }
        if ty.as_record().is_some_and(Record::is_tuple) {
            let fields: Vec<_> = parts.iter().map(|part| format!("self.{part}")).collect();
            let fields = fields.join(", ");
            text += &format!("\n    def __iter__(self):\n        return iter([{fields}])\n");
        }
        text
    }

    /// A method of a class that calls one function.
    fn method(&self, above: &str, head: &str, names: &[String], function: &Function<'_>) -> String {
        let ctx = if head.ends_with("ctx") {
            "ctx"
        } else {
            "self.ctx"
        };
        let call = self.call(ctx, function, names);
        format!(
            "\n{above}{}        return {call}[0]\n",
            definition(head, names)
        )
    }

    fn context(&self) -> String {
        let mut text = "\n\nclass Context(Program):\n".to_owned();
        text += &format!(
            "    INTERFACE = \"{:016x}\"\n",
            self.program.interface_hash()
        );
        // Only functions that certainly exist. Types of other headers, such as
        // `cl_command_queue`, have no name in ctypes.
        let library = self.program.library_functions();
        let library = library
            .filter(|&(_, certain)| certain)
            .filter_map(|(function, _)| {
                let declaration = &function.declaration;
                let types = declaration.parameters.iter().map(|parameter| &parameter.ty);
                let types = std::iter::once(&declaration.result)
                    .chain(types)
                    .map(c_type);
                let mut types = types.collect::<Option<Vec<_>>>()?;
                if function.returns() == LibraryReturns::OwnedText {
                    types[0] = "_Text".to_owned();
                }
                let (name, types) = (literal(function.name()), types.join(", "));
                Some(format!("{name}: ({types},)"))
            });
        text += &table("LIBRARY = {", library, "}");
        let entries = self.program.entries();
        let of_entries = (0..entries.len()).map(|place| self.program.function_of_entry(place));
        let of_types = self
            .program
            .types_in_order()
            .flat_map(|(id, _)| self.functions_of(id));
        let functions = of_types
            .chain(of_entries)
            .map(|function| self.prototype(&function));
        text += &table("FUNCTIONS = {", functions, "}");
        let methods = Scope::new(&PYTHON, Style::Value).reserve(words(METHODS));
        let methods = methods.assign(entries.iter().map(|entry| &entry.name));
        let methods = entries.iter().enumerate().map(|(place, entry)| {
            self.entry(
                &methods[&entry.name],
                entry,
                &self.program.function_of_entry(place),
            )
        });
        text + &methods.collect::<String>()
    }

    fn prototype(&self, function: &Function<'_>) -> String {
        let prototype = self.program.prototype(function);
        let returns = match prototype.returns {
            Returns::Status => "_Status",
            Returns::Handle => "_Handle",
            Returns::Shape { .. } => "_Shape",
            Returns::Variant => "_Variant",
            other => unreachable!("no function is left that returns {other:?}"),
        };
        let types = prototype.parameters.iter();
        let types: Vec<_> = types
            .filter_map(|parameter| c_type(&parameter.ty))
            .collect();
        format!(
            "{}: ({returns}, {})",
            literal(function.name),
            types.join(", ")
        )
    }

    fn entry(&self, name: &str, entry: &EntryPoint, function: &Function<'_>) -> String {
        let parameters = Scope::new(&PYTHON, Style::Value)
            .reserve(["self", "tuple"])
            .reserve(words(CLASSES))
            .reserve(self.classes.identifiers())
            .assign_list(entry.inputs.iter().map(|input| &input.name));
        let call = self.call("self", function, &parameters);
        // Return a Python tuple in both forms of tuple results.
        let body = match entry.result_form(self.program) {
            ResultForm::Nothing | ResultForm::Unit(_) => call,
            ResultForm::One(_) => format!("return {call}[0]"),
            ResultForm::Several(_) => format!("return {call}"),
            ResultForm::Tuple { .. } => format!("return tuple({call}[0])"),
        };
        let definition = definition(&format!("{name}(self"), &parameters);
        let about = docstring(&self.about(entry));
        format!("\n{definition}        {about}\n        {body}\n")
    }

    /// The signature of an entry point in Futhark syntax, and its documentation.
    fn about(&self, entry: &EntryPoint) -> String {
        let mut text = entry.name.clone();
        for input in &entry.inputs {
            let star = if input.unique { "*" } else { "" };
            text += &format!(
                " ({}: {star}{})",
                input.name,
                self.program.name_of(input.ty)
            );
        }
        let results = entry.result_form(self.program).components();
        let results: Vec<_> = results.map(|ty| self.program.name_of(ty)).collect();
        text += &match results[..] {
            [result] => format!(" : {result}"),
            _ => format!(" : ({})", results.join(", ")),
        };
        match &entry.doc {
            Some(doc) => format!("{text}\n\n{doc}"),
            None => text,
        }
    }

    /// The call of a C function: the types of its results, and its arguments.
    fn call(&self, ctx: &str, function: &Function<'_>, names: &[String]) -> String {
        let mut outputs = Vec::new();
        let mut arguments = Vec::new();
        for parameter in self.program.prototype(function).parameters {
            match parameter.role {
                Role::Output { ty, .. } => outputs.push(ty),
                Role::Value => arguments.push("self".to_owned()),
                Role::Field { index, ty }
                | Role::Payload { index, ty }
                | Role::Argument { index, ty } => {
                    // Other values, or constants of the program, may share memory with the
                    // argument, so pass a copy to a parameter that consumes.
                    let consumed = parameter.passing == Passing::Consumed;
                    let copy = if consumed { ".copy()" } else { "" };
                    let (class, name) = (self.class_of(ty), &names[index]);
                    arguments.push(format!("{class}.argument({ctx}, {name}){copy}"));
                }
                _ => {}
            }
        }
        let outputs = format!("[{}]", self.classes_of(outputs));
        arguments.splice(..0, [literal(function.name), outputs]);
        let line = format!("{ctx}._call({})", arguments.join(", "));
        if line.len() <= 100 {
            return line;
        }
        let arguments: String = arguments
            .iter()
            .map(|a| format!("            {a},\n"))
            .collect();
        format!("{ctx}._call(\n{arguments}        )")
    }

    fn functions_of(&self, id: TypeId) -> impl Iterator<Item = Function<'_>> {
        let functions = self.program.functions_of(id);
        functions.filter(|function| !RAW.contains(&function.operation))
    }

    fn class_of(&self, ty: TypeRef) -> String {
        match ty {
            TypeRef::Scalar(elem) => elem.as_str().to_uppercase(),
            TypeRef::Type(id) => self.classes[&self.program.get(id).name].to_owned(),
        }
    }

    fn classes_of(&self, types: impl IntoIterator<Item = TypeRef>) -> String {
        let classes: Vec<_> = types.into_iter().map(|ty| self.class_of(ty)).collect();
        classes.join(", ")
    }
}

fn field_names(fields: &[Field]) -> Vec<String> {
    members(fields.iter().map(|field| &*field.name))
}

/// The identifiers of fields or variants.
fn members<'a>(names: impl Iterator<Item = &'a str>) -> Vec<String> {
    let scope = Scope::new(&PYTHON, Style::Value).reserve(words(MEMBERS));
    scope.assign_list(names)
}

/// The name of a C type in ctypes.
fn c_type(ty: &CType) -> Option<String> {
    Some(match ty {
        CType::Void => "None".to_owned(),
        CType::Const(inner) => return c_type(inner),
        CType::Primitive(Primitive::Size) => "c_size_t".to_owned(),
        CType::Primitive(other) => format!("c_{}", other.as_str().trim_end_matches("_t")),
        CType::Pointer(_) if ty.to_string() == "const char *" => "c_char_p".to_owned(),
        CType::Pointer(_) => "c_void_p".to_owned(),
        _ => return None,
    })
}

/// A dictionary or list of a class.
fn table(head: &str, rows: impl Iterator<Item = String>, end: &str) -> String {
    let rows: String = rows.map(|row| format!("        {row},\n")).collect();
    format!("    {head}\n{rows}    {end}\n")
}

fn definition(head: &str, names: &[String]) -> String {
    let names: String = names.iter().map(|name| format!(", {name}")).collect();
    format!("    def {head}{names}):\n")
}

fn docstring(text: &str) -> String {
    format!("\"\"{}\"\"", literal(text))
}

/// A Python string literal. The syntax of JSON strings is valid in Python.
fn literal(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split_whitespace()
}
