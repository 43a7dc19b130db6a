#!/usr/bin/env python3
"""Checks that pages and comments are in plain English, as far as a script can tell.

Pages: No sentence begins with Of, By, As or "The same of", or is above 30 words; no paragraph is above
90; "so many" does not stand for a number, nor "behind the last" for after it. Inline code is one word,
a link is its text. A list item is a paragraph. A cell of a table may be long, its sentences may not.
Headings, code blocks, comments and images are skipped.

Comments of C++: neither a comment, a trailing one too, nor a sentence in it begins with Of, By, As or
"The same of". "so many" does not stand for a number, nor "behind it" for after it. "nobody",
"whoever" and their like do not stand for code; a file has at most one "who", which people are called.
The first sentence of the comment at the top of a header has a verb (of a list, outside of a relative
clause).

Strings of C++, which are help texts, messages and docstrings: the same phrases, and no sentence begins
with a capital Of, By, As or "The same of". Literals that follow each other are one string; one of two
words or less is not read.

Prints `file:line: rule: first words` for every break of a rule; exit status 1 when there is one.
"""
import argparse
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
MAX_SENTENCE_WORDS = 30
MAX_PARAGRAPH_WORDS = 90

# What is checked when no file is named: pages that have been rewritten. The list only grows, until it
# is every page (`--all`).
CHECKED = [
    "CHANGES.md",
    "CONTRIBUTING.md",
    "README.md",
    "docs/understand/buffers.md",
    "docs/start/choosing.md",
    "docs/use/cli.md",
    "docs/use/clients.md",
    "docs/use/c.md",
    "docs/understand/clustering.md",
    "docs/use/collections.md",
    "docs/use/filters.md",
    "docs/use/searching.md",
    "docs/use/bits.md",
    "docs/use/second-copy.md",
    "docs/use/frameworks.md",
    "docs/understand/concepts.md",
    "docs/measure/datasets.md",
    "docs/operate/devices.md",
    "docs/understand/distance.md",
    "docs/operate/launch.md",
    "docs/operate/many-nodes.md",
    "docs/measure/measuring.md",
    "docs/operate/memory-node.md",
    "docs/operate/monitoring.md",
    "docs/operate/packages.md",
    "docs/operate/publishing.md",
    "docs/use/python.md",
    "docs/understand/quantization.md",
    "docs/start/quickstart.md",
    "docs/roadmap.md",
    "docs/measure/runbooks.md",
    "docs/operate/security.md",
    "docs/operate/serving-collections.md",
    "docs/use/ssd.md",
    "docs/start/tour.md",
    "docs/tried.md",
    "docs/use/ssd-search.md",
    "docs/use/advise.md",
    "docs/operate/compute-node.md",
    "docs/use/paged-hnsw.md",
    "docs/use/clusters.md",
    "docs/measure/memory.md",
    "docs/operate/rdma.md",
    "docs/architecture.md",
    "docs/use/postgres.md",
    "docs/format.md",
]
# Rooms (folders) whose comments have been rewritten, checked when no file is named. The list only grows.
ROOMS_CHECKED = ["base", "graph", "search", "layout", "transport", "quantization", "distance",
                 "coroutines", "disk", "wal", "cluster", "dataset", "device", "rpc", "indexing",
                 "tiers", "memory_node", "attributes", "changes", "client", "collection", "compute_node",
                 "ssd_baseline", "python", "measure", "cli", "postgres"]
# Folders below docs/ that are records, not pages.
RECORDS = {"decisions", "results", "study"}

BEGINNING = re.compile(r"(Of|By|As|The same of)\b")
PHRASES = {
    "so many": re.compile(r"\bso many\b", re.IGNORECASE),
    "behind, for after": re.compile(r"\bbehind the (last|first|next|previous|others?|rest|end)\b",
                                    re.IGNORECASE),
}

