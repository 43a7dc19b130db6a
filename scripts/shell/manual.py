"""Man pages, from descriptions of the programs."""

EXIT = """.TP
.B 0
It has done what it was asked.
.TP
.B 1
It failed: what was wrong, where, and what to do is on the standard error.
.TP
.B 2
The command line makes no sense.
"""
EXIT_OF_THE_TOOL = """.TP
.B 3
.B farvec status
found that the node does not serve.
.TP
.B 130
It was interrupted (SIGINT, SIGTERM) and has said how far it came.
"""


def escaped(text):
    """For a line of text: nothing in it is a request or an escape."""
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return "\\&" + text if text.startswith((".", "'")) else text


def option_entry(option):
    names = ", ".join(f"\\fB{escaped(name)}\\fR" for name in option.names)
    value = f" \\fI{escaped('|'.join(option.choices) or option.value)}\\fR" if option.value else ""
    remarks = [f"default {option.default}"] if option.default else []
    remarks += ["required"] if option.required else []
    remark = f" ({', '.join(remarks)})" if remarks else ""
    return f".TP\n{names}{value}\n{escaped(option.help + remark) or '.'}\n"


def section(title, text):
    return f".SH {title}\n{text.rstrip()}\n" if text.strip() else ""


def page_name(path):
    return "-".join(path)


def page(command, all_commands, version):
    name = page_name(command.path)
    below = [one for one in all_commands if one.path[:-1] == command.path]
    about = [command.path[:-1]] if len(command.path) > 1 else []
    about += [one.path for one in below]
    listed = "".join(f".TP\n\\fB{escaped(one.path[-1])}\\fR\n{escaped(one.summary)}\n" for one in below)
    footer = "\n".join(map(escaped, command.footer.splitlines()))
    status = EXIT + (EXIT_OF_THE_TOOL if command.path[0] == "farvec" else "")
    return (f'.\\" Made from --help by scripts/shell/make.py.\n.TH {name.upper()} 1 "" "{version}" "farvec"\n'
            + section("NAME", f"{escaped(name)} \\- {escaped(command.summary.rstrip('.'))}")
            + section("SYNOPSIS", f"\\fB{escaped(command.usage)}\\fR")
            + section("COMMANDS", listed)
            + section("OPTIONS", "".join(map(option_entry, command.options)))
            + section("NOTES", footer and f".nf\n{footer}\n.fi")
            + section("EXIT STATUS", status)
            + section("SEE ALSO", ",\n".join(f"\\fB{escaped(page_name(path))}\\fR(1)" for path in about)))
