"""Stores that are servers: started by hand on free ports of the loopback interface, loaded with line
protocol over HTTP, asked over HTTP, and stopped by their process number."""
import contextlib
import http.client
import json
import os
import re
import signal
import socket
import subprocess
import time
import urllib.parse

import questions
from questions import DAY, HOUR
from stores import Store, bytes_below, peak_of, timed


class Server(Store):
    """One of them. Its files are in `data` of its folder."""
    program = package = ping = ""

    def missing(self):
        if not self.programs.get(self.program):
            return (f"no {self.program}: apt-get download {self.package}, dpkg -x, "
                    f"or name it with --{self.program}")

    def words(self, port, other_port):
        """The command that starts it."""

    def prepare(self):
        """Before the first line."""

    def settle(self):
        """After the last line: asks for what the server would do in its own time."""

    @contextlib.contextmanager
    def server(self):
        ports = []
        for _ in range(2):
            with socket.socket() as free:
                free.bind(("127.0.0.1", 0))
                ports.append(free.getsockname()[1])
        process = subprocess.Popen(self.words(*ports), stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL)
        try:
            self.port = ports[0]
            for _ in range(600):
                if process.poll() is not None:
                    raise RuntimeError(f"{self.program} ended with {process.returncode}")
                with contextlib.suppress(OSError):
                    if self.call("GET", self.ping)[0] < 300:
                        break
                time.sleep(0.05)
            yield process
        finally:
            process.send_signal(signal.SIGINT)
            process.wait(120)

    def call(self, method, path, body=None):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=600)
        connection.request(method, path, body)
        response = connection.getresponse()
        return response.status, response.read()

    def ask(self, path, **query):
        status, body = self.call("GET", path + "?" + urllib.parse.urlencode(query))
        if status != 200:
            raise RuntimeError(body[:300])
        return body

    def blocks(self):
        with open(self.data.lines, "rb") as file:
            block = []
            for line in file:
                if line.startswith((b"#", b"CREATE DATABASE")):
                    continue
                block.append(line)
                # A line within a string does not begin with the experiment; blocks end before one.
                if len(block) >= 10_000 and line.rstrip()[-1:].isdigit():
                    yield b"".join(block)
                    block = []
            yield b"".join(block)

    def load(self):
        self.fresh()
        with self.server() as process:
            self.prepare()
            start = time.perf_counter()
            for block in self.blocks():
                status, text = self.call("POST", "/write?db=study&precision=ns", block)
                if status >= 300:
                    raise RuntimeError(text[:300])
            self.settle()
            seconds = self.wait_until_quiet(start)
            self.peak_bytes = peak_of(process.pid)
        return seconds

    def wait_until_quiet(self, start):
        """Its compaction goes on by itself: seconds until the last change of its files."""
        seen, changed = None, time.perf_counter()
        while time.perf_counter() - changed < 12:
            now = self.disk_bytes(), sorted(
                name for _, _, names in os.walk(self.folder) for name in names)
            if now != seen:
                seen, changed = now, time.perf_counter()
            time.sleep(0.5)
        return changed - start

    def disk_bytes(self):
        return bytes_below(os.path.join(self.folder, "data"))

    def peak(self):
        return self.peak_bytes


class InfluxDB(Server):
    name, way = "InfluxDB", "line protocol over HTTP, 10,000 lines a request"
    program, package, ping = "influxd", "influxdb", "/ping"
    settings = """reporting-disabled = true
bind-address = "127.0.0.1:{rpc}"
[meta]
  dir = "{folder}/meta"
[data]
  dir = "{folder}/data"
  wal-dir = "{folder}/wal"
  wal-fsync-delay = "0s"
  cache-max-memory-size = "2g"
  cache-snapshot-write-cold-duration = "4s"
  compact-full-write-cold-duration = "6s"
  query-log-enabled = false
[http]
  bind-address = "127.0.0.1:{port}"
  log-enabled = false
  max-body-size = 0
[monitor]
  store-enabled = false
"""

    def version(self):
        text = subprocess.run([self.programs["influxd"], "version"], capture_output=True).stdout
        return "InfluxDB " + text.decode().split()[1]

    def words(self, port, other_port):
        path = os.path.join(self.folder, "influxdb.conf")
        with open(path, "w") as file:
            file.write(self.settings.format(folder=self.folder, port=port, rpc=other_port))
        return [self.programs["influxd"], "run", "-config", path]

    def prepare(self):
        self.call("POST", "/query?q=" + urllib.parse.quote("CREATE DATABASE study"))

    def answers(self, repeats):
        with self.server():
            for question, text in questions.influxql(self.data, has_coalesce=False).items():
                times, body = timed(
                    lambda: self.ask("/query", db="study", epoch="ns", q=text), repeats)
                yield question, times, questions.canonical_of_influx(
                    question, json.loads(body), self.data)


