"""Strict reading of TOML tables: every key is known, of its type, and named in its error."""
import difflib

from .errors import LaunchError

REQUIRED = object()
WORDS = {str: "a string", int: "a whole number", bool: "true or false", list: "a list",
         dict: "a table"}


class Table:
    """One table of FILE. `where` is its name in messages, "" for the top of the file."""

    def __init__(self, file, where, values):
        self.file = file
        self.where = where
        self.values = values
        self.known = []

    def fail(self, key, problem):
        raise LaunchError(f"{self.file}: {self.path(key)}: {problem}")

    def path(self, key):
        return f"{self.where}.{key}" if self.where else key

    def take(self, key, kind, default=REQUIRED):
        """The value of KEY, which must be of KIND."""
        self.known.append(key)
        if key not in self.values:
            if default is REQUIRED:
                self.fail(key, f"is missing; give {WORDS[kind]}")
            return default
        value = self.values[key]
        if type(value) is not kind:  # a bool is an int to isinstance
            self.fail(key, f"must be {WORDS[kind]}, not {value!r}")
        if value == "" and default is REQUIRED:
            self.fail(key, f"is empty; give {WORDS[kind]}")
        return value

    def choice(self, key, choices, default=REQUIRED):
        value = self.take(key, str, default)
        if value not in choices:
            self.fail(key, f"'{value}' is none of {', '.join(choices)}")
        return value

    def number(self, key, default, least, most):
        value = self.take(key, int, default)
        if not least <= value <= most:
            self.fail(key, f"{value} is out of range; give {least} to {most}")
        return value

    def strings(self, key, default=REQUIRED):
        values = self.take(key, list, default)
        if any(type(value) is not str or not value for value in values):
            self.fail(key, f"must be a list of strings, not {values!r}")
        return list(values)

    def numbers(self, key, default, least):
        values = self.take(key, list, default)
        if not values or any(type(value) is not int or value < least for value in values):
            self.fail(key, f"must be a list of whole numbers from {least} up, not {values!r}")
        return list(values)

    def table(self, key):
        return Table(self.file, self.path(key), self.take(key, dict, {}))

    def end(self):
        """Refuses what nobody has taken."""
        for key in self.values:
            if key not in self.known:
                near = difflib.get_close_matches(key, self.known, n=1)
                hint = f"did you mean '{near[0]}'? " if near else ""
                self.fail(key, f"unknown key; {hint}known here: {', '.join(self.known)}")
