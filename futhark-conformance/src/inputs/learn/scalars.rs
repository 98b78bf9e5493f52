//! Finds the scalars that may be large.

use super::super::recipe::Role;
use super::super::strategy::sample;
use super::{Lesson, Trial};
use futhark_manifest::ElemType;

/// The values to try for each scalar, as long as the call stays cheap. The work may grow
/// exponentially, so the first ones are close to each other.
const GROWING: [i64; 19] = [
    1, 2, 4, 6, 8, 10, 12, 15, 18, 21, 25, 29, 34, 64, 256, 1024, 4096, 65_536, 4_194_304,
];

/// The work of a call grows with a scalar if it takes this factor longer than with the smallest
/// value.
const MUCH_LONGER: f64 = 10.0;

/// Differences below this are noise, in seconds.
const NOISE: f64 = 0.000_5;

impl Lesson<'_> {
    /// Finds the scalars that may be large.
    pub(super) fn scalars(&mut self) {
        let variables = vec![3; self.call.variables()];
        let extents = self.call.extents(&variables);
        let scalars = self.call.scalars();
        for (number, (elem, _)) in scalars.iter().enumerate() {
            if matches!(self.call.roles[number], Role::Size(_)) {
                continue;
            }
            let cheap = match elem {
                ElemType::Bool | ElemType::I8 | ElemType::U8 => true,
                ElemType::F16 | ElemType::F32 | ElemType::F64 => true,
                _ => self.stays_cheap(&extents, scalars.len(), number, *elem),
            };
            if cheap {
                self.call.roles[number] = Role::Any;
            }
        }
    }

    fn stays_cheap(
        &mut self,
        extents: &[usize],
        count: usize,
        number: usize,
        elem: ElemType,
    ) -> bool {
        let mut first: Option<Trial> = None;
        for value in GROWING {
            if elem.size() == 2 && value > i64::from(i16::MAX) {
                break;
            }
            let mut scalars = vec![Some(1); count];
            for (other, role) in self.call.roles.iter().enumerate() {
                if matches!(role, Role::Size(_)) {
                    scalars[other] = None;
                }
            }
            scalars[number] = Some(value);
            let Some(inputs) = sample(&self.call, extents, &scalars) else {
                return false;
            };
            let mut call = || (self.trial)(&self.call.entry, &inputs);
            let Some(mut trial) = call() else {
                return false;
            };
            let first = *first.get_or_insert(trial);
            let long = first.seconds * MUCH_LONGER + NOISE;
            // A busy machine delays some calls, but not the same one again and again.
            for _ in 0..2 {
                if trial.seconds > long && !trial.costly {
                    let Some(again) = call() else { return false };
                    trial = again;
                }
            }
            let longer = trial.seconds > long;
            let larger = trial.bytes > first.bytes + 64;
            if trial.costly || longer || larger {
                return false;
            }
        }
        true
    }
}
