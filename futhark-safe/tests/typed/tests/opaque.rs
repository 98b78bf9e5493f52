//! Records, tuples, sums and arrays of opaque values.

use futhark_safe::{Backend, ErrorKind, f16};
use futhark_safe_typed_tests::{
    opaque_arrays, opaque_matrices, record_arrays, record_consumption, record_matrices,
    record_nesting, records, sums, tuples,
};

use super::support::{context, on_host_and_device};

#[test]
fn observed_arguments_can_be_host_data() {
    on_host_and_device::<records::Program>(|ctx| {
        use records::{LineFields, PlaceFields, PtFields};
        let place = PlaceFields { x: 3.0, y: 4.0 };
        assert_eq!(ctx.entry().norm(&place).unwrap(), 5.0);
        let [from, to] = [(1.0, 2.0), (3.0, 4.0)].map(|(x, y)| PtFields { x, y });
        let line = ctx.entry().reverse_line(&LineFields { from, to }).unwrap();
        let reversed = LineFields { from: to, to: from };
        assert_eq!(line.fields().unwrap(), reversed);
    });
    on_host_and_device::<tuples::Program>(|ctx| {
        assert_eq!(ctx.entry().swap(&(1, 0.5)).unwrap(), (0.5, 1));
        let flat = ctx.entry().flatten(&((1, 0.5), true)).unwrap();
        assert_eq!(flat, (1, 0.5, true));
    });
    on_host_and_device::<sums::Program>(|ctx| {
        let circle = sums::ShapeVariant::Circle(3.0);
        assert_eq!(ctx.entry().area(&circle).unwrap(), 9.0);
        // A variant with handles is made of values of the same context.
        let other = context::<sums::Program>(Backend::C);
        let cells = other.array_nd([1, 1], &[1]).unwrap();
        let grid = sums::ShapeVariant::Grid(cells);
        let error = ctx.entry().area(&grid).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::WrongContext, "{error}");
        assert_eq!(other.entry().area(&grid).unwrap(), 0.0);
    });
    on_host_and_device::<record_arrays::Program>(|ctx| {
        let rows = [(1.0, 2.0), (3.0, 4.0)].map(|(x, y)| record_arrays::PtFields { x, y });
        assert_eq!(ctx.entry().total(&rows).unwrap(), 64.0);
        assert_eq!(ctx.entry().total(&rows[..1]).unwrap(), 21.0);
        assert_eq!(ctx.entry().total(&rows.to_vec()).unwrap(), 64.0);
    });
}

mod of_records {
    use super::*;
    use records::{Line, LineFields, Mixed, PtFields};

    const FROM: PtFields = PtFields { x: 1.0, y: 2.0 };
    const TO: PtFields = PtFields { x: 3.0, y: -4.5 };

    #[test]
    fn fields_round_trip() {
        on_host_and_device::<records::Program>(|ctx| {
            let p = records::Pt::new(&ctx, PtFields { x: 1.0, y: 2.0 }).unwrap();
            assert_eq!((p.x().unwrap(), p.y().unwrap()), (1.0, 2.0));
            assert_eq!(p.fields().unwrap(), FROM);
            assert_eq!(ctx.entry().make(3.0, -4.5).unwrap().fields().unwrap(), TO);
            assert_eq!(p.type_name(), "pt");
            assert_eq!(format!("{p:?}"), "Opaque<pt>");
        });
    }

