"""What later tests rely on: restarts, pauses, accounts, the audit log, and that nothing is left behind."""

import pathlib
import signal
import subprocess
import sys
import unittest

import objects
from api_client import ApiError, wait_for
from control_plane import ControlPlane

ACCOUNT = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "agent", "namespace": "default"}}
READER = {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": {"name": "reader"},
          "rules": [{"apiGroups": [""], "resources": ["pods", "nodes"], "verbs": ["get", "list", "watch"]},
                    {"apiGroups": [""], "resources": ["pods/binding"], "verbs": ["create"]}]}
BINDING = {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding", "metadata": {"name": "reader"},
           "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "reader"},
           "subjects": [{"kind": "ServiceAccount", "name": "agent", "namespace": "default"}]}
# Starts a control plane, tells where it is and waits to be killed.
CHILD = """
import sys
sys.path.insert(0, sys.argv[1])
from control_plane import ControlPlane
cluster = ControlPlane().start()
print(cluster.folder, *(program.pid for program in cluster.programs.values()), flush=True)
sys.stdin.read()
"""


class TestControlPlane(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.cluster = cls.enterClassContext(ControlPlane(kwok=True))
        cls.api = cls.cluster.api

    def test_objects_survive_a_restart_of_the_api_server_on_the_same_port(self):
        self.api.create(objects.node("kept"))
        for how in (signal.SIGTERM, signal.SIGKILL):
            self.cluster.restart("kube-apiserver", how)
            self.assertEqual(self.api.get("v1", "Node", "kept")["metadata"]["name"], "kept")
        self.assertIn("kept", self.cluster.kubectl("get", "nodes"))

    def test_writes_fail_while_etcd_is_paused_and_succeed_afterwards(self):
        impatient = self.cluster.api_as(self.api.token)
        impatient.timeout = 1
        with self.cluster.paused("etcd"), self.assertRaises(OSError):
            impatient.create(objects.namespace("late"))
        wait_for("the API server", self.api.is_ready)
        self.api.apply(objects.namespace("late"))

    def test_a_service_account_may_do_what_its_role_allows_and_the_audit_log_names_it(self):
        self.api.apply(ACCOUNT, READER, BINDING)
        self.api.create(objects.node("a"))
        self.api.create(objects.pod("bound"))
        token = self.cluster.service_account_token("agent")
        agent = self.cluster.api_as(token)
        self.assertEqual([pod["metadata"]["name"] for pod in agent.list("v1", "Pod")], ["bound"])
        bind = {"apiVersion": "v1", "kind": "Binding", "metadata": {"name": "bound"},
                "target": {"kind": "Node", "name": "a"}}
        agent.request("POST", "/api/v1/namespaces/default/pods/bound/binding", bind)
        with self.assertRaises(ApiError) as refused:
            agent.delete("v1", "Pod", "bound")
        self.assertEqual(refused.exception.status, 403)
        user = "system:serviceaccount:default:agent"
        self.assertEqual(self.cluster.writes(user), [(user, "create", "pods/binding", "default/bound", 201),
                                                     (user, "delete", "pods", "default/bound", 403)])
        kubeconfig = self.cluster.write_kubeconfig(self.cluster.folder / "agent", token)
        self.assertIn("bound", self.cluster.kubectl("--kubeconfig", str(kubeconfig), "get", "pods"))
        wait_for("kwok", lambda: self.api.get("v1", "Pod", "bound")["status"]["phase"] == "Running")
        self.api.delete("v1", "Pod", "bound")

    def test_custom_resources_keep_all_fields_and_their_status(self):
        self.cluster.install_custom_resources()
        queue, group = objects.volcano_queue("q", 8), objects.volcano_gang("g", "default", "q", 1, 1)[0]
        group["status"] = {"phase": "Pending"}
        for item in (queue, group):  # one has a status of its own, the other has not
            self.api.apply(item)
            found = self.api.get(item["apiVersion"], item["kind"], item["metadata"]["name"])
            self.assertEqual((found["spec"], found["status"]), (item["spec"], item["status"]))
        self.api.create(objects.kai_queue("q", 8))
        self.assertEqual(self.api.get("scheduling.run.ai/v2", "Queue", "q")["spec"]["resources"]["gpu"]["quota"], 8)

    def test_nodes_are_ready_and_without_taints(self):
        self.cluster.create_nodes(20, prefix="ready-")
        found = [node for node in self.api.list("v1", "Node") if node["metadata"]["name"].startswith("ready-")]
        self.assertEqual(len(found), 20)
        for node in found:
            self.assertNotIn("taints", node["spec"])
            self.assertEqual(node["status"]["allocatable"]["nvidia.com/gpu"], "8")


class TestDeath(unittest.TestCase):
    def test_a_killed_test_leaves_no_program_and_no_folder(self):
        here = str(pathlib.Path(__file__).parent)
        child = subprocess.Popen([sys.executable, "-c", CHILD, here], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                 text=True)
        folder, *programs = child.stdout.readline().split()
        self.assertEqual(len(programs), 2)
        self.assertTrue(pathlib.Path(folder).exists())
        child.kill()
        child.communicate()
        wait_for("the end of its programs", lambda: not any(is_running(program) for program in programs))
        wait_for("the removal of its folder", lambda: not pathlib.Path(folder).exists())


def is_running(program):
    try:
        return pathlib.Path(f"/proc/{program}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


if __name__ == "__main__":
    unittest.main()
