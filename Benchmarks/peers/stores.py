"""The stores: each loads the data, tells its bytes on disk, and answers the questions warm."""
import functools
import json
import os
import re
import shutil
import sqlite3
import subprocess
import time

import questions


def bytes_below(path):
    """As the disk counts: blocks that files have, not sizes that they reserve."""
    return sum(os.lstat(os.path.join(folder, name)).st_blocks * 512
               for folder, _, names in os.walk(path) for name in names)


def peak_of(process_id):
    """The most memory that a running process has had, in bytes; 0 where it is gone."""
    try:
        with open(f"/proc/{process_id}/status") as file:
            return next((int(line.split()[1]) * 1024 for line in file
                         if line.startswith("VmHWM")), 0)
    except OSError:
        return 0


def timed(ask, repeats):
    """Milliseconds of each run after a first one, and the last answer."""
    answer, times = ask(), []
    for _ in range(repeats):
        start = time.perf_counter()
        answer = ask()
        times.append((time.perf_counter() - start) * 1e3)
    return times, answer


class Store:
    """One of them. `load` and `answers` run in processes of their own."""
    name = way = ""
    # Whether of several values of a cell the one that came last is the one that counts.
    keeps_last = True

    def __init__(self, data, folder, programs):
        self.data, self.programs = data, programs
        self.folder = os.path.join(folder, self.name.lower() + ".data")

    def fresh(self):
        shutil.rmtree(self.folder, ignore_errors=True)
        os.makedirs(self.folder)

    def missing(self):
        """Why it cannot be measured here, or nothing."""

    def version(self):
        return self.name

    def load(self):
        """Seconds until everything is durable, deduplicated and at rest."""

    def disk_bytes(self):
        return bytes_below(self.folder)

    def answers(self, repeats):
        """question -> (milliseconds of each run, canonical answer)."""

    def peak(self):
        """Bytes of the process that loaded, where that is not the one that calls."""


