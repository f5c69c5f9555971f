//! Marks and capabilities of a directory whose other metadata is known: requested last where each is a round trip.
//!
//! An NFS client gets names and attributes in one reply, but each ACL costs a request. Requested entry by entry, as elsewhere, they
//! make the directory look remote, and its attributes, which the client believes for three seconds, expire meanwhile. So the metadata
//! is requested first, from the client's cache, then the ACLs, by as many workers as pay off.

use super::question::{Harvest, Question};
use super::resources::Resources;
use super::workers::{self, Entries};
use crate::batch::{Bits, Dent, Meta, Metas, Names};
use crate::needs::{Kind, Needs, NeedsByKind};
use alloc::vec::Vec;
use dents_engine::limit::choose::{Choice, Strategy};
use dents_engine::limit::policy::{Lists, Policy};
use dents_sys::clock;

/// The attributes that a slot stores as bits, so that two answers about an entry can be joined.
const BITS: Needs = Needs::MARK.union(Needs::CAPABILITY);

/// Names whose metadata is requested before their marks. 2,048 ACLs of 20 ms take 0.7 s with 64 in flight, and the attributes that came
/// with the names are still believed then: the request for an ACL fetches those that expired.
pub(super) const AT_ONCE: usize = 2048;

/// Whether to request them last.
pub(super) fn are_apart(needs: &NeedsByKind, policy: &Policy) -> bool {
    let xattrs = needs.any() & Needs::XATTRS;
    policy.lists == Lists::Apart && xattrs.contains(Needs::MARK) && BITS.contains(xattrs)
}

/// Requests them for all entries whose other metadata is known; `question` has the needs of both. Costs what the same requests cost
/// beside the others.
pub(super) fn fill(
    (dents, names): (&[Dent], Names<'_>),
    question: Question<'_>,
    (resources, policy): (&Resources<'_>, &'static Policy),
    metas: &mut Metas,
    harvest: &mut Harvest,
) {
    let needs = question.needs.only(BITS);
    let known =
        |meta: &Meta| if meta.bits.contains(Bits::STAT) { Kind::from_mode(meta.mode) } else { Kind::Unknown };
    let kind =
        |dent: &Dent, meta: &Meta| if dent.kind() == Kind::Unknown { known(meta) } else { dent.kind() };
    let is_asked = |dent: &Dent, meta: &Meta| !meta.is_faulty() && !needs.get(kind(dent, meta)).is_empty();
    let asked: Vec<Dent> = dents
        .iter()
        .zip(metas.iter())
        .filter(|(dent, meta)| is_asked(dent, meta))
        .map(|(dent, meta)| dent.with_kind(kind(dent, meta)))
        .collect();
    question.watch.iter().for_each(|watch| watch.ask_again(asked.len()));
    let began_ns = clock::monotonic_ns();
    let mut marks = Metas::default();
    let choice = Choice { strategy: Strategy::Classic, reason: "marks" };
    let question = Question { needs: &needs, lists: Lists::Apart, ..question };
    let (found, ..) = workers::fill(
        Entries::Listed(&asked, names),
        None,
        question,
        resources,
        (Some(policy), choice),
        &mut marks,
    );
    question.watch.iter().for_each(|watch| watch.asked_again(asked.len(), clock::monotonic_ns() - began_ns));
    harvest.tally.xattrs += found.tally.xattrs;
    harvest.tally.faults += found.tally.faults;
    let mut marks = marks.iter();
    for (dent, meta) in dents.iter().zip(metas.iter_mut()) {
        if is_asked(dent, meta)
            && let Some(mark) = marks.next()
        {
            meta.bits |= mark.bits;
            if mark.is_faulty() {
                meta.errno_or_context = mark.errno_or_context;
            }
        }
    }
}
