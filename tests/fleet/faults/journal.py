"""What the journal of a run says so far; a line that is still being written does not count."""
import json


class Journal:
    def __init__(self, run):
        self.path = run / "journal.jsonl"

    def lines(self):
        try:
            text = self.path.read_text(encoding="utf-8", errors="replace")
        except OSError:
            return []
        return text[: text.rfind("\n") + 1].splitlines()

    def records(self):
        return [json.loads(line) for line in self.lines()]

    def samples(self, step, number=None):
        """Of the step with this id, in the pass with this number."""
        records = self.records()
        steps = {r["step"]: r["id"] for r in records if r["t"] == "step"}
        found = [r for r in records if r["t"] == "sample" and steps[r["step"]] == step]
        return [r for r in found if number is None or r["pass"] == number]

    def losses(self):
        return [r for r in self.records() if r["t"] == "loss"]
