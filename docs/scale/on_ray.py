"""Answers the lines of a file with `muster`, a shard at a time, on the machines of a Ray cluster.

    on_ray.py INPUT OUTPUT [SHARDS] [COMMAND...]     COMMAND: muster solve --deterministic

A task whose machine dies is run again elsewhere. The output is that of one process, in the order of the input.
"""
import subprocess
import sys

import ray


@ray.remote(num_cpus=1, max_retries=3)
def answer(command, lines):
    done = subprocess.run(command, input=lines, stdout=subprocess.PIPE)
    if done.returncode not in (0, 1, 65):  # 1 and 65: error records answer some lines, or all
        raise RuntimeError(f"{command[0]} ended with {done.returncode}")
    return done.stdout


def main():
    source, target = sys.argv[1:3]
    shards = int(sys.argv[3]) if len(sys.argv) > 3 else 8
    command = sys.argv[4:] or ["muster", "solve", "--deterministic"]
    with open(source, "rb") as file:
        lines = [line for line in file.read().splitlines(keepends=True) if line.strip()]
    parts = [lines[i::shards] for i in range(shards)]
    answers = ray.get([answer.remote(command + ["--shard", "0/1"], b"".join(part)) for part in parts])
    answers = [part.splitlines(keepends=True) for part in answers]
    if [len(part) for part in answers] != [len(part) for part in parts]:
        raise RuntimeError("some lines have no answer")
    with open(target, "wb") as file:
        file.writelines(answers[i % shards][i // shards] for i in range(len(lines)))


if __name__ == "__main__":
    ray.init(log_to_driver=False)
    main()
