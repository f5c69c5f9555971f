//! Draws the browser: a title, the list, a line at the bottom, and the popups over them.
//!
//! ```text
//!  dents browse  /srv                                            scanning: 12,345 entries
//!     1.2G  61.0% ██████████████      12,000 2026-01-31 12:00  home
//!  !  800M  39.0% █████████              345 2026-01-30 09:14  lost+found
//!  2.0G in 12,345 entries   size ↓   3 errors: !                              ? shows keys
//! ```

use super::app::{App, Mode};
use super::popup;
use super::scanner::State;
use super::tree::{Flags, Id, Node, Tree};
use super::view::Key;
use dents_commands::message::counted;
use dents_commands::output::{bar, percent};
use dents_render::quantity::grouped;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Paragraph, Wrap};
use std::sync::atomic::Ordering::Relaxed;

/// The columns of marks and flags, and of a size, with a space after each.
const SIZE: usize = 2 + 1 + 7 + 1;
const PERCENT: usize = 7;
const ITEMS: usize = 12;
const TIME: usize = 17;
/// The columns that names have at least, before other columns and bars are left out.
const NAME: usize = 20;
/// A smaller terminal shows nothing but that it is too small.
const LEAST: (u16, u16) = (SIZE as u16 + 9, 4);

/// Draws a frame.
pub(super) fn draw(frame: &mut Frame<'_>, app: &mut App<'_>) {
    if frame.area().width < LEAST.0 || frame.area().height < LEAST.1 {
        app.is_popup_whole = false;
        let (columns, rows) = LEAST;
        let text = format!("too small\n{columns} columns and {rows} rows are needed");
        return frame.render_widget(Paragraph::new(text).wrap(Wrap { trim: true }), frame.area());
    }
    let areas = Layout::vertical([Constraint::Length(1), Constraint::Min(1), Constraint::Length(1)]);
    let [title, list, bottom] = areas.areas(frame.area());
    let scanner = app.scanner;
    let tree = scanner.shared.lock();
    frame.render_widget(self::title(app, &tree, title.width.into()), title);
    app.visible = list.height.into();
    app.list_top = list.y;
    app.view.scroll(app.visible);
    rows(frame, list, app, &tree);
    frame.render_widget(self::bottom(app, &tree, bottom.width.into()), bottom);
    popup::draw(frame, list, app, &tree);
}

/// The text at both ends of a line. If there is not room for both, the left one is cut at its beginning or at its end.
fn ends(left: &str, right: &str, width: usize, keeps_end: bool) -> String {
    let columns = |text: &str| Span::raw(text).width();
    let room = width.saturating_sub(columns(right));
    let mut left = left.to_owned();
    let is_cut = columns(&left) > room;
    while columns(&left) + 1 > room && is_cut && !left.is_empty() {
        let _ = if keeps_end { Some(left.remove(0)) } else { left.pop() };
    }
    if is_cut {
        left = if keeps_end { format!("<{left}") } else { left + ">" };
    }
    let gap = room.saturating_sub(columns(&left));
    format!("{left}{}{right}", " ".repeat(gap))
}

