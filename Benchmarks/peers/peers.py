#!/usr/bin/env python3
"""Runs CozDB and its peers side by side on the same data and prints a Markdown report.

    peers.py setup FOLDER                   a virtual environment and InfluxDB, nothing installed
    FOLDER/venv/bin/python peers.py run FOLDER [--lines FILE] [--report FILE]

What cannot be had here is skipped, with a word. README.md says what is compared and how.
"""
import argparse
import contextlib
import datetime
import importlib.util
import json
import math
import multiprocessing
import os
import platform
import queue as queues
import re
import resource
import sqlite3
import statistics
import subprocess
import sys
import time

PACKAGES = ["duckdb", "polars", "chdb", "pyarrow"]
SERVERS = {"influxdb": "influxd", "victoria-metrics": "victoria-metrics"}   # package: program
HERE = os.path.dirname(os.path.abspath(__file__))


# Setting up

def setup(folder):
    """Packages of Python in an environment of their own; servers unpacked from Debian's packages."""
    os.makedirs(folder, exist_ok=True)
    subprocess.run([sys.executable, "-m", "venv", f"{folder}/venv"], check=True)
    for package in PACKAGES:
        if subprocess.run([f"{folder}/venv/bin/pip", "-q", "install", package]).returncode:
            print(f"skipped: {package} cannot be installed")
    for package in SERVERS:
        if subprocess.run(["apt-get", "download", package], cwd=folder).returncode:
            print(f"skipped: {package} cannot be downloaded")
        for name in os.listdir(folder):
            if name.startswith(f"{package}_") and name.endswith(".deb"):
                subprocess.run(["dpkg", "-x", name, package], cwd=folder, check=True)


# Running

def in_process(function, *arguments):
    """Calls in a new process; gives what it returns and the most memory it took."""
    context = multiprocessing.get_context("spawn")
    queue = context.Queue()
    process = context.Process(target=report_to, args=(queue, function, arguments))
    process.start()
    result = None
    while result is None:
        with contextlib.suppress(queues.Empty):
            result = queue.get(timeout=1)
        if result is None and not process.is_alive() and queue.empty():
            result = f"its process ended with {process.exitcode}"
    process.join()
    if isinstance(result, str):
        raise RuntimeError(result)
    return result