class CozDB(Store):
    name, way = "CozDB", "line protocol, by its command"

    def run(self, *words):
        return subprocess.run([self.programs["cozdb"], *words], check=True, capture_output=True)

    def version(self):
        return "CozDB " + self.run("--version").stdout.decode().strip().split()[-1]

    @property
    def database(self):
        return os.path.join(self.folder, "study.cozdb")

    def load(self):
        self.fresh()
        start = time.perf_counter()
        process = subprocess.Popen(
            [self.programs["cozdb"], "import", "--db", self.database, self.data.lines],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        # Not by getrusage, which counts what this process had when it forked.
        self.peak_bytes = 0
        while process.poll() is None:
            self.peak_bytes = peak_of(process.pid) or self.peak_bytes
            time.sleep(0.005)
        if process.returncode not in (0, 7):        # 7: some lines were refused
            raise RuntimeError(f"cozdb import ended with {process.returncode}")
        return time.perf_counter() - start

    def peak(self):
        return self.peak_bytes

    def answers(self, repeats):
        for question, text in questions.influxql(self.data, has_coalesce=True).items():
            done = self.run("query", "--db", self.database, "--format", "influx-json", "--epoch",
                            "ns", "--timing", "--repeat", str(repeats + 1), text)
            times = [float(word) for word in re.findall(rb"elapsed_ms=([0-9.]+)", done.stderr)]
            answer = json.loads(done.stdout)
            yield question, times[1:], questions.canonical_of_influx(question, answer, self.data)


class DuckDB(Store):
    name, way = "DuckDB", "typed Parquet, deduplicated by GROUP BY"
    module = "duckdb"

    def version(self):
        import duckdb
        return "DuckDB " + duckdb.__version__

    def connect(self):
        import duckdb
        connection = duckdb.connect(os.path.join(self.folder, "study.duckdb"))
        connection.execute("SET threads = 2; SET memory_limit = '12GB'")
        return connection

    def load(self):
        self.fresh()
        start = time.perf_counter()
        connection = self.connect()
        last = ", ".join(f'arg_max("{n}", seq) AS "{n}"' for n in sorted(self.data.fields))
        connection.execute(f"CREATE TABLE points AS SELECT id_participant, time, {last} FROM "
                           f"read_parquet('{self.data.table}') WHERE false "
                           "GROUP BY id_participant, time")
        names = [row[0] for row in connection.execute(
            f"SELECT DISTINCT id_participant FROM read_parquet('{self.data.table}')").fetchall()]
        names.sort()
        step = max(1, 25 * 650_000 // max(1, self.data.rows))
        for index in range(0, len(names), step):       # in parts, or it takes all memory
            part = names[index:index + step]
            connection.execute(
                f"INSERT INTO points SELECT id_participant, time, {last} FROM "
                f"read_parquet('{self.data.table}') WHERE id_participant "
                f"BETWEEN '{part[0]}' AND '{part[-1]}' GROUP BY id_participant, time "
                "ORDER BY id_participant, time")
        connection.execute("CHECKPOINT")
        connection.close()
        return time.perf_counter() - start

    def answers(self, repeats):
        connection = self.connect()
        texts = questions.sql(
            self.data, f"quantile_disc({self.data.noise}, 0.95) AS p, "
                       f"median({self.data.noise}) AS m", lambda n: f'arg_max("{n}", time)')
        for question, text in texts.items():
            times, table = timed(lambda: connection.sql(text).to_arrow_table(), repeats)
            yield question, times, questions.canonical_of_table(
                question, table.column_names, [c.to_pylist() for c in table.columns])


class Polars(Store):
    name, way = "Polars", "typed Parquet, last value of a cell, sorted, zstd"
    module = "polars"

    def version(self):
        import polars
        return "Polars " + polars.__version__

    @property
    def file(self):
        return os.path.join(self.folder, "study.parquet")

    def load(self):
        import polars as pl
        self.fresh()
        start = time.perf_counter()
        keys = pl.read_parquet(self.data.table, columns=["id_participant", "time", "seq"])
        order = keys.select(pl.arg_sort_by("id_participant", "time", "seq")).to_series()
        keys = keys[order].with_columns(
            pl.struct("id_participant", "time").rle_id().alias("group"),
            pl.int_range(pl.len()).alias("row"))
        groups, row = keys["group"], keys["row"]
        ends = keys.group_by("group", maintain_order=True).agg(pl.col("row").last())["row"]
        columns = [keys[name].gather(ends) for name in ("id_participant", "time")]
        for name in sorted(self.data.fields):       # one at a time, or it takes twenty gigabytes
            # The last row up to the group's end that has a value; it counts if it is in the group.
            column = pl.read_parquet(self.data.table, columns=[name])[name].gather(order)
            rows = pl.select(pl.when(column.is_not_null()).then(row)).to_series()
            rows = rows.forward_fill().gather(ends)
            is_own = groups.gather(rows) == groups.gather(ends)
            found = column.gather(rows)
            columns.append(pl.select(pl.when(is_own).then(found).alias(name)).to_series())
        pl.DataFrame(columns).write_parquet(self.file, compression="zstd", statistics=True)
        with open(self.file, "rb") as file:
            os.fsync(file.fileno())
        return time.perf_counter() - start

    def answers(self, repeats):
        import polars as pl
        texts = questions.sql(
            self.data, f"QUANTILE_DISC({self.data.noise}, 0.95) AS p, "
                       f"MEDIAN({self.data.noise}) AS m", lambda n: f'"{n}"')
        context = pl.SQLContext(points=pl.scan_parquet(self.file))
        for question, text in texts.items():
            def ask():
                if question == "Q5":        # its SQL has no last value by time
                    return (pl.scan_parquet(self.file)
                            .filter(pl.col("id_participant") == self.data.participant)
                            .select(pl.col(sorted(self.data.fields)).forward_fill().last())
                            ).collect()
                return context.execute(text).collect()
            times, frame = timed(ask, repeats)
            yield question, times, questions.canonical_of_table(
                question, frame.columns, [frame[n].to_list() for n in frame.columns])


class ClickHouse(Store):
    name, way = "chdb", "typed Parquet into a CoalescingMergeTree, OPTIMIZE FINAL"
    module = "chdb"
    types = {"int64": "Int64", "double": "Float64", "bool": "Bool"}

    def version(self):
        import chdb
        return "chdb " + chdb.__version__

    def session(self):
        from chdb import session
        return session.Session(os.path.join(self.folder, "db"))

    def load(self):
        self.fresh()
        start = time.perf_counter()
        session = self.session()
        fields = sorted(self.data.fields)
        columns = ", ".join(
            f"`{n}` Nullable({self.types.get(self.data.fields[n], 'String')})" for n in fields)
        session.query("CREATE DATABASE study ENGINE = Atomic")
        session.query("CREATE TABLE study.points (id_participant LowCardinality(String), time Int64 "
                      f"CODEC(Delta, LZ4), {columns}) ENGINE = CoalescingMergeTree "
                      "ORDER BY (id_participant, time)")
        session.query("INSERT INTO study.points SELECT id_participant, time, "
                      + ", ".join(f"`{n}`" for n in fields)
                      + f" FROM file('{self.data.table}', Parquet) SETTINGS max_threads = 2, "
                        "max_insert_threads = 1, input_format_parquet_preserve_order = 1")
        self.merge(session)
        seconds = time.perf_counter() - start
        size = session.query("SELECT sum(bytes_on_disk) FROM system.parts WHERE active AND "
                             "database = 'study'", "CSV")
        with open(os.path.join(self.folder, "size"), "w") as file:
            file.write(str(size).strip())
        session.close()
        return seconds

    @staticmethod
    def merge(session):
        """To one part, or cells would have several values. The statement does nothing, silently,
        while parts that it needs are in a merge of the background."""
        end = time.perf_counter() + 1800
        while time.perf_counter() < end:
            session.query("OPTIMIZE TABLE study.points FINAL")
            parts = session.query("SELECT count() FROM system.parts WHERE active AND "
                                  "database = 'study'", "CSV")
            if int(str(parts)) == 1:
                return
            time.sleep(0.2)
        raise RuntimeError("it does not merge its parts to one")

    def disk_bytes(self):
        with open(os.path.join(self.folder, "size")) as file:
            return int(file.read())

    def answers(self, repeats):
        import pyarrow as pa
        session = self.session()
        noise = self.data.noise
        texts = questions.sql(
            self.data, f"quantileExactLow(0.95)({noise}) AS p, "
                       f"quantileExactInclusive(0.5)({noise}) AS m",
            lambda n: f'argMax("{n}", time)')
        for question, text in texts.items():
            text = text.replace("FROM points", "FROM study.points")
            times, raw = timed(lambda: session.query(text, "Arrow").bytes(), repeats)
            table = pa.ipc.open_file(pa.BufferReader(raw)).read_all()
            columns = [[v.decode() if isinstance(v, bytes) else v for v in c.to_pylist()]
                       for c in table.columns]
            yield question, times, questions.canonical_of_table(
                question, table.column_names, columns)


class SQLite(Store):
    name, way = "SQLite", "typed Parquet, one upsert a line, VACUUM"
    types = {"int64": "INTEGER", "double": "REAL", "bool": "INTEGER"}

    def version(self):
        return "SQLite " + sqlite3.sqlite_version

    def connect(self):
        connection = sqlite3.connect(os.path.join(self.folder, "study.sqlite"),
                                     isolation_level=None, cached_statements=1024)
        for setting in ("journal_mode = WAL", "synchronous = FULL", "cache_size = -1048576",
                        "mmap_size = 17179869184"):
            connection.execute("PRAGMA " + setting)
        return connection

    def load(self):
        self.fresh()
        start = time.perf_counter()
        connection = self.connect()
        columns = "".join(f', "{name}" {self.types.get(self.data.fields[name], "TEXT")}'
                          for name in sorted(self.data.fields))
        connection.execute(f"CREATE TABLE points (id_participant TEXT, time INTEGER{columns}, "
                           "PRIMARY KEY (id_participant, time)) WITHOUT ROWID")
        for rows in self.chunks():
            connection.execute("BEGIN")
            for names, values in rows:
                connection.execute(self.statement(tuple(names)), values)
            connection.execute("COMMIT")
        for statement in ("PRAGMA wal_checkpoint(TRUNCATE)", "VACUUM", "ANALYZE",
                          "PRAGMA wal_checkpoint(TRUNCATE)"):
            connection.execute(statement)
        connection.close()
        return time.perf_counter() - start

    def chunks(self):
        """Rows of the table, many at a time: names of the fields that one has, and its values."""
        import pyarrow.parquet as pq
        for batch in pq.ParquetFile(self.data.table).iter_batches(100_000):
            rows = [([], [who, time]) for who, time in zip(
                batch["id_participant"].to_pylist(), batch["time"].to_pylist())]
            for name in sorted(self.data.fields):
                column = batch[name]
                places = column.is_valid().to_numpy(zero_copy_only=False).nonzero()[0].tolist()
                for place, value in zip(places, column.drop_null().to_pylist()):
                    names, values = rows[place]
                    names.append(name)
                    values.append(value)
            yield rows

    @staticmethod
    @functools.cache
    def statement(fields):
        names = "".join(f', "{name}"' for name in fields)
        marks = ", ".join("?" * (len(fields) + 2))
        sets = ", ".join(f'"{name}" = excluded."{name}"' for name in fields)
        return (f"INSERT INTO points (id_participant, time{names}) VALUES ({marks}) "
                f"ON CONFLICT (id_participant, time) DO UPDATE SET {sets}")

    def texts(self):
        """SQLite has neither quantiles nor the last value by another column."""
        noise, one = self.data.noise, f"id_participant = '{self.data.participant}'"
        texts = questions.sql(
            self.data, "", lambda n: f'(SELECT "{n}" FROM points WHERE {one} AND "{n}" IS NOT NULL '
                                     "ORDER BY time DESC LIMIT 1)")
        texts["Q5"] += " LIMIT 1"
        texts["Q10"] = (
            f"WITH ranked AS (SELECT id_participant, {noise} AS v, row_number() OVER sorted AS i, "
            f"count(*) OVER (PARTITION BY id_participant) AS n FROM points WHERE {noise} IS NOT "
            f"NULL WINDOW sorted AS (PARTITION BY id_participant ORDER BY {noise})) "
            "SELECT id_participant, max(v) FILTER (WHERE i = (n * 95 + 50) / 100) AS p, "
            "avg(v) FILTER (WHERE i IN ((n + 1) / 2, n / 2 + 1)) AS m "
            "FROM ranked GROUP BY id_participant")
        return texts

    def answers(self, repeats):
        connection = self.connect()
        for question, text in self.texts().items():
            def ask():
                cursor = connection.execute(text)
                return [column[0] for column in cursor.description], cursor.fetchall()
            times, (names, rows) = timed(ask, repeats)
            yield question, times, questions.canonical_of_table(question, names, list(zip(*rows)))