FENCE = re.compile(r"\s*(`{3,}|~{3,})")
HEADING = re.compile(r"#{1,6} ")
ITEM = re.compile(r"^\s*([-*+]|\d+[.)])\s+")
TABLE_RULE = re.compile(r"[\s|:-]+$")
COMMENT = re.compile(r"^\s*<!--.*?-->", re.DOTALL | re.MULTILINE)
CODE = re.compile(r"(`+)(.+?)\1", re.DOTALL)
IMAGE = re.compile(r"!\[[^\]]*\]\([^)]*\)")
LINK = re.compile(r"\[([^\]]*)\]\([^)]*\)")
TAG = re.compile(r"</?[a-zA-Z][^>]*>")
SENTENCE_END = re.compile(r"(?<!\be\.g)(?<!\bi\.e)(?<!\bvs)(?<!\bcf)[.!?][)\"'*_]*(?=\s)")
# Characters that end words, sentences or cells, and what stands for them inside of code.
HIDE = str.maketrans(" .!?[]<>|", "".join(chr(0xE000 + number) for number in range(9)))
SHOW = {hidden: shown for shown, hidden in HIDE.items()}


def keep_lines(match):
    """Nothing, on as many lines as the match has."""
    return "\n" * match.group().count("\n")


def plain(text):
    """A page without its marks. Every line stays on its line."""
    text = CODE.sub(lambda match: match.group().translate(HIDE).replace("\n", chr(0xE000)) +
                    keep_lines(match), text)
    text = LINK.sub(r"\1", IMAGE.sub("", text))
    return TAG.sub("", text).replace("**", "")


def without_blocks(text):
    """The lines of a page, those of comments, code blocks and headings empty."""
    fence = None
    for line in COMMENT.sub(keep_lines, text).split("\n"):
        mark = FENCE.match(line)
        if mark and fence is None:
            fence = mark.group(1)
        elif mark and mark.group(1).startswith(fence):
            fence, line = None, ""
        yield "" if fence or HEADING.match(line) else line


def blocks_of_page(text):
    """(line, text, whether it is a paragraph) of every paragraph, list item and cell of a table."""
    lines = []

    def ended():
        block = "\n".join(lines)
        lines.clear()
        return [(number - block.count("\n") - 1, block, True)] if block.strip() else []

    number = 0
    for number, line in enumerate("\n".join(without_blocks(text)).split("\n"), start=1):
        line = re.sub(r"^\s*>\s?", "", line)
        table = line.lstrip().startswith("|")
        if table or not line.strip() or ITEM.match(line):
            yield from ended()
        if table and not TABLE_RULE.match(line):
            for cell in re.split(r"(?<!\\)\|", plain(line).strip().strip("|")):
                yield number, cell, False
        elif not table and line.strip():
            lines.append(ITEM.sub("", line, count=1))
    number += 1
    yield from ended()


def words_of(text):
    return [word for word in text.split() if re.search(r"\w", word)]


def sentences_of(text):
    """(offset, sentence)"""
    start = 0
    for end in [match.end() for match in SENTENCE_END.finditer(text)] + [len(text)]:
        if words_of(text[start:end]):
            yield start + len(text[start:end]) - len(text[start:end].lstrip()), text[start:end].strip()
        start = end


def broken_rules(sentence):
    words = words_of(sentence)
    beginning = BEGINNING.match(sentence.lstrip("(\"'*_"))
    if beginning:
        yield f'begins with "{beginning.group()}"'
    yield from (f'"{name}"' for name, phrase in PHRASES.items() if phrase.search(sentence))
    if len(words) > MAX_SENTENCE_WORDS:
        yield f"a sentence of {len(words)} words (at most {MAX_SENTENCE_WORDS})"


def check_page(text):
    for line, block, is_paragraph in blocks_of_page(text):
        block = plain(block)
        words = len(words_of(block))
        if is_paragraph and words > MAX_PARAGRAPH_WORDS:
            yield line, f"a paragraph of {words} words (at most {MAX_PARAGRAPH_WORDS})", block
        for offset, sentence in sentences_of(block):
            for rule in broken_rules(sentence):
                yield line + block.count("\n", 0, offset), rule, sentence


CODE_BEGINNING = re.compile(BEGINNING.pattern, re.IGNORECASE)
CODE_PHRASES = {
    "so many": PHRASES["so many"],
    "behind, for after": re.compile(
        r"\bbehind (the (last|first|next|previous|others?|rest|end)|each|it|them|all|those|these|that"
        r"|what|which|one|others)\b", re.IGNORECASE),
    "a person, for code": re.compile(r"\b(who(m?ever|m)|no ?body|(some|any|every)body)\b",
                                     re.IGNORECASE),
}
MAX_WHO = 1
WHO = re.compile(r"\bwho\b", re.IGNORECASE)
# Characters and numbers are here so that nothing in them looks like a comment or a string.
TOKEN = re.compile(
    r'R"(?P<fence>[^(\s]*)\((?P<raw>.*?)\)(?P=fence)"|"(?P<string>(?:\\.|[^"\\\n])*)"|\b[0-9][\w.\']*'
    r"|'(?:\\.|[^'\\\n])+'|(?P<comment>//[^\n]*|/\*.*?\*/)", re.DOTALL)
