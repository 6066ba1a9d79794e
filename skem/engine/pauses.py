"""What did not do is tried again ever less often."""

from __future__ import annotations


class Pauses:
    """A pass later, then two, and so on up to ``LONGEST`` passes; from the beginning once it did."""

    LONGEST = 16

    def __init__(self) -> None:
        self._pause = self._left = 0

    def over(self) -> bool:
        """Whether it is time to try; to be asked once per pass."""
        self._left -= 1
        return self._left < 0

    def after(self, failed: bool) -> None:
        """Pause after a try, if it failed."""
        self._pause = min(max(2 * self._pause, 1), self.LONGEST) if failed else 0
        self._left = self._pause