class VictoriaMetrics(Server):
    """Keeps numbers only. Of two values of one time it keeps the greater, or any, not the last."""
    name, way = "VictoriaMetrics", "numbers of line protocol over HTTP, 10,000 lines a request"
    program, package, ping = "victoria-metrics", "victoria-metrics", "/health"
    keeps_last = False

    def version(self):
        done = subprocess.run([self.programs[self.program], "-version"], capture_output=True,
                              text=True)
        found = re.search(r"v?\d+\.\d+\.\d+", done.stdout + done.stderr)
        return "VictoriaMetrics" + (" " + found.group() if found else "")

    def words(self, port, _):
        return [self.programs[self.program],
                "-storageDataPath=" + os.path.join(self.folder, "data"),
                f"-httpListenAddr=127.0.0.1:{port}", "-retentionPeriod=100y",
                "-dedup.minScrapeInterval=1ms", "-influx.maxLineSize=1048576",
                "-search.disableCache", "-search.latencyOffset=0s",
                "-search.maxPointsPerTimeseries=1000000", "-search.maxQueryDuration=600s",
                "-loggerLevel=ERROR"]

    def settle(self):
        self.call("GET", "/internal/force_flush")
        self.call("GET", "/internal/force_merge")

    def requests(self):
        """Path and query of the questions that can be asked of numbers in its language."""
        data, experiment = self.data, self.data.experiment
        first, end = data.first // DAY * DAY, data.last // DAY * DAY + DAY
        whole = f"{(data.last - first) // 10**9 + 1}s"

        def name(field):
            return f"{experiment}_{field}"

        def mean(field, span, by=""):
            return (f"sum{by}(sum_over_time({field}[{span}])) / "
                    f"sum{by}(count_over_time({field}[{span}]))")

        def steps(expression, start, end, step):
            # A window reaches back from its time, so a bucket's answer is found at its end.
            return "/api/v1/query_range", {
                "query": expression, "start": (start + step) // 10**9, "end": end // 10**9,
                "step": step // 10**9}

        def once(expression):
            return "/api/v1/query", {"query": expression, "time": data.last / 1e9, "step": whole}

        heart, one = name("ts_heart_rate"), f'{{id_participant="{data.participant}"}}'
        by = " by (id_participant)"
        parts = [(f"max(max_over_time({heart}[{whole}]))"),
                 (f"min(min_over_time({heart}[{whole}]))"), mean(heart, whole)]
        five = "|".join(data.five)
        return {
            "Q2": steps(mean(heart + one, "1h"), *data.week, HOUR),
            "Q3": steps(mean(heart, "1d", by), first, end, DAY),
            "Q4": once(numbered(parts)),
            "Q6": ("/api/v1/export", {
                "match[]": f'{{__name__=~"{experiment}_({five})",'
                           f'id_participant="{data.participant}"}}',
                "start": data.middle / 1e9, "end": (data.middle + DAY - 1) / 1e9}),
            "Q10": once(numbered([
                f"max{by}(quantile_over_time({part}, {name(data.noise)}[{whole}]))"
                for part in (0.95, 0.5)])),
            "Q12": once(f"topk(10, sum{by}(sum_over_time({name('ts_step_count')}[{whole}])))"),
            "Q14": once(numbered([mean(name(field), whole) for field in data.numeric])),
        }

    def answers(self, repeats):
        with self.server():
            for question, (path, query) in self.requests().items():
                times, body = timed(lambda: self.ask(path, **query), repeats)
                yield question, times, self.canonical(question, body)

    def canonical(self, question, body):
        if question == "Q6":
            return self.rows_of_export(body)
        series = json.loads(body)["data"]["result"]
        if question in ("Q2", "Q3"):
            step, who = (HOUR, []) if question == "Q2" else (DAY, ["id_participant"])
            return sorted(((*(s["metric"][tag] for tag in who), time * 10**9 - step, float(value))
                           for s in series for time, value in s["values"]), key=str)
        if question == "Q12":
            return sorted(((s["metric"]["id_participant"], float(s["value"][1]))
                           for s in series), key=str)
        series.sort(key=lambda s: s["metric"]["part"])
        if question == "Q10":
            found = {}
            for s in series:
                found.setdefault(s["metric"]["id_participant"], []).append(float(s["value"][1]))
            return sorted(((who, *values) for who, values in found.items()), key=str)
        return [tuple(float(s["value"][1]) for s in series)]

    def rows_of_export(self, body):
        """Rows of several columns, of one line of JSON a metric."""
        places = {f"{self.data.experiment}_{name}": i for i, name in enumerate(self.data.five)}
        rows = {}
        for line in body.splitlines():
            series = json.loads(line)
            place = places[series["metric"]["__name__"]]
            for time, value in zip(series["timestamps"], series["values"]):
                rows.setdefault(time * 10**6, [None] * len(places))[place] = value
        return sorted(((time, *values) for time, values in rows.items()), key=str)


def numbered(expressions):
    """Several answers in one, told apart by a label."""
    return " or ".join(f'label_set({expression}, "part", "{number:02}")'
                       for number, expression in enumerate(expressions))
