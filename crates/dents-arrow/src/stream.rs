//! The batches of a scan, while it runs.

use crate::batches::Batches;
use crate::columns::Columns;
use crate::run::{Failure, Run};
use arrow_array::{RecordBatch, RecordBatchReader};
use arrow_schema::{ArrowError, SchemaRef};
use dents_commands::{Scan, Status};
use std::ffi::OsString;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

/// Batches that wait for the reader; a worker that has one more waits.
const AHEAD: usize = 8;

/// A scan whose options were parsed: it can be started many times, each time as a run of its own.
#[derive(Clone)]
pub struct Query {
    scan: Arc<Scan>,
    columns: Columns,
}

impl Query {
    /// Parses the words of a command line. A duration such as the one of `--newer` counts from now.
    ///
    /// # Errors
    /// Wrong options.
    pub fn new(words: &[OsString], columns: &Columns) -> Result<Query, Failure> {
        Query::parse(&Run::default(), words, columns)
    }

    /// As [`Query::new`]; the run has the messages.
    pub(crate) fn parse(run: &Run, words: &[OsString], columns: &Columns) -> Result<Query, Failure> {
        let scan = Scan::new(words, &run.session).map_err(|status| run.failure(status))?;
        Ok(Query { scan: Arc::new(scan), columns: columns.clone() })
    }

    /// Names and types of the columns.
    #[must_use]
    pub fn schema(&self) -> SchemaRef {
        self.columns.schema()
    }
}

impl Run {
    /// The rows of `scan`, while it runs on a thread of its own.
    ///
    /// # Errors
    /// Wrong options, or no thread can be started.
    pub fn stream(&self, words: &[OsString], columns: &Columns) -> Result<Stream, Failure> {
        self.begin(&Query::parse(self, words, columns)?)
    }

    /// The rows of this scan, while it runs on a thread of its own.
    ///
    /// # Errors
    /// No thread can be started.
    pub fn begin(&self, query: &Query) -> Result<Stream, Failure> {
        Stream::start(self.clone(), query)
    }
}

/// The batches of a scan. Each worker fills batches of its own, so rows are in no order. Dropping the stream stops the scan.
pub struct Stream {
    run: Run,
    columns: Columns,
    batches: Option<Receiver<RecordBatch>>,
    thread: Option<JoinHandle<Result<Status, Status>>>,
}

/// The answer of a stream to its reader.
#[derive(Debug)]
pub enum Next {
    /// A batch.
    Batch(RecordBatch),
    /// No batch came in time.
    Waiting,
    /// All batches were returned.
    End,
}

impl Stream {
    pub(crate) fn start(run: Run, query: &Query) -> Result<Stream, Failure> {
        let Query { scan, columns } = query.clone();
        let (sender, batches) = sync_channel(AHEAD);
        let (session, sink) = (run.session.clone(), Batches { columns: columns.clone(), sender });
        let work = move || scan.give(&session, sink.columns.wanted(), &sink);
        let thread = Builder::new().name("dents-scan".to_owned()).spawn(work).map_err(|error| {
            let text = format!("cannot start a thread: {error}");
            Failure { status: 1, text }
        })?;
        Ok(Stream { run, columns, batches: Some(batches), thread: Some(thread) })
    }

    /// The run, to stop it and to take its messages.
    #[must_use]
    pub fn run(&self) -> &Run {
        &self.run
    }

    /// Names and types of the columns.
    #[must_use]
    pub fn schema(&self) -> SchemaRef {
        self.columns.schema()
    }

    /// The next batch, if it comes within this time.
    ///
    /// # Errors
    /// Wrong options, a scan file that cannot be read, or the run was stopped. Entries that cannot be read have rows with `asked` and `errno`.
    pub fn next_within(&mut self, time: Duration) -> Result<Next, Failure> {
        let Some(batches) = &self.batches else { return Ok(Next::End) };
        match batches.recv_timeout(time) {
            Ok(batch) => Ok(Next::Batch(batch)),
            Err(RecvTimeoutError::Timeout) => Ok(Next::Waiting),
            Err(RecvTimeoutError::Disconnected) => self.end(),
        }
    }

    fn end(&mut self) -> Result<Next, Failure> {
        self.batches = None;
        match self.thread.take().map(JoinHandle::join) {
            None | Some(Ok(Ok(_))) => Ok(Next::End),
            Some(Ok(Err(status))) => Err(self.run.failure(status)),
            Some(Err(_)) => {
                Err(Failure { status: 1, text: "the scan panicked: please report this".to_owned() })
            }
        }
    }
}

impl Iterator for Stream {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        let batches = self.batches.as_ref()?;
        match batches.recv() {
            Ok(batch) => Some(Ok(batch)),
            Err(_) => self.end().err().map(|failure| Err(ArrowError::ExternalError(Box::new(failure)))),
        }
    }
}

impl RecordBatchReader for Stream {
    fn schema(&self) -> SchemaRef {
        self.columns.schema()
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        // Workers that wait for the reader continue, and end.
        if self.batches.take().is_some() {
            self.run.stop();
        }
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
