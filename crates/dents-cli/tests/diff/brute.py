"""The differences of two scans (NDJSON), by brute force: `brute.py DEPTH OLD NEW [DEPTH OLD NEW ...]` prints an object for each pair."""
import base64
import json
import sys


def exact(row, field):
    if field + "_bytes" in row:
        return base64.b64decode(row[field + "_bytes"])
    return None if row[field] is None else row[field].encode()


def trim(root):
    return root.rstrip(b"/") or root[:1]


def read(file):
    """Entries by root and path, and the directories whose contents are not known."""
    entries, unread, roots = {}, set(), set()
    for line in open(file, "rb"):
        row = json.loads(line)
        if "scan" in row:
            continue
        path, depth = exact(row, "path"), row["depth"]
        if depth == 0:
            root, below = trim(path), b""
        else:
            parts = path.split(b"/")
            root, below = b"/".join(parts[:-depth]), b"/".join(parts[-depth:])
            root = trim(root) or b"/"
        roots.add(root)
        if row["asked"] in ("stat", "open", "read", "loop"):
            unread.add((root, below))
        if row["asked"] not in ("open", "read", "loop"):
            row["target"] = exact(row, "target")
            for time in ("mtime", "btime"):
                if row[time] is not None:
                    row[time] = row[time][:-4]
            entries.setdefault((root, below), row)
    return entries, unread, roots


def order(path):
    return path.replace(b"/", b"\0")


def is_linked(row):
    return row["type"] != "directory" and row["nlink"] is not None and row["nlink"] > 1


def file_of(row):
    return row["dev"], row["ino"]


def has_length(row):
    return row["type"] in ("file", "link")


def changes(a, b):
    if a["type"] != b["type"]:
        return ["type"]
    directory, here = a["type"] == "directory", a["dev"] == b["dev"]
    born_apart = a["btime"] is not None and b["btime"] is not None and a["btime"] != b["btime"]
    tests = [
        ("size", has_length(a) and a["size"] != b["size"]),
        ("allocated", here and not directory and a["allocated"] != b["allocated"]),
        ("mtime", not directory and a["mtime"] != b["mtime"]),
        ("mode", a["mode"] & 0o7777 != b["mode"] & 0o7777),
        ("uid", a["uid"] != b["uid"]),
        ("gid", a["gid"] != b["gid"]),
        ("target", a["target"] is not None and b["target"] is not None and a["target"] != b["target"]),
        ("ino", here and not directory and (a["ino"] != b["ino"] or born_apart)),
    ]
    return [name for name, differs in tests if differs]


def is_same_file(a, b):
    if a["type"] != b["type"] or file_of(a) != file_of(b):
        return False
    if a["btime"] is not None and b["btime"] is not None:
        return a["btime"] == b["btime"]
    return (a["size"], a["mtime"]) == (b["size"], b["mtime"])


def counted(mine, other):
    """The names under which files with several links count."""
    files = {}
    for path, row in mine.items():
        if is_linked(row):
            twin = other.get(path)
            both = twin is not None and file_of(twin) == file_of(row) and twin["type"] == row["type"]
            files.setdefault(file_of(row), []).append((not both, order(path[1]), path))
    return {min(names)[2] for names in files.values()}


def named(field, path):
    try:
        return {field: path.decode()}
    except UnicodeDecodeError:
        return {field + "_bytes": base64.b64encode(path).decode()}


