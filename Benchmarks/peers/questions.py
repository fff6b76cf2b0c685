"""The fourteen questions: what they need to know of the data, their texts, and how two answers to
one of them are compared. Times are nanoseconds since 1970 in every store."""
from dataclasses import dataclass

import pyarrow.compute as pc
import pyarrow.parquet as pq

HOUR, DAY = 3_600_000_000_000, 86_400_000_000_000
# Which of them the data has decides; the rows of the others would be missing in any store.
NOISE = ["ts_audio_exposure_environment", "ts_audio_exposure", "ts_walking_distance"]
FIVE = ["ts_heart_rate", "ts_step_count", *NOISE, "ts_HRV", "ts_oxygen_saturation",
        "ws_heart_rate", "ts_latitude"]
WHAT = {
    "Q1": "rows per participant",
    "Q2": "mean by hour, one participant, one week",
    "Q3": "mean by day and participant",
    "Q4": "max, min, mean over all",
    "Q5": "last of each field, one participant",
    "Q6": "five columns, one participant, one day",
    "Q7": "all columns, one participant, one day",
    "Q8": "count of one answer by participant",
    "Q9": "coalesce of two fields, mean by hour",
    "Q10": "95th percentile and median by participant",
    "Q11": "days with a survey by participant",
    "Q12": "top ten participants by steps",
    "Q13": "last ten minutes, all participants",
    "Q14": "mean of thirty columns",
}


@dataclass
class Data:
    """The data, and the constants of the questions, found in it."""
    lines: str          # path of the line protocol
    table: str          # path of the same as Parquet
    experiment: str     # the measurement
    fields: dict        # name -> Arrow type as text
    first: int
    last: int
    participant: str
    rows: int           # lines

    @classmethod
    def of(cls, lines, table, experiment):
        file = pq.ParquetFile(table)
        known = {"seq", "kind", "time", "id_participant", "id_onesignal", "id_password"}
        fields = {f.name: str(f.type) for f in file.schema_arrow if f.name not in known}
        two = pq.read_table(table, columns=["time", "id_participant"])
        times = pc.min_max(two["time"])
        names = sorted(pc.unique(two["id_participant"]).to_pylist())
        return cls(lines, table, experiment, fields, times["min"].as_py(), times["max"].as_py(),
                   names[min(1, len(names) - 1)], file.metadata.num_rows)

    @property
    def numeric(self):
        return sorted(n for n, t in self.fields.items() if t in ("int64", "double"))[:30]

    @property
    def noise(self):
        return next(n for n in NOISE if n in self.fields)

    @property
    def five(self):
        return [n for n in FIVE if n in self.fields][:5]

    @property
    def middle(self):
        return self.first // DAY * DAY + (self.last - self.first) // (2 * DAY) * DAY

    @property
    def week(self):
        return self.middle - 7 * DAY // 2, self.middle + 7 * DAY // 2


def influxql(data, has_coalesce):
    """Without coalesce Q9 cannot be said."""
    source, (week, week_end) = f'FROM "{data.experiment}"', data.week
    one = f"id_participant = '{data.participant}'"
    span = f"time >= {data.first // DAY * DAY} AND time <= {data.last}"
    day = f"time >= {data.middle} AND time < {data.middle + DAY}"
    texts = {
        "Q1": f"SELECT count(transmit_trigger) {source} GROUP BY id_participant",
        "Q2": f"SELECT mean(ts_heart_rate) {source} WHERE {one} AND time >= {week} AND "
              f"time < {week_end} GROUP BY time(1h) fill(none)",
        "Q3": f"SELECT mean(ts_heart_rate) {source} WHERE {span} "
              "GROUP BY time(1d), id_participant fill(none)",
        "Q4": f"SELECT max(ts_heart_rate), min(ts_heart_rate), mean(ts_heart_rate) {source}",
        "Q5": f"SELECT last(*) {source} WHERE {one}",
        "Q6": f"SELECT {', '.join(data.five)} {source} WHERE {one} AND {day}",
        "Q7": f"SELECT * {source} WHERE {one} AND {day}",
        "Q8": f"SELECT count(q_preference_thermal) {source} "
              "WHERE q_preference_thermal = 'Warmer' GROUP BY id_participant",
        "Q9": "SELECT mean(v) FROM (SELECT coalesce(ts_heart_rate, ws_heart_rate) AS v "
              f"{source} WHERE {span}) WHERE {span} GROUP BY time(1h) fill(none)",
        "Q10": f"SELECT percentile({data.noise}, 95), median({data.noise}) {source} "
               "GROUP BY id_participant",
        "Q11": f"SELECT count(c) FROM (SELECT count(ws_survey_count) AS c {source} WHERE {span} "
               f"GROUP BY time(1d), id_participant fill(none)) WHERE {span} "
               "GROUP BY id_participant",
        "Q12": f"SELECT top(s, id_participant, 10) FROM (SELECT sum(ts_step_count) AS s "
               f"{source} GROUP BY id_participant)",
        "Q13": f"SELECT id_participant, ts_heart_rate, ts_latitude, transmit_trigger {source} "
               f"WHERE time >= {data.last - 600_000_000_000}",
        "Q14": "SELECT " + ", ".join(f'mean("{n}")' for n in data.numeric) + f" {source}",
    }
    if not has_coalesce:
        del texts["Q9"]
    return texts


