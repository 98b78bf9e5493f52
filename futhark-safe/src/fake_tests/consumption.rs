//! Consumption: a call never changes another value, and copies only shared arguments.

use super::*;

#[test]
fn unshared_arguments_are_not_copied() {
    for (world, core) in each_flavour() {
        let mut xs = ints(&core, &[0, 2, 3]);
        for i in 0..=9 {
            xs = set_first(&core, xs, i).unwrap();
        }
        assert_eq!(read(&xs).unwrap(), [9, 2, 3]);
        assert_eq!(world.take_copies(), 0);
        assert_eq!(world.values(), 1);
    }
}

#[test]
fn consuming_an_argument_does_not_change_its_alias() {
    for (world, core) in each_flavour() {
        let xs = ints(&core, &[1, 2, 3]);
        let alias = identity(&core, &xs).unwrap();
        let changed = set_first(&core, xs, 9).unwrap();
        assert_eq!(world.take_copies(), 1);
        assert_eq!(read(&alias).unwrap(), [1, 2, 3]);
        assert_eq!(read(&changed).unwrap(), [9, 2, 3]);
        // Now they share no memory.
        let alias = set_first(&core, alias, 8).unwrap();
        assert_eq!(read(&alias).unwrap(), [8, 2, 3]);
        assert_eq!(read(&changed).unwrap(), [9, 2, 3]);
        assert_eq!(world.take_copies(), 0);
    }
}

#[test]
fn results_that_share_memory_are_consumed_independently() {
    for (_world, core) in each_flavour() {
        let xs = ints(&core, &[1, 2]);
        let (a, b) = two_values(&core, "entry_twice", [Input::Observed(&xs)]).unwrap();
        // One call consumes both, and must not change one through the other.
        let inputs = [Input::Consumed(a), Input::Consumed(b)];
        let (b, a) = two_values(&core, "entry_swap", inputs).unwrap();
        assert_eq!(read(&a).unwrap(), [2, 1]);
        assert_eq!(read(&b).unwrap(), [2, 1]);
        assert_eq!(read(&xs).unwrap(), [1, 2]);
    }
}

#[test]
fn consuming_a_program_constant_does_not_change_it() {
    for (_world, core) in each_flavour() {
        for _ in 0..3 {
            let constant = value(&core, "entry_constant", []).unwrap();
            assert_eq!(read(&constant).unwrap(), [10, 20, 30, 40]);
            let changed = set_first(&core, constant, 7).unwrap();
            assert_eq!(read(&changed).unwrap(), [7, 20, 30, 40]);
        }
    }
}

#[test]
fn consumption_does_not_change_records_fields_or_payloads() {
    for (world, core) in each_flavour() {
        // An array that a record holds.
        let xs = ints(&core, &[1, 2]);
        let pair = pair(&core, 5, &xs).unwrap();
        let changed = set_first(&core, xs, 9).unwrap();
        let field = value(&core, "project_opaque_pair_xs", [Input::Observed(&pair)]).unwrap();
        assert_eq!(read(&field).unwrap(), [1, 2]);
        // A record that is consumed, while a field of it is held.
        let inputs = [Input::Consumed(pair), scalar(-1i32)];
        let poked = value(&core, "entry_poke", inputs).unwrap();
        assert_eq!(read(&field).unwrap(), [1, 2]);
        assert_eq!(read(&poked).unwrap(), [-1, 2]);
        // The payload of a sum.
        let inputs = [Input::Observed(&changed), scalar(0i32)];
        let line = value(&core, "new_opaque_shape_line", inputs).unwrap();
        let again = set_first(&core, changed, 4).unwrap();
        let destruct = function(&core, "destruct_opaque_shape_line");
        let (mut payload, mut number) = (Output::value(INTS), Output::scalar(ElemType::I32));
        let outputs = &mut [&mut payload, &mut number];
        call(&core, destruct, [Input::Observed(&line)], outputs).unwrap();
        assert_eq!(read(&payload.take_handle()).unwrap(), [9, 2]);
        assert_eq!(read(&again).unwrap(), [4, 2]);
        assert_eq!(world.take_copies(), 3);
    }
}

#[test]
fn a_failing_call_frees_its_consumed_arguments() {
    for (world, core) in each_flavour() {
        let xs = ints(&core, &[1, 2]);
        let alias = identity(&core, &xs).unwrap();
        for _ in 0..times(1000) {
            let consumed = identity(&core, &xs).unwrap();
            let inputs = [scalar(0i32), Input::Consumed(consumed)];
            value(&core, "entry_fail", inputs).unwrap_err();
        }
        assert_eq!(world.values(), 2);
        assert_eq!(read(&alias).unwrap(), [1, 2]);
        // Rejected arguments are freed, too.
        let inputs = [Input::Consumed(alias)];
        value(&core, "entry_set_first", inputs).unwrap_err();
        assert_eq!(world.values(), 1);
    }
}
