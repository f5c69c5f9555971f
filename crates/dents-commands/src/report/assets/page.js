"use strict";
// Draws the page from the data. Text from the data is only ever set as text, never as markup.
(() => {
const data = JSON.parse(document.getElementById("data").textContent);
const $ = id => document.getElementById(id);

/** An element. Properties are set, not parsed; children are elements or text. */
function make(tag, properties, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties || {})) {
    if (name in element && name !== "role") element[name] = value;
    else element.setAttribute(name, value);
  }
  element.append(...children.filter(child => child !== null));
  return element;
}

// Names ------------------------------------------------------------------------------------------

// Characters that are not visible, or change the direction of the text beside them.
const HIDDEN = /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/g;
const raw = name => Array.isArray(name) ? name[0] : name;
const plain = name => raw(name).replace(HIDDEN, char => "\\u{" + char.codePointAt(0).toString(16) + "}");
/** A name, separate from the direction of the text around it. */
function named(name) {
  const shown = make("bdi", { textContent: plain(name) });
  if (Array.isArray(name)) {
    shown.className = "odd";
    shown.title = "This name is not UTF-8. \\x and two digits are a byte, \\\\ is a backslash.";
  }
  return shown;
}

// Numbers ----------------------------------------------------------------------------------------

const count = number => number.toLocaleString("en");
function size(bytes) {
  if (bytes < 1024) return bytes + " B";
  const units = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB", "ZiB", "YiB"];
  let unit = -1;
  do { bytes /= 1024; unit += 1; } while (bytes >= 1023.5 && unit < units.length - 1);
  return (bytes < 9.95 ? bytes.toFixed(1) : Math.round(bytes)) + " " + units[unit];
}
const signed = (number, format) => number === 0 ? "0" : (number > 0 ? "+" : "−") + format(Math.abs(number));
const percent = share => share >= 0.9995 ? "100 %" : (share * 100).toFixed(1) + " %";
function day(seconds, exact) {
  const date = seconds === null ? null : new Date(seconds * 1000);
  if (date === null) return "–";
  if (isNaN(date)) return "@" + seconds;
  const two = number => String(number).padStart(2, "0");
  const text = date.getFullYear() + "-" + two(date.getMonth() + 1) + "-" + two(date.getDate());
  return exact ? text + " " + two(date.getHours()) + ":" + two(date.getMinutes()) : text;
}

// The tree ---------------------------------------------------------------------------------------

const ENTRIES = 0, BYTES = 1, ALLOCATED = 2;
const MEASURES = [["Allocated space", ALLOCATED, size], ["Size of files", BYTES, size], ["Number of entries", ENTRIES, count]];

/** All directories of the data; with several roots, one above them. */
const nodes = (() => {
  const { depth, name, all, own, directories, newest, age, user } = data.tree;
  const several = data.roots !== 1;
  const nodes = [], above = [];
  if (several) {
    nodes.push({ name: "all", depth: -1, above: null, kept: [], files: [], all: data.total, own: [0, 0, 0], directories: data.directories, newest: null,
      age: null, user: null });
  }
  for (let at = 0; at < depth.length; at++) {
    const node = { name: name[at], depth: depth[at], above: depth[at] === 0 ? (several ? nodes[0] : null) : above[depth[at] - 1], kept: [], files: [],
      all: all[at], own: own[at], directories: directories[at], newest: newest[at], age: age[at], user: user[at] };
    above[depth[at]] = node;
    if (node.above) node.above.kept.push(node);
    nodes.push(node);
  }
  const files = data.files;
  files.of.forEach((of, at) => nodes[of + (several ? 1 : 0)].files.push({ name: files.name[at], all: [1, files.bytes[at], files.allocated[at]],
    newest: files.changed[at], age: files.age[at], user: files.user[at] }));
  return nodes;
})();
const top = nodes[0] || { name: "", depth: 0, above: null, kept: [], files: [], all: [0, 0, 0], own: [0, 0, 0], directories: 0, newest: null, age: null, user: null };

function path(node) {
  if (node.path === undefined) {
    const above = node.above && node.above.depth >= 0 ? path(node.above) : null;
    const [before, last] = [above === null ? "" : raw(above), raw(node.name)];
    // One name that is not UTF-8 makes the path so; other names keep their text.
    const odd = Array.isArray(node.name) || Array.isArray(above);
    const full = above === null ? last : before + (before.endsWith("/") ? "" : "/") + last;
    node.path = odd ? [full] : full;
  }
  return node.path;
}

