"""Answers the lines of a file with `muster` on a Spark cluster, classic or Connect.

    on_spark.py INPUT OUTPUT [PARTITIONS] [COMMAND...]     COMMAND: muster solve --deterministic

For a sweep, INPUT is a grid and COMMAND is `muster simulate --grid -`. Spark runs a partition again if its executor, its
worker or its `muster` dies. The output is that of one process, in the order of the input.
"""
import io
import subprocess
import sys

import pandas
from pyspark.sql import SparkSession


def answers_of(command):
    def answer(frames):
        for frame in frames:
            if frame.empty:
                continue
            done = subprocess.run(command, input=b"".join(frame["line"]), stdout=subprocess.PIPE)
            answers = io.BytesIO(done.stdout).readlines()
            if done.returncode not in (0, 1, 65) or len(answers) != len(frame):  # 1, 65: error records are answers
                raise RuntimeError(f"{command[0]} ended with {done.returncode}, {len(answers)} answers")
            yield pandas.DataFrame({"number": frame["number"], "line": answers})
    return answer


def main():
    source, target = sys.argv[1:3]
    partitions = int(sys.argv[3]) if len(sys.argv) > 3 else 8
    command = (sys.argv[4:] or ["muster", "solve", "--deterministic"]) + ["--shard", "0/1"]
    with open(source, "rb") as file:
        lines = [line.rstrip(b"\n") + b"\n" for line in file if line.strip()]
    spark = SparkSession.builder.getOrCreate()
    frame = spark.createDataFrame(list(enumerate(lines)), "number long, line binary").repartition(partitions)
    # Sorted here: orderBy would sample its input first, and so answer all lines twice.
    answers = frame.mapInPandas(answers_of(command), "number long, line binary").toPandas().sort_values("number")
    if list(answers["number"]) != list(range(len(lines))):
        raise RuntimeError("some lines have no answer")
    with open(target, "wb") as file:
        file.writelines(answers["line"])


if __name__ == "__main__":
    main()
