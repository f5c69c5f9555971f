//! Loom executes the engine's protocols unchanged, in every interleaving within stated bounds.
//!
//! Each test has a broken variant: the same code with one [`Fault`] injected, which the model must detect. So each test
//! is known to be able to fail.
//!
//! Bounds: two or three threads, a few tasks, and at most [`PREEMPTIONS`] preemptions; `MODEL_PREEMPTIONS` in the
//! environment allows more. All faults here need one or two. `cargo xtask model` runs with more.

mod board;
mod crew;
mod queue;
mod range;
mod steal;
mod turns;
mod wait;

use dents_engine::{Fault, put_fault};

/// Most preemptions of an interleaving.
const PREEMPTIONS: usize = 2;

/// Executes a model in every interleaving within the bounds, with or without a fault.
fn explore(fault: Option<Fault>, model: impl Fn() + Sync + Send + 'static) {
    explore_within(PREEMPTIONS, fault, model);
}

/// Like [`explore`], with another bound: for models of four threads.
fn explore_within(preemptions: usize, fault: Option<Fault>, model: impl Fn() + Sync + Send + 'static) {
    put_fault(fault);
    let mut builder = loom::model::Builder::new();
    let asked = std::env::var("MODEL_PREEMPTIONS").ok().and_then(|text| text.parse().ok());
    builder.preemption_bound = Some(asked.unwrap_or(preemptions));
    builder.check(model);
}
