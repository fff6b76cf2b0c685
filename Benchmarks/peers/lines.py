"""Line protocol as a typed table: stores that do not read line protocol get a Parquet file."""
import re

import pyarrow as pa
import pyarrow.parquet as pq

POINT = re.compile(r"((?:\\.|[^ \\])+) (.+) (-?\d+)$", re.DOTALL)
PAIR = re.compile(r'((?:\\.|[^=,\\])+)=("(?:\\.|[^"\\])*"|[^,]*)', re.DOTALL)
CHUNK = 100_000


def whole(file):
    """Lines, those put together between which a string goes on."""
    line = ""
    for part in file:
        line += part
        if re.sub(r"\\.", "", line).count('"') % 2 == 0:
            yield line.rstrip("\n")
            line = ""


def points(path):
    """Measurement, tags, fields (as text) and time of each line."""
    with open(path, encoding="utf-8", newline="\n") as file:
        for line in whole(file):
            match = None if line.startswith("#") else POINT.match(line)
            if match:
                key, fields, time = match.groups()
                name, _, tags = key.partition(",")
                yield name, PAIR.findall(tags), PAIR.findall(fields), int(time)


def value(text):
    """The value of a field and its Arrow type."""
    if text[0] == '"':
        return re.sub(r'\\(["\\])', r"\1", text[1:-1]), pa.string()
    if text[-1] == "i":
        return int(text[:-1]), pa.int64()
    if text in ("t", "T", "true", "True", "TRUE", "f", "F", "false", "False", "FALSE"):
        return text[0] in "tT", pa.bool_()
    return float(text), pa.float64()


def to_parquet(source, target):
    """One row a line, in the order of the file: seq, time (ns), tags, then fields by name."""
    tags, fields = {}, {}
    for _, line_tags, line_fields, _ in points(source):
        for name, _ in line_tags:
            tags.setdefault(name, pa.string())
        for name, text in line_fields:
            if name not in fields:
                fields[name] = value(text)[1]
    names = ["seq", "time", *tags, *sorted(fields)]
    types = [pa.int64(), pa.int64(), *tags.values(), *(fields[name] for name in sorted(fields))]
    schema = pa.schema(list(zip(names, types)))
    place = {name: index for index, name in enumerate(names)}
    with pq.ParquetWriter(target, schema, compression="lz4") as writer:
        rows, seq = [], 0

        def flush():
            columns = [pa.array(column, type) for column, type in zip(zip(*rows), types)]
            writer.write_table(pa.Table.from_arrays(columns, schema=schema))
            rows.clear()

        for _, line_tags, line_fields, time in points(source):
            row = [None] * len(names)
            row[0], row[1] = seq, time
            for name, text in line_tags:
                row[place[name]] = text
            for name, text in line_fields:
                row[place[name]] = value(text)[0]
            rows.append(row)
            seq += 1
            if len(rows) == CHUNK:
                flush()
        if rows:
            flush()