NO_COMMENT = re.compile(r"//[/!]?<? ?(clang-format|NOLINT)|///?$")
COMMENT_MARK = re.compile(r"^\s*(//[/!]?<?|/\*+|\*(?!\*))|\*/$", re.MULTILINE)
AUXILIARIES = set("is are was were has have had does do did can cannot could may might must will would "
                  "should need let".split())
VERBS = set("""
    abort accept add allocate allow answer append apply arrive ask assign become begin belong bound bring
    build call carry change check choose claim clean close collect come compare complete compress compute
    connect consist contain convert copy cost count cover create cut decide declare decode define delete deliver
    depend describe destroy divide do draw drop emulate encode end estimate evict exist expect explain
    export fail fetch fill find finish fit flush follow free get give go group grow guard hand happen hash
    help hide hold implement inform insert invalidate issue join keep know last lead learn leave lend let
    limit link list listen load locate lock log look lose make map mark match mean measure merge move name
    need notify offer open order own parse pass pin place plan point post prepare print produce protect quantise
    prove provide prune publish put queue quit raise rank read receive reclaim record recover refuse
    register release remain remember remove repair replace report represent reserve resolve rest restore
    resume return rewrite roll rotate round run save say scan score search see select send separate serve set share
    show sit skip sort speak split stand start state stay stop store submit suspend swap switch sync take
    talk tell test throw time trace train translate try turn use validate verify view wait wake walk want
    watch work wrap write yield""".split())
# Each of these begins a clause, whose verb is the next one.
CLAUSE = set("that which who what where how why when whether if because while until as".split())
# A word after one of BEFORE_NOUN is a noun, as is a second word before one of AFTER_NOUN.
BEFORE_NOUN = set("""of for with in on at from between by into over through under about a an the its
    their all these those two some no more one-sided""".split())
AFTER_NOUN = set("and or of to through in on for from by with at".split()) | {""}


def third_person(verb):
    if re.search(r"([sxzo]|sh|ch)$", verb):
        return verb + "es"
    return re.sub(r"(?<=[^aeiou])y$", "ie", verb) + "s"


THIRD_PERSON = {third_person(verb) for verb in VERBS}


def comments_of(text):
    """(line, text) of every comment; one that goes on for some lines is one comment."""
    parts, begin, place, mark = [], 0, None, None
    for token in TOKEN.finditer(text):
        comment = token.group("comment")
        if not comment or NO_COMMENT.match(comment):
            continue
        number = text.count("\n", 0, token.start()) + 1
        before = text[text.rfind("\n", 0, token.start()) + 1:token.start()]
        this = COMMENT_MARK.match(comment).group()
        if parts and not before.strip() and place == (number, len(before)) and mark == this:
            parts.append(comment)
        else:
            if parts:
                yield begin, "\n".join(parts)
            parts, begin, mark = [comment], number, this
        place = (number + comment.count("\n") + 1, len(before))
    if parts:
        yield begin, "\n".join(parts)


ESCAPE = re.compile(r"\\(.)", re.DOTALL)
MIN_STRING_WORDS = 3


def strings_of(text):
    """(line, text) of every string that may be prose; literals that follow each other are one."""
    parts, begin, end = [], 0, 0

    def ended():
        string = "".join(parts)
        parts.clear()
        return [(begin, string)] if len(words_of(string)) >= MIN_STRING_WORDS else []

    for token in TOKEN.finditer(text):
        if token.group("comment"):
            end = end if text[end:token.start()].strip() else token.end()
            continue
        string = token.group("raw")
        if token.group("string") is not None:
            string = ESCAPE.sub(lambda match: {"n": "\n"}.get(match[1], match[1]), token.group("string"))
        if string is None:
            continue
        if text[end:token.start()].strip():
            yield from ended()
        if not parts:
            begin = text.count("\n", 0, token.start()) + 1
        parts.append(string)
        end = token.end()
    yield from ended()


