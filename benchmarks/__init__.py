"""Speed against other libraries: every result is a ratio of calls timed in turn, in one run."""
