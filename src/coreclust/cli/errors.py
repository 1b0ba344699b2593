"""What went wrong, in one sentence."""


class InputError(Exception):
    """The command was given something it cannot use; the message says what to do about it."""