/** What is left of sums without those of some parts. */
const without = (all, parts) => parts.reduce((rest, part) => rest.map((sum, at) => sum - part.all[at]), all);

/**
 * The areas in a directory: the directories that are kept, its largest files if they are `listed`, what else is directly in it, and the
 * directories that are too small.
 */
function parts(node, measure, listed) {
  const small = { kind: "small", of: node, all: without(node.all, [{ all: node.own }, ...node.kept]),
    directories: node.kept.reduce((rest, one) => rest - one.directories - 1, node.directories) };
  const parts = node.kept.map(one => ({ kind: "directory", of: one, all: one.all }));
  const files = listed ? node.files.map(file => ({ kind: "file", of: node, file, all: file.all })) : [];
  const rest = { kind: "files", of: node, all: without(node.own, files), smaller: files.length > 0 };
  parts.push(...files);
  if (rest.all[ENTRIES] > 0) parts.push(rest);
  if (small.directories > 0 && small.all[ENTRIES] > 0) parts.push(small);
  return parts.filter(part => part.all[measure] > 0);
}

function title(part) {
  if (part.kind === "file") return plain(part.file.name);
  if (part.kind === "files") return part.smaller ? "(smaller files here)" : "(files directly here)";
  if (part.kind === "small") return "(" + count(part.directories) + " smaller directories)";
  return plain(part.of.name);
}

const age = at => at === 0 ? data.ages[at] : data.ages[at].replace(/^to /, "up to ") + " ago";

function facts(part) {
  const { all } = part;
  const whole = data.total;
  const texts = [size(all[ALLOCATED]) + " allocated", size(all[BYTES]) + " in files", count(all[ENTRIES]) + (all[ENTRIES] === 1 ? " entry" : " entries"),
    percent(all[state.measure] / Math.max(1, whole[state.measure])) + " of all"];
  if (part.kind === "file") {
    const { file } = part;
    texts.splice(1, 2, size(all[BYTES]) + " long");
    if (file.newest !== null) texts.push("changed " + day(file.newest) + ", " + age(file.age));
    if (file.user !== null) texts.push("of " + plain(data.users[file.user]));
  }
  if (part.kind === "directory") {
    const { of } = part;
    if (of.age !== null) texts.push("mostly changed " + age(of.age));
    if (of.newest !== null) texts.push("last change: " + day(of.newest));
    if (of.user !== null) texts.push("mostly of " + plain(data.users[of.user]));
  }
  return texts.join(", ");
}

function describe(part) {
  const where = plain(path(part.of));
  if (part.kind === "file") return plain(path({ above: part.of, name: part.file.name, path: part.file.path })) + ": " + facts(part);
  if (part.kind === "files") {
    return (part.smaller ? "The smaller files directly in " : "The files directly in ") + where + ", and the directory itself: " + facts(part);
  }
  if (part.kind === "small") {
    return count(part.directories) + " smaller directories in " + where + ", shown as one: " + facts(part);
  }
  return where + ": " + facts(part);
}

// The treemap ------------------------------------------------------------------------------------

const state = { focus: top, measure: ALLOCATED, colour: "age" };
const LEVELS = 3, LEAST = 5, USERS = 8;
let cells = [];

function colour(part) {
  if (part.kind === "small") return "none";
  const { age, user } = part.kind === "file" ? part.file : part.of;
  if (state.colour === "age") return age === null ? "none" : "c" + age;
  return user === null || user >= USERS ? "none" : "u" + user;
}

function layout(width, height) {
  const grow = (part, level) => {
    if (part.kind === "directory" && level < LEVELS) {
      // Files are drawn only in the directory that is shown: elsewhere a directory without directories in it is one area.
      const inside = parts(part.of, state.measure, level === 0);
      if (level === 0 || inside.some(one => one.kind !== "files")) part.inside = inside.map(one => grow(one, level + 1));
    }
    return part;
  };
  const whole = d3.hierarchy(grow({ kind: "directory", of: state.focus, all: state.focus.all }, 0), part => part.inside)
    .sum(part => part.inside ? 0 : part.all[state.measure])
    .sort((a, b) => b.value - a.value);
  const tall = node => node.depth > 0 && node.children && node.y1 - node.y0 > 40 && node.x1 - node.x0 > 30;
  d3.treemap().size([width, height]).round(true).paddingInner(1)
    .paddingTop(node => node.depth === 0 ? 0 : tall(node) ? 18 : 1)
    .paddingRight(node => node.depth === 0 ? 0 : 1).paddingBottom(node => node.depth === 0 ? 0 : 1).paddingLeft(node => node.depth === 0 ? 0 : 1)(whole);
  return whole;
}

