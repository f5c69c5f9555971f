//! Cutting a failing case down to the least that still fails.

use std::sync::Arc;

use crate::case::{Case, Output};
use crate::fixture::TempDir;
use crate::random::split;
use crate::tree::Tree;

/// Removes options, operands and variables while `fails` returns true; then replaces the output by a plain pipe, and
/// removes entries of the tree. The result fails, and does not fail without any single piece. The number of runs is
/// about the square of the number of pieces.
pub fn shrink(case: &Case, fails: impl Fn(&Case) -> bool) -> Case {
    let split_all = |options: &[String]| options.iter().flat_map(|one| split(one)).collect();
    let apart = Case {
        options: split_all(&case.options),
        late_options: split_all(&case.late_options),
        ..case.clone()
    };
    let mut least = if fails(&apart) { apart } else { case.clone() };
    while let Some(smaller) = candidates(&least).into_iter().find(&fails) {
        least = smaller;
    }
    least
}

/// The same, with its tree reduced too. The second value keeps the directory of the result.
pub fn shrink_tree(case: &Case, fails: impl Fn(&Case) -> bool) -> (Case, Option<TempDir>) {
    let mut least = (case.clone(), None);
    let Some(tree) = &case.tree else { return least };
    let mut tree = (**tree).clone();
    // Halves first, then ever smaller pieces: trees have dozens of entries, of which one or two matter.
    let mut piece = tree.len().div_ceil(2);
    while piece > 0 {
        let mut at = 0;
        while at < tree.len() {
            let smaller = tree.without(at..at + piece);
            match rebuilt(case, &smaller).filter(|(case, _)| fails(case)) {
                Some((case, dir)) => (least, tree) = ((case, Some(dir)), smaller),
                None => at += piece,
            }
        }
        piece /= 2;
    }
    least
}

/// The case over another tree, if that can be built.
fn rebuilt(case: &Case, tree: &Tree) -> Option<(Case, TempDir)> {
    let dir = tree.build(case.cwd.parent()?.parent()?).ok()?;
    let cwd = dir.path().join("t");
    Some((Case { cwd, tree: Some(Arc::new(tree.clone())), ..case.clone() }, dir))
}

/// The case with one piece less, for every piece.
fn candidates(case: &Case) -> Vec<Case> {
    let mut smaller = Vec::new();
    for operands in shorter(&case.operands) {
        smaller.push(Case { operands, ..case.clone() });
    }
    for options in shorter(&case.options) {
        smaller.push(Case { options, ..case.clone() });
    }
    for late_options in shorter(&case.late_options) {
        smaller.push(Case { late_options, ..case.clone() });
    }
    for env in shorter(&case.env) {
        smaller.push(Case { env, ..case.clone() });
    }
    for unset in shorter(&case.unset) {
        smaller.push(Case { unset, ..case.clone() });
    }
    if case.dashes {
        smaller.push(Case { dashes: false, ..case.clone() });
    }
    if case.name != "ls" {
        smaller.push(Case { name: "ls", ..case.clone() });
    }
    if case.output != Output::Pipes {
        smaller.push(Case { output: Output::Pipes, ..case.clone() });
    }
    smaller
}

/// The list with one item less, for every item.
fn shorter<T: Clone>(items: &[T]) -> impl Iterator<Item = Vec<T>> {
    (0..items.len()).map(|n| [&items[..n], &items[n + 1..]].concat())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn only_what_matters_is_left() {
        let case = Case::new(Path::new("/")).options("-laR --si -w80").operands(["a", "b", "c"]);
        let case = case.env("LC_ALL", "C.UTF-8").env("TZ", "UTC0");
        let fails = |case: &Case| case.says("R") && case.operands.iter().any(|operand| operand == "b");
        let least = shrink(&case, fails);
        assert_eq!((least.options, least.operands), (vec!["-R".to_string()], vec!["b".into()]));
        assert!(least.env.is_empty());
    }
}
