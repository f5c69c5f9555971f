//! Scans and reports as Arrow data, and the program.

use crate::os;
use dents_arrow::arrow_array::cast::AsArray;
use dents_arrow::arrow_array::ffi::to_ffi;
use dents_arrow::arrow_array::ffi_stream::FFI_ArrowArrayStream;
use dents_arrow::arrow_array::types::{
    Float64Type, Int32Type, Int64Type, TimestampNanosecondType, UInt16Type, UInt32Type, UInt64Type,
};
use dents_arrow::arrow_array::{
    Array, ArrayRef, RecordBatch, RecordBatchIterator, RecordBatchReader, StructArray,
};
use dents_arrow::arrow_schema::ffi::FFI_ArrowSchema;
use dents_arrow::arrow_schema::{ArrowError, DataType, SchemaRef};
use dents_arrow::{Columns, Failure, Next, Query};
use pyo3::create_exception;
use pyo3::exceptions::{PyException, PyKeyboardInterrupt, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyList, PyTuple};
use std::collections::HashMap;
use std::ffi::{CStr, OsString};
use std::os::unix::ffi::OsStringExt;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::ThreadId;
use std::time::{Duration, Instant};

/// How long a wait lasts before signals are looked at.
const PATIENCE: Duration = Duration::from_millis(50);

create_exception!(dents, Cancelled, PyException, "The run was cancelled.");

fn error(failure: Failure) -> PyErr {
    match failure.status {
        2 => PyValueError::new_err(failure.text),
        130 => Cancelled::new_err(failure.text),
        _ => PyRuntimeError::new_err(failure.text),
    }
}

fn words(given: &Bound<'_, PyList>) -> PyResult<Vec<OsString>> {
    given.iter().map(|word| Ok(OsString::from_vec(os::encoded(&word)?))).collect()
}

/// The runs of one scan or report: each time a result is taken, one begins.
#[derive(Default)]
struct Runs(Mutex<Going>);

#[derive(Default)]
struct Going {
    cancelled: bool,
    /// The run that began last: the one that is asked about.
    last: dents_arrow::Run,
    /// Those that have not ended, by their numbers.
    running: HashMap<u64, dents_arrow::Run>,
    next: u64,
}

impl Runs {
    fn lock(&self) -> MutexGuard<'_, Going> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A run begins. After [`Runs::cancel`] it ends at once.
    fn begin(self: &Arc<Runs>, run: &dents_arrow::Run) -> Begun {
        let mut going = self.lock();
        if going.cancelled {
            run.stop();
        }
        let number = going.next;
        going.next += 1;
        going.last = run.clone();
        going.running.insert(number, run.clone());
        Begun { runs: Arc::clone(self), number }
    }

    fn cancel(&self) {
        let mut going = self.lock();
        going.cancelled = true;
        going.running.values().for_each(dents_arrow::Run::stop);
    }
}

/// A run that has begun; it ends when this is dropped.
struct Begun {
    runs: Arc<Runs>,
    number: u64,
}

impl Drop for Begun {
    fn drop(&mut self) {
        self.runs.lock().running.remove(&self.number);
    }
}

/// A scan that begins when its first batch is taken: a library that only looks at the schema begins none.
pub(crate) struct Source {
    query: Query,
    run: dents_arrow::Run,
    runs: Arc<Runs>,
    /// The stream is dropped, and so ends, before its run is taken out of the runs.
    begun: Option<(dents_arrow::Stream, Begun)>,
}

impl Source {
    /// The next batch, if it comes within this time.
    pub(crate) fn next_within(&mut self, time: Duration) -> Result<Next, Failure> {
        let (stream, _) = match &mut self.begun {
            Some(begun) => begun,
            none => {
                let begun = self.runs.begin(&self.run);
                none.insert((self.run.begin(&self.query)?, begun))
            }
        };
        stream.next_within(time)
    }
}

/// The runs of one scan or report.
#[pyclass(frozen, module = "dents")]
pub(crate) struct Run(Arc<Runs>);

#[pymethods]
impl Run {
    #[new]
    fn new() -> Run {
        Run(Arc::default())
    }

    /// Stops all runs, and those that begin later, from any thread.
    fn cancel(&self) {
        self.0.cancel();
    }

    /// The number of directories and of entries that the run which began last has found so far.
    fn seen(&self) -> (u64, u64) {
        self.0.lock().last.seen().into()
    }