function draw(focused) {
  const map = $("map");
  const width = map.clientWidth, height = map.clientHeight;
  cells = [];
  const drawn = [];
  layout(width, height).eachBefore(area => {
    const [w, h] = [area.x1 - area.x0, area.y1 - area.y0];
    if (area.depth === 0 || w < LEAST || h < LEAST) return;
    const part = area.data;
    const frame = Boolean(area.children);
    const cell = make("button", { type: "button", tabIndex: -1, "aria-label": title(part) + ". " + describe(part) });
    cell.className = "cell " + (frame ? "frame" : colour(part)) + (part.kind === "small" ? " small" : "")
      + (part.kind === "directory" || part.of !== state.focus ? "" : " plain");
    if (w > 28 && h > 15) cell.append(make("span", { textContent: title(part) }));
    cell.style.left = area.x0 / width * 100 + "%";
    cell.style.top = area.y0 / height * 100 + "%";
    cell.style.width = w / width * 100 + "%";
    cell.style.height = h / height * 100 + "%";
    cells.push({ cell, part, area });
    drawn.push(cell);
  });
  map.replaceChildren(...drawn);
  if (cells.length > 0) {
    const first = cells.find(one => one.part.kind === "directory" && one.part.of === focused) || cells[0];
    first.cell.tabIndex = 0;
    if (focused) first.cell.focus();
  }
  whole();
}

/** Describes the directory that is shown. */
function whole() {
  $("info").textContent = describe({ kind: "directory", of: state.focus, all: state.focus.all });
}

const entry = target => cells.find(one => one.cell === target.closest(".cell"));

/** Shows a directory; `from` is the directory that has the focus afterwards. */
function show(node, from) {
  state.focus = node;
  trail();
  draw(from);
  inside();
}

/** Enters a directory: it has an address of its own, and Back leads to the one before. */
function enter(node, from) {
  show(node, from);
  if (located().node !== node) location.hash = address(node);
}

// Addresses: `#/` and the names from the root, with a slash between. Of a name that is not UTF-8 the text is shown, after `~b`.
const segment = name => Array.isArray(name) ? "~b" + name[0] : name.startsWith("~") ? "~u" + name : name;

function address(node) {
  const names = [];
  for (let at = node; at && at.depth >= 0; at = at.above) names.unshift(encodeURIComponent(segment(at.name)));
  return "#/" + names.join("/");
}

/** The directory of the address, or the nearest one above it; `null` if the address is that of a section. */
function located() {
  const hash = location.hash;
  if (hash === "") return { node: top, missing: null };
  if (!hash.startsWith("#/")) return { node: null, missing: null };
  const decoded = text => { try { return decodeURIComponent(text); } catch { return text; } };
  const names = hash.slice(2).split("/").filter(name => name !== "").map(decoded);
  let node = top.depth < 0 || names.length === 0 ? top : segment(top.name) === names[0] ? (names.shift(), top) : top;
  while (names.length > 0) {
    const next = node.kept.find(one => segment(one.name) === names[0]);
    if (next === undefined) break;
    names.shift();
    node = next;
  }
  return { node, missing: names.length > 0 ? names.join("/") : null };
}

/** Goes to the directory of the address, as after Back or with a link from elsewhere. */
function follow() {
  const { node, missing } = located();
  if (node === null) return;
  if (node !== state.focus) show(node);
  if (missing !== null) $("info").textContent = plain(missing) + " is not shown: this report does not have it, or it is too small. " + $("info").textContent;
}

function trail() {
  const above = [];
  for (let node = state.focus; node; node = node.above) above.unshift(node);
  $("path").replaceChildren(...above.map(node => {
    const button = make("button", { type: "button", onclick: () => enter(node) }, named(node.name));
    if (node === state.focus) button.setAttribute("aria-current", "location");
    return button;
  }));
}

function leave() {
  if (state.focus.above) enter(state.focus.above, state.focus);
}

/** The nearest area in the direction of an arrow key. */
function neighbour({ area }, key) {
  const centre = one => [(one.x0 + one.x1) / 2, (one.y0 + one.y1) / 2];
  const [x, y] = centre(area);
  let best = null, least = Infinity;
  for (const one of cells) {
    if (one.area === area) continue;
    const [cx, cy] = centre(one.area);
    const along = { ArrowRight: cx - x, ArrowLeft: x - cx, ArrowDown: cy - y, ArrowUp: y - cy }[key];
    const across = key === "ArrowRight" || key === "ArrowLeft" ? Math.abs(cy - y) : Math.abs(cx - x);
    const far = along + 3 * across;
    if (along > 0 && far < least) [best, least] = [one, far];
  }
  return best;
}

