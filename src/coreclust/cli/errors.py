"""The error for input that a command cannot use."""


class InputError(Exception):
    """Input that a command cannot use; the message says what to do, in one sentence."""
