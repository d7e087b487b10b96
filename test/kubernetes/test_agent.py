"""`muster agent` in a cluster of a real API server: it watches, plans and carries out, with the roles that it prints."""

import signal
import time
import unittest

import objects
from agent_process import ACCOUNT, AgentCase
from api_client import ApiError, wait_for


class AgentTest(AgentCase):
    def test_bindings_start_a_gang_whole(self):
        """Room for 3 of 4: none is bound, and an Event says why. With a fourth node, all are."""
        self.start("bindings", 3)
        with self.agent():
            self.api.create_all(objects.coscheduling_gang("train", "ml", 4, 8, schedulerName="muster"))
            event = self.await_event("train-")[0]
            self.assertIn("ml/train", event["note"])
            self.assertEqual(self.nodes_of("train-"), {})
            self.cluster.create_nodes(1, prefix="new-")
            self.await_bound("train-", 4)
            self.assertEqual(len(set(self.nodes_of("train-").values())), 4)
        names = self.writes_of_bindings()
        self.assertEqual(sorted(names), [f"ml/train-{i}" for i in range(4)])

    def test_pods_wait_for_their_group(self):
        """Pods that exist before their PodGroup are not started one by one."""
        self.start("bindings", 3)
        group, *pods = objects.coscheduling_gang("train", "ml", 4, 8, schedulerName="muster")
        with self.agent():
            self.api.create_all(pods)
            time.sleep(3)
            self.assertEqual(self.nodes_of("train-"), {})
            self.api.create(group)
            time.sleep(2)
            self.assertEqual(self.nodes_of("train-"), {})
            self.cluster.create_nodes(1, prefix="new-")
            self.await_bound("train-", 4)

    def test_gates_let_kube_scheduler_bind(self):
        """The same by scheduling gates: kube-scheduler binds to the planned nodes."""
        self.start("gates", 3, scheduler=True)
        with self.agent():
            self.api.create_all(
                objects.coscheduling_gang("train", "ml", 4, 8, schedulingGates=[{"name": "muster/planned"}]))
            self.await_event("train-")
            self.assertEqual(self.nodes_of("train-"), {})
            self.cluster.create_nodes(1, prefix="new-")
            self.await_bound("train-", 4)
            for pod in self.api.list("v1", "Pod", "ml"):
                self.assertEqual(pod["spec"]["nodeName"], pod["metadata"]["annotations"]["muster/node"])
        binders = {user for user, _, resource, _, _ in self.cluster.writes() if resource == "pods/binding"}
        self.assertEqual(binders, {"system:kube-scheduler"})

    def test_kai_gets_bind_requests(self):
        """BindRequests are accepted and not repeated; one that fails is taken back and made anew."""
        self.start("kai", 2)

        def requests():
            return {item["metadata"]["name"]: item["metadata"]["uid"]
                    for item in self.api.list("scheduling.run.ai/v1alpha2", "BindRequest", "ml")}

        with self.agent() as agent:
            self.api.create_all(objects.kai_gang("train", "ml", "research", 2, 8))
            wait_for("the BindRequests", lambda: len(requests()) == 2)
            first = requests()
            time.sleep(2)
            self.assertEqual(requests(), first, "they count as running")
            self.api.patch("scheduling.run.ai/v1alpha2", "BindRequest", "train-0", "ml",
                           change={"status": {"phase": "Failed"}}, part="status")
            wait_for("another BindRequest", lambda: requests().get("train-0", first["train-0"]) != first["train-0"])
            self.assertIn("taken back", agent.text())

    def test_preemption_keeps_disruption_budgets(self):
        """A gang of a higher priority evicts by the Eviction API, and not what a budget protects."""
        self.start("bindings", 2, controllers=True)
        for name, value in (("low", 50), ("high", 90)):
            self.api.apply({"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": name},
                            "value": value})
        with self.agent():
            for name in ("kept", "taken"):
                self.api.create_all([objects.pod(f"{name}-0", "ml", 8, labels={"app": name}, schedulerName="muster",
                                                 priorityClassName="low")])
            self.await_bound("kept-", 1)
            self.await_bound("taken-", 1)
            self.api.apply({"apiVersion": "policy/v1", "kind": "PodDisruptionBudget",
                            "metadata": {"name": "kept", "namespace": "ml"},
                            "spec": {"minAvailable": 1, "selector": {"matchLabels": {"app": "kept"}}}})
            place = self.nodes_of("taken-")["taken-0"]
            self.api.create_all([objects.pod("urgent-0", "ml", 8, schedulerName="muster", priorityClassName="high")])
            self.await_bound("urgent-", 1)
            self.assertEqual(self.nodes_of("urgent-")["urgent-0"], place)
            self.assertEqual(len(self.nodes_of("kept-")), 1)
        evicted = {name for _, _, resource, name, code in self.cluster.writes(ACCOUNT)
                   if resource == "pods/eviction" and code == 201}
        self.assertEqual(evicted, {"ml/taken-0"})

    def test_token_is_replaced(self):
        """An old token ends after the new one is in the file, and once before: the agent goes on in both cases."""
        self.start("bindings", 2)

        def token(secret):
            return self.cluster.service_account_token("muster-agent", "muster", 600, secret)

        def end(secret, value):
            """The API server remembers for some seconds that a token was good."""
            self.api.delete("v1", "Secret", secret, "muster")
            wait_for("the token to end", lambda: self.status_of(value) == 401, 90)

        first, second, third = token("first"), token("second"), token("third")
        with self.agent() as agent:
            agent.replace_token(first)
            wait_for("the lead", agent.leads)
            self.api.create_all(objects.coscheduling_gang("a", "ml", 2, 1, schedulerName="muster"))
            self.await_bound("a-", 2)
            agent.replace_token(second)
            end("first", first)
            self.api.create_all(objects.coscheduling_gang("b", "ml", 2, 1, schedulerName="muster"))
            self.await_bound("b-", 2)
            end("second", second)
            self.cluster.restart("kube-apiserver", signal.SIGKILL)  # watches, too, need the new one
            wait_for("the agent to be refused", lambda: "401" in agent.get("/v1/status"))
            agent.replace_token(third)
            self.api.create_all(objects.coscheduling_gang("c", "ml", 2, 1, schedulerName="muster"))
            self.await_bound("c-", 2, 90)

    def status_of(self, token):
        try:
            self.cluster.api_as(token).request("GET", "/api/v1/pods", limit=1)
        except ApiError as error:
            return error.status
        return 200

    def test_another_agent_takes_over(self):
        """The leader is killed, the API server restarted, etcd paused: all is placed in the end, nothing twice."""
        self.start("bindings", 20)
        with self.agent("first") as first, self.agent("second") as second:
            leader = wait_for("a leader", lambda: next((one for one in (first, second) if one.leads()), None))
            other = second if leader is first else first
            for i in range(5):
                self.api.create_all(objects.coscheduling_gang(f"a{i}", "ml", 4, 2, schedulerName="muster"))
            leader.stop(signal.SIGKILL)
            killed = time.monotonic()
            wait_for("the other one to lead", other.leads, 30)
            self.assertLess(time.monotonic() - killed, 15)
            self.await_bound("a", 20)
            self.cluster.restart("kube-apiserver")
            for i in range(5):
                self.api.create_all(objects.volcano_gang(f"b{i}", "ml", "default", 4, 2, schedulerName="muster"))
            self.await_bound("b", 20)
            with self.cluster.paused("etcd"):
                time.sleep(20)
            self.api.create_all([objects.pod(f"c-{i}", "ml", 1, schedulerName="muster") for i in range(10)])
            self.await_bound("c-", 10, 120)
        names = self.writes_of_bindings()
        self.assertEqual(len(names), 50)
        self.assertEqual(len(set(names)), 50)

    def test_no_partial_gang_is_seen(self):
        """Gangs arrive and end for a minute; at no moment has a gang some of its pods bound and others left behind."""
        self.start("bindings", 10)
        partial = []
        with self.agent():
            end, number = time.monotonic() + 60, 0
            while time.monotonic() < end:
                self.api.create_all(objects.coscheduling_gang(f"g{number}", "ml", 4, 4, schedulerName="muster"))
                number += 1
                pods = self.api.list("v1", "Pod", "ml")
                gangs = {}
                for pod in pods:
                    gang = pod["metadata"]["labels"]["scheduling.x-k8s.io/pod-group"]
                    gangs.setdefault(gang, []).append("nodeName" in pod["spec"])
                partial += [gang for gang, bound in gangs.items() if 0 < sum(bound) < len(bound) and len(bound) == 4]
                running = [gang for gang, bound in gangs.items() if all(bound) and len(bound) == 4]
                for gang in running[:1] if len(running) > 3 else []:
                    for i in range(4):
                        self.api.delete("v1", "Pod", f"{gang}-{i}", "ml")
                time.sleep(0.2)
            # A list may fall between two Bindings of a gang; a gang that stays so is an error.
            time.sleep(3)
            for gang in set(partial):
                bound = self.nodes_of(f"{gang}-")
                self.assertIn(len(bound), (0, 4), gang)
        self.assertGreater(number, 20)


if __name__ == "__main__":
    unittest.main()