function listen() {
  const map = $("map");
  map.addEventListener("click", event => {
    const one = entry(event.target);
    if (one && one.part.of !== state.focus) enter(one.part.of, event.detail === 0 ? one.part.of : undefined);
  });
  map.addEventListener("keydown", event => {
    const one = entry(event.target);
    if (event.key === "Backspace") leave();
    else if (one && event.key.startsWith("Arrow")) {
      const next = neighbour(one, event.key);
      if (next) {
        one.cell.tabIndex = -1;
        next.cell.tabIndex = 0;
        next.cell.focus();
      }
    } else return;
    event.preventDefault();
  });
  // Escape works wherever the focus is, but a field of a table keeps its own use of it.
  document.addEventListener("keydown", event => {
    if (event.key !== "Escape" || event.defaultPrevented || event.target.closest("input[type=search]") || !state.focus.above) return;
    leave();
    event.preventDefault();
  });
  addEventListener("hashchange", follow);
  const hint = event => {
    const one = entry(event.target);
    if (one) $("info").textContent = describe(one.part);
  };
  map.addEventListener("mouseover", hint);
  map.addEventListener("mouseleave", whole);
  map.addEventListener("focusin", hint);
  let width = map.clientWidth;
  new ResizeObserver(() => {
    if (map.clientWidth !== width && !matchMedia("print").matches) {
      width = map.clientWidth;
      draw();
    }
  }).observe(map);
}

function choice(label, options, chosen, change) {
  const set = make("fieldset", null, make("legend", { textContent: label }));
  options.forEach(([text, value]) => {
    const input = make("input", { type: "radio", name: label, value: String(value), checked: value === chosen });
    input.addEventListener("change", () => change(value));
    set.append(make("label", null, input, " " + text));
  });
  return set;
}

function legend() {
  const used = new Set([...nodes.map(node => node.age), ...data.files.age]);
  const item = (name, text) => make("li", null, make("span", { className: "swatch " + name }), text);
  const items = state.colour === "age"
    ? data.ages.flatMap((_, at) => used.has(at) ? [item("c" + at, "changed " + age(at))] : [])
    : data.users.slice(0, USERS).map((user, at) => item("u" + at, named(user)));
  items.push(item("none", state.colour === "age" ? "smaller directories, or without files" : "others"));
  $("meaning").textContent = state.colour === "age" ? "Colour: when most of the space was last changed" : "Colour: who owns most of the space";
  $("legend").replaceChildren(...items);
}

// Tables -----------------------------------------------------------------------------------------

const ROWS = 20;

/**
 * A table that can be sorted and filtered. A column has a title, a text or an element for a row (`show`), and a value to sort by.
 * `rows` is a function, because the rows of one table depend on the treemap.
 */
function table(heading, columns, rows, { sort = null, others = null, note = "" } = {}) {
  const id = "table-" + heading.toLowerCase().replace(/[^a-z]+/g, "-");
  const chosen = { column: sort, down: true, filter: "", all: false };
  const search = make("input", { type: "search", autocomplete: "off" });
  const shown = make("span");
  const head = make("tr"), body = make("tbody");
  const more = make("button", { type: "button", className: "more" });
  const place = column => [column.className || "", column.text ? "text" : ""].join(" ").trim();
  const heads = columns.map((column, at) => {
    const button = make("button", { type: "button", textContent: column.title });
    const cell = make("th", { scope: "col", className: place(column) }, button);
    button.addEventListener("click", () => {
      chosen.down = chosen.column === at ? !chosen.down : !column.text;
      chosen.column = at;
      fill();
    });
    return cell;
  });
  head.append(...heads);
  function fill() {
    const whole = rows();
    const wanted = chosen.filter.toLowerCase();
    const label = columns[0].label || columns[0].value;
    const found = wanted ? whole.filter(row => plain(label(row)).toLowerCase().includes(wanted)) : whole.slice();
    if (chosen.column !== null) {
      const { value, text } = columns[chosen.column];
      const order = text ? (a, b) => raw(value(a)).localeCompare(raw(value(b)), "en") : (a, b) => value(a) - value(b);
      found.sort((a, b) => chosen.down ? order(b, a) : order(a, b));
    }
    heads.forEach((cell, at) => {
      if (at === chosen.column) cell.setAttribute("aria-sort", chosen.down ? "descending" : "ascending");
      else cell.removeAttribute("aria-sort");
    });
    const limit = chosen.all ? 2000 : ROWS;
    body.replaceChildren(...found.slice(0, limit).map(row =>
      make("tr", null, ...columns.map(column => make("td", { className: place(column) }, column.show(row))))));
    if (others && !wanted) {
      body.append(make("tr", { className: "others" }, ...columns.map(column => make("td", { className: place(column) }, column.others ? column.others(others) : ""))));
    }
    more.hidden = found.length <= ROWS;
    more.textContent = chosen.all ? "Show " + ROWS + " rows" : "Show " + count(Math.min(found.length, 2000)) + " rows";
    shown.textContent = wanted ? " " + count(found.length) + " of " + count(whole.length) : "";
  }
  search.addEventListener("input", () => { chosen.filter = search.value; fill(); });
  more.addEventListener("click", () => { chosen.all = !chosen.all; fill(); });
  const section = make("section", { "aria-labelledby": id },
    make("div", { className: "head" }, make("h3", { id, textContent: heading }), make("label", null, "Filter ", search, shown)),
    note ? make("p", { textContent: note }) : null,
    make("div", { className: "scroll", tabIndex: 0, role: "region", "aria-labelledby": id }, make("table", null, make("thead", null, head), body)), more);
  fill();
  return { section, fill };
}