def compare(depth, old_file, new_file):
    (old, old_unread, old_roots), (new, new_unread, new_roots) = read(old_file), read(new_file)
    single = len(old_roots) <= 1 and len(new_roots) <= 1

    def path_of(place):
        root, below = place
        if single:
            return b"", below
        if not below:
            return root, root
        return root, (root if root.endswith(b"/") else root + b"/") + below

    unread = {path_of(place)[1] if not single else place[1] for place in old_unread | new_unread}
    sides = [{}, {}]
    for side, entries in zip(sides, (old, new)):
        for place, row in entries.items():
            side[path_of(place)] = row
    unknown = 0
    for place in set(sides[0]) | set(sides[1]):
        root, path = place
        above = path
        is_unknown = False
        while above != root:
            above = above[: above.rfind(b"/")] if b"/" in above[len(root) :] else root
            if above == b"" and root == b"/":
                above = b"/"
            is_unknown |= above in unread
        rows = [side.get(place) for side in sides]
        if all(rows) and any(row["ino"] is None for row in rows):
            is_unknown = True
        if is_unknown:
            unknown += 1
            for side in sides:
                side.pop(place, None)
    names = [counted(sides[0], sides[1]), counted(sides[1], sides[0])]
    zero = lambda: {"bytes": 0, "allocated": 0, "entries": 0}
    total, users, directories = zero(), {}, {}

    def taken(side, place):
        row = sides[side].get(place)
        if row is None or row["ino"] is None or (is_linked(row) and place not in names[side]):
            return 0, 0
        return (row["size"] if has_length(row) else 0), row["allocated"]

    def add(sums, side, size):
        sign = 1 if side else -1
        sums["bytes"] += sign * size[0]
        sums["allocated"] += sign * size[1]
        sums["entries"] += sign

    for side in (0, 1):
        for place, row in sides[side].items():
            root, path = place
            size = taken(side, place)
            add(total, side, size)
            if row["ino"] is not None:
                add(users.setdefault(row["uid"], zero()), side, size)
            below = path[len(root) :].lstrip(b"/") if root else path
            parts = below.split(b"/") if below else []
            if row["type"] != "directory":
                if not parts:
                    continue
                parts = parts[:-1]
            for level in range(0, min(depth, len(parts)) + 1):
                inner = b"/".join(parts[:level])
                one = inner if not root else root if not inner else (root if root == b"/" else root + b"/") + inner
                add(directories.setdefault((level, one), zero()), side, size)

    lists = {"new": [], "deleted": [], "changed": [], "moved": []}

    def note(kind, path, a, b, from_path, from_place, to_place):
        row = b or a
        before, after = taken(0, from_place), taken(1, to_place)
        entry = {
            "type": row["type"],
            "old_size": a["size"] if a and has_length(a) else None,
            "new_size": b["size"] if b and has_length(b) else None,
            "old_path": None,
            "bytes": after[0] - before[0],
            "allocated": after[1] - before[1],
            "changes": changes(a, b) if a and b else [],
        }
        entry.update(named("path", path or b"."))
        if from_path is not None:
            entry.update(named("old_path", from_path or b"."))
        lists[kind].append((order(path), entry))

    nowhere = (None, None)
    gone, came = {}, {}
    for place in set(sides[0]) | set(sides[1]):
        a, b = sides[0].get(place), sides[1].get(place)
        if a and b:
            if changes(a, b):
                note("changed", place[1], a, b, None, place, place)
        elif (a or b)["ino"] is None:
            note("deleted" if a else "new", place[1], a, b, None, place, place)
        else:
            (gone if a else came).setdefault(file_of(a or b), []).append((order(place[1]), place))
    for one in set(gone) | set(came):
        left, right = sorted(gone.get(one, [])), sorted(came.get(one, []))
        for nth in range(max(len(left), len(right))):
            source = left[nth][1] if nth < len(left) else None
            target = right[nth][1] if nth < len(right) else None
            a, b = sides[0].get(source), sides[1].get(target)
            if a and b and is_same_file(a, b):
                note("moved", target[1], a, b, source[1], source, target)
                continue
            if a:
                note("deleted", source[1], a, None, None, source, nowhere)
            if b:
                note("new", target[1], None, b, None, nowhere, target)
    result = {"total": total, "unknown": unknown, "summary": {}}
    for kind, entries in lists.items():
        entries.sort(key=lambda entry: entry[0])
        entries = [entry for _, entry in entries]
        result[kind] = entries
        result["summary"][kind] = {
            "bytes": sum(entry["bytes"] for entry in entries),
            "allocated": sum(entry["allocated"] for entry in entries),
            "entries": len(entries),
        }
    rows = [dict(named("path", path or b"."), depth=level, **sums) for (level, path), sums in directories.items()]
    keep = lambda sums: any(sums[field] for field in ("bytes", "allocated", "entries"))
    key = lambda row: json.dumps(row, sort_keys=True)
    result["directories"] = sorted(filter(keep, rows), key=key)
    result["users"] = sorted(filter(keep, (dict(id=id, **sums) for id, sums in users.items())), key=lambda row: row["id"])
    return result


for nth in range(1, len(sys.argv), 3):
    print(json.dumps(compare(int(sys.argv[nth]), *sys.argv[nth + 1 : nth + 3])))
