"""What a user did wrong, as an error of its own class.

A command ends with one line for it, and with a traceback for any other error of the code.
"""


class InputError(ValueError):
    """A value, a file or a combination of options that cannot be used.

    The message is one sentence. It names the file, the line, the value and the choices.
    """
