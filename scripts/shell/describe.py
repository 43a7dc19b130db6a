"""What the programs take, from their own --help: commands, options, values, examples."""
import dataclasses
import re
import subprocess

HELP_COLUMN = 30  # of CLI11, for an entry that is indented by two
SECTIONS = ("Positionals:", "Options:", "Subcommands:")
ENTRY = re.compile(r"(?P<indent> +)(?P<names>[\w,-]+)(?P<rest>.*)")
RANGE = re.compile(r"(in )?\[\S+ - \S+\](=\S+)?$")


@dataclasses.dataclass
class Option:
    names: list  # "--list", "-l"; of a positional its name
    value: str = ""  # TEXT, UINT, ...; empty for a flag
    choices: list = dataclasses.field(default_factory=list)
    default: str = ""
    required: bool = False
    help: str = ""

    @property
    def positional(self):
        return not self.names[0].startswith("-")


@dataclasses.dataclass
class Command:
    path: tuple  # ("farvec", "build", "graph")
    summary: str = ""
    usage: str = ""
    options: list = dataclasses.field(default_factory=list)
    commands: list = dataclasses.field(default_factory=list)
    footer: str = ""

    @property
    def name(self):
        return " ".join(self.path)


def read_option(match):
    left = match["rest"].strip()
    option = Option(match["names"].split(","), required="REQUIRED" in left)
    left = left.replace("REQUIRED", "").strip()
    value = re.match(r"(?P<value>[A-Z]+)(?::(?P<check>\{[^}]*\}|[^=]*))?(?:=(?P<default>.*?))?(?: \.\.\.)?$", left)
    if value:
        option.value, option.default = value["value"], value["default"] or ""
        if (value["check"] or "").startswith("{"):
            option.choices = value["check"].strip("{}").split(",")
    return option


def parse(path, text):
    """The Command that a program's help describes, with its commands still to be read."""
    command, section, last = Command(path), "", None
    lines = text.splitlines()
    for number, line in enumerate(lines):
        bare = line.strip()
        if bare in SECTIONS:
            section, last = bare, None
        elif bare.startswith("[Option Group"):
            last = None
        elif section and is_heading(lines, number):
            section, last = "Options:", None
        elif not section:
            place = "usage" if bare.startswith("Usage: ") else "summary"
            said = bare.removeprefix("Usage: ")
            setattr(command, place, f"{getattr(command, place)} {said}".strip())
        elif bare and not line.startswith((" ", "[")):
            command.footer = "\n".join(lines[number:]).rstrip()
            break
        else:
            last = read_entry(command, section, line, last)
    return command


def is_heading(lines, number):
    """Of a group of options, which looks like the footer's first line but for what comes next."""
    after = lines[number + 1] if number + 1 < len(lines) else ""
    return lines[number].endswith(":") and not lines[number].startswith(" ") and after.startswith("  -")


def read_entry(command, section, line, last):
    """The entry that the line begins or goes on with."""
    match = ENTRY.fullmatch(line[:HELP_COLUMN + 2])
    indent = len(match["indent"]) if match else 0
    if indent not in (2, 4) or (section == "Options:" and not match["names"].startswith("-")):
        if last is not None and line.strip() and not line.strip().startswith("["):
            last.help = f"{last.help} {line.strip()}".strip()
        return last if line.strip() else None
    column = HELP_COLUMN + indent - 2
    # What is longer than its column has its help on the next line.
    long = (line[column - 1:column].strip() != "" or "[" in line[:column]
            or RANGE.match(line[column:]) is not None)
    left, said = (line, "") if long else (line[:column], line[column:])
    match = ENTRY.fullmatch(left.rstrip())
    entry = read_option(match)
    entry.help = said.strip()
    if section == "Subcommands:":
        command.commands.append((entry.names[0], entry))
    else:
        command.options.append(entry)
    return entry


def describe(program, path):
    """All commands of a program, itself first."""
    done = subprocess.run([str(program), *path[1:], "--help"], text=True, capture_output=True,
                          timeout=60, check=True)
    command = parse(path, done.stdout)
    found = [command]
    for name, entry in command.commands:
        below = describe(program, (*path, name))
        below[0].summary = entry.help or below[0].summary
        found += below
    command.commands = [name for name, _ in command.commands]
    return found
