//! Finds the entry points that use each type.

use super::change::UsedBy;
use crate::manifest::program::{Program, ResultForm, TypeId, TypeRef};

/// The users of the types of a program.
pub(super) struct Users<'p> {
    program: &'p Program,
    /// For each type the first entry points that use it; one more than are listed, to know
    /// whether there are more.
    entries: Vec<Vec<usize>>,
    /// For each type whether it only carries whole results.
    carriers: Vec<bool>,
}

impl<'p> Users<'p> {
    pub(super) fn of(program: &'p Program) -> Users<'p> {
        let mut entries = direct(program);
        // Wholes before parts: the users of a type are complete when its parts inherit them.
        for &id in program.order.iter().rev() {
            let own = std::mem::take(&mut entries[id.index()]);
            for part in program.get(id).parts().filter_map(TypeRef::as_type) {
                merge(&mut entries[part.index()], &own);
            }
            entries[id.index()] = own;
        }
        Users {
            program,
            entries,
            carriers: carriers(program),
        }
    }

    pub(super) fn used_by(&self, id: TypeId) -> UsedBy {
        let users = &self.entries[id.index()];
        let named = users.iter().take(UsedBy::MOST);
        UsedBy {
            entries: named
                .map(|&entry| self.program.entries()[entry].name.clone())
                .collect(),
            more: users.len() > UsedBy::MOST,
        }
    }

    /// Whether the type only carries whole results of entry points, as many tuple types do since
    /// 0.26.1.
    pub(super) fn is_carrier(&self, id: TypeId) -> bool {
        self.carriers[id.index()]
    }
}

/// For each type the first entry points that have it as a parameter or result.
fn direct(program: &Program) -> Vec<Vec<usize>> {
    let mut entries = vec![Vec::new(); program.types().len()];
    for (index, entry) in program.entries().iter().enumerate() {
        let inputs = entry.inputs.iter().map(|input| input.ty);
        let outputs = entry.outputs.iter().map(|output| output.ty);
        for id in inputs.chain(outputs).filter_map(TypeRef::as_type) {
            merge(&mut entries[id.index()], &[index]);
        }
    }
    entries
}

/// Adds to a list, and keeps it sorted and short.
fn merge(list: &mut Vec<usize>, others: &[usize]) {
    list.extend(others);
    list.sort_unstable();
    list.dedup();
    list.truncate(UsedBy::MOST + 1);
}

fn carriers(program: &Program) -> Vec<bool> {
    let mut carries = vec![false; program.types().len()];
    let mut is_value = vec![false; program.types().len()];
    let mut value = |ty: TypeRef| {
        if let TypeRef::Type(id) = ty {
            is_value[id.index()] = true;
        }
    };
    for ty in program.types() {
        ty.parts().for_each(&mut value);
    }
    for entry in program.entries() {
        entry.inputs.iter().for_each(|input| value(input.ty));
        let form = entry.result_form(program);
        form.components().for_each(&mut value);
        if let ResultForm::Unit(id) | ResultForm::Tuple { ty: id, .. } = form {
            carries[id.index()] = true;
        }
    }
    let both = carries.into_iter().zip(is_value);
    both.map(|(carries, is_value)| carries && !is_value)
        .collect()
}