const number = (title, value, format, others) => ({ title, value, show: row => format(value(row)), others });
const growth = (title, value, format) => ({
  title, value, show: row => make("span", { className: value(row) > 0 ? "plus" : value(row) < 0 ? "minus" : "", textContent: signed(value(row), format) }),
});
function share(value, whole, others) {
  const draw = part => {
    const bar = make("span", { className: "bar" });
    bar.style.width = Math.max(0, Math.min(1, part / Math.max(1, whole))) * 100 + "%";
    return make("div", null, make("span", { className: "track" }, bar), percent(part / Math.max(1, whole)));
  };
  return { title: "Share", className: "share", value, show: row => draw(value(row)), others: rest => draw(others(rest)) };
}

const HEADINGS = { user: "Users", group: "Groups", extension: "Extensions", age: "Ages of files", size: "Sizes of files" };

function sums({ by, files, ordered, rows, others }) {
  const whole = rows.reduce((sum, [, [, , allocated]]) => sum + allocated, others ? others[1][ALLOCATED] : 0);
  const name = row => raw(row[0]) === "" ? "(none)" : row[0];
  const order = new Map(rows.map((row, at) => [row, at]));
  const columns = [
    { title: { age: "Changed", size: "Size" }[by] || HEADINGS[by].slice(0, -1), text: !ordered, value: ordered ? row => order.get(row) : name, label: name,
      className: ordered ? "text" : "", show: row => named(name(row)), others: rest => "(" + count(rest[0]) + " others)" },
    number(files ? "Files" : "Entries", row => row[1][ENTRIES], count, rest => count(rest[1][ENTRIES])),
    number("Size", row => row[1][BYTES], size, rest => size(rest[1][BYTES])),
    number("Allocated", row => row[1][ALLOCATED], size, rest => size(rest[1][ALLOCATED])),
    share(row => row[1][ALLOCATED], whole, rest => rest[1][ALLOCATED]),
  ];
  return table(HEADINGS[by], columns, () => rows, { others, sort: ordered ? null : 3 }).section;
}

function directory(node) {
  return make("button", { type: "button", className: "link", onclick: () => { enter(node); $("map-title").scrollIntoView(); } }, named(path(node)));
}
const DIRECTORY = [
  { title: "Directory", text: true, value: path, show: directory },
  number("Allocated", node => node.all[ALLOCATED], size),
  number("Size", node => node.all[BYTES], size),
  number("Entries", node => node.all[ENTRIES], count),
  { title: "Last change", value: node => node.newest === null ? Infinity : node.newest, show: node => day(node.newest) },
];

let inside = () => {};

function contents() {
  const label = part => part.kind === "directory" ? part.of.name : part.kind === "file" ? part.file.name : title(part);
  const columns = [
    { title: "Name", text: true, value: label, show: part => part.kind === "file" ? named(part.file.name) : part.kind !== "directory" ? title(part)
      : make("button", { type: "button", className: "link", onclick: () => enter(part.of) }, named(part.of.name)) },
    number("Allocated", part => part.all[ALLOCATED], size),
    number("Size", part => part.all[BYTES], size),
    number("Entries", part => part.all[ENTRIES], count),
    share(part => part.all[ALLOCATED], data.total[ALLOCATED]),
  ];
  const made = table("In this directory", columns, () => parts(state.focus, ENTRIES, true), { sort: 1 });
  inside = made.fill;
  return made.section;
}

