//! Cutting a failing case down to the least that still fails.

use crate::case::Case;
use crate::random::split;

/// Takes options, operands and variables away for as long as `fails` still says yes. What is left fails,
/// and without any single piece of it no more. Costs about the square of the number of pieces in runs.
pub fn shrink(case: &Case, fails: impl Fn(&Case) -> bool) -> Case {
    let mut least = case.clone();
    let apart = Case { options: case.options.iter().flat_map(|one| split(one)).collect(), ..case.clone() };
    if fails(&apart) {
        least = apart;
    }
    while let Some(smaller) = candidates(&least).into_iter().find(&fails) {
        least = smaller;
    }
    least
}

/// The case with one piece less, for every piece.
fn candidates(case: &Case) -> Vec<Case> {
    let mut smaller = Vec::new();
    for n in 0..case.operands.len() {
        let mut operands = case.operands.clone();
        operands.remove(n);
        smaller.push(Case { operands, ..case.clone() });
    }
    for n in 0..case.options.len() {
        let mut options = case.options.clone();
        options.remove(n);
        smaller.push(Case { options, ..case.clone() });
    }
    for n in 0..case.env.len() {
        let mut env = case.env.clone();
        env.remove(n);
        smaller.push(Case { env, ..case.clone() });
    }
    smaller
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn only_what_matters_is_left() {
        let case = Case::new(Path::new("/")).options("-laR --si -w80").operands(["a", "b", "c"]);
        let case = case.env("LC_ALL", "C.UTF-8").env("TZ", "UTC0");
        let fails = |case: &Case| case.has_short('R') && case.operands.iter().any(|operand| operand == "b");
        let least = shrink(&case, fails);
        assert_eq!((least.options, least.operands), (vec!["-R".to_string()], vec!["b".into()]));
        assert!(least.env.is_empty());
    }
}
