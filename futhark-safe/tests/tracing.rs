//! Spans and events of the crate `tracing`.

use std::fmt::Debug;
use std::sync::{Arc, Mutex};

use futhark_safe::dynamic::{Arg, Context, Value};
use futhark_safe::{Backend, Config};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

use super::support::each;

/// Collects names and fields as texts.
#[derive(Clone, Default)]
struct Collect(Arc<Mutex<Vec<String>>>);

impl Collect {
    fn add(&self, name: &str, record: impl FnOnce(&mut dyn tracing::field::Visit)) {
        let mut fields = Fields(format!("{name}:"));
        record(&mut fields);
        self.0.lock().unwrap().push(fields.0);
    }
}

struct Fields(String);

impl tracing::field::Visit for Fields {
    fn record_debug(&mut self, field: &tracing::field::Field, value: &dyn Debug) {
        self.0 += &format!(" {field}={value:?}");
    }
}

impl Subscriber for Collect {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn new_span(&self, span: &Attributes<'_>) -> Id {
        self.add(span.metadata().name(), |fields| span.record(fields));
        Id::from_u64(1)
    }

    fn event(&self, event: &Event<'_>) {
        self.add(event.metadata().target(), |fields| event.record(fields));
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}
    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn enter(&self, _: &Id) {}
    fn exit(&self, _: &Id) {}
}

#[test]
fn starts_calls_and_transfers_are_traced() {
    each(|library| {
        let collect = Collect::default();
        tracing::subscriber::with_default(collect.clone(), || {
            let config = Config::new().logging(true).log_to_tracing();
            let context = Context::new(library, &config).unwrap();
            let items = context.array(&[1i64, 2, 3]).unwrap();
            let items = Value::from(items);
            context.call("total", vec![Arg::Borrow(&items)]).unwrap();
        });
        let all = collect.0.lock().unwrap().join("\n");
        let backend = library.backend();
        for expected in [
            format!("futhark_safe: message=started a context backend=\"{backend}\" seconds="),
            format!("transfer: operation=\"new array\" backend=\"{backend}\" bytes=24"),
            format!("call: operation=\"entry point total\" backend=\"{backend}\" sizes=\"[3]i64\""),
        ] {
            assert!(all.contains(&expected), "{expected} in {all}");
        }
        assert_eq!(
            all.contains("futhark_runtime: message=Using device"),
            backend == Backend::OpenCl,
            "{all}"
        );
    });
}
