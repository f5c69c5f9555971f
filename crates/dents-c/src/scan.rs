//! Scans, reports and commands of `dents`, through `dents-arrow`: a run, its words and its errors are those of that crate.

use crate::strings;
use dents_arrow::arrow_array::ffi_stream::FFI_ArrowArrayStream;
use dents_arrow::arrow_array::{RecordBatch, RecordBatchIterator, RecordBatchReader};
use dents_arrow::{Columns, Failure, Run, Told};
use std::ffi::{CStr, CString, OsStr, OsString, c_char, c_int};
use std::os::unix::ffi::OsStrExt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// One run of a command of dents: it starts the command, cancels it, and holds its messages. Each run is for one command: with a second
/// one the messages of both mix, and after dents_run_cancel the second ends at once.
///
/// All functions may be called from any thread, also at the same time with the same run. dents_run_free must be the last call: any use of
/// the run after it is undefined, as after free.
pub struct dents_run {
    run: Run,
    texts: Mutex<Texts>,
}

/// Strings to which the caller has pointers.
#[derive(Default)]
struct Texts {
    error: CString,
    waiting: std::vec::IntoIter<Told>,
    message: CString,
    path: Option<CString>,
}

/// A message of a run, as the program writes it to standard error. Its pointers are valid until the next call of dents_run_message
/// or dents_run_free with the same run.
#[repr(C)]
pub struct dents_message {
    /// The text, in UTF-8: names are quoted and escaped.
    pub text: *const c_char,
    /// The file or directory for which a system call failed, byte for byte; NULL if the message is about no file.
    pub path: *const c_char,
    /// The error number of the call; 0 if there is none.
    pub errnum: c_int,
}

/// The reason why a call with a run failed.
struct Trouble {
    status: u8,
    text: String,
}

impl From<Failure> for Trouble {
    fn from(Failure { status, text }: Failure) -> Trouble {
        Trouble { status, text }
    }
}

impl From<String> for Trouble {
    fn from(text: String) -> Trouble {
        Trouble { status: 2, text }
    }
}

impl dents_run {
    fn texts(&self) -> MutexGuard<'_, Texts> {
        self.texts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes the call, and keeps its error. Returns an exit status: that of wrong options if there is no run.
    fn call(run: Option<&dents_run>, call: impl FnOnce(&Run) -> Result<c_int, Trouble>) -> c_int {
        let Some(run) = run else { return 2 };
        let result = catch_unwind(AssertUnwindSafe(|| call(&run.run)));
        let trouble = match result {
            Ok(Ok(status)) => return status,
            Ok(Err(trouble)) => trouble,
            Err(_) => Trouble { status: 1, text: "dents panicked: please report this".to_owned() },
        };
        run.texts().error = c_string(trouble.text.into_bytes());
        trouble.status.into()
    }
}

/// The text up to its first NUL. (These texts have none.)
fn c_string(mut bytes: Vec<u8>) -> CString {
    bytes.truncate(bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len()));
    CString::new(bytes).unwrap_or_default()
}

fn words(strings: &[&CStr]) -> Vec<OsString> {
    strings.iter().map(|word| OsStr::from_bytes(word.to_bytes()).to_owned()).collect()
}

/// Makes a run. Returns NULL after a panic in the library, which is a bug.
#[unsafe(no_mangle)]
pub extern "C" fn dents_run_new() -> *mut dents_run {
    let new = || dents_run { run: Run::default(), texts: Mutex::default() };
    catch_unwind(|| Box::into_raw(Box::new(new()))).unwrap_or(std::ptr::null_mut())
}

/// Starts a scan; the stream `out` returns its batches while the scan runs. Threads of the library do the work. They wait if the caller
/// does not take their batches.
///
/// `words` are options and paths of "dents scan", and end with NULL: { "--type=f", "--older=365d", "/scratch", NULL }.
/// `columns` are names of columns, and end with NULL; NULL means all: path, path_bytes, parent, parent_bytes, name, name_bytes, extension,
/// depth, type, ino, dev, nlink, mode, uid, gid, user, group, size, allocated, atime, btime, ctime, mtime, target, target_bytes, asked,
/// errno, lazy. The scan requests from the kernel only the facts that the columns and the options need: path and type cost no stat.
/// path, parent, name and target are null where the bytes are not UTF-8; the columns with _bytes always have them.
///
/// Returns 0 if the scan was started. Then the caller must release `out`, which stops the scan if it has not ended; the run may be freed
/// before that. Returns 2 for wrong options, or if `run` or `out` is NULL; 1 if no thread can be started. Then dents_run_error has the
/// message, and `out` is not written. A scan that was cancelled ends with an error of the stream. An entry that cannot be read is no such
/// error: its row says in the columns asked and errno what failed, and dents_run_message returns the message.
///
/// # Safety
/// `run` is NULL or a run that was not freed, `words` and `columns` are NULL or arrays of strings as described, `out` is NULL or can be
/// written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dents_scan(
    run: *const dents_run,
    words: *const *const c_char,
    columns: *const *const c_char,
    out: *mut FFI_ArrowArrayStream,
) -> c_int {
    // SAFETY: the caller's promises.
    let (run, all, given) = unsafe { (run.as_ref(), strings(words), strings(columns)) };
    dents_run::call(run, |run| {
        has_place(out)?;
        let chosen = if columns.is_null() { Columns::default() } else { Columns::of(&names(&given)?)? };
        let words: Vec<OsString> = std::iter::once("scan".into()).chain(self::words(&all)).collect();
        let stream: Box<dyn RecordBatchReader + Send> = Box::new(run.stream(&words, &chosen)?);
        // SAFETY: `out` can be written. Its old content is not released, as in every function that exports a stream.
        unsafe { out.write(FFI_ArrowArrayStream::new(stream)) };
        Ok(0)
    })
}

