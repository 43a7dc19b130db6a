"""What farvec raises. Messages are those of the tool: what was tried, on what, and what to do."""


class Error(Exception):
    """Something could not be done; the base of all that farvec raises itself."""


class InvalidArgument(Error, ValueError):
    """A call asks for what cannot be: a shape, a type, a value, a combination."""


class WrongType(InvalidArgument, TypeError):
    """An argument is of a kind that cannot be there at all: text in place of vectors."""


class DeadlineExceeded(Error, TimeoutError):
    """The time that a call had is over."""


class Unavailable(Error, ConnectionError):
    """A node, or what it reads from, cannot be reached."""


class ResourceExhausted(Error):
    """No room at the moment: a queue, memory or disk is full. Worth trying again."""


class FailedPrecondition(Error):
    """What is called is not in a state for it: closed, or opened before a fork."""


class NotFound(Error, LookupError):
    """What is named is not there."""


class PermissionDenied(Error, PermissionError):
    """The node does not allow it."""


class DataLoss(Error):
    """Bytes that were read are not those that were written."""


class Internal(Error):
    """A broken invariant, here or in a node."""
