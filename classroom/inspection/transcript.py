"""Run in the sandbox before a student's cells: keep what they print, and every whole traceback.

This text is a cell of its own there; a student who changes it deceives only the reader.
"""

import builtins
import io
import sys
import traceback

from IPython.core.interactiveshell import InteractiveShell


class TranscriptStream(io.TextIOBase):
    """Standard output and standard error: pieces of text, each with the place it came from."""

    def __init__(self):
        self.place, self.left, self.pieces = "", 200_000, []

    def writable(self):
        """Return True, as a stream does."""
        return True

    def write(self, text):
        """Keep the text, as long as there is room."""
        text = str(text)
        kept = text[: self.left]
        self.left -= len(kept)
        if self.pieces and self.pieces[-1][0] == self.place:
            self.pieces[-1][1] += kept
        else:
            self.pieces.append([self.place, kept])
        return len(text)

    def show_error(self, *_, **__):
        """Keep the traceback of the error that is being handled."""
        self.write(traceback.format_exc(limit=-12))


def watch_function(stream, name, function, times):
    """Return a function that does the same, and keeps the traceback of its first errors."""

    def watched(*args, **kwargs):
        stream.place = name
        try:
            return function(*args, **kwargs)
        except BaseException:
            if times and times.pop():
                stream.show_error()
            raise

    watched.__name__ = getattr(function, "__name__", name)
    watched.__wrapped__ = function
    return watched


def watch_names(stream, names):
    """Watch these functions, and the methods of these classes, in the student's namespace."""
    space = InteractiveShell.instance().user_ns
    for name in names:
        value, times = space.get(name), [True] * 3
        if isinstance(value, type):
            for method, function in list(vars(value).items()):
                if type(function) is type(watch_names):
                    place = f"{name}.{method}"
                    setattr(value, method, watch_function(stream, place, function, times))
        elif callable(value):
            space[name] = watch_function(stream, name, value, times)


def start_transcript():
    """Replace the standard streams and the tracebacks of IPython."""
    stream = TranscriptStream()
    sys.stdout = sys.stderr = stream
    shell = InteractiveShell.instance()
    shell.showtraceback = shell.showsyntaxerror = stream.show_error
    shell.user_ns["transcript_of_the_teacher"] = stream.pieces
    builtins.transcript_of_the_teacher = stream
    builtins.watch_for_the_teacher = lambda names: watch_names(stream, names)


start_transcript()