fn title(app: &App<'_>, tree: &Tree, width: usize) -> Paragraph<'static> {
    let path = match app.view.directory {
        Id::TOP => String::new(),
        directory => app.names.plain(&tree.path(directory)),
    };
    let state = match app.scanner.state() {
        State::Scanning => {
            let [_, entries] = app.scanner.session.seen();
            let entries = entries.max(tree.node(Id::TOP).entries.into());
            let turn = ['|', '/', '-', '\\'][(app.elapsed().as_millis() / 100 % 4) as usize];
            format!(" {turn} {} entries", grouped(entries))
        }
        State::Incomplete => " incomplete".to_owned(),
        State::Complete if !app.setting.is_live => " from a file".to_owned(),
        State::Complete => String::new(),
    };
    let name = if width < 60 { "" } else { "dents browse  " };
    let room = width.saturating_sub(name.len() + 2);
    let text = format!(" {name}{} ", ends(&path, &state, room, true));
    Paragraph::new(text).style(Style::new().add_modifier(Modifier::REVERSED | Modifier::BOLD))
}

/// Which columns there is room for.
struct Columns {
    bar: usize,
    items: bool,
    times: bool,
}

impl Columns {
    fn new(app: &App<'_>, width: usize) -> Columns {
        let mut left = width.saturating_sub(SIZE + NAME);
        let mut fits = |is_wanted: bool, columns: usize| {
            let fits = is_wanted && columns <= left;
            left -= if fits { columns } else { 0 };
            fits
        };
        let items = fits(app.view.shows_items, ITEMS);
        let times = fits(app.view.shows_times, TIME);
        // The bar takes a fifth of what is left over, at most 30 columns.
        let left = left.saturating_sub(PERCENT);
        let bar = if left >= 10 { (left / 5).clamp(8, 30) } else { 0 };
        Columns { bar, items, times }
    }
}

fn rows(frame: &mut Frame<'_>, area: Rect, app: &App<'_>, tree: &Tree) {
    let columns = Columns::new(app, area.width.into());
    let view = &app.view;
    if view.rows.is_empty() {
        let text = match (app.scanner.state(), view.filter.is_empty()) {
            (_, false) => "  no name contains this",
            (State::Scanning, _) => "  nothing was found yet",
            _ => "  empty",
        };
        return frame.render_widget(Paragraph::new(text), area);
    }
    let shown = view.rows.iter().enumerate().skip(view.offset).take(area.height.into());
    for (nth, (row, id)) in shown.enumerate() {
        let mut line = self::row(app, tree, *id, &columns);
        if row == view.selected {
            // The whole row in one colour, also behind the name.
            let rest = usize::from(area.width).saturating_sub(line.width());
            line.push_span(" ".repeat(rest));
            let reversed = Style::new().add_modifier(Modifier::REVERSED);
            line.iter_mut().for_each(|span| span.style = reversed);
        }
        let at = Rect { y: area.y + nth as u16, height: 1, ..area };
        frame.render_widget(line, at);
    }
}

fn row(app: &App<'_>, tree: &Tree, id: Id, columns: &Columns) -> Line<'static> {
    let (view, node) = (&app.view, tree.node(id));
    let figure = view.figure(node);
    let color = |color: Color| if app.names.has_colors() { Style::new().fg(color) } else { Style::new() };
    let mark = if view.marks.contains(&id) { '*' } else { ' ' };
    let size = String::from_utf8_lossy(app.setting.units.bytes(figure).as_bytes()).into_owned();
    let mut spans = vec![
        Span::styled(mark.to_string(), color(Color::Yellow)),
        Span::styled(flag(node).to_string(), color(Color::Red)),
        Span::styled(format!(" {size:>7} "), color(Color::Green)),
    ];
    if columns.bar > 0 {
        let whole = view.figure(tree.node(view.directory)).max(view.largest);
        spans.push(Span::raw(format!("{:>6} ", percent(figure.into(), whole.into()))));
        let drawn = bar(figure.into(), view.largest.into(), columns.bar, app.names.utf8());
        spans.push(Span::styled(format!("{drawn} "), color(Color::Cyan)));
    }
    if columns.items {
        let items = if node.is_dir() { grouped(node.entries.into()) } else { String::new() };
        spans.push(Span::raw(format!("{items:>11} ")));
    }
    if columns.times {
        spans.push(Span::raw(format!("{:16} ", time(node.mtime))));
    }
    spans.push(Span::raw(if node.is_dir() { "/" } else { " " }));
    spans.extend(app.names.of(node, tree.name(id)));
    Line::from(spans)
}

/// The flags of ncdu.
pub(super) fn flag(node: &Node) -> char {
    match node {
        node if node.has(Flags::FAILED) => '!',
        node if node.has(Flags::MOUNT) => '>',
        node if node.has(Flags::FAILED_BELOW) => '.',
        node if node.has(Flags::LINKED) => 'H',
        node if node.is_dir() && node.entries == 0 => 'e',
        _ => ' ',
    }
}

/// A point in time in the local zone; nothing where it is not known.
pub(super) fn time(seconds: i64) -> String {
    let stamp = Timestamp::from_second(seconds).ok();
    let zoned = stamp.map(|stamp| stamp.to_zoned(TimeZone::system()));
    zoned.map(|zoned| zoned.strftime("%Y-%m-%d %H:%M").to_string()).unwrap_or_default()
}

fn bottom(app: &App<'_>, tree: &Tree, width: usize) -> Paragraph<'static> {
    let text = match &app.mode {
        Mode::Filter => {
            ends(&format!(" names with: {}_", app.view.filter), "Enter keeps, Esc ends ", width, true)
        }
        Mode::Export(name) => {
            ends(&format!(" write the paths to a new file: {name}_"), " Esc ends ", width, true)
        }
        _ if !app.message.is_empty() => ends(&format!(" {}", app.message), " ", width, false),
        _ => ends(&totals(app, tree), " ? shows keys", width, false),
    };
    Paragraph::new(text).style(Style::new().add_modifier(Modifier::REVERSED))
}

fn totals(app: &App<'_>, tree: &Tree) -> String {
    let (view, node) = (&app.view, tree.node(app.view.directory));
    let size = app.setting.units.bytes(view.figure(node));
    let what = if view.apparent { "in files" } else { "allocated" };
    let key = match view.key {
        Key::Size => "size",
        Key::Name => "name",
        Key::Items => "entries",
        Key::Time => "time",
    };
    let order = if view.reversed { ", reversed" } else { "" };
    let size = String::from_utf8_lossy(size.as_bytes()).into_owned();
    let mut text = format!(" {size} {what}, {} entries  by {key}{order}", grouped(node.entries.into()));
    let errors = app.scanner.messages.count.load(Relaxed);
    if errors > 0 {
        text += &format!("  {} (!)", counted(errors, "error", "errors"));
    }
    if !view.marks.is_empty() {
        text += &format!("  {} marked", view.marks.len());
    }
    if !view.filter.is_empty() {
        text += &format!("  /{}", view.filter);
    }
    text
}
