#!/usr/bin/env python3
"""Runs pgvector's own regression and TAP suites against farvec's index and types.

Example:
    bench/postgres/pgvector_suites.py --checkout ~/pgvector --build build/release --out build/suites

The checkout is pgvector's repository, or a bare copy of it; nothing of it is kept here. Its files are
written anew for farvec: the extension, the access method, and settings have other names. Then they
run in a private server. --pattern takes some of them alone. OUT gets a folder for each suite with what
ran and what differs, and summary.json.
TAP tests need Perl's IPC::Run (libipc-run-perl) and the Perl modules of the server (postgresql-server-dev).
"""
import argparse
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "postgres"))

TIMEOUT_S = 900
# pgvector ends a scan after hnsw.ef_search rows, which are 40 by default.
AS_PGVECTOR = {"farvec.iterative_scan": "off", "farvec.search_list": "40"}
# Suites of what farvec does not have.
OTHER_THINGS = re.compile("ivfflat|sparsevec")
RENAMED = ((r"CREATE EXTENSION vector\b", "CREATE EXTENSION farvec"),
           (r"(?i)\bUSING hnsw\b", "USING farvec"),
           (r"hnsw\.ef_search\b", "farvec.search_list"),
           (r"hnsw\.iterative_scan = (strict_order|relaxed_order|\$mode)", "farvec.iterative_scan = on"),
           (r"hnsw\.iterative_scan\b", "farvec.iterative_scan"),
           # What pgvector says of its own way of building.
           (r"(?m)^\s*like\(\$stderr, qr/(using \\d\+ parallel|hnsw graph no longer fits).*\n", ""),
           # Sums of absolute differences have no index.
           (r', "<\+>"|, "(vector|halfvec)_l1_ops"', ""),
           # Settings that farvec needs no counterpart for: a scan may read all rows.
           (r"(?m)^.*\b(SET|SHOW) hnsw\.(max_scan_tuples|scan_mem_multiplier).*\n", ""))
OF_ERRORS = re.compile(r"(DETAIL|HINT|CONTEXT|LINE \d+|QUERY):|\s*\^$")


def parse_arguments(arguments):
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("--checkout", required=True, help="pgvector's repository")
    add("--revision", default="v0.8.5", help="of a repository (%(default)s)")
    add("--build", default="build/release", help="the build's folder (%(default)s)")
    add("--out", default="build/pgvector-suites", help="folder for results (%(default)s)")
    add("--pattern", default="", help="runs suites whose name has this regular expression")
    return parser.parse_args(arguments)


def files_of(options):
    """{path in the repository: text} of the tests."""
    git = ["git", "-C", options.checkout]
    listed = subprocess.run([*git, "ls-tree", "-r", "--name-only", options.revision, "test"], check=True,
                            capture_output=True, text=True).stdout.split()
    return {path: subprocess.run([*git, "show", f"{options.revision}:{path}"], check=True,
                                 capture_output=True, text=True).stdout
            for path in listed if re.search(r"test/(sql|expected|t)/", path)}


def statements_of(text):
    """Statements as psql shows them, which end with a line that has a semicolon at its end."""
    found = re.findall(r"(?ms)^(?!--)\S.*?;$|^\\.*?$", text)
    return [statement for statement in found if statement]


def answers_of(statements, shown):
    """[(statement, what psql shows after it)]"""
    places, at = [], 0
    for statement in statements:
        begin = shown.find(statement + "\n", at)
        if begin < 0:
            begin, statement = at, ""
        at = begin + len(statement)
        places.append((begin, at))
    ends = [begin for begin, _ in places[1:]] + [len(shown)]
    return [(statement, re.sub(r"(?m)^--.*\n?", "", shown[end:until]).strip())
            for statement, (_, end), until in zip(statements, places, ends)]


def without_words(answer):
    """An answer without the words of its errors."""
    lines = [line for line in answer.splitlines() if not OF_ERRORS.match(line)]
    return [re.sub(r"^(ERROR|WARNING|NOTICE):.*", r"\1", line) for line in lines]


def compare(expected, found):
    """(how many answers are the same, or but for the words of an error; the others as a text)"""
    counts = {"statements": len(expected), "same": 0, "other words": 0, "sparsevec": 0, "different": 0}
    text = []
    for (statement, answer), (_, own) in zip(expected, found):
        if answer == own:
            counts["same"] += 1
        elif without_words(answer) == without_words(own):
            counts["other words"] += 1
        elif "sparsevec" in statement or "sparsevec" in answer or re.search(r"\}/\d", statement):
            counts["sparsevec"] += 1
        else:
            counts["different"] += 1
            text.append(f"{statement}\n  pgvector: {answer}\n  farvec: {own}\n\n")
    return counts, "".join(text)


def rewritten(text):
    for pattern, new in RENAMED:
        text = re.sub(pattern, new, text)
    return text


