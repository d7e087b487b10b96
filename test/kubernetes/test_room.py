"""`muster agent --apply bindings`: room that pods leave is held for the gang that they leave for, and PodGroups say why
their gangs wait."""

import subprocess
import time
import unittest

import agent_process
import objects
from api_client import wait_for
from control_plane import ControlPlane


class RoomTest(unittest.TestCase):
    mode = "bindings"
    agent, nodes_of, await_bound = (agent_process.AgentCase.agent, agent_process.AgentCase.nodes_of,
                                    agent_process.AgentCase.await_bound)

    def start(self, nodes):
        self.cluster = self.enterContext(ControlPlane(kwok=True))
        self.api = self.cluster.api
        self.cluster.install_custom_resources("scheduling.x-k8s.io")
        self.cluster.create_nodes(nodes)
        self.api.apply(objects.namespace("muster"), objects.namespace("ml"))
        roles = subprocess.run([agent_process.MUSTER, "agent", "--print-rbac", self.mode, "--conditions"], text=True,
                               check=True, capture_output=True)
        self.cluster.kubectl("apply", "-f", "-", text=roles.stdout)

    def evicted(self):
        return sorted(name for _, _, resource, name, code in self.cluster.writes(agent_process.ACCOUNT)
                      if resource == "pods/eviction" and code == 201)

    def test_room_is_held_until_it_is_used(self):
        """Pods that leave slowly: a larger gang, which comes meanwhile, gets none of the room, and no more are evicted.

        The agent is killed in between. The larger gang's PodGroup says why it waits.
        """
        self.start(2)
        for name, value in (("low", 50), ("high", 90)):
            self.api.apply({"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": name},
                            "value": value})
        with self.agent("first") as first:
            for i in range(2):
                old = objects.pod(f"old-{i}", "ml", 8, schedulerName="muster", priorityClassName="low")
                old["metadata"]["finalizers"] = ["example.com/slow"]
                self.api.create(old)
            self.await_bound("old-", 2)
            self.api.create(objects.pod("first-0", "ml", 8, schedulerName="muster", priorityClassName="high"))
            wait_for("an eviction", self.evicted)
            victim = self.evicted()[0].removeprefix("ml/")
            place = self.nodes_of("old-")[victim]
            wait_for("the nomination",
                     lambda: self.api.get("v1", "Pod", "first-0", "ml")["status"].get("nominatedNodeName") == place)
            first.stop()
        with self.agent("second", "--conditions") as second:
            self.api.create_all(objects.coscheduling_gang("large", "ml", 2, 8, schedulerName="muster",
                                                          priorityClassName="high"))
            self.await_mark("large")
            time.sleep(3)
            self.assertEqual(self.evicted(), [f"ml/{victim}"])
            self.api.patch("v1", "Pod", victim, "ml", change={"metadata": {"finalizers": None}})
            self.await_bound("first-", 1)
            self.assertEqual(self.nodes_of("first-"), {"first-0": place})
            self.assertEqual(self.nodes_of("large-"), {})
            self.assertIn("leads", second.text())

    def await_mark(self, group):
        def annotation():
            found = self.api.get("scheduling.x-k8s.io/v1alpha1", "PodGroup", group, "ml")
            return found["metadata"].get("annotations", {}).get("muster/waits")

        return wait_for(f"the annotation of {group}", annotation)


if __name__ == "__main__":
    unittest.main()
