"""Completion for bash, zsh and fish, from descriptions of the programs."""

BASH = """# Completion of farvec's programs for bash. Made from their --help by scripts/shell/make.py.
declare -gA _farvec_commands=(
{commands}
)
declare -gA _farvec_options=(
{options}
)
# Of options that take a value: words, or @ for a file, or nothing that could be offered.
declare -gA _farvec_values=(
{values}
)

_farvec() {{
  local current="${{COMP_WORDS[COMP_CWORD]}}" before="${{COMP_WORDS[COMP_CWORD - 1]}}"
  local path="${{COMP_WORDS[0]##*/}}" i key
  for ((i = 1; i < COMP_CWORD; ++i)); do
    case " ${{_farvec_commands[$path]-}} " in
      *" ${{COMP_WORDS[i]}} "*) path+=" ${{COMP_WORDS[i]}}" ;;
      *) break ;;
    esac
  done
  COMPREPLY=()
  key="$path $before"
  if [[ $before == -* && -n ${{_farvec_values[$key]+there}} ]]; then
    if [[ ${{_farvec_values[$key]}} != @ ]]; then
      compopt +o default +o bashdefault 2>/dev/null
      mapfile -t COMPREPLY < <(compgen -W "${{_farvec_values[$key]}}" -- "$current")
    fi
  elif [[ $current == -* ]]; then
    mapfile -t COMPREPLY < <(compgen -W "${{_farvec_options[$path]-}}" -- "$current")
  elif [[ -n ${{_farvec_commands[$path]-}} ]]; then
    mapfile -t COMPREPLY < <(compgen -W "${{_farvec_commands[$path]}}" -- "$current")
  fi
}}
complete -o bashdefault -o default -F _farvec {programs}
"""

ZSH = """#compdef {programs}
# Completion of farvec's programs for zsh. Made from their --help by scripts/shell/make.py.
local curcontext="$curcontext" state line path=$service i
local -a known
for ((i = 2; i < CURRENT; ++i)); do
  case "$path $words[i]" in
{names}
    *) break ;;
  esac
done
(( CURRENT -= i - 2 ))
words=("$path" "${{(@)words[i,-1]}}")
case $path in
{cases}
esac
"""

FISH = """# Completion of {program} for fish. Made from its --help by scripts/shell/make.py.
function __{function}_at --description 'Whether these are the commands so far'
  set -l words (commandline -opc)[2..]
  set -l so_far
  for word in $words
    string match -q -- '-*' $word; and break
    contains -- $word {words}; or break
    set -a so_far $word
  end
  test "$so_far" = "$argv"
end
{lines}
"""


def offered(option):
    """What bash offers for its value."""
    return " ".join(option.choices) if option.choices else "@" if option.value == "TEXT" else ""


def bash_table(entries):
    return "\n".join(f'  ["{key}"]="{value}"' for key, value in entries)


def bash(commands):
    flags = [(command, option) for command in commands for option in command.options
             if not option.positional]
    return BASH.format(
        programs=programs(commands),
        commands=bash_table((one.name, " ".join(one.commands)) for one in commands if one.commands),
        options=bash_table((one.name, " ".join(name for option in one.options
                                               if not option.positional for name in option.names))
                           for one in commands),
        values=bash_table((f"{one.name} {name}", offered(option)) for one, option in flags
                          if option.value for name in option.names))


def programs(commands):
    return " ".join(one.path[0] for one in commands if len(one.path) == 1)


def zsh_text(text):
    for letter in "\\'[]:":
        text = text.replace(letter, "'\\''" if letter == "'" else "\\" + letter)
    return text


def zsh_option(option):
    action = f"({' '.join(option.choices)})" if option.choices else "_files" if option.value == "TEXT" else " "
    value = f":{option.value}:{action}" if option.value else ""
    return " ".join(f"'*{name}[{zsh_text(option.help)}]{value}'" for name in option.names)


def zsh_case(command):
    if command.commands:
        rest = [f"'1:command:({' '.join(command.commands)})'"]
    else:
        rest = ["'*:file:_files'"] if any(option.positional for option in command.options) else []
    words = [zsh_option(option) for option in command.options if not option.positional] + rest
    return f"  '{command.name}') _arguments {' '.join(words)} ;;"


def zsh(commands):
    names = [f"    '{one.name}') path='{one.name}' ;;" for one in commands if len(one.path) > 1]
    return ZSH.format(programs=programs(commands), names="\n".join(names),
                      cases="\n".join(map(zsh_case, commands)))


def fish_text(text):
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def fish_lines(program, function, commands):
    names = {one.name: one for one in commands}
    for one in commands:
        at = f"complete -c {program} -n '__{function}_at {' '.join(one.path[1:])}'"
        for name in one.commands:
            yield f"{at} -f -a {name} -d {fish_text(names[f'{one.name} {name}'].summary)}"
        for option in one.options:
            if option.positional:
                continue
            word = " ".join(f"-l {name[2:]}" if name.startswith("--") else f"-s {name[1:]}"
                            for name in option.names)
            value = f" -x -a {fish_text(' '.join(option.choices))}" if option.choices else \
                " -r -F" if option.value == "TEXT" else " -x" if option.value else ""
            yield f"{at} {word}{value} -d {fish_text(option.help)}"


def fish(commands):
    """Of the commands of one program."""
    program = commands[0].name
    function = program.replace("-", "_")
    words = " ".join(sorted({word for one in commands for word in one.path[1:]})) or "''"
    return FISH.format(program=program, function=function, words=words,
                       lines="\n".join(fish_lines(program, function, commands)))