    /// Takes the messages of the run that began last: texts, paths and error numbers, and how many were not kept.
    fn messages<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyList>, u64)> {
        let (told, lost) = self.0.lock().last.messages();
        let list = PyList::empty(py);
        for one in told {
            let path = one.path.map(|path| os::name(py, &path, false)).transpose()?;
            list.append((one.text, path, one.errno))?;
        }
        Ok((list, lost))
    }

    /// The result of a scan, which begins when its first batch is taken. `progress` is called while batches are taken.
    #[pyo3(signature = (query, progress = None))]
    fn stream(&self, query: &ScanQuery, progress: Option<Py<PyAny>>) -> Stream {
        let run = dents_arrow::Run::default();
        let (query, runs) = (query.0.clone(), Arc::clone(&self.0));
        let schema = query.schema();
        let source = Source { query, run: run.clone(), runs, begun: None };
        Stream {
            progress: progress.map(|callback| ProgressFunction::new(run.clone(), callback)),
            run,
            schema,
            stream: Arc::new(Mutex::new(Some(source))),
            done: AtomicBool::new(false),
        }
    }

    /// Runs a report to its end.
    fn table(&self, given: &Bound<'_, PyList>, progress: Option<&Bound<'_, PyAny>>) -> PyResult<Batch> {
        let words = words(given)?;
        self.wait(given.py(), progress, move |run| run.table(&words)).map(Batch)
    }

    /// Runs a command that writes a file to its end. Returns whether all could be read.
    fn command(&self, given: &Bound<'_, PyList>, progress: Option<&Bound<'_, PyAny>>) -> PyResult<bool> {
        let words = words(given)?;
        self.wait(given.py(), progress, move |run| run.run(&words))
    }

    /// Whether `command` understands these words.
    #[staticmethod]
    fn understands(given: &Bound<'_, PyList>) -> PyResult<bool> {
        Ok(dents_arrow::Run::understands(&words(given)?))
    }
}

/// A scan with checked options and columns.
#[pyclass(frozen, module = "dents", name = "Query")]
pub(crate) struct ScanQuery(Query);

#[pymethods]
impl ScanQuery {
    #[new]
    fn new(given: &Bound<'_, PyList>, columns: Option<Vec<String>>) -> PyResult<ScanQuery> {
        let columns = columns.map_or_else(|| Ok(Columns::default()), |names| Columns::of(&names));
        let columns = columns.map_err(PyValueError::new_err)?;
        let words = words(given)?;
        given.py().detach(|| Query::new(&words, &columns)).map(ScanQuery).map_err(error)
    }

    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        schema(py, &self.0.schema())
    }
}

impl Run {
    /// Runs a command on a thread of its own. This thread looks at signals meanwhile, and reports progress; an exception stops the run.
    fn wait<T: Send + 'static>(
        &self,
        py: Python<'_>,
        progress: Option<&Bound<'_, PyAny>>,
        command: impl FnOnce(&dents_arrow::Run) -> Result<T, Failure> + Send + 'static,
    ) -> PyResult<T> {
        let (sender, results) = channel();
        let run = dents_arrow::Run::default();
        let _begun = self.0.begin(&run);
        let its = run.clone();
        let work = move || {
            let _ = sender.send(command(&its));
        };
        let thread = std::thread::Builder::new().name("dents-run".to_owned()).spawn(work)?;
        let mut results = Some(results);
        let tell = |progress: Option<&Bound<'_, PyAny>>| match progress {
            Some(progress) => progress.call1(<(u64, u64)>::from(run.seen())).map(drop),
            None => Ok(()),
        };
        loop {
            let Some(receiver) = results.take() else { return Err(PyRuntimeError::new_err("no result")) };
            let (receiver, result) = py.detach(move || {
                let result = receiver.recv_timeout(PATIENCE);
                (receiver, result)
            });
            match result {
                Ok(result) => {
                    py.detach(|| thread.join()).map_err(|_| PyRuntimeError::new_err(PANICKED))?;
                    tell(progress)?;
                    return result.map_err(error);
                }
                Err(RecvTimeoutError::Disconnected) => return Err(PyRuntimeError::new_err(PANICKED)),
                Err(RecvTimeoutError::Timeout) => {}
            }
            results = Some(receiver);
            if let Err(interrupted) = py.check_signals().and_then(|()| tell(progress)) {
                // The thread ends after its system call; nothing waits for that.
                run.stop();
                return Err(interrupted);
            }
        }
    }
}

/// A Python function that is called with the progress of a scan.
struct ProgressFunction {
    run: dents_arrow::Run,
    callback: Py<PyAny>,
    /// When it is called next.
    next: Mutex<Instant>,
}

impl ProgressFunction {
    fn new(run: dents_arrow::Run, callback: Py<PyAny>) -> ProgressFunction {
        ProgressFunction { run, callback, next: Mutex::new(Instant::now()) }
    }