/// An error if the caller named no place for the stream.
fn has_place(out: *const FFI_ArrowArrayStream) -> Result<(), String> {
    if out.is_null() { Err("out is NULL".to_owned()) } else { Ok(()) }
}

fn names<'a>(columns: &[&'a CStr]) -> Result<Vec<&'a str>, String> {
    let name = |column: &&'a CStr| column.to_str().map_err(|_| format!("there is no column {column:?}"));
    columns.iter().map(name).collect()
}

/// Runs "dents du", "top", "count", "stats" or "diff" to its end. `out` returns the rows of its --csv, in one batch. Numbers are signed
/// integers of 64 bits, times are timestamps in nanoseconds.
///
/// `words` are the command, its options and paths, and end with NULL: { "du", "--max-depth=2", "/home", NULL }.
///
/// Returns 0 if there is a result; then the caller must release `out`. Returns 2 for wrong options, or if `run` or `out` is NULL; 1 if a
/// scan file cannot be read; 130 if the run was cancelled. Then dents_run_error has the message, and `out` is not written.
///
/// # Safety
/// As for dents_scan.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dents_table(
    run: *const dents_run,
    words: *const *const c_char,
    out: *mut FFI_ArrowArrayStream,
) -> c_int {
    // SAFETY: the caller's promises.
    let (run, all) = unsafe { (run.as_ref(), strings(words)) };
    dents_run::call(run, |run| {
        has_place(out)?;
        let batch: RecordBatch = run.table(&self::words(&all))?;
        let schema = batch.schema();
        let reader = Box::new(RecordBatchIterator::new([Ok(batch)], schema));
        // SAFETY: as in `dents_scan`.
        unsafe { out.write(FFI_ArrowArrayStream::new(reader)) };
        Ok(0)
    })
}

/// Runs a command that writes a file to its end: { "scan", "-o", "home.parquet", "/home", NULL }.
///
/// Returns the exit status of the program: 0; 1 if something could not be read; 2 for wrong options, or if `run` is NULL; 130 if the run was
/// cancelled. If no file was written, dents_run_error has the message.
///
/// # Safety
/// As for dents_scan.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dents_command(run: *const dents_run, words: *const *const c_char) -> c_int {
    // SAFETY: the caller's promises.
    let (run, all) = unsafe { (run.as_ref(), strings(words)) };
    dents_run::call(run, |run| Ok(if run.run(&self::words(&all))? { 0 } else { 1 }))
}

/// Cancels the run, from any thread or from a signal handler: its threads end after their present system calls. Does nothing if `run` is
/// NULL.
///
/// # Safety
/// `run` is NULL or a run that was not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dents_run_cancel(run: *const dents_run) {
    // SAFETY: the caller's promise.
    if let Some(run) = unsafe { run.as_ref() } {
        run.run.stop();
    }
}

/// Writes the numbers of directories and entries that the walk has found so far. Each pointer may be NULL; without
/// a run, the numbers are 0.
///
/// # Safety
/// `run` is NULL or a run that was not freed; the others are NULL or can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dents_run_progress(run: *const dents_run, directories: *mut u64, entries: *mut u64) {
    // SAFETY: the caller's promise.
    let seen = unsafe { run.as_ref() }.map_or([0; 2], |run| run.run.seen());
    for (out, seen) in [directories, entries].into_iter().zip(seen) {
        if !out.is_null() {
            // SAFETY: it is not NULL, so it can be written.
            unsafe { out.write(seen) };
        }
    }
}

/// Returns the reason why the last call with this run failed: a text in UTF-8, valid until the next call with the same run. It is empty if
/// no call has failed, or if `run` is NULL.
///
/// # Safety
/// `run` is NULL or a run that was not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dents_run_error(run: *const dents_run) -> *const c_char {
    // SAFETY: the caller's promise.
    unsafe { run.as_ref() }.map_or(c"".as_ptr(), |run| run.texts().error.as_ptr())
}

/// Takes the next message of the run, about a file that could not be read. The run keeps at most 1,000 messages and drops further ones.
/// Returns false if there is no message, or if an argument is NULL.
///
/// # Safety
/// `run` is NULL or a run that was not freed; `message` is NULL or can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dents_run_message(run: *const dents_run, message: *mut dents_message) -> bool {
    // SAFETY: the caller's promise.
    let Some(run) = (unsafe { run.as_ref() }).filter(|_| !message.is_null()) else { return false };
    let mut texts = run.texts();
    if texts.waiting.len() == 0 {
        texts.waiting = run.run.messages().0.into_iter();
    }
    let Some(Told { text, path, errno }) = texts.waiting.next() else { return false };
    texts.message = c_string(text.into_bytes());
    texts.path = path.map(c_string);
    let path = texts.path.as_ref().map_or(std::ptr::null(), |path| path.as_ptr());
    // SAFETY: the caller's promise.
    unsafe {
        message.write(dents_message { text: texts.message.as_ptr(), path, errnum: errno.unwrap_or(0) })
    };
    true
}

/// Frees a run. Its streams stay valid. NULL is allowed.
///
/// # Safety
/// `run` is NULL or a run that was not freed, and no other thread uses it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dents_run_free(run: *mut dents_run) {
    if !run.is_null() {
        // SAFETY: it came from `dents_run_new`, and is not used any more.
        drop(unsafe { Box::from_raw(run) });
    }
}
