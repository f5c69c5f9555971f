//! placeholder
pub(crate) fn run(_: Option<&str>) -> crate::step::Result<()> {
    Ok(())
}