def report_to(queue, function, arguments):
    try:
        result = function(*arguments)
        usage = max(resource.getrusage(who).ru_maxrss
                    for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
        queue.put((result, usage * 1024))
    except Exception as error:
        queue.put(f"{type(error).__name__}: {error}"[:500])


def load(store):
    seconds = store.load()
    return seconds, store.disk_bytes(), store.peak()


def answers(store, repeats):
    return list(store.answers(repeats))


def measure(store, repeats):
    """Everything of one store."""
    (seconds, size, peak), used = in_process(load, store)
    asked, _ = in_process(answers, store, repeats)
    return {"version": store.version(), "way": store.way, "keeps_last": store.keeps_last,
            "seconds": seconds, "bytes": size, "peak": peak or used,
            "answers": {question: (times, answer) for question, times, answer in asked}}


def sqlite_commits(folder, count=2000):
    """Milliseconds of each durable commit of one row: write-ahead log, synchronous = FULL."""
    path = os.path.join(folder, "commits.sqlite")
    for end in ("", "-wal", "-shm"):
        if os.path.exists(path + end):
            os.remove(path + end)
    database = sqlite3.connect(path, isolation_level=None)
    database.execute("PRAGMA journal_mode = WAL")
    database.execute("PRAGMA synchronous = FULL")
    database.execute("CREATE TABLE points (participant TEXT, time INTEGER, heart REAL, "
                     "PRIMARY KEY (participant, time)) WITHOUT ROWID")
    times = []
    for number in range(count):
        start = time.perf_counter()
        database.execute("INSERT INTO points VALUES ('participant0', ?, ?)", (number, 60.0))
        times.append((time.perf_counter() - start) * 1e3)
    database.close()
    return times


def commits(folder, cozbench):
    """SQLite, CozDB, SQLite again: other programs' work meets both."""
    first = sqlite_commits(folder)
    text = subprocess.run([cozbench, "commits", folder], check=True, capture_output=True,
                          text=True).stdout
    second = sqlite_commits(folder)
    return first + second, text


# Reporting

def machine():
    with open("/proc/cpuinfo") as file:
        model = next((line.split(":")[1].strip() for line in file if "model name" in line), "?")
    return f"{model}, {os.cpu_count()} cores, {platform.system()} {platform.release()}"


def three(value):
    return f"{value:.0f}" if value >= 100 else f"{value:.3g}"


def table(head, rows):
    return "\n".join(["| " + " | ".join(row) + " |"
                      for row in [head, ["---"] * len(head), *rows]]) + "\n"


def import_table(data, results, values):
    size = os.path.getsize(data.lines)
    ours = results["CozDB"]
    rows = [[r["version"], r["way"], three(r["seconds"]), three(size / r["seconds"] / 1e6),
             three(r["peak"] / 1e6), three(r["bytes"] / 1e6), three(r["bytes"] / values),
             three(r["seconds"] / ours["seconds"]), three(r["bytes"] / ours["bytes"])]
            for r in results.values()]
    return table(["store", "from", "s to rest", "MB/s", "peak MB", "MB on disk",
                  "bytes a value", "time to CozDB's", "bytes to CozDB's"], rows)


def query_table(what, results):
    peers = [name for name in results if name != "CozDB"]
    rows, ratios = [], []
    for question, title in what.items():
        ours = min(results["CozDB"]["answers"][question][0])
        cells, best = [], math.inf
        for name in results:
            found = results[name]["answers"].get(question)
            cells.append(f"{three(statistics.median(found[0]))} ({three(min(found[0]))})"
                         if found else "-")
            if found and name in peers:
                best = min(best, min(found[0]))
        ratio = best / ours
        if peers:
            ratios.append(ratio)
        rows.append([question, title, *cells, three(ratio) if peers else "-"])
    text = table(["", "question", *results, "best peer to CozDB"], rows)
    if ratios:
        mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
        text += (f"\nGeometric mean of the last column: {three(mean)}; least {three(min(ratios))}."
                 "\n")
    return text


def disagreements(questions, results):
    found = []
    for question, (_, ours) in results["CozDB"]["answers"].items():
        for name, result in results.items():
            agree = questions.agree if result["keeps_last"] else questions.resemble
            other = result["answers"].get(question)
            if other and not agree(question, ours, other[1]):
                found.append(f"{question}: {name} answers otherwise than CozDB")
    return found


def commit_text(times, cozbench_output):
    times = sorted(times)
    half, most = times[len(times) // 2], times[len(times) * 99 // 100]
    ours = re.search(r"commit +median ([0-9.]+) us", cozbench_output)
    text = f"SQLite {sqlite3.sqlite_version} (WAL, synchronous = FULL): median "
    text += f"{half * 1e3:.0f} us, 99 % {most * 1e3:.0f} us"
    if ours:
        text += f"; to CozDB's {three(half * 1e3 / float(ours.group(1)))}"
    return text + f".\n\n```\n{cozbench_output}```\n"


def report(data, results, skipped, values, commit_part, what):
    return "\n".join([
        f"# {os.path.basename(data.lines)}: {data.rows} lines, {values} values at rest",
        "",
        f"{datetime.date.today()}; {machine()}; Python {platform.python_version()}. "
        "Load average before and after: " + commit_part["load"] + ".",
        *[f"Skipped: {word}." for word in skipped],
        "", "## Import", "", import_table(data, results, values),
        "## Questions, warm", "", "Milliseconds: median (least).", "",
        query_table(what, results), "## Durable commits of one row", "", commit_part["text"]])


# The command

def parse():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("setup").add_argument("folder")
    run = commands.add_parser("run")
    run.add_argument("folder", help="for the databases; gigabytes")
    run.add_argument("--lines", help="line protocol; without it, cozdb sample makes some")
    run.add_argument("--table", help="the same as Parquet, where it is there already")
    run.add_argument("--experiment", help="the measurement; found where there is one")
    run.add_argument("--participants", default="20", help="of the sample")
    run.add_argument("--days", default="14", help="of the sample")
    run.add_argument("--repeats", type=int, default=20)
    run.add_argument("--stores", help="names of some, with commas")
    run.add_argument("--report", help="file to write; standard output without")
    run.add_argument("--cozdb", default=f"{HERE}/../../.build/release/cozdb")
    run.add_argument("--cozbench", default=f"{HERE}/../.build/release/cozbench")
    for program in SERVERS.values():
        run.add_argument("--" + program, dest=program)
    return parser.parse_args()


def prepare(options):
    """The data as both files."""
    import lines
    import questions
    os.makedirs(options.folder, exist_ok=True)
    source, target = options.lines, options.table
    if not source:
        source = os.path.join(options.folder, "sample.lp")
        with open(source, "wb") as file:
            subprocess.run([options.cozdb, "sample", "--participants", options.participants,
                            "--days", options.days], stdout=file, check=True)
    if not target:
        target = os.path.join(options.folder, os.path.basename(source) + ".parquet")
        if not os.path.exists(target) or os.path.getmtime(target) < os.path.getmtime(source):
            print("making a table of the lines", file=sys.stderr)
            lines.to_parquet(source, target)
    name = options.experiment or next(lines.points(source))[0]
    return questions.Data.of(source, target, name)


def run(options):
    import questions
    import servers
    import stores
    data = prepare(options)
    programs = {"cozdb": options.cozdb}
    for package, program in SERVERS.items():
        unpacked = os.path.join(options.folder, package, "usr/bin", program)
        programs[program] = vars(options)[program] or (
            unpacked if os.path.exists(unpacked) else None)
    results, skipped, load_before = {}, [], os.getloadavg()[0]
    wanted = options.stores and options.stores.lower().split(",")
    for kind in [stores.CozDB, servers.InfluxDB, servers.VictoriaMetrics, stores.DuckDB,
                 stores.Polars, stores.SQLite, stores.ClickHouse]:
        if wanted and kind.name.lower() not in wanted:
            continue
        store = kind(data, options.folder, programs)
        module = getattr(kind, "module", None)
        reason = store.missing()
        if module and not importlib.util.find_spec(module):
            reason = f"Python has no {module}"
        if reason:
            skipped.append(f"{kind.name}: {reason}")
            continue
        print(kind.name, file=sys.stderr)
        try:
            results[kind.name] = measure(store, options.repeats)
        except RuntimeError as error:
            skipped.append(f"{kind.name}: {error}")
    commit_part = {"text": "", "load": ""}
    if os.path.exists(options.cozbench):
        commit_part["text"] = commit_text(*commits(options.folder, options.cozbench))
    else:
        skipped.append("commits: no cozbench; swift build -c release in Benchmarks")
    commit_part["load"] = f"{load_before:.1f}, {os.getloadavg()[0]:.1f}"
    info = json.loads(subprocess.run(
        [options.cozdb, "info", "--db", stores.CozDB(data, options.folder, programs).database,
         "--format", "json"], check=True, capture_output=True).stdout)
    values = sum(experiment["values"] for experiment in info["experiments"])
    text = report(data, results, skipped, values, commit_part, questions.WHAT)
    if options.report:
        with open(options.report, "w") as file:
            file.write(text)
    else:
        print(text)
    wrong = disagreements(questions, results)
    for line in wrong:
        print(line, file=sys.stderr)
    print("all answers agree" if not wrong else f"{len(wrong)} answers differ", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    arguments = parse()
    if arguments.command == "setup":
        setup(arguments.folder)
    else:
        sys.exit(run(arguments))
