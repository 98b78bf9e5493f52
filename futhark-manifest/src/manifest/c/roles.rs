//! Roles and ownership of the functions that no manifest lists.

use super::library::LibraryFunction;
use super::prototype::Passing;

/// The role of a parameter of a [`LibraryFunction`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum LibraryRole {
    /// The configuration.
    Config,
    /// The context.
    Context,
    /// Zero or not zero.
    Flag,
    /// A number: a size, a count, or the value of a tuning parameter.
    Number,
    /// The index of a tuning parameter. It is not checked.
    Index,
    /// A text: a name, a compiler option, the source of a GPU program.
    Text,
    /// The path of a file.
    FilePath,
    /// An open stream of C: `FILE *`.
    Stream,
    /// A handle of the backend, such as a `cl_command_queue`.
    BackendHandle,
}

impl LibraryRole {
    /// A stable name, such as `file_path`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            LibraryRole::Config => "config",
            LibraryRole::Context => "context",
            LibraryRole::Flag => "flag",
            LibraryRole::Number => "number",
            LibraryRole::Index => "index",
            LibraryRole::Text => "text",
            LibraryRole::FilePath => "file_path",
            LibraryRole::Stream => "stream",
            LibraryRole::BackendHandle => "backend_handle",
        }
    }
}

/// The result of a [`LibraryFunction`], and its ownership.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum LibraryReturns {
    /// Nothing: `void`.
    Nothing,
    /// 0 for success.
    Status,
    /// A count. The function cannot fail.
    Count,
    /// A configuration that the caller must free, after the context that uses it.
    Config,
    /// A context that the caller must free, or `NULL`. A failing call may also return a
    /// context: query `futhark_context_get_error`.
    Context,
    /// A text that the caller must release with C's `free`, or `NULL`, which means no error for
    /// `futhark_context_get_error`, and a failure for `futhark_context_report`.
    OwnedText,
    /// A text that belongs to the library or to the configuration, and must not be freed.
    BorrowedText,
    /// A handle of the backend that belongs to the context.
    BackendHandle,
}

impl LibraryReturns {
    /// A stable name, such as `owned_text`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            LibraryReturns::Nothing => "nothing",
            LibraryReturns::Status => "status",
            LibraryReturns::Count => "count",
            LibraryReturns::Config => "config",
            LibraryReturns::Context => "context",
            LibraryReturns::OwnedText => "owned_text",
            LibraryReturns::BorrowedText => "borrowed_text",
            LibraryReturns::BackendHandle => "backend_handle",
        }
    }

    /// The C function with which the caller must release the result; `None` if the caller
    /// does not own it.
    #[must_use]
    pub const fn freed_by(self) -> Option<&'static str> {
        match self {
            LibraryReturns::Config => Some("futhark_context_config_free"),
            LibraryReturns::Context => Some("futhark_context_free"),
            LibraryReturns::OwnedText => Some("free"),
            _ => None,
        }
    }
}

/// The first version in which configurations copy the strings passed to them.
const COPIES_TEXTS: (u32, u32, u32) = (0, 25, 6);

impl LibraryFunction {
    /// The meaning and ownership of the result.
    #[must_use]
    pub fn returns(&self) -> LibraryReturns {
        match &*self.declaration.result.to_string() {
            "void" => LibraryReturns::Nothing,
            "int" if self.name() == "futhark_get_tuning_param_count" => LibraryReturns::Count,
            "int" => LibraryReturns::Status,
            "struct futhark_context_config *" => LibraryReturns::Config,
            "struct futhark_context *" => LibraryReturns::Context,
            "char *" => LibraryReturns::OwnedText,
            "const char *" => LibraryReturns::BorrowedText,
            _ => LibraryReturns::BackendHandle,
        }
    }

    /// The role of each parameter.
    pub fn roles(&self) -> impl Iterator<Item = LibraryRole> {
        let name = self.name();
        let is_path = ["_to", "_from", "_cache_file"]
            .iter()
            .any(|end| name.ends_with(end));
        let is_index = name.starts_with("futhark_get_tuning_param_");
        self.declaration.parameters.iter().map(move |parameter| {
            match (&*parameter.ty.to_string(), parameter.name.as_deref()) {
                ("struct futhark_context_config *", _) => LibraryRole::Config,
                ("struct futhark_context *", _) => LibraryRole::Context,
                ("const char *", _) if is_path => LibraryRole::FilePath,
                ("const char *", _) => LibraryRole::Text,
                ("FILE *", _) => LibraryRole::Stream,
                ("int", Some("flag")) => LibraryRole::Flag,
                ("int", _) if is_index => LibraryRole::Index,
                ("int" | "size_t", _) => LibraryRole::Number,
                _ => LibraryRole::BackendHandle,
            }
        })
    }

