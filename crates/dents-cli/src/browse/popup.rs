//! Popups over the list: keys, messages, facts of an entry, questions.

use super::app::{App, Mode};
use super::draw::time;
use super::keys;
use super::tree::{Flags, Id, Tree};
use dents_commands::message::counted;
use dents_core::facts::Facts;
use dents_render::mode;
use dents_render::quantity::grouped;
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::symbols::border;
use ratatui::text::Line;
use ratatui::widgets::{Block, Clear, Paragraph};
use std::sync::atomic::Ordering::Relaxed;

/// For terminals without other characters.
const ASCII: border::Set<'static> = border::Set {
    top_left: "+",
    top_right: "+",
    bottom_left: "+",
    bottom_right: "+",
    vertical_left: "|",
    vertical_right: "|",
    horizontal_top: "-",
    horizontal_bottom: "-",
};

/// The flags in the second column.
const FLAGS: [(&str, &str); 6] = [
    ("!", "could not be read"),
    (".", "something below could not be read"),
    (">", "is on another file system"),
    ("H", "a file with several links: one of them counts"),
    ("e", "an empty directory"),
    ("*", "marked (first column)"),
];

pub(super) fn draw(frame: &mut Frame<'_>, area: Rect, app: &mut App<'_>, tree: &Tree) {
    let (title, lines, top) = match &app.mode {
        Mode::List | Mode::Filter | Mode::Export(_) => return,
        Mode::Help(top) => ("keys", help(), *top),
        Mode::Messages(top) => ("could not be read", messages(app), *top),
        Mode::Info(id) => ("entry", info(app, tree, *id), 0),
        Mode::Confirm(question) => ("delete?", question.lines.clone(), 0),
        Mode::Deleting(deletion) => {
            let deleted = counted(deletion.progress.deleted.load(Relaxed), "entry", "entries");
            ("deleting", vec![format!("{deleted} deleted"), String::new(), "Esc stops".to_owned()], 0)
        }
    };
    let room = usize::from(area.height.saturating_sub(2));
    let widest = lines.iter().map(|line| Line::raw(line.as_str()).width()).max().unwrap_or(0);
    let width = (widest.max(title.len() + 2) + 4).min(area.width.into()) as u16;
    let inner = usize::from(width.saturating_sub(4)).max(1);
    let text: Vec<Line<'_>> = lines.iter().flat_map(|line| folded(line, inner)).map(Line::from).collect();
    let needed = text.len();
    let height = (needed.min(room) + 2) as u16;
    let top = top.min(needed.saturating_sub(room));
    app.is_popup_whole = needed <= room;
    let title = if needed > room { format!("{title}: Up and Down scroll") } else { title.to_owned() };
    if let Mode::Help(at) | Mode::Messages(at) = &mut app.mode {
        *at = top;
    }
    let at = Rect {
        x: area.x + (area.width - width) / 2,
        y: area.y + area.height.saturating_sub(height) / 2,
        width,
        height: height.min(area.height),
    };
    let set = if app.names.utf8() { border::PLAIN } else { ASCII };
    let block = Block::bordered().border_set(set).title(format!(" {title} "));
    let block = block.padding(ratatui::widgets::Padding::horizontal(1));
    let paragraph = Paragraph::new(text).scroll((top as u16, 0)).block(block);
    frame.render_widget(Clear, at);
    frame.render_widget(paragraph, at);
}

/// The rows of a line: each ends after the last blank that fits, else anywhere. Ratatui would not say how many rows it makes.
fn folded(line: &str, columns: usize) -> Vec<String> {
    let mut rows = vec![String::new()];
    for c in line.chars() {
        let Some(row) = rows.last_mut() else { break };
        row.push(c);
        if Line::raw(row.as_str()).width() > columns {
            let at = row.rfind(' ').map_or(row.len() - c.len_utf8(), |blank| blank + 1);
            let rest = row.split_off(at);
            rows.push(rest);
        }
    }
    rows
}

fn help() -> Vec<String> {
    let keys = keys::LINES.iter().map(|line| format!("{:18} {}", line.keys, line.text));
    let flags = FLAGS.iter().map(|(flag, text)| format!("{flag:18} {text}"));
    keys.chain([String::new()]).chain(flags).collect()
}

/// The messages of the walk, the last first. Names in them are escaped already.
fn messages(app: &App<'_>) -> Vec<String> {
    let texts = app.scanner.messages.texts();
    texts.iter().rev().map(|text| String::from_utf8_lossy(text).into_owned()).collect()
}

fn info(app: &App<'_>, tree: &Tree, id: Id) -> Vec<String> {
    let node = tree.node(id);
    let kind = if node.is_dir() { "directory" } else { "entry" };
    let letters = mode::letters(node.mode);
    let with_bytes = |bytes: u64| {
        let short = app.setting.units.bytes(bytes);
        format!("{} ({} bytes)", String::from_utf8_lossy(short.as_bytes()), grouped(bytes))
    };
    let user = if node.uid == Facts::NOBODY { "not known".to_owned() } else { node.uid.to_string() };
    let mut lines = vec![
        format!("path       {}", app.names.plain(&tree.path(id))),
        format!("mode       {}", String::from_utf8_lossy(&letters)),
        format!("user       {user}"),
        format!("inode      {}", node.ino),
        format!("allocated  {}", with_bytes(node.allocated)),
        format!("in files   {}", with_bytes(node.size)),
    ];
    if node.is_dir() {
        lines.push(format!("entries    {}", grouped(node.entries.into())));
        lines.push(format!("newest     {}", time(node.mtime)));
    } else {
        lines.push(format!("changed    {}", time(node.mtime)));
    }
    if node.has(Flags::FAILED) {
        lines.push(format!("this {kind} could not be read"));
    }
    if node.has(Flags::LINKED) {
        lines.push("other links of this file:".to_owned());
        lines.extend(tree.links.names(id).skip(1).take(20).map(|id| app.names.plain(&tree.path(id))));
    }
    lines
}