def sql(data, quantiles, last):
    """quantiles: two columns of data.noise as the dialect has them; last: the last value of a column
    by time. Columns come as `canonical_of_table` expects them."""
    (week, week_end), day = data.week, f"time >= {data.middle} AND time < {data.middle + DAY}"
    one = f"id_participant = '{data.participant}'"
    by = "GROUP BY id_participant"
    fields = sorted(data.fields)
    return {
        "Q1": f"SELECT id_participant, count(transmit_trigger) AS n FROM points {by}",
        "Q2": f"SELECT time - time % {HOUR} AS t, avg(ts_heart_rate) AS v FROM points "
              f"WHERE {one} AND time >= {week} AND time < {week_end} "
              f"AND ts_heart_rate IS NOT NULL GROUP BY time - time % {HOUR}",
        "Q3": f"SELECT id_participant, time - time % {DAY} AS t, avg(ts_heart_rate) AS v "
              f"FROM points WHERE ts_heart_rate IS NOT NULL "
              f"GROUP BY id_participant, time - time % {DAY}",
        "Q4": "SELECT max(ts_heart_rate) AS a, min(ts_heart_rate) AS b, "
              "avg(ts_heart_rate) AS c FROM points",
        "Q5": "SELECT " + ", ".join(f'{last(n)} AS "{n}"' for n in fields)
              + f" FROM points WHERE {one}",
        "Q6": f"SELECT time, {', '.join(data.five)} FROM points WHERE {one} AND {day} AND ("
              + " OR ".join(f"{n} IS NOT NULL" for n in data.five) + ")",
        "Q7": "SELECT time, " + ", ".join(f'"{n}"' for n in fields)
              + f" FROM points WHERE {one} AND {day}",
        "Q8": "SELECT id_participant, count(*) AS n FROM points "
              f"WHERE q_preference_thermal = 'Warmer' {by}",
        "Q9": f"SELECT time - time % {HOUR} AS t, "
              "avg(coalesce(ts_heart_rate, ws_heart_rate)) AS v FROM points "
              "WHERE ts_heart_rate IS NOT NULL OR ws_heart_rate IS NOT NULL "
              f"GROUP BY time - time % {HOUR}",
        "Q10": f"SELECT id_participant, {quantiles} FROM points WHERE {data.noise} IS NOT NULL {by}",
        "Q11": f"SELECT id_participant, count(DISTINCT time - time % {DAY}) AS n FROM points "
               f"WHERE ws_survey_count IS NOT NULL {by}",
        "Q12": f"SELECT id_participant, sum(ts_step_count) AS s FROM points "
               f"WHERE ts_step_count IS NOT NULL {by} ORDER BY s DESC LIMIT 10",
        "Q13": "SELECT id_participant, time, ts_heart_rate, ts_latitude, transmit_trigger "
               f"FROM points WHERE time >= {data.last - 600_000_000_000} AND (ts_heart_rate "
               "IS NOT NULL OR ts_latitude IS NOT NULL OR transmit_trigger IS NOT NULL)",
        "Q14": "SELECT " + ", ".join(f'avg("{n}") AS m{i}' for i, n in enumerate(data.numeric))
               + " FROM points",
    }


def canonical_of_table(question, names, columns):
    """Rows as sorted tuples; rows with many columns as what is not null in them."""
    rows = list(zip(*columns))
    if question == "Q5":
        return sorted((n, v) for n, v in zip(names, rows[0]) if v is not None)
    if question == "Q7":
        rows = [(row[0], tuple((n, v) for n, v in sorted(zip(names[1:], row[1:]))
                               if v is not None)) for row in rows]
    return sorted(rows, key=str) if question not in ("Q4", "Q14") else rows


def canonical_of_influx(question, answer, data):
    """The same of InfluxDB's JSON."""
    series = answer["results"][0].get("series", [])
    if question in ("Q1", "Q3", "Q8", "Q10", "Q11"):
        start = 0 if question == "Q3" else 1
        return sorted(((s["tags"]["id_participant"], *row[start:]) for s in series
                       for row in s["values"]), key=str)
    names, rows = series[0]["columns"], series[0]["values"]
    if question == "Q5":
        return sorted((n.removeprefix("last_"), v) for n, v in zip(names[1:], rows[0][1:])
                      if v is not None and n.removeprefix("last_") in data.fields)
    if question == "Q7":
        return sorted(((row[0], tuple((n, v) for n, v in sorted(zip(names[1:], row[1:]))
                                      if v is not None and n in data.fields)) for row in rows),
                      key=str)
    if question in ("Q4", "Q14"):
        return [tuple(row[1:]) for row in rows]
    if question == "Q12":
        return sorted(((row[2], row[1]) for row in rows), key=str)
    if question == "Q13":
        return sorted(((row[1], row[0], *row[2:]) for row in rows), key=str)
    return sorted((tuple(row) for row in rows), key=str)


def numbers(answer):
    """The numbers of a canonical answer, in their order."""
    if isinstance(answer, (list, tuple)):
        return [number for part in answer for number in numbers(part)]
    return [answer] if isinstance(answer, (int, float)) else []


def resemble(question, left, right):
    """For a store that does not keep the last of two values: as many answers, of which nine of ten
    numbers are within 3 %."""
    pairs = list(zip(numbers(left), numbers(right)))
    near = sum(abs(a - b) <= 0.03 * max(abs(a), abs(b)) for a, b in pairs)
    return len(left) == len(right) and pairs and near >= 0.9 * len(pairs)


def agree(question, left, right):
    """Numbers within 1e-9; percentiles within 3 %, because stores take ranks differently."""
    tolerance = 0.03 if question == "Q10" else 1e-9
    if isinstance(left, (list, tuple)) and isinstance(right, (list, tuple)):
        return len(left) == len(right) and all(agree(question, *two) for two in zip(left, right))
    if isinstance(left, (int, float)) and isinstance(right, (int, float)):
        return abs(left - right) <= tolerance * max(abs(left), abs(right), 1e-12)
    return left == right