    /// Calls the function, at most once in [`PATIENCE`], and at the `end`.
    fn tell(&self, py: Python<'_>, end: bool) -> PyResult<()> {
        let mut next = self.next.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        if now < *next && !end {
            return Ok(());
        }
        *next = now + PATIENCE;
        drop(next);
        self.callback.call1(py, <(u64, u64)>::from(self.run.seen())).map(drop)
    }
}

const PANICKED: &str = "dents panicked: please report this";

pub(crate) type Shared = Arc<Mutex<Option<Source>>>;

/// The batches of a scan.
#[pyclass(frozen, module = "dents")]
pub(crate) struct Stream {
    run: dents_arrow::Run,
    schema: SchemaRef,
    pub(crate) stream: Shared,
    /// Whether this object has no batches any more: they were taken, or another library takes them.
    done: AtomicBool,
    progress: Option<ProgressFunction>,
}

pub(crate) fn lock(stream: &Shared) -> MutexGuard<'_, Option<Source>> {
    stream.lock().unwrap_or_else(PoisonError::into_inner)
}

#[pymethods]
impl Stream {
    /// The next batch; None at the end.
    fn next(&self, py: Python<'_>) -> PyResult<Option<Batch>> {
        loop {
            let next = py.detach(|| match &mut *lock(&self.stream) {
                Some(stream) => stream.next_within(PATIENCE),
                None => Ok(Next::End),
            });
            let next = next.map_err(error)?;
            let is_end = matches!(next, Next::End);
            let told = self.progress.as_ref().map_or(Ok(()), |progress| progress.tell(py, is_end));
            told.inspect_err(|_| self.run.stop())?;
            match next {
                Next::Batch(batch) => return Ok(Some(Batch(batch))),
                Next::End => {
                    self.done.store(true, Relaxed);
                    return Ok(None);
                }
                Next::Waiting => py.check_signals().inspect_err(|_| self.run.stop())?,
            }
        }
    }

    /// Ends the scan, and waits for its threads.
    fn close(&self, py: Python<'_>) {
        self.done.store(true, Relaxed);
        self.run.stop();
        py.detach(|| drop(lock(&self.stream).take()));
    }

    /// The names of the columns.
    fn column_names(&self) -> Vec<String> {
        self.schema.fields().iter().map(|field| field.name().clone()).collect()
    }

    /// The Arrow PyCapsule interface. The stream can be taken once.
    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let _ = requested_schema;
        let stream = py.detach(|| lock(&self.stream).take());
        let stream = stream.ok_or_else(|| PyValueError::new_err("the batches of this scan were taken"))?;
        self.done.store(true, Relaxed);
        let progress = self
            .progress
            .as_ref()
            .map(|progress| ProgressFunction::new(self.run.clone(), progress.callback.clone_ref(py)));
        let interruptible = Interruptible { stream, thread: std::thread::current().id(), progress };
        export(py, Box::new(interruptible))
    }

    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        schema(py, &self.schema)
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        if self.done.load(Relaxed) {
            return;
        }
        // The scan ends after the system calls it is in: neither the interpreter nor an event loop waits for that.
        self.run.stop();
        let stream = std::mem::take(&mut self.stream);
        drop(std::thread::Builder::new().spawn(move || drop(stream)));
    }
}

/// A stream that another library reads: the thread that exported it still serves signals while it waits for a batch, and reports progress.
struct Interruptible {
    stream: Source,
    thread: ThreadId,
    progress: Option<ProgressFunction>,
}

impl Interruptible {
    /// What the exporting thread does beside taking batches. An error ends the stream.
    fn attend(&self, waiting: bool, end: bool) -> PyResult<()> {
        if std::thread::current().id() != self.thread || !(waiting || self.progress.is_some()) {
            return Ok(());
        }
        Python::attach(|py| {
            let told = self.progress.as_ref().map_or(Ok(()), |progress| progress.tell(py, end));
            let attended = told.and_then(|()| py.check_signals());
            if attended.as_ref().is_err_and(|error| error.is_instance_of::<PyKeyboardInterrupt>(py)) {
                // The library cannot pass the exception on: it comes again once the interpreter runs.
                // SAFETY: it may be called at any time while the interpreter runs.
                unsafe { pyo3::ffi::PyErr_SetInterrupt() };
            }
            attended
        })
    }
}

impl Iterator for Interruptible {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let next = match self.stream.next_within(PATIENCE) {
                Ok(next) => next,
                Err(failure) => return Some(Err(ArrowError::ExternalError(Box::new(failure)))),
            };
            if let Err(error) = self.attend(matches!(next, Next::Waiting), matches!(next, Next::End)) {
                self.stream.run.stop();
                return Some(Err(ArrowError::ExternalError(Box::new(error))));
            }
            match next {
                Next::Batch(batch) => return Some(Ok(batch)),
                Next::End => return None,
                Next::Waiting => {}
            }
        }
    }
}

