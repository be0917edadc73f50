"""The matrix as a table."""

BEGIN, END = "<!-- fault matrix -->\n", "<!-- end -->\n"


def row(outcome):
    report = outcome.report
    named = "–"
    if report is not None and outcome.expected.on_disk:
        missing = {f["subject"].get("node") for f in report["findings"] if f["direction"] == "missing"}
        named = ", ".join(sorted(filter(None, missing | set(report["fleet"]["lost"])))) or "nobody"
    phases = sorted({loss["phase"] for loss in outcome.losses})
    return [
        outcome.kind.what,
        outcome.moment,
        f"{outcome.took_s - outcome.struck_at_s:.0f} s",
        f"{outcome.deadline_s:.0f} s",
        named,
        ", ".join(phases) or "–",
        f"{outcome.verdict or '–'} {outcome.verdict_code}",
        str(outcome.code),
        f"{len(outcome.seen) - len(outcome.records_lost)} of {len(outcome.seen)}",
        "yes" if not outcome.complaints else "NO",
    ]


HEAD = ["fault", "moment", "over after", "deadline", "named", "lost in", "verdict", "exit", "records kept", "as it must"]


def markdown(outcomes):
    rows = [HEAD, ["---"] * len(HEAD)] + [row(outcome) for outcome in outcomes]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in rows) + "\n"


def put(text, file, some):
    """Into the file: in place of the table that stands there between its marks, or as all of it. Of
    `some` cells: in place of their rows there."""
    old = file.read_text(encoding="utf-8") if file.exists() else ""
    if BEGIN in old and END in old:
        before, after = old[: old.index(BEGIN)] + BEGIN, old[old.index(END) :]
        text = before + (merged(old[len(before) : old.index(END)], text) if some else text) + after
    file.write_text(text, encoding="utf-8")


def merged(old, new):
    rows = {cell(line): line for line in new.splitlines()}
    return "".join(rows.get(cell(line), line) + "\n" for line in old.splitlines())


def cell(line):
    """Fault and moment."""
    return tuple(line.split(" | ")[:2])
