"""`muster agent` as a process, and what its tests have in common."""

import contextlib
import json
import os
import pathlib
import re
import signal
import subprocess
import unittest
import urllib.request

import objects
from api_client import wait_for
from control_plane import ControlPlane

TOP = pathlib.Path(__file__).resolve().parents[2]
MUSTER = os.environ.get("MUSTER", str(TOP / "build" / "release" / "muster"))
ACCOUNT = "system:serviceaccount:muster:muster-agent"


class Agent:
    """One process, in the service account of the printed roles."""

    def __init__(self, cluster, name, *arguments):
        self.log = cluster.folder / f"{name}.log"
        self._memory = {}
        self.token = cluster.folder / f"{name}.token"
        self.replace_token(cluster.service_account_token("muster-agent", "muster"))
        period = () if "--period" in arguments else ("--period", "300ms")
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen(
                [MUSTER, "agent", "--kube-api", cluster.server, "--ca", str(cluster.authority), "--token-file",
                 str(self.token), "--listen", "tcp:127.0.0.1:0", "--lease", "muster/muster-agent", "--log-format", "text",
                 "--threads", "1", *period, *arguments],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log)

    def replace_token(self, token):
        """In one step, as the kubelet does it."""
        new = self.token.with_suffix(".new")
        new.write_text(token)
        new.rename(self.token)

    def text(self):
        return self.log.read_text(errors="replace")

    def get(self, path):
        port = re.search(r"report on tcp:127\.0\.0\.1:(\d+)", self.text()).group(1)
        with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=10) as answer:
            return answer.read().decode()

    def leads(self):
        return "leads: it holds the Lease" in self.text() and json.loads(self.get("/v1/status"))["leads"]

    def memory(self):
        """MiB resident now and at most; of a process that has ended, what was seen last."""
        try:
            status = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
            self._memory = {key: int(status.split(f"{name}:")[1].split()[0]) // 1024
                            for key, name in (("now", "VmRSS"), ("most", "VmHWM"))}
        except (OSError, IndexError):
            pass
        return self._memory

    def stop(self, how=signal.SIGTERM):
        if self.process.poll() is None:
            self.process.send_signal(how)
        return self.process.wait(30)


def grant(cluster, mode):
    """Applies the roles that the agent prints for this mode."""
    roles = subprocess.run([MUSTER, "agent", "--print-rbac", mode], text=True, check=True, capture_output=True)
    cluster.api.apply(objects.namespace("muster"))
    cluster.kubectl("apply", "-f", "-", text=roles.stdout)


class AgentCase(unittest.TestCase):
    """A cluster with the roles that the agent prints, and agents in it."""

    def start(self, mode, nodes, **programs):
        self.mode = mode
        self.cluster = self.enterContext(ControlPlane(kwok=True, **programs))
        self.api = self.cluster.api
        self.cluster.install_custom_resources()
        self.cluster.create_nodes(nodes)
        self.api.apply(objects.namespace("ml"), objects.kai_queue("research", 64))
        grant(self.cluster, mode)

    @contextlib.contextmanager
    def agent(self, name="agent", *arguments):
        agent = Agent(self.cluster, name, "--apply", self.mode, *arguments)
        try:
            yield agent
        except BaseException:
            print(agent.text()[-4000:])
            raise
        finally:
            agent.stop()

    def nodes_of(self, prefix):
        """Node by pod, of those that are bound."""
        return {pod["metadata"]["name"]: pod["spec"]["nodeName"] for pod in self.api.list("v1", "Pod", "ml")
                if pod["metadata"]["name"].startswith(prefix) and "nodeName" in pod["spec"]}

    def await_bound(self, prefix, count, seconds=60.0):
        wait_for(f"{count} pods {prefix} to be bound", lambda: len(self.nodes_of(prefix)) == count, seconds)

    def await_event(self, pod):
        def is_there():
            return [event for event in self.api.list("events.k8s.io/v1", "Event", "ml")
                    if event["regarding"].get("name", "").startswith(pod)]

        return wait_for(f"an Event on {pod}", is_there)

    def writes_of_bindings(self):
        """Names of pods whose real (not dry) binding was taken."""
        return [f"{event['objectRef']['namespace']}/{event['objectRef']['name']}" for event in self.cluster.audit()
                if event["stage"] == "ResponseComplete" and event["verb"] == "create"
                and event.get("objectRef", {}).get("subresource") == "binding"
                and "dryRun" not in event["requestURI"] and event["responseStatus"]["code"] == 201]