// Over time --------------------------------------------------------------------------------------

const LINES = 8;

/** An element of a drawing. */
function drawing(tag, attributes, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

/** The largest rows by a measure, and all others as one. */
function strands({ rows, others }, measure) {
  const all = rows.map(([name, sums]) => ({ name, values: sums.map(sum => sum[measure]) }));
  all.sort((a, b) => Math.max(...b.values) - Math.max(...a.values));
  const rest = all.splice(LINES).map(one => one.values);
  if (others) rest.push(others.map(sum => sum[measure]));
  if (rest.length > 0) all.push({ name: null, values: rest[0].map((_, at) => rest.reduce((sum, one) => sum + one[at], 0)) });
  return all;
}

/** The drawing of some lines, as wide as its place; `now` is the scan whose figures are shown. */
function plot(lines, format, width, now) {
  const { scans } = data.series;
  const [left, right, top, bottom, height] = [68, 14, 10, 24, 256];
  const [first, last] = [scans[0][1], scans[scans.length - 1][1]];
  const most = Math.max(1, ...lines.flatMap(line => line.values));
  const x = at => left + (width - left - right) * (last > first ? (scans[at][1] - first) / (last - first) : at / Math.max(1, scans.length - 1));
  const y = value => height - bottom - (height - top - bottom) * value / most;
  const svg = drawing("svg", { viewBox: `0 0 ${width} ${height}`, "aria-hidden": "true" });
  for (const part of [0, 0.5, 1]) {
    svg.append(drawing("line", { class: "axis", x1: left, x2: width - right, y1: y(most * part), y2: y(most * part) }),
      drawing("text", { x: left - 6, y: y(most * part) + 4, "text-anchor": "end" }, format(Math.round(most * part))));
  }
  const exact = day(first) === day(last);
  svg.append(drawing("text", { x: left, y: height - 6 }, day(first, exact)),
    drawing("text", { x: width - right, y: height - 6, "text-anchor": "end" }, day(last, exact)),
    drawing("line", { class: "now", x1: x(now), x2: x(now), y1: top, y2: height - bottom }));
  lines.forEach((line, nth) => {
    const points = line.values.map((value, at) => x(at).toFixed(1) + "," + y(value).toFixed(1));
    svg.append(drawing("polyline", { class: "line l" + (line.name === null ? LINES : nth), points: points.join(" ") }));
    line.values.forEach((value, at) => {
      if (scans.length > 60 && at !== now) return;
      const form = "point l" + (line.name === null ? LINES : nth) + (scans[at][2] ? "" : " open");
      svg.append(drawing("circle", { class: form, cx: x(at), cy: y(value), r: at === now ? 4 : 2.5 }));
    });
  });
  const nearest = wanted => scans.reduce((best, _, at) => Math.abs(x(at) - wanted) < Math.abs(x(best) - wanted) ? at : best, 0);
  return { svg, nearest };
}

/** A chart with a list of its lines; a slider, or the pointer, chooses the scan whose figures are listed. */
function chart(heading, strand) {
  const { scans } = data.series;
  const place = make("div"), list = make("ul", { className: "lines" }), caption = make("p");
  const slider = make("input", { type: "range", min: 0, max: scans.length - 1, step: 1, "aria-label": heading + ": scan" });
  slider.value = scans.length - 1;
  const figure = make("div", { className: "chart" }, place, slider, caption, list);
  let nearest = () => 0;
  function fill() {
    const [, , format] = MEASURES.find(([, measure]) => measure === series.measure);
    const now = Number(slider.value), lines = strands(strand, series.measure);
    const drawn = plot(lines, format, Math.max(240, place.clientWidth), now);
    nearest = drawn.nearest;
    place.replaceChildren(drawn.svg);
    const [name, begun, complete] = scans[now];
    const text = day(begun, true) + ", scan " + (now + 1) + " of " + scans.length;
    slider.setAttribute("aria-valuetext", text);
    caption.replaceChildren(text + ": ", named(name), complete ? "" : " (not complete)");
    list.replaceChildren(...lines.map((line, nth) => make("li", null, make("span", { className: "swatch line l" + (line.name === null ? LINES : nth) }),
      line.name === null ? "all others" : named(raw(line.name) === "" ? "(none)" : line.name), " " + format(line.values[now]) +
      " (" + signed(line.values[now] - line.values[0], format) + ")")));
  }
  slider.addEventListener("input", fill);
  const point = event => {
    const at = nearest(event.clientX - place.getBoundingClientRect().left);
    if (at !== Number(slider.value)) { slider.value = at; fill(); }
  };
  place.addEventListener("pointermove", point);
  place.addEventListener("pointerdown", point);
  let width = 0;
  new ResizeObserver(() => {
    if (place.clientWidth !== width && !matchMedia("print").matches) {
      width = place.clientWidth;
      fill();
    }
  }).observe(place);
  return { figure, fill };
}

const series = { measure: ALLOCATED };

/** The growth from the first scan to the last, with a chart above. */
function growths(heading, title, strand, note) {
  const { figure, fill } = chart(heading, strand);
  const last = data.series.scans.length - 1;
  const at = (scan, measure) => row => row[1][scan][measure];
  const grown = measure => row => row[1][last][measure] - row[1][0][measure];
  const made = table(heading, [
    { title, text: true, value: row => row[0], label: row => row[0], show: row => named(raw(row[0]) === "" ? "(none)" : row[0]) },
    number("First", at(0, ALLOCATED), size), number("Last", at(last, ALLOCATED), size),
    growth("Growth", grown(ALLOCATED), size), growth("Entries", grown(ENTRIES), count),
  ], () => strand.rows, { sort: 3, note });
  made.section.querySelector(".scroll").before(figure);
  return { section: made.section, fill };
}

function overTime() {
  const { scans, users, directories } = data.series;
  const [first, last] = [scans[0], scans[scans.length - 1]];
  const by = [growths("Users over time", "User", users, ""),
    growths("Directories over time", "Directory", directories, "Each directory with all that is below it; the root only with what is directly in it.")];
  const text = count(scans.length) + " scans from " + day(first[1], true) + " to " + day(last[1], true) + ": from " + size(first[3][ALLOCATED]) + " to " +
    size(last[3][ALLOCATED]) + " allocated (" + signed(last[3][ALLOCATED] - first[3][ALLOCATED], size) + "), from " + count(first[3][ENTRIES]) + " to " +
    count(last[3][ENTRIES]) + " entries." + (scans.every(scan => scan[2]) ? "" : " An open point is a scan that is not complete.");
  return make("section", { "aria-labelledby": "series" }, make("h2", { id: "series", textContent: "Over time" }), make("p", { textContent: text }),
    choice("Lines", MEASURES, series.measure, value => { series.measure = value; by.forEach(one => one.fill()); }),
    make("div", { className: "pair" }, ...by.map(one => one.section)));
}

function changes() {
  const { total, counts, unknown, directories, users, lists } = data.changes;
  const card = (term, text, more) => make("div", null, make("dt", { textContent: term }), make("dd", null, text, make("small", { textContent: more })));
  const words = ["New", "Deleted", "Changed", "Moved"];
  const cards = [card("Allocated", signed(total[1], size), signed(total[0], size) + " in files"), card("Entries", signed(total[2], count), "more or fewer")];
  words.forEach((word, at) => cards.push(card(word, count(counts[at][2]), signed(counts[at][1], size) + " allocated")));
  if (unknown > 0) cards.push(card("Not compared", count(unknown), "could not be read in one of the scans"));
  const grown = (heading, title, rows) => table(heading, [
    { title, text: true, value: row => row[0], show: row => named(row[0]) },
    growth("Allocated", row => row[1][1], size), growth("Size", row => row[1][0], size), growth("Entries", row => row[1][2], count),
  ], () => rows).section;
  const known = value => value === null ? "–" : size(value);
  const section = make("section", { "aria-labelledby": "changes" }, make("h2", { id: "changes", textContent: "What changed" }), make("dl", null, ...cards),
    make("div", { className: "pair" }, grown("Growth by directory", "Directory", directories), grown("Growth by user", "User", users)));
  words.forEach((word, at) => {
    if (lists[at].length === 0) return;
    const columns = [{ title: "Path", text: true, value: row => row[0], show: row => named(row[0]) }];
    if (word === "Moved") columns.push({ title: "From", text: true, value: row => row[1] || "", show: row => named(row[1] || "") });
    columns.push({ title: "Type", text: true, value: row => row[2], show: row => row[2] });
    if (word !== "New") columns.push(number("Old size", row => row[3], known));
    if (word !== "Deleted") columns.push(number("New size", row => row[4], known));
    columns.push(growth("Allocated", row => row[5], size));
    if (word === "Changed") columns.push({ title: "What", text: true, value: row => row[6].join(", "), show: row => row[6].join(", ") });
    const left = counts[at][2] - lists[at].length;
    section.append(table(word + " entries", columns, () => lists[at],
      { note: left > 0 ? "The largest " + count(lists[at].length) + " of " + count(counts[at][2]) + "." : "" }).section);
  });
  return section;
}

// The page ---------------------------------------------------------------------------------------

function totals() {
  const card = (term, text, more) => make("div", null, make("dt", { textContent: term }), make("dd", null, text, make("small", { textContent: more })));
  const [entries, bytes, allocated] = data.total;
  $("totals").append(card("Allocated", size(allocated), count(allocated) + " bytes"), card("Size of files", size(bytes), count(bytes) + " bytes"),
    card("Entries", count(entries), "a file with several links once"), card("Directories", count(data.directories), data.roots === 1 ? "in one tree" : "in " + count(data.roots) + " trees"));
  if (data.begun !== null) {
    const seconds = data.ended === null ? null : Math.max(0, data.ended - data.begun);
    $("totals").append(card("Scanned", day(data.begun), day(data.begun, true).slice(11) + (seconds === null ? "" : ", in " + count(seconds) + " s")));
  }
}

function theme() {
  const words = ["automatic", "light", "dark"];
  let at = 0;
  $("theme").addEventListener("click", () => {
    at = (at + 1) % words.length;
    $("theme").textContent = "Theme: " + words[at];
    if (at === 0) delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = words[at];
  });
}

function about() {
  const roots = top.depth < 0 ? top.kept.map(node => node.name) : [top.name];
  const first = roots.slice(0, 3).map(plain).join(", ") + (roots.length > 3 ? " …" : "");
  $("title").textContent = first || "dents report";
  document.title = "dents report: " + first;
  const when = data.begun === null ? "" : " on " + day(data.begun, true);
  const which = data.series ? ", the newest of " + count(data.series.scans.length) + " scans," : "";
  const from = data.from === null ? "read from the file system" + when : "as the scan " + plain(data.from) + which + " found it" + when;
  $("about").textContent = "What this tree holds, " + from + (data.since === null ? "" : ", compared with the scan " + plain(data.since)) + ".";
  $("program").textContent = "Made by " + data.program + ". This page needs no network.";
  const warnings = [];
  if (!data.complete) warnings.push("This report is not complete: the work was stopped, or not everything could be opened.");
  if (data.errors > 0) warnings.push(count(data.errors) + " entries or directories could not be read, and are not counted.");
  $("warning").hidden = warnings.length === 0;
  $("warning").textContent = warnings.join(" ");
}

function lists() {
  const pathed = rows => [
    { title: "File", text: true, value: row => row[0], show: row => named(row[0]) }, ...rows];
  const files = make("section", { "aria-labelledby": "files" }, make("h2", { id: "files", textContent: "Files" }), make("div", { className: "pair" },
    table("Largest files", pathed([number("Allocated", row => row[1], size)]), () => data.largest, { sort: 1 }).section,
    table("Oldest files", pathed([{ title: "Changed", value: row => row[1], show: row => day(row[1]) }]), () => data.oldest).section));
  const known = nodes.filter(node => node.depth >= 0);
  const changed = known.filter(node => node.newest !== null).sort((a, b) => a.newest - b.newest || b.all[ALLOCATED] - a.all[ALLOCATED]);
  const directories = make("section", { "aria-labelledby": "directories" }, make("h2", { id: "directories", textContent: "Largest and oldest directories" }),
    table("Largest directories", DIRECTORY, () => known, { sort: 1 }).section,
    table("Directories without a change for the longest time", DIRECTORY, () => changed).section);
  const by = make("section", { "aria-labelledby": "sums" }, make("h2", { id: "sums", textContent: "Who has how much" }),
    make("div", { className: "pair" }, ...data.tables.map(sums)));
  return [by, files, directories];
}

about();
totals();
theme();
$("controls").append(
  choice("Area", MEASURES, state.measure, value => { state.measure = value; draw(); }),
  choice("Colour", [["Age", "age"], ["User", "user"]], state.colour, value => { state.colour = value; legend(); draw(); }));
legend();
trail();
draw();
listen();
follow();
// What is below the first screen is made after the first picture.
requestAnimationFrame(() => setTimeout(() => {
  if (data.series) $("tables").append(overTime());
  if (data.changes) $("tables").append(changes());
  $("tables").append(contents(), ...lists());
  $("contents").append(...[...document.querySelectorAll("h2")].map(head => make("a", { href: "#" + head.id, textContent: head.textContent })));
  document.documentElement.dataset.ready = "yes";
}));
})();
