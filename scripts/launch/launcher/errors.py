"""The one kind of error that a user sees: one message, no traceback."""


class LaunchError(Exception):
    """What went wrong, where, and what to do about it."""
