//! A discrete-event simulation of a scan by many clients: docs/SIMULATION.md has its results.
//!
//! ```text
//! frontier ─► tasks ─► client: a task after the other, `in_flight` requests at once ─► commit ─► leftovers ─┐
//!    ▲                                    │ all clients: one metadata server                                │
//!    └────────────────────────────────────┴─────────────────────────────────────────────────────────────────┘
//! ```
//!
//! The unit is a directory: it takes a number of requests, one after the other. While `n` requests are in flight in all clients, each takes
//! `max(latency, n / capacity)`: the closed formula of a server with a saturation point. So all requests progress at the same speed, and
//! one clock of *progress*, in requests, is enough: a directory of `r` requests that begins at progress `p` ends at `p + r`, however the
//! load changes. A second queue has what takes seconds: messages, commits, deaths.

mod tree;

pub use tree::Directory;

use crate::rng::Rng;
use std::cmp::{Ordering, Reverse};
use std::collections::{BinaryHeap, VecDeque};

/// What is simulated. Times are seconds.
#[derive(Clone, Debug)]
pub struct Model {
    /// The clients: each runs one task at a time.
    pub clients: usize,
    /// Requests that a client has in flight at most.
    pub in_flight: usize,
    /// Of a request on an idle server.
    pub latency: f64,
    /// Requests per second of the server, all clients together.
    pub capacity: f64,
    /// Requests for each directory.
    pub per_directory: u64,
    /// Requests for each entry.
    pub per_entry: u64,
    /// A directory with more entries is shared by the workers of a client in parts of this size.
    pub part: u64,
    /// A task begins no other directory after this many entries.
    pub budget: u64,
    /// Tasks in flight for each client, the running one included.
    pub tasks: usize,
    /// Most directories in a task.
    pub bundle: u64,
    /// A message between coordinator and client.
    pub message: f64,
    /// What the coordinator does for each task: one at a time.
    pub scheduling: f64,
    /// A commit, and what each row adds to it.
    pub commit: (f64, f64),
    /// Between two deaths of a client on average, if clients die.
    pub lifetime: Option<f64>,
    /// From a death until the coordinator notices it, and until the client is back.
    pub after_death: (f64, f64),
    /// Of the times of deaths.
    pub seed: u64,
}

/// What came out.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outcome {
    /// From the first message to the last commit.
    pub seconds: f64,
    /// The share of the clients' places for requests that was empty, over the whole time.
    pub idle: f64,
    /// Requests to the server.
    pub requests: u64,
    /// Those of tasks that died.
    pub lost: u64,
    /// Committed tasks.
    pub tasks: u64,
    /// Deaths of clients.
    pub deaths: u64,
    /// Directories in committed tasks, and inodes.
    pub directories: u64,
    /// The inodes of these.
    pub inodes: u64,
    /// The sum of the numbers of these directories: with their count it tells whether each was read once.
    pub checksum: u64,
    /// Most directories that waited in leftovers at once.
    pub waiting: u64,
    /// Most ranges of leftovers that the coordinator held at once.
    pub ranges: u64,
}

/// Directories `from..to` of the leftovers of one task.
#[derive(Clone, Copy, Debug)]
struct Range {
    of: usize,
    from: usize,
    to: usize,
}

#[derive(Clone, Debug)]
struct Task {
    ranges: Vec<Range>,
    budget: u64,
}

/// What a client has done of a task. It counts when the task is committed.
#[derive(Default)]
struct Running {
    task: Option<Task>,
    stack: Vec<Directory>,
    /// Requests of parts of large directories, for each part that no worker has begun.
    parts: Vec<u64>,
    active: usize,
    entries: u64,
    requests: u64,
    directories: u64,
    inodes: u64,
    checksum: u64,
}

#[derive(Default)]
struct Client {
    dead: bool,
    /// Grows at each death: events of an earlier life are void.
    life: u32,
    running: Running,
    queue: VecDeque<Task>,
    /// Tasks that the coordinator counts for it.
    assigned: usize,
}