    #[test]
    fn fields_keep_their_order() {
        on_host_and_device::<records::Program>(|ctx| {
            // The manifest has fields in another order than the source.
            let fields = LineFields { from: FROM, to: TO };
            let line = Line::from_fields(&ctx, fields).unwrap();
            assert_eq!(line.fields().unwrap(), fields);
            let turned = ctx.entry().reverse_line(&line).unwrap().fields().unwrap();
            assert_eq!(turned, LineFields { from: TO, to: FROM });
            let zeta = ctx.array(&[10, 20]).unwrap();
            let size = records::TupleI32U8::new(&ctx, 5, 6).unwrap();
            let half = f16::from_f32(0.5);
            let m = Mixed::new(&ctx, half, true, &line, &size, &zeta).unwrap();
            let all = m.fields().unwrap();
            assert_eq!((all.alpha, all.flag, all.size), (half, true, (5, 6)));
            assert_eq!(all.mid, fields);
            assert_eq!(all.zeta.to_vec().unwrap(), [10, 20]);
            let described = ctx.entry().describe(&m).unwrap();
            assert_eq!(described, 30.0 + 0.5 - 4.5 + 1.0 + 5.0);
        });
    }

    #[test]
    fn a_field_outlives_its_record_and_the_context() {
        on_host_and_device::<records::Program>(|ctx| {
            let zeta = ctx.array(&[1, 2, 3]).unwrap();
            let m = ctx.entry().mix(&zeta, f16::ONE).unwrap();
            let (field, mid) = (m.zeta().unwrap(), m.mid().unwrap());
            drop((m, zeta, ctx));
            assert_eq!(field.to_vec().unwrap(), [1, 2, 3]);
            let to = mid.to().unwrap();
            drop(mid);
            assert_eq!(to.fields().unwrap(), PtFields { x: 3.0, y: 4.0 });
        });
    }

    #[test]
    fn two_names_for_one_structure_are_two_types() {
        on_host_and_device::<records::Program>(|ctx| {
            let p = records::Pt::from_fields(&ctx, PtFields { x: 2.0, y: 4.0 }).unwrap();
            let place: records::Place = ctx.entry().settle(&p).unwrap();
            assert_eq!((p.type_name(), place.type_name()), ("pt", "place"));
            assert_eq!(ctx.entry().norm(&place).unwrap(), 5.0);
            // Its parameter is a pattern.
            assert_eq!(ctx.entry().difference(&p).unwrap(), -2.0);
        });
    }

    #[test]
    fn mismatched_sizes_are_errors_and_the_context_survives() {
        on_host_and_device::<records::Program>(|ctx| {
            let entry = ctx.entry();
            let vec = |data: &[f32]| entry.vec(&ctx.array(data).unwrap()).unwrap();
            let (a, b) = (vec(&[1.0, 2.0]), vec(&[3.0, 4.0, 5.0]));
            let error = entry.dot(&a, &b).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Program, "{error}");
            assert_eq!(error.operation(), "entry point dot");
            let sizes = "(argument 0 `a` is [2]f32, argument 1 `b` is [3]f32)";
            assert!(error.to_string().contains(sizes), "{error}");
            // Constructors check types; calls check sizes.
            let (left, right) = (ctx.array(&[1]).unwrap(), ctx.array(&[1, 2]).unwrap());
            let parts = records::TwoParts {
                left: &left,
                right: &right,
            };
            let two = records::Two::new(&ctx, parts).unwrap();
            let error = entry.two_total(&two).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Program);
            let sizes = "(argument 0 `t` is [1]i32 and [2]i32)";
            assert!(error.to_string().contains(sizes), "{error}");
            assert_eq!(entry.dot(&a, &a).unwrap(), 5.0);
        });
    }

    #[test]
    fn fields_of_another_context_are_rejected() {
        let [ours, theirs] = [(); 2].map(|()| context(Backend::C));
        let p = records::Pt::new(&theirs, PtFields { x: 1.0, y: 2.0 }).unwrap();
        let error = Line::new(&ours, records::LineParts { from: &p, to: &p }).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::WrongContext, "{error}");
    }
}

mod of_tuples {
    use super::*;

