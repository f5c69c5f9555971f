//! The request to git.

use super::choices::Choices;
use super::planner::Planner;
use super::warning::Warning;
use crate::args::numbers::parse_timeout;
use crate::git::{BUDGET_NS, PATIENCE_NS, is_false};
use dents_render::record::Field;
use dents_render::{Column, Style};

/// `--git` and `--gitignore`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GitPlan<'a> {
    /// Nanoseconds from its start to the moment at which it is given up; none is never.
    pub budget_ns: Option<u64>,
    /// Whether ignored entries are left out.
    pub hides: bool,
    /// The directories that are not looked into for repositories: the value of GIT_CEILING_DIRECTORIES.
    pub ceilings: &'a [u8],
    /// Whether the search for a repository goes on above a mount point: GIT_DISCOVERY_ACROSS_FILESYSTEM.
    pub crosses: bool,
}

impl<'a> Planner<'a, '_> {
    /// `None` if the states would not be shown, as for names alone: then no repository is searched for.
    pub(super) fn git(
        &mut self,
        choices: &Choices<'a>,
        style: &Style,
        timeout_ns: Option<u64>,
    ) -> Option<GitPlan<'a>> {
        let view = style.long.view.as_ref().is_some_and(|view| view.columns.contains(&Column::Git));
        let rows = style.record.as_ref().is_some_and(|rows| rows.fields.contains(&Field::GitStaged));
        let shows = view || rows;
        let hides = choices.gitignore;
        if !shows && !hides {
            return None;
        }
        let default_ns = if hides { PATIENCE_NS } else { BUDGET_NS };
        let budget_ns = choices.git_budget_ns.or_else(|| self.git_budget_ns()).unwrap_or(default_ns);
        let budget_ns = Some(budget_ns).filter(|ns| *ns > 0);
        // No time limit is longer than the deadline.
        let budget_ns = budget_ns.into_iter().chain(timeout_ns).min();
        let environment = self.around.environment;
        let ceilings = environment.git_ceiling_directories.unwrap_or_default();
        let crosses = environment.git_discovery_across_filesystem.is_some_and(|value| !is_false(value));
        Some(GitPlan { budget_ns, hides, ceilings, crosses })
    }

    /// The environment's DLS_GIT_BUDGET.
    fn git_budget_ns(&mut self) -> Option<u64> {
        let value = self.around.environment.dls_git_budget.filter(|value| !value.is_empty())?;
        let parsed = parse_timeout(value);
        if parsed.is_err() {
            self.warnings.push(Warning::BadTime { variable: "DLS_GIT_BUDGET", value });
        }
        parsed.ok()
    }
}
