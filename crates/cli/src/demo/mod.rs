//! `echomq demo`: the scenario of `echomq_load::demo`, seen.

mod report;
mod text;
mod view;

use self::report::Shown;
use self::view::View;
use crate::exit::Exit;
use crate::screen::Screen;
use crate::server::runtime;

pub(crate) fn run(screen: &mut Screen) -> anyhow::Result<Exit> {
    let view = View::new(screen.json);
    let result = runtime()?.block_on(echomq_load::demo::run(&|event| view.tell(event)));
    view.close();
    let report = result?;
    screen.show(&Shown(&report))?;
    Ok(Exit::finding_if(!report.is_good()))
}
