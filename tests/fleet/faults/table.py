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


def put(text, file):
    """Into the file: in place of the table that stands there between its marks, or as all of it."""
    old = file.read_text(encoding="utf-8") if file.exists() else ""
    if BEGIN in old and END in old:
        text = old[: old.index(BEGIN)] + BEGIN + text + old[old.index(END) :]
    file.write_text(text, encoding="utf-8")
