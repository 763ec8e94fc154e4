"""The errors that users see: wrong input, and a training that failed.

A command ends with one line for an `InputError`, and with a traceback for errors of the code.
"""


class InputError(ValueError):
    """A value, a file or a combination of options that cannot be used.

    The message is one sentence that names the file, the line, the value and the choices.
    """


class TrainingError(RuntimeError):
    """A training, or a prediction after it, that failed; the message ends with its log's end."""
