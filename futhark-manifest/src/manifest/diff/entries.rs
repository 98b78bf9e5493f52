//! Compares entry points, which are matched by name.

use super::align::Inputs;
use super::change::Change;
use super::code::ChangeCode;
use super::pairing::Pairing;
use super::place::{EntryPart, Place};
use super::text;
use crate::manifest::model::Input;
use crate::manifest::program::{EntryPoint, Program, ResultForm, TypeRef};

pub(super) fn compare(old: &Program, new: &Program, pairing: &Pairing, changes: &mut Vec<Change>) {
    for entry in old.entries() {
        let Some(after) = new.entry(&entry.name) else {
            let place = Place::entry(&entry.name, EntryPart::Whole);
            let change = Change::new(ChangeCode::EntryRemoved, place);
            changes.push(change.was(text::signature(old, entry)));
            continue;
        };
        let mut entries = Entries {
            old,
            new,
            pairing,
            before: entry,
            after,
            changes,
        };
        entries.around();
        entries.inputs();
        entries.results();
    }
    for entry in new.entries() {
        if old.entry(&entry.name).is_none() {
            let place = Place::entry(&entry.name, EntryPart::Whole);
            let change = Change::new(ChangeCode::EntryAdded, place);
            changes.push(change.is(text::signature(new, entry)));
        }
    }
}

/// An entry point in both programs.
struct Entries<'a> {
    old: &'a Program,
    new: &'a Program,
    pairing: &'a Pairing,
    before: &'a EntryPoint,
    after: &'a EntryPoint,
    changes: &'a mut Vec<Change>,
}

impl Entries<'_> {
    fn report(&mut self, code: ChangeCode, part: EntryPart, was: String, is: String) {
        let change = Change::new(code, Place::entry(&self.before.name, part));
        self.changes.push(change.was(was).is(is));
    }

    /// Compares properties that do not affect calls.
    fn around(&mut self) {
        let (before, after) = (self.before, self.after);
        if before.cfun != after.cfun {
            let (was, is) = (before.cfun.clone(), after.cfun.clone());
            self.report(ChangeCode::EntryFunctionChanged, EntryPart::Whole, was, is);
        }
        let place = || Place::entry(&before.name, EntryPart::Whole);
        for (code, was, is) in [
            (
                ChangeCode::TuningParametersChanged,
                &before.tuning_params,
                &after.tuning_params,
            ),
            (
                ChangeCode::AttributesChanged,
                &before.attributes,
                &after.attributes,
            ),
        ] {
            if was != is {
                let mut change = Change::new(code, place());
                change.was = (!was.is_empty()).then(|| was.join(", "));
                change.is = (!is.is_empty()).then(|| is.join(", "));
                self.changes.push(change);
            }
        }
        if before.doc != after.doc {
            let mut change = Change::new(ChangeCode::DocChanged, place());
            change.was.clone_from(&before.doc);
            change.is.clone_from(&after.doc);
            self.changes.push(change);
        }
    }

    fn inputs(&mut self) {
        let (before, after) = (&self.before.inputs[..], &self.after.inputs[..]);
        let aligned = Inputs::align(before, after);
        if aligned.reordered {
            let (was, is) = (text::names(before), text::names(after));
            self.report(ChangeCode::ParametersReordered, EntryPart::Whole, was, is);
        }
        for pair in aligned.pairs {
            match pair {
                (Some(i), Some(j)) => self.input(i, &before[i], &after[j]),
                (Some(i), None) => {
                    let place = Place::entry(&self.before.name, EntryPart::Input(i));
                    let change = Change::new(ChangeCode::ParameterRemoved, place);
                    let was = text::input(self.old, &before[i]);
                    self.changes.push(change.was(was));
                }
                (None, Some(j)) => {
                    let place = Place::entry(&self.before.name, EntryPart::Input(j));
                    let change = Change::new(ChangeCode::ParameterAdded, place);
                    let is = text::input(self.new, &after[j]);
                    self.changes.push(change.is(is));
                }
                (None, None) => {}
            }
        }
    }

    fn input(&mut self, index: usize, before: &Input, after: &Input) {
        let part = || EntryPart::Input(index);
        if before.name != after.name {
            let (was, is) = (before.name.clone(), after.name.clone());
            self.report(ChangeCode::ParameterRenamed, part(), was, is);
        }
        let was = text::input(self.old, before);
        let is = text::input(self.new, after);
        if !self.pairing.same(before.ty, after.ty) {
            let (was, is) = (was.clone(), is.clone());
            self.report(ChangeCode::ParameterTypeChanged, part(), was, is);
        }
        match (before.is_consumed(), after.is_consumed()) {
            (false, true) => self.report(ChangeCode::ParameterConsumed, part(), was, is),
            (true, false) => self.report(ChangeCode::ParameterObserved, part(), was, is),
            _ => {}
        }
    }

    fn results(&mut self) {
        let (before, after) = (self.before, self.after);
        let old_form = before.result_form(self.old);
        let new_form = after.result_form(self.new);
        let (was, is) = (
            text::result(self.old, before),
            text::result(self.new, after),
        );
        if !self.same_whole() {
            let old_components: Vec<TypeRef> = old_form.components().collect();
            let new_components: Vec<TypeRef> = new_form.components().collect();
            if old_components.len() != new_components.len() {
                self.report(ChangeCode::ResultCountChanged, EntryPart::Result, was, is);
                return;
            }
            let one = matches!(old_form, ResultForm::One(_));
            let pairs = old_components.into_iter().zip(new_components);
            for (index, (before, after)) in pairs.enumerate() {
                if !self.pairing.same(before, after) {
                    let was = self.old.name_of(before).to_owned();
                    let is = self.new.name_of(after).to_owned();
                    let part = result_part(one, index);
                    self.report(ChangeCode::ResultTypeChanged, part, was, is);
                }
            }
        }
        if before.outputs.len() == after.outputs.len() {
            self.uniqueness();
        } else {
            self.report(ChangeCode::ResultFormChanged, EntryPart::Result, was, is);
        }
    }

    /// Whether both return a single value of the same type. Changes of the type itself are then
    /// reported for the type.
    fn same_whole(&self) -> bool {
        match (&self.before.outputs[..], &self.after.outputs[..]) {
            ([before], [after]) => self.pairing.same(before.ty, after.ty),
            _ => false,
        }
    }

    fn uniqueness(&mut self) {
        let (before, after) = (self.before, self.after);
        let single = before.outputs.len() == 1;
        for (index, pair) in before.outputs.iter().zip(&after.outputs).enumerate() {
            let (before, after) = pair;
            if before.unique != after.unique {
                let part = result_part(single, index);
                let was = text::mode(self.old, before.ty, before.unique);
                let is = text::mode(self.new, after.ty, after.unique);
                self.report(ChangeCode::ResultUniquenessChanged, part, was, is);
            }
        }
    }
}

/// The place of a result value; the whole result if there is only one value.
fn result_part(single: bool, index: usize) -> EntryPart {
    if single {
        EntryPart::Result
    } else {
        EntryPart::Component(index)
    }
}