    #[test]
    fn parameters_are_made_from_rust_tuples() {
        on_host_and_device::<tuples::Program>(|ctx| {
            let entry = ctx.entry();
            let p = tuples::TupleI32F32::from_fields(&ctx, (1, 2.5)).unwrap();
            assert_eq!(entry.swap(&p).unwrap(), (2.5, 1));
            let t = tuples::TupleTupleI32F32EndBool::from_fields(&ctx, ((3, 4.5), true)).unwrap();
            assert_eq!(t.fields().unwrap(), ((3, 4.5), true));
            assert_eq!(t._0().unwrap().fields().unwrap(), (3, 4.5));
            assert_eq!(entry.flatten(&t).unwrap(), (3, 4.5, true));
            let xs = ctx.array(&[1.0, 2.0]).unwrap();
            let labelled = tuples::Labelled::new(&ctx, 4, &xs).unwrap();
            assert_eq!(entry.total(&labelled).unwrap(), 7.0);
            let (label, values) = labelled.fields().unwrap();
            assert_eq!((label, values.to_vec().unwrap()), (4, vec![1.0, 2.0]));
        });
    }

    #[test]
    fn results_are_rust_tuples() {
        on_host_and_device::<tuples::Program>(|ctx| {
            let (pair, flag) = ctx.entry().nest(1, 2.0, true).unwrap();
            assert_eq!((pair.fields().unwrap(), flag), ((1, 2.0), true));
            let (a, b, c, d, e, f, g, h, i, j, k, l, m, n) = ctx.entry().many().unwrap();
            assert_eq!((a, b, c, d, e, f, g, h), (1, 2, 3, 4, 5, 6, 7, 8));
            assert_eq!(
                (i, j, k, l, m, n),
                (f16::from_f32(9.0), 10.0, 11.0, true, 13, 14)
            );
        });
    }

    #[test]
    fn unit_values_are_passed_and_returned() {
        on_host_and_device::<tuples::Program>(|ctx| {
            let entry = ctx.entry();
            let unit = tuples::Unit::new(&ctx).unwrap();
            entry.same_unit(&unit).unwrap();
            let (x, unit) = entry.beside(7, &unit).unwrap();
            assert_eq!(x, 7);
            entry.same_unit(&unit).unwrap();
            let units = entry.units(3).unwrap();
            assert_eq!(units.shape(), [3]);
            assert_eq!(entry.count_units(&units).unwrap(), 3);
            entry.same_unit(&units.index(2).unwrap()).unwrap();
            assert_eq!(
                units.index(3).unwrap_err().kind(),
                ErrorKind::InvalidArgument
            );
        });
    }
}

mod of_sums {
    use super::*;
    use sums::{Colour, ColourVariant, Shape, ShapeVariant};

    #[test]
    fn every_variant_is_made_and_matched() {
        on_host_and_device::<sums::Program>(|ctx| {
            let entry = ctx.entry();
            let xs = ctx.array(&[2.0, 3.0]).unwrap();
            let cells = ctx.array_nd([2, 2], &[1, 2, 3, 4]).unwrap();
            let p = sums::Pt::new(&ctx, sums::PtFields { x: 0.5, y: 0.25 }).unwrap();
            let green = ColourVariant::Rgb(1, 2, 3);
            let colour = Colour::new(&ctx, &green).unwrap();
            let variants = [
                (ShapeVariant::Point, "point", 0.0),
                (ShapeVariant::Circle(3.0), "circle", 9.0),
                (ShapeVariant::Rect(2.0, 5.0), "rect", 12.0),
                (ShapeVariant::Path(xs, p), "path", 6.25),
                (
                    ShapeVariant::Painted(colour, f16::from_f32(0.5)),
                    "painted",
                    14.5,
                ),
                (ShapeVariant::Grid(cells), "grid", 20.0),
            ];
            for (variant, name, area) in &variants {
                let shape = Shape::new(&ctx, variant).unwrap();
                let same = entry.same(&shape).unwrap().destruct().unwrap();
                // A wrong payload has another area.
                let again = Shape::new(&ctx, &same).unwrap();
                for shape in [shape, again] {
                    assert_eq!(shape.variant_name().unwrap(), *name);
                    assert_eq!(entry.area(&shape).unwrap(), *area, "{name}");
                }
            }
        });
    }

