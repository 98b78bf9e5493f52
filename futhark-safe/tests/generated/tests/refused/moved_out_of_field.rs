//! A consumed argument is moved out of a field behind a reference. rustc shows the generated comment on what to write.

futhark_safe_generated_tests::declare_records!();

use futhark_safe::Result;

fn main() {}

struct Owner {
    ctx: records::Context,
    mixed: records::Mixed,
}

impl Owner {
    fn mistake(&mut self) -> Result<()> {
        let _ys = self.ctx.entry().take(self.mixed)?;
        Ok(())
    }
}
