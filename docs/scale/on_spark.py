"""Answers the lines of a file with `muster` on a Spark cluster, classic or Connect.

    on_spark.py INPUT OUTPUT [PARTITIONS] [COMMAND...]     COMMAND: muster solve --deterministic

Partitions whose executor dies are run again. The output is that of one process, in the order of the input.
"""
import subprocess
import sys

import pandas
from pyspark.sql import SparkSession


def answers_of(command):
    def answer(frames):
        for frame in frames:
            if frame.empty:
                continue
            text = "".join(line + "\n" for line in frame["line"]).encode()
            done = subprocess.run(command, input=text, stdout=subprocess.PIPE)
            lines = done.stdout.decode().splitlines()
            if done.returncode not in (0, 1, 65) or len(lines) != len(frame):
                raise RuntimeError(f"{command[0]} ended with {done.returncode}, {len(lines)} answers")
            yield pandas.DataFrame({"number": frame["number"], "line": lines})
    return answer


def main():
    source, target = sys.argv[1:3]
    partitions = int(sys.argv[3]) if len(sys.argv) > 3 else 8
    command = (sys.argv[4:] or ["muster", "solve", "--deterministic"]) + ["--shard", "0/1"]
    with open(source, encoding="utf-8") as file:
        lines = [line.rstrip("\r\n") for line in file if line.strip()]
    spark = SparkSession.builder.getOrCreate()
    frame = spark.createDataFrame(list(enumerate(lines)), "number long, line string").repartition(partitions)
    answers = frame.mapInPandas(answers_of(command), "number long, line string").orderBy("number").toPandas()
    if list(answers["number"]) != list(range(len(lines))):
        raise RuntimeError("some lines have no answer")
    with open(target, "w", encoding="utf-8") as file:
        file.writelines(line + "\n" for line in answers["line"])


if __name__ == "__main__":
    main()