    #[test]
    fn a_payload_outlives_its_value_and_does_not_change() {
        on_host_and_device::<sums::Program>(|ctx| {
            let xs = ctx.array(&[1.0, 2.0]).unwrap();
            let p = sums::Pt::new(&ctx, sums::PtFields { x: 0.0, y: 0.0 }).unwrap();
            let variant = ShapeVariant::Path(xs, p);
            let shape = Shape::new(&ctx, &variant).unwrap();
            let path = |variant| match variant {
                ShapeVariant::Path(xs, _) => xs,
                other => panic!("another variant: {other:?}"),
            };
            let payload = path(shape.destruct().unwrap());
            let poked = ctx.entry().poke(shape, 99.0).unwrap();
            let poked = path(poked.destruct().unwrap());
            assert_eq!(poked.to_vec().unwrap(), [99.0, 2.0]);
            assert_eq!(payload.to_vec().unwrap(), [1.0, 2.0]);
            assert_eq!(path(variant).to_vec().unwrap(), [1.0, 2.0]);
        });
    }
}

mod clones {
    use super::*;

    /// The payloads of every variant, of which one has an array that is changed in place.
    #[test]
    fn a_clone_of_a_sum_keeps_its_variant_and_payload() {
        on_host_and_device::<sums::Program>(|ctx| {
            let entry = ctx.entry();
            let xs = ctx.array(&[1.0, 2.0]).unwrap();
            let cells = ctx.array_nd([1, 2], &[3, 4]).unwrap();
            let names = ["point", "circle", "rect", "path", "painted", "grid"];
            for (which, name) in (0..).zip(names) {
                let shape = entry.shape(which, &xs, &cells).unwrap();
                let clone = shape.try_clone().unwrap();
                let area = entry.area(&shape).unwrap();
                entry.poke(shape, 70.0).unwrap();
                assert_eq!(clone.variant_name().unwrap(), name);
                assert_eq!(entry.area(&clone).unwrap(), area);
            }
        });
    }

    #[test]
    fn arrays_of_records_sums_and_abstract_values_are_cloned() {
        on_host_and_device::<record_consumption::Program>(|ctx| {
            use record_consumption::{ArrayPt, ArrayPtParts};
            let xs = ctx.array(&[1.0, 2.0]).unwrap();
            let points = ArrayPt::zip(&ctx, ArrayPtParts { x: &xs, y: &xs }).unwrap();
            let clone = points.try_clone().unwrap();
            let (left, _) = ctx.entry().poke(points).unwrap();
            assert_eq!(left.to_vec().unwrap(), [99.0, 2.0]);
            assert_eq!(clone.x().unwrap().to_vec().unwrap(), [1.0, 2.0]);
        });
        on_host_and_device::<opaque_arrays::Program>(|ctx| {
            let colours = ctx.entry().colours(3).unwrap();
            let clone = colours.try_clone().unwrap();
            let rgb = clone.index(1).unwrap().destruct().unwrap();
            drop(colours);
            assert_eq!(rgb, opaque_arrays::ColourVariant::Rgb(1, 2, 3));
            let third = ctx.entry().counters(5).unwrap().index(3).unwrap();
            let clone: opaque_arrays::CounterT = third.try_clone().unwrap();
            drop(third);
            assert_eq!(ctx.entry().get(&clone).unwrap(), 3);
        });
    }
}

mod of_arrays_of_records {
    use super::*;
    use record_arrays::{ArrayPt, ArrayPtParts, PtFields};
    use record_matrices::ArrayArrayPixel;
    use record_nesting::{ArrayCell, CellFields};

    fn rows(n: usize) -> Vec<PtFields> {
        let row = |i| PtFields {
            x: i as f64,
            y: -(i as f64),
        };
        (0..n).map(row).collect()
    }

