//! Many requests at once through io_uring: while one waits for a server, others are in flight, and all of them
//! together cost one system call.
//!
//! The kernel hands each `statx` and `getxattr` to a worker thread of its own, so a warm local file costs more here
//! than with a plain call (measured in benches/ring.rs). On a file server, many requests wait for one round trip
//! together.
//!
//! Memory: while a request is in flight, the kernel writes to its buffer. The buffer belongs to the [`Ring`]. Paths
//! and directory are borrowed for the whole of [`Ring::run`], which returns or unwinds only when the kernel has no
//! request any more (`run::Run`). So safe code never sees half-written or freed memory.

mod files;
mod queue;
mod request;
mod ring;
mod run;

pub use request::{Answer, Request};
pub use ring::{MAX_ENTRIES, Ring};

use crate::{Errno, Result};
use run::{Landed, Run};
use rustix::io_uring as io;

impl Ring {
    /// Executes the requests that `next` returns, each with a number that the caller chooses. Calls `done` with the
    /// number and the answer of each, in the order of the answers. Returns when `next` has no more requests and all
    /// are answered. If `next` returned `None`, it is called again after answers have arrived, because these may have
    /// led to new requests.
    ///
    /// Makes one `io_uring_enter` for [`entries`](Self::entries) requests: it submits them and waits. If `next` has
    /// no more, it waits for all. Otherwise it leaves the last quarter in flight, so that the kernel works on these
    /// while `done` and `next` run (30,000 requests: 0.76 of the time). With
    /// [`want_answers_soon`](Self::want_answers_soon) it waits for fewer.
    ///
    /// An error means that the ring itself has failed: `ECANCELED` if the kernel can start no worker (RLIMIT_NPROC, a
    /// cgroup's pids.max; it tries for 50 ms), `EAGAIN` and `ENOMEM` if there is no memory for even one request.
    /// `done` is not called for the remaining requests; the caller must make them in another way.
    pub fn run<'a>(
        &mut self,
        mut next: impl FnMut() -> Option<(u32, Request<'a>)>,
        mut done: impl FnMut(u32, Answer<'_>),
    ) -> Result<()> {
        let mut run = Run::of(self);
        run.push_closing();
        loop {
            run.push_files();
            while run.has_room()
                && let Some((token, request)) = next()
            {
                // SAFETY: the request borrows for 'a, which is longer than this function runs, and the run does not
                // outlive this function.
                unsafe { run.ask(token, &request)? };
            }
            if run.is_empty() {
                return Ok(());
            }
            run.advance()?;
            while let Some(landed) = run.land() {
                let Landed { token, buffer, result, .. } = landed;
                if result == Err(Errno::CANCELED) {
                    return Err(Errno::CANCELED);
                }
                if landed.opcode == io::IoringOp::Statx {
                    done(token, Answer::Statx(result.map(|_| run.buffer(buffer))));
                    run.release(buffer);
                } else {
                    done(token, Answer::Getxattr(result));
                }
            }
        }
    }
}