impl RecordBatchReader for Interruptible {
    fn schema(&self) -> SchemaRef {
        self.stream.query.schema()
    }
}

const STREAM: &CStr = c"arrow_array_stream";

fn export<'py>(
    py: Python<'py>,
    reader: Box<dyn RecordBatchReader + Send>,
) -> PyResult<Bound<'py, PyCapsule>> {
    PyCapsule::new_with_value(py, FFI_ArrowArrayStream::new(reader), STREAM)
}

fn schema<'py>(py: Python<'py>, schema: &SchemaRef) -> PyResult<Bound<'py, PyCapsule>> {
    let schema = FFI_ArrowSchema::try_from(schema.as_ref()).map_err(foreign)?;
    PyCapsule::new_with_value(py, schema, c"arrow_schema")
}

fn foreign(error: ArrowError) -> PyErr {
    PyRuntimeError::new_err(error.to_string())
}

/// Rows with named columns, as Arrow data: pyarrow, polars, pandas and duckdb take it without a copy.
#[pyclass(frozen, module = "dents")]
pub(crate) struct Batch(pub(crate) RecordBatch);

#[pymethods]
impl Batch {
    fn __len__(&self) -> usize {
        self.0.num_rows()
    }

    fn __repr__(&self) -> String {
        format!("<dents.Batch of {} rows: {}>", self.0.num_rows(), self.column_names().join(", "))
    }

    /// The names of the columns.
    #[getter]
    fn column_names(&self) -> Vec<String> {
        self.0.schema().fields().iter().map(|field| field.name().clone()).collect()
    }

    /// The rows as tuples. Times are nanoseconds since 1970.
    fn rows<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let columns = self.0.columns().iter().map(|column| values(py, column));
        let columns = columns.collect::<PyResult<Vec<_>>>()?;
        let rows = PyList::empty(py);
        let mut columns: Vec<_> = columns.into_iter().map(Vec::into_iter).collect();
        for _ in 0..self.0.num_rows() {
            rows.append(PyTuple::new(
                py,
                columns.iter_mut().filter_map(Iterator::next).collect::<Vec<_>>(),
            )?)?;
        }
        Ok(rows)
    }

    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        schema(py, &self.0.schema())
    }

    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_array__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<(Bound<'py, PyCapsule>, Bound<'py, PyCapsule>)> {
        let _ = requested_schema;
        let (array, schema) = to_ffi(&StructArray::from(self.0.clone()).to_data()).map_err(foreign)?;
        let schema = PyCapsule::new_with_value(py, schema, c"arrow_schema")?;
        Ok((schema, PyCapsule::new_with_value(py, array, c"arrow_array")?))
    }

    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let _ = requested_schema;
        let reader = RecordBatchIterator::new([Ok(self.0.clone())], self.0.schema());
        export(py, Box::new(reader))
    }
}

fn values<'py>(py: Python<'py>, column: &ArrayRef) -> PyResult<Vec<Bound<'py, PyAny>>> {
    macro_rules! objects {
        ($array:expr) => {
            $array.iter().map(|value| Ok(value.into_pyobject(py)?.into_any())).collect()
        };
    }
    match column.data_type() {
        DataType::Utf8 => objects!(column.as_string::<i32>()),
        DataType::Binary => objects!(column.as_binary::<i32>()),
        DataType::Boolean => objects!(column.as_boolean()),
        DataType::Int32 => objects!(column.as_primitive::<Int32Type>()),
        DataType::Int64 => objects!(column.as_primitive::<Int64Type>()),
        DataType::UInt16 => objects!(column.as_primitive::<UInt16Type>()),
        DataType::UInt32 => objects!(column.as_primitive::<UInt32Type>()),
        DataType::UInt64 => objects!(column.as_primitive::<UInt64Type>()),
        DataType::Float64 => objects!(column.as_primitive::<Float64Type>()),
        DataType::Timestamp(..) => objects!(column.as_primitive::<TimestampNanosecondType>()),
        other => Err(PyRuntimeError::new_err(format!("no Python type for {other}"))),
    }
}

/// The program dents. Returns its exit status.
#[pyfunction]
#[pyo3(name = "_program")]
pub(crate) fn program(py: Python<'_>, given: &Bound<'_, PyList>) -> PyResult<u8> {
    let words = words(given)?;
    Ok(py.detach(|| dents_cli::program(words)).0)
}