    #[test]
    fn slices_of_structs_round_trip() {
        on_host_and_device::<record_arrays::Program>(|ctx| {
            for n in [0, 1, 5, 1000] {
                let points = ArrayPt::from_slice(&ctx, &rows(n)).unwrap();
                assert_eq!(points.shape(), [n]);
                assert_eq!(points.to_vec().unwrap(), rows(n));
                let computed = ctx.entry().line(n as i64).unwrap();
                assert_eq!(computed.to_vec().unwrap(), rows(n));
            }
            let points = ArrayPt::from_slice(&ctx, &rows(3)).unwrap();
            assert_eq!(ctx.entry().total(&points).unwrap(), 3.0 - 30.0);
            assert_eq!(ArrayPt::RANK, 1);
        });
    }

    #[test]
    fn a_wrong_number_of_rows_is_an_error() {
        on_host_and_device::<record_matrices::Program>(|ctx| {
            let rows = ctx.entry().gradient(2, 3).unwrap().to_vec().unwrap();
            for shape in [[2, 2], [3, 3], [6, 0], [usize::MAX, 1], [usize::MAX, 6]] {
                let error = ArrayArrayPixel::from_slice_nd(&ctx, shape, &rows).unwrap_err();
                assert_eq!(error.kind(), ErrorKind::InvalidArgument, "{error}");
            }
            let error = ArrayArrayPixel::from_slice_nd(&ctx, [2, 2], &rows).unwrap_err();
            let error = error.to_string();
            assert!(error.contains("[2, 2]") && error.contains('6'), "{error}");
        });
    }

    #[test]
    fn rows_can_contain_records_and_tuples() {
        on_host_and_device::<record_nesting::Program>(|ctx| {
            let cell = |i: i32| CellFields {
                at: record_nesting::PtFields {
                    x: f64::from(i),
                    y: 1.0,
                },
                pair: (i, i % 2 == 0),
                half: f16::from_f32(0.5 * i as f32),
            };
            let cells: Vec<CellFields> = (0..4).map(cell).collect();
            let array = ArrayCell::from_slice(&ctx, &cells).unwrap();
            assert_eq!(array.to_vec().unwrap(), cells);
            let text = serde_json::to_string(&array.to_vec().unwrap()).unwrap();
            let read: Vec<CellFields> = serde_json::from_str(&text).unwrap();
            let again = ArrayCell::from_slice(&ctx, &read).unwrap();
            assert_eq!(again.to_vec().unwrap(), cells);
            let shifted = ctx.entry().shift(&array, 10.0).unwrap();
            let second = shifted.index(2).unwrap().fields().unwrap();
            assert_eq!((second.at.x, second.pair), (12.0, (3, false)));
            assert_eq!(shifted.to_vec().unwrap()[2], second);
            assert_eq!(
                array.at().unwrap().x().unwrap().to_vec().unwrap(),
                [0.0, 1.0, 2.0, 3.0]
            );
        });
    }

