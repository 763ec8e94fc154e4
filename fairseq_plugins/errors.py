"""The error of wrong input.

A command ends with one line for an `InputError`, and with a traceback for errors of the code.
"""


class InputError(ValueError):
    """A value, a file or a combination of options that cannot be used.

    The message is one sentence that names the file, the line, the value and the choices.
    """
