//! The body of a stored value: its components, one after another, in Futhark's binary data format.

use crate::harness::steps::{StepResult, Stop};
use futhark_manifest::ElemType;
use std::ops::Range;

/// The byte ranges of a component.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Component {
    /// `b`, the version, the rank, the element type.
    pub head: Range<usize>,
    /// Eight bytes for each dimension.
    pub dims: Range<usize>,
    /// The elements.
    pub data: Range<usize>,
    /// The element type.
    pub elem: ElemType,
}

/// Finds the components of a body.
pub fn components(body: &[u8]) -> StepResult<Vec<Component>> {
    let mut components = Vec::new();
    let mut at = 0;
    while at < body.len() {
        let component = component(body, at).ok_or_else(|| {
            Stop::mismatch(format!(
                "the stored bytes are not a sequence of components at byte {at}"
            ))
        })?;
        at = component.data.end;
        components.push(component);
    }
    Ok(components)
}

fn component(body: &[u8], at: usize) -> Option<Component> {
    const HEAD: usize = 7;
    let head = body.get(at..at + HEAD)?;
    let rank = usize::from(head[2]);
    let name = std::str::from_utf8(&head[3..]).ok()?.trim_start();
    let elem = *ElemType::ALL.iter().find(|elem| elem.as_str() == name)?;
    let dims = at + HEAD..at + HEAD + 8 * rank;
    let (extents, _) = body.get(dims.clone())?.as_chunks::<8>();
    let count = extents.iter().try_fold(1usize, |count, extent| {
        count.checked_mul(usize::try_from(i64::from_ne_bytes(*extent)).ok()?)
    })?;
    let data = dims.end..dims.end + count.checked_mul(elem.size())?;
    body.get(data.clone())?;
    Some(Component {
        head: at..at + HEAD,
        dims,
        data,
        elem,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn components_are_found_one_after_another() {
        let mut body = b"b\x02\x00 i32\x07\x00\x00\x00b\x02\x01bool".to_vec();
        body.extend(3i64.to_ne_bytes());
        body.extend([0, 1, 1]);
        let found = components(&body).unwrap();
        assert_eq!(found.len(), 2);
        assert_eq!(
            (found[0].data.clone(), found[0].elem),
            (7..11, ElemType::I32)
        );
        assert_eq!(
            (found[1].dims.clone(), found[1].data.clone()),
            (18..26, 26..29)
        );
        assert!(components(&body[..28]).is_err());
        assert!(components(&body[1..]).is_err());
        assert!(components(&[]).unwrap().is_empty());
    }
}