    #[test]
    fn arrays_are_zipped_and_projected() {
        on_host_and_device::<record_arrays::Program>(|ctx| {
            let [xs, ys] = [[1.0, 2.0], [3.0, 4.0]].map(|data| ctx.array(&data).unwrap());
            let points = ArrayPt::zip(&ctx, ArrayPtParts { x: &xs, y: &ys }).unwrap();
            assert_eq!(points.x().unwrap().to_vec().unwrap(), [1.0, 2.0]);
            assert_eq!(points.y().unwrap().to_vec().unwrap(), [3.0, 4.0]);
            let second = points.index([1]).unwrap();
            assert_eq!(second.fields().unwrap(), PtFields { x: 2.0, y: 4.0 });

            let long = ctx.array(&[0.0; 3]).unwrap();
            let error = ArrayPt::zip(&ctx, ArrayPtParts { x: &xs, y: &long }).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::InvalidArgument);
            assert!(
                error.c_message().unwrap().contains("different shapes"),
                "{error}"
            );
            // Only the dimensions of the array are compared, not those of the rows.
            let by = ctx.array_nd([2, 2], &[1, 2, 3, 4]).unwrap();
            let weights = ctx.array(&[0.5f32, 1.5]).unwrap();
            let nears = record_arrays::ArrayNear::zip(&ctx, &by, &weights).unwrap();
            let near = nears.index(1).unwrap().fields().unwrap();
            assert_eq!((near.by.to_vec().unwrap(), near.weight), (vec![3, 4], 1.5));
        });
    }

    #[test]
    fn arrays_of_two_dimensions_round_trip() {
        on_host_and_device::<record_matrices::Program>(|ctx| {
            let image = ctx.entry().gradient(2, 3).unwrap();
            assert_eq!(image.shape(), [2, 3]);
            let rows = image.to_vec().unwrap();
            // The name of the row type depends on the compiler, so this test does not use it.
            let pixel = |y: u8, x: u8| (x, y, f32::from(x * y));
            for (i, row) in rows.iter().enumerate() {
                let found = (row.r, row.g, row.deep.weight);
                assert_eq!(found, pixel((i / 3) as u8, (i % 3) as u8));
            }
            let flipped = ctx.entry().flip(&image).unwrap();
            assert_eq!(flipped.shape(), [3, 2]);
            for (y, x) in [(0, 0), (1, 2), (0, 2)] {
                let element = flipped.index([x, y]).unwrap().fields().unwrap();
                let found = (element.r, element.g, element.deep.weight);
                assert_eq!(found, pixel(y as u8, x as u8));
            }
            for outside in [[2, 0], [0, 3], [usize::MAX, 0], [0, usize::MAX]] {
                let error = image.index(outside).unwrap_err();
                assert_eq!(error.kind(), ErrorKind::InvalidArgument, "{error}");
            }
            let again = ArrayArrayPixel::from_slice_nd(&ctx, [2, 3], &rows).unwrap();
            assert_eq!(again.to_vec().unwrap(), rows);
            let none = ArrayArrayPixel::from_slice_nd(&ctx, [0, 3], &[]).unwrap();
            assert_eq!(none.shape(), [0, 3]);
        });
    }
}

mod of_arrays_of_opaques {
    use super::*;
    use opaque_arrays::ColourVariant;

    #[test]
    fn elements_are_indexed() {
        on_host_and_device::<opaque_arrays::Program>(|ctx| {
            let colours = ctx.entry().colours(4).unwrap();
            assert_eq!(colours.shape(), [4]);
            let backwards = ctx.entry().backwards(&colours).unwrap();
            let wanted = [
                ColourVariant::Grey,
                ColourVariant::Rgb(1, 2, 3),
                ColourVariant::Named(-2),
                ColourVariant::Grey,
            ];
            for (i, variant) in wanted.into_iter().enumerate() {
                let element = colours.index(i).unwrap();
                assert_eq!(element.destruct().unwrap(), variant);
                assert_eq!(
                    backwards.index([3 - i]).unwrap().destruct().unwrap(),
                    variant
                );
            }
            let element = colours.index(1).unwrap();
            drop((colours, backwards));
            assert_eq!(element.destruct().unwrap(), ColourVariant::Rgb(1, 2, 3));
        });
    }

    #[test]
    fn arrays_of_two_dimensions_are_indexed() {
        on_host_and_device::<opaque_matrices::Program>(|ctx| {
            let square = ctx.entry().square(2, 3).unwrap();
            assert_eq!(square.shape(), [2, 3]);
            // The name of the element type depends on the compiler.
            let at = |i, j| format!("{:?}", square.index([i, j]).unwrap().destruct().unwrap());
            assert_eq!([at(1, 1), at(1, 2)], ["Grey", "Named(12)"]);
            for outside in [[2, 0], [0, 3]] {
                let error = square.index(outside).unwrap_err();
                assert_eq!(error.kind(), ErrorKind::InvalidArgument, "{error}");
            }
        });
    }
}
