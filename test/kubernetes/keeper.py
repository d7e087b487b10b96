"""Ends the programs of a control plane when the process that started them is gone, however it ended.

Usage: keeper.py [FOLDER]. Prints the id of a process group, which the programs are to join. When its stdin is closed,
the keeper kills the group, stopped processes too, and removes FOLDER.
"""

import os
import shutil
import signal
import subprocess
import sys
import time


def main():
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    # It leads the group, so that the group exists as long as the keeper; the keeper itself stays outside.
    nothing = subprocess.DEVNULL
    anchor = subprocess.Popen(["sleep", "infinity"], process_group=0, stdin=nothing, stdout=nothing, stderr=nothing)
    print(anchor.pid, flush=True)
    sys.stdin.buffer.read()
    os.killpg(anchor.pid, signal.SIGKILL)
    anchor.wait()
    for folder in sys.argv[1:]:
        for _ in range(50):  # a killed program may still be writing
            shutil.rmtree(folder, ignore_errors=True)
            if not os.path.exists(folder):
                break
            time.sleep(0.05)


if __name__ == "__main__":
    main()