enum Event {
    Arrive(usize, u32, Task),
    Committed(usize, u32),
    Result(usize, u32, Vec<Range>, Vec<Directory>),
    Death(usize),
    Noticed(Vec<Task>),
    Back(usize),
}

/// An entry of a queue: earliest first; at the same time, in the order of their making.
struct At<T>(f64, u64, T);

impl<T> PartialEq for At<T> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}
impl<T> Eq for At<T> {}
impl<T> PartialOrd for At<T> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
impl<T> Ord for At<T> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.total_cmp(&other.0).then(self.1.cmp(&other.1))
    }
}

type Queue<T> = BinaryHeap<Reverse<At<T>>>;

struct Simulation<'a> {
    model: &'a Model,
    clients: Vec<Client>,
    rng: Rng,
    now: f64,
    /// Requests that each place for requests has completed since the beginning, had it been busy.
    progress: f64,
    active: usize,
    busy: f64,
    made: u64,
    events: Queue<Event>,
    /// Workers by the progress at which they are ready: client, its life, and what was read.
    reads: Queue<(usize, u32, Option<Directory>)>,
    leftovers: Vec<Vec<Directory>>,
    /// Directories of `leftovers` that no committed task has consumed.
    unread: Vec<usize>,
    frontier: VecDeque<Range>,
    /// Directories in `frontier`.
    free: u64,
    /// Directories that wait: in `frontier`, and in tasks that are not committed.
    waiting: u64,
    in_flight: usize,
    coordinator: f64,
    outcome: Outcome,
}

impl Model {
    /// Scans the tree below `root`.
    ///
    /// # Panics
    /// There is no client, or a client may have no request or no task.
    pub fn run(&self, root: Directory) -> Outcome {
        assert!(self.clients.min(self.in_flight).min(self.tasks) > 0, "no client, request or task");
        let clients = (0..self.clients).map(|_| Client::default()).collect();
        let mut simulation = Simulation {
            model: self,
            clients,
            rng: Rng::new(self.seed),
            now: 0.0,
            progress: 0.0,
            active: 0,
            busy: 0.0,
            made: 0,
            events: Queue::new(),
            reads: Queue::new(),
            leftovers: Vec::new(),
            unread: Vec::new(),
            frontier: VecDeque::new(),
            free: 0,
            waiting: 0,
            in_flight: 0,
            coordinator: 0.0,
            outcome: Outcome::default(),
        };
        simulation.leave(vec![root]);
        (0..self.clients).for_each(|client| simulation.will_die(client));
        simulation.submit();
        while simulation.in_flight > 0 || simulation.free > 0 {
            simulation.step();
        }
        let places = (self.clients * self.in_flight) as f64;
        let Simulation { now, busy, outcome, .. } = simulation;
        Outcome { seconds: now, idle: 1.0 - busy / (places * now), ..outcome }
    }
}