class Suites:
    def __init__(self, options, server, folder):
        self.options, self.server, self.folder = options, server, folder
        self.files = {path: rewritten(text) for path, text in files_of(options).items()}
        self.results = {}

    def names(self, folder, ending):
        found = [pathlib.Path(path).stem for path in self.files
                 if path.startswith(folder) and path.endswith(ending)]
        return sorted(name for name in found if not OTHER_THINGS.search(name)
                      and re.search(self.options.pattern, name))

    def write(self, path, text):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def prepare(self):
        for path, text in self.files.items():
            self.write(self.folder / pathlib.Path(path).relative_to("test"), text)
        (self.folder / "results").mkdir()  # where COPY writes
        for path in [self.folder, *self.folder.rglob("*")]:
            self.server.own(path)

    def run_sql(self, name):
        """By psql in a database of its own; the answer is compared with what pgvector's is."""
        database = f"suite_{name}"
        self.server.sql(f"DROP DATABASE IF EXISTS {database}; CREATE DATABASE {database};")
        self.server.sql("CREATE EXTENSION farvec;", database=database)
        command = [str(self.server.bin / "psql"), "-X", "-a", "-q", "-d", database,
                   "-v", "HIDE_TABLEAM=on", "-v", "HIDE_TOAST_COMPRESSION=on"]
        with open(self.folder / "sql" / f"{name}.sql") as statements:
            done = subprocess.run(command, stdin=statements, stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, text=True, timeout=TIMEOUT_S, check=False,
                                  cwd=self.folder,
                                  env={**self.server.environment({}), "PGTZ": "PST8PDT",
                                       "PGDATESTYLE": "Postgres, MDY"})
        (self.folder / f"{name}.out").write_text(done.stdout)
        expected = (self.folder / "expected" / f"{name}.out").read_text()
        statements = statements_of((self.folder / "sql" / f"{name}.sql").read_text())
        counts, text = compare(answers_of(statements, expected), answers_of(statements, done.stdout))
        (self.folder / f"{name}.differences").write_text(text)
        self.note(name, counts)

    def run_tap(self, name, perl):
        work = self.folder / "work"
        work.mkdir(exist_ok=True)
        self.server.own(work)
        environment = {**os.environ, "PATH": f"{self.server.bin}:{os.environ['PATH']}", "TESTDIR": str(work),
                       "PGPORT": "65432", "TEMP_CONFIG": str(self.folder / "temp.conf"), "HOME": str(work),
                       "PG_REGRESS": str(perl / "regress/pg_regress"), "PG_TEST_TIMEOUT_DEFAULT": "180"}
        done = subprocess.run(["prove", "-v", "-I", perl / "perl", self.folder / "t" / f"{name}.pl"], cwd=work,
                              capture_output=True, text=True, check=False, env=environment,
                              timeout=TIMEOUT_S, **self.server.as_user)
        (self.folder / f"{name}.tap").write_text(done.stdout + done.stderr)
        passed = len(re.findall(r"(?m)^ok \d", done.stdout))
        failed = re.findall(r"(?m)^not ok \d+.*", done.stdout)
        said = {"same": done.returncode == 0, "passed": passed, "failed": len(failed)}
        if done.returncode != 0 and not failed:
            said["ended"] = (done.stderr.strip().splitlines() or ["nothing was said"])[0][:300]
        self.note(name, said)

    def note(self, name, said):
        self.results[name] = said
        print(f"{name}: {said}", flush=True)


def perl_of(pg_config):
    """The folder with the server's Perl modules and pg_regress."""
    pgxs = pathlib.Path(subprocess.run([pg_config, "--pgxs"], check=True, capture_output=True,
                                       text=True).stdout.strip())
    return pgxs.parents[1] / "test"


def main(arguments):
    options = parse_arguments(arguments)
    import rounds
    rounds.use_build(options.build)
    from engine_base import SETTINGS
    from postgres_server import Postgres
    pg_config = os.environ["FARVEC_PG_CONFIG"]
    settings = {**SETTINGS, **AS_PGVECTOR, "farvec.engine_memory": "512MB"}
    server = Postgres(pg_config, pathlib.Path(os.environ["FARVEC_POSTGRES_DIR"]), **settings)
    try:
        folder = server.top / "suites"
        folder.mkdir()
        suites = Suites(options, server, folder)
        suites.write(folder / "temp.conf", "".join(f"{name} = '{value}'\n" for name, value in settings.items()))
        suites.prepare()
        for name in suites.names("test/sql/", ".sql"):
            suites.run_sql(name)
        for name in suites.names("test/t/", ".pl"):
            suites.run_tap(name, perl_of(pg_config))
        out = pathlib.Path(options.out)
        shutil.rmtree(out, ignore_errors=True)
        shutil.copytree(folder, out, ignore=shutil.ignore_patterns("work"))
        (out / "summary.json").write_text(json.dumps(suites.results, indent=1) + "\n")
    finally:
        server.close()


if __name__ == "__main__":
    main(sys.argv[1:])