    /// How each parameter is passed, and its ownership, in libraries of this compiler
    /// version. For an unknown version, the strictest rules of all versions.
    pub fn passing(&self, version: Option<(u32, u32, u32)>) -> impl Iterator<Item = Passing> {
        let name = self.name();
        let frees = name == "futhark_context_free" || name == "futhark_context_config_free";
        let makes_context = self.returns() == LibraryReturns::Context;
        // The name of a tuning parameter is only used during the call.
        let copies = name == "futhark_context_config_set_tuning_param"
            || version.is_some_and(|version| version >= COPIES_TEXTS);
        self.roles().map(move |role| match role {
            LibraryRole::Config | LibraryRole::Context if frees => Passing::Freed,
            LibraryRole::Config if makes_context => Passing::KeptByContext,
            LibraryRole::Config | LibraryRole::Context => Passing::Borrowed { until_sync: false },
            LibraryRole::Flag | LibraryRole::Number | LibraryRole::Index => Passing::Scalar,
            LibraryRole::Text | LibraryRole::FilePath if copies => {
                Passing::HostRead { until_sync: false }
            }
            LibraryRole::Text
            | LibraryRole::FilePath
            | LibraryRole::Stream
            | LibraryRole::BackendHandle => Passing::KeptByContext,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::library;
    use super::*;

    fn of(name: &str) -> (Vec<LibraryRole>, Vec<Passing>, LibraryReturns) {
        let function = library().iter().find(|function| function.name() == name);
        let function = function.expect(name);
        let passing = function.passing(Some((0, 25, 32)));
        (
            function.roles().collect(),
            passing.collect(),
            function.returns(),
        )
    }

    #[test]
    fn functions_have_roles_and_ownership() {
        use LibraryReturns as Returns;
        use LibraryRole as Role;
        let borrowed = Passing::Borrowed { until_sync: false };
        let read = Passing::HostRead { until_sync: false };
        for (name, roles, passing, returns) in [
            (
                "context_report",
                &[Role::Context][..],
                &[borrowed][..],
                Returns::OwnedText,
            ),
            (
                "context_get_error",
                &[Role::Context],
                &[borrowed],
                Returns::OwnedText,
            ),
            ("context_config_new", &[], &[], Returns::Config),
            (
                "context_new",
                &[Role::Config],
                &[Passing::KeptByContext],
                Returns::Context,
            ),
            (
                "context_free",
                &[Role::Context],
                &[Passing::Freed],
                Returns::Nothing,
            ),
            (
                "context_config_free",
                &[Role::Config],
                &[Passing::Freed],
                Returns::Nothing,
            ),
            ("get_tuning_param_count", &[], &[], Returns::Count),
            (
                "get_tuning_param_name",
                &[Role::Index],
                &[Passing::Scalar],
                Returns::BorrowedText,
            ),
            (
                "context_config_get_program",
                &[Role::Config],
                &[borrowed],
                Returns::BorrowedText,
            ),
            (
                "context_config_set_tuning_param",
                &[Role::Config, Role::Text, Role::Number],
                &[borrowed, read, Passing::Scalar],
                Returns::Status,
            ),
            (
                "context_set_logging_file",
                &[Role::Context, Role::Stream],
                &[borrowed, Passing::KeptByContext],
                Returns::Nothing,
            ),
            (
                "context_config_set_cache_file",
                &[Role::Config, Role::FilePath],
                &[borrowed, read],
                Returns::Nothing,
            ),
            (
                "context_config_set_command_queue",
                &[Role::Config, Role::BackendHandle],
                &[borrowed, Passing::KeptByContext],
                Returns::Nothing,
            ),
            (
                "context_get_command_queue",
                &[Role::Context],
                &[borrowed],
                Returns::BackendHandle,
            ),
        ] {
            let expected = (roles.to_vec(), passing.to_vec(), returns);
            assert_eq!(of(&format!("futhark_{name}")), expected, "{name}");
        }
    }

    #[test]
    fn strings_must_outlive_the_context_before_0_25_6() {
        let name = "futhark_context_config_set_cache_file";
        let cache = library().iter().find(|function| function.name() == name);
        for version in [None, Some((0, 25, 5))] {
            let last = cache.expect(name).passing(version).last();
            assert_eq!(last, Some(Passing::KeptByContext), "{version:?}");
        }
    }
}
