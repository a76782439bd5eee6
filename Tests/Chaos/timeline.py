"""What is known of a switch over time."""

import math


class Timeline:
    """Something that is on or off, and neither while a request is about to change it."""

    def __init__(self, is_on=True):
        self.spans = [(-math.inf, is_on)]

    @property
    def is_settled(self):
        return self.spans[-1][1] is not None

    def begin(self, at):
        """From now on nobody knows."""
        self.spans.append((at, None))

    def end(self, is_on, at):
        """A request was answered well."""
        self.spans.append((at, is_on))

    def surely(self, is_on, since, until):
        """Whether it was that all the time."""
        ends = [start for start, _ in self.spans[1:]] + [math.inf]
        spans = zip(self.spans, ends)
        return all(value is is_on for (start, value), end in spans if start <= until and end > since)