def is_verb(before, word, after):
    if word in AUXILIARIES:
        return True
    if before in BEFORE_NOUN or before in {"and", "or"} or after == "of":
        return False
    if after in AUXILIARIES and (not before or before in CLAUSE - {"that", "which", "who"}):
        return False
    # "Reads a file" and "A fiber reads", but not "Short reads"; "Fibers read", but not "A vector read".
    return word in THIRD_PERSON or word in VERBS and before.endswith("s")


def has_verb(sentence):
    """Whether the main clause has one, as far as lists of words tell."""
    words = [word.strip("(),.:;\"'`").lower() for word in sentence.split()]
    has_name = re.match(r"\w+\(\)|[A-Z]\w*[A-Z]", sentence)
    clauses = 0
    for place, (before, word, after) in enumerate(zip(["", *words], words, [*words[1:], ""])):
        if word in CLAUSE:
            clauses += 1
        elif is_verb(before, word, after) and not (
                place == 1 and word in THIRD_PERSON and after in AFTER_NOUN and not has_name):
            clauses -= 1
            if clauses < 0:
                return True
    return False


def check_sentence(sentence, beginning):
    """The rules that a sentence of a comment or a string breaks."""
    found = beginning.match(sentence.lstrip("(\"'*_"))
    if found:
        yield f'begins with "{found.group()}"'
    for name, phrase in CODE_PHRASES.items():
        if phrase.search(" ".join(sentence.split())):
            yield f'"{name}"'


def check_code(text, is_header):
    who = []
    for line, comment in comments_of(text):
        block = plain(COMMENT_MARK.sub("", comment))
        for number, (offset, sentence) in enumerate(sentences_of(block)):
            place = line + block.count("\n", 0, offset)
            for rule in check_sentence(sentence, BEGINNING if number else CODE_BEGINNING):
                yield place, rule, sentence
            if WHO.search(sentence):
                who.append((place, sentence))
            if is_header and line == 1 and number == 0 and not has_verb(sentence):
                yield place, "a header's first sentence without a verb", sentence
    for line, string in strings_of(text):
        for _, sentence in sentences_of(string):
            yield from ((line, rule, sentence) for rule in check_sentence(sentence, BEGINNING))
            if WHO.search(sentence):
                who.append((line, sentence))
    if len(who) > MAX_WHO:
        yield from ((place, f'"who" in {len(who)} sentences of a file (at most {MAX_WHO})', sentence)
                    for place, sentence in who)


# What checks a file, by its suffix.
CHECKS = {
    ".md": check_page,
    ".h": lambda text: check_code(text, True),
    ".cc": lambda text: check_code(text, False),
    ".c": lambda text: check_code(text, False),
}


def check_text(text, suffix):
    """(line, rule, first words) of every break of a rule."""
    return CHECKS[suffix](text)


def check_file(path, name):
    for line, rule, text in check_text(path.read_text(encoding="utf-8"), path.suffix):
        yield f"{name}:{line}: {rule}: {' '.join(text.split()[:8]).translate(SHOW)}"


def pages(root):
    """Every page of the project, by its path from the root."""
    docs = (path.relative_to(root) for path in sorted((root / "docs").rglob("*.md")))
    return ["README.md", "CONTRIBUTING.md", "CHANGES.md",
            *(path.as_posix() for path in docs if path.parts[1] not in RECORDS)]


def code(root, rooms):
    """Every C++ file of rooms, by its path from the root."""
    return [path.relative_to(root).as_posix() for room in rooms
            for path in sorted((root / room).rglob("*")) if path.suffix in {".h", ".cc", ".c"}]


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", metavar="FILE",
                        help="default: the pages of CHECKED and the code of ROOMS_CHECKED")
    parser.add_argument("--all", action="store_true", help="every page, also those not yet in CHECKED")
    asked = parser.parse_args(arguments)
    names = asked.files or (pages(ROOT) if asked.all else CHECKED) + code(ROOT, ROOMS_CHECKED)
    errors = []
    for name in names:
        path = pathlib.Path(name) if asked.files else ROOT / name
        if path.suffix not in CHECKS or not path.is_file():
            print(f"error: {path} is not a file ending in {' or '.join(CHECKS)}", file=sys.stderr)
            return 2
        errors.extend(check_file(path, name))
    print("\n".join(errors), end="\n" if errors else "")
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