impl Simulation<'_> {
    /// Seconds that a request takes now.
    fn pace(&self) -> f64 {
        self.model.latency.max(self.active as f64 / self.model.capacity)
    }

    fn after(&mut self, seconds: f64, event: Event) {
        self.made += 1;
        self.events.push(Reverse(At(self.now + seconds, self.made, event)));
    }

    /// The next event: of the queue in seconds, or of the one in progress.
    fn step(&mut self) {
        while let Some(Reverse(At(_, _, (client, life, _)))) = self.reads.peek() {
            if self.clients[*client].life == *life {
                break;
            }
            self.reads.pop();
        }
        let pace = self.pace();
        let read = self.reads.peek().map(|Reverse(at)| self.now + (at.0 - self.progress) * pace);
        let event = self.events.peek().map_or(f64::INFINITY, |Reverse(at)| at.0);
        let until = read.map_or(event, |read| read.min(event)).max(self.now);
        assert!(until.is_finite(), "directories wait, and nothing will happen");
        self.busy += self.active as f64 * (until - self.now);
        self.progress += (until - self.now) / pace;
        self.now = until;
        if read.is_some_and(|read| read <= event) {
            if let Some(Reverse(At(progress, _, (client, _, directory)))) = self.reads.pop() {
                self.progress = progress;
                self.has_read(client, directory);
            }
        } else if let Some(Reverse(At(_, _, event))) = self.events.pop() {
            self.happen(event);
        }
    }

    fn happen(&mut self, event: Event) {
        match event {
            Event::Arrive(client, life, task) if self.clients[client].life == life => {
                self.clients[client].queue.push_back(task);
                self.begin(client);
            }
            Event::Arrive(_, _, task) => self.lose(vec![task]),
            Event::Committed(client, life) if self.clients[client].life == life => self.committed(client),
            Event::Committed(..) => {}
            Event::Result(client, life, ranges, left) => {
                if self.clients[client].life == life {
                    self.clients[client].assigned -= 1;
                }
                self.in_flight -= 1;
                self.consumed(&ranges);
                self.leave(left);
                self.submit();
            }
            Event::Death(client) => self.die(client),
            Event::Noticed(tasks) => {
                self.in_flight -= tasks.len();
                for range in tasks.into_iter().flat_map(|task| task.ranges) {
                    self.free += (range.to - range.from) as u64;
                    self.frontier.push_front(range);
                }
                self.submit();
            }
            Event::Back(client) => {
                self.clients[client].dead = false;
                self.will_die(client);
                self.submit();
            }
        }
    }

    /// Leftovers of a committed task join the frontier.
    fn leave(&mut self, left: Vec<Directory>) {
        if left.is_empty() {
            return;
        }
        self.free += left.len() as u64;
        self.waiting += left.len() as u64;
        self.frontier.push_back(Range { of: self.leftovers.len(), from: 0, to: left.len() });
        self.unread.push(left.len());
        self.leftovers.push(left);
        self.outcome.waiting = self.outcome.waiting.max(self.waiting);
        self.outcome.ranges = self.outcome.ranges.max(self.frontier.len() as u64);
    }

    /// A list is dropped when all of it was consumed.
    fn consumed(&mut self, ranges: &[Range]) {
        for range in ranges {
            self.waiting -= (range.to - range.from) as u64;
            self.unread[range.of] -= range.to - range.from;
            if self.unread[range.of] == 0 {
                self.leftovers[range.of] = Vec::new();
            }
        }
    }

    /// The coordinator: tasks from the frontier, as many as may be in flight. The frontier is shared equally: so ranges are split
    /// when it is small and joined when it is large. While there are fewer directories than tasks wanted, budgets are small.
    fn submit(&mut self) {
        loop {
            let alive = self.clients.iter().filter(|client| !client.dead).count();
            let wanted = (alive * self.model.tasks) as u64;
            let least = self.clients.iter().enumerate().filter(|(_, client)| !client.dead);
            let least = least.min_by_key(|(_, client)| client.assigned);
            let Some((client, _)) = least.filter(|(_, one)| one.assigned < self.model.tasks) else { return };
            if self.free == 0 {
                return;
            }
            let full = (self.in_flight as u64 + self.free).min(wanted);
            let budget = (self.model.budget * full / wanted).max(self.model.budget.min(10_000));
            let size = (self.free / wanted).clamp(1, self.model.bundle);
            let task = Task { ranges: self.take(size as usize), budget };
            self.coordinator = self.coordinator.max(self.now) + self.model.scheduling;
            self.in_flight += 1;
            self.clients[client].assigned += 1;
            let life = self.clients[client].life;
            self.after(self.coordinator - self.now + self.model.message, Event::Arrive(client, life, task));
        }
    }

    /// The oldest directories of the frontier.
    fn take(&mut self, mut size: usize) -> Vec<Range> {
        let mut taken = Vec::new();
        while size > 0 {
            let Some(mut range) = self.frontier.pop_front() else { break };
            let count = size.min(range.to - range.from);
            taken.push(Range { to: range.from + count, ..range });
            range.from += count;
            size -= count;
            self.free -= count as u64;
            if range.from < range.to {
                self.frontier.push_front(range);
            }
        }
        taken
    }

    fn begin(&mut self, client: usize) {
        let Client { running, queue, .. } = &mut self.clients[client];
        if running.task.is_some() {
            return;
        }
        let Some(task) = queue.pop_front() else { return };
        for range in &task.ranges {
            running.stack.extend(&self.leftovers[range.of][range.from..range.to]);
        }
        running.task = Some(task);
        self.walk(client);
    }

    /// Idle workers of the client begin directories, until the budget is used up; then the task is committed.
    fn walk(&mut self, client: usize) {
        let life = self.clients[client].life;
        let running = &mut self.clients[client].running;
        let budget = running.task.as_ref().map_or(0, |task| task.budget);
        while running.active < self.model.in_flight {
            let (requests, directory) = if let Some(part) = running.parts.pop() {
                (part, None)
            } else if running.entries < budget || running.directories == 0 && running.active == 0 {
                let Some(directory) = running.stack.pop() else { break };
                let mut found = Vec::new();
                let files = directory.read(&mut found);
                let entries = files + found.len() as u64;
                running.entries += entries;
                running.inodes += 1 + files;
                let first = entries.min(self.model.part);
                let mut left = entries - first;
                while left > 0 {
                    let part = left.min(self.model.part);
                    running.parts.push(part * self.model.per_entry);
                    left -= part;
                }
                (self.model.per_directory + first * self.model.per_entry, Some(directory))
            } else {
                break;
            };
            running.active += 1;
            running.requests += requests;
            self.active += 1;
            self.made += 1;
            let ready = self.progress + requests as f64;
            self.reads.push(Reverse(At(ready, self.made, (client, life, directory))));
        }
        if running.active == 0 {
            let seconds = self.model.commit.0 + self.model.commit.1 * running.entries as f64;
            self.after(seconds, Event::Committed(client, life));
        }
    }

    fn has_read(&mut self, client: usize, directory: Option<Directory>) {
        let running = &mut self.clients[client].running;
        running.active -= 1;
        self.active -= 1;
        if let Some(directory) = directory {
            directory.read(&mut running.stack);
            running.directories += 1;
            running.checksum = running.checksum.wrapping_add(directory.seed());
        }
        self.walk(client);
    }

    fn committed(&mut self, client: usize) {
        let running = std::mem::take(&mut self.clients[client].running);
        let outcome = &mut self.outcome;
        outcome.tasks += 1;
        outcome.requests += running.requests;
        outcome.directories += running.directories;
        outcome.inodes += running.inodes;
        outcome.checksum = outcome.checksum.wrapping_add(running.checksum);
        let ranges = running.task.map_or(Vec::new(), |task| task.ranges);
        let life = self.clients[client].life;
        self.after(self.model.message, Event::Result(client, life, ranges, running.stack));
        self.begin(client);
    }

    fn will_die(&mut self, client: usize) {
        if let Some(lifetime) = self.model.lifetime {
            let seconds = -tree::unit(&mut self.rng).ln() * lifetime;
            self.after(seconds, Event::Death(client));
        }
    }

    /// What is committed stays; the result of a commit is in the part directory, where the coordinator finds it.
    fn die(&mut self, client: usize) {
        self.outcome.deaths += 1;
        let Client { running, queue, life, dead, assigned } = &mut self.clients[client];
        (*life, *dead, *assigned) = (*life + 1, true, 0);
        let running = std::mem::take(running);
        let tasks: Vec<Task> = running.task.into_iter().chain(queue.drain(..)).collect();
        self.active -= running.active;
        self.outcome.requests += running.requests;
        self.outcome.lost += running.requests;
        self.lose(tasks);
        self.after(self.model.after_death.1, Event::Back(client));
    }

    fn lose(&mut self, tasks: Vec<Task>) {
        self.after(self.model.after_death.0, Event::Noticed(tasks));
    }
}

#[cfg(test)]
mod tests;
