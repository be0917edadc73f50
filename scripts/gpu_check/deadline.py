"""The time that is left."""
import time


class Deadline:
    def __init__(self, seconds):
        self.seconds = seconds
        self._end = time.monotonic() + seconds

    def left(self):
        return max(0.0, self._end - time.monotonic())

    def is_over(self):
        return self.left() <= 0

    def share(self):
        """What one step may take: others get their turn after one that hangs."""
        return Deadline(min(self.left(), max(1, self.left() / 5)))
