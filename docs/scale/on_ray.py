"""Answers the lines of a file with `muster`, a shard at a time, on the machines of a Ray cluster.

    on_ray.py INPUT OUTPUT [SHARDS] [COMMAND...]     COMMAND: muster solve --deterministic

For a sweep, INPUT is a grid and COMMAND is `muster simulate --grid -`. Ray runs a shard again if its machine, its worker
or its `muster` dies. The output is that of one process, in the order of the input.
"""
import io
import subprocess
import sys

import ray


@ray.remote(num_cpus=1, max_retries=3, retry_exceptions=True)
def answer(command, lines):
    done = subprocess.run(command, input=b"".join(lines), stdout=subprocess.PIPE)
    answers = io.BytesIO(done.stdout).readlines()
    if done.returncode not in (0, 1, 65) or len(answers) != len(lines):  # 1 and 65: error records are answers, too
        raise RuntimeError(f"{command[0]} ended with {done.returncode}, {len(answers)} of {len(lines)} answers")
    return answers


def main():
    source, target = sys.argv[1:3]
    shards = int(sys.argv[3]) if len(sys.argv) > 3 else 8
    command = (sys.argv[4:] or ["muster", "solve", "--deterministic"]) + ["--shard", "0/1"]
    with open(source, "rb") as file:
        lines = [line for line in file if line.strip()]
    answers = ray.get([answer.remote(command, lines[i::shards]) for i in range(shards)])
    with open(target, "wb") as file:
        file.writelines(answers[i % shards][i // shards] for i in range(len(lines)))


if __name__ == "__main__":
    ray.init(log_to_driver=False)
    main()
