"""The folders of docs/deploy/kubernetes on a real API server: it takes them, and what they describe works.

There is no container runtime. The programs run beside the API server, with the arguments, the service accounts and the
roles of the manifests.
"""

import contextlib
import json
import pathlib
import re
import subprocess
import unittest

import objects
from api_client import wait_for
from control_plane import ControlPlane, free_ports
from agent_process import MUSTER, TOP, Agent

FOLDERS = TOP / "docs" / "deploy" / "kubernetes"
APPLIED = ("advice", "gates", "kai", "bindings", "sidecar-kube-scheduler", "sidecar-kai")
GATE = [{"name": "muster/planned"}]


class ContainerAgent(Agent):
    """The agent as its container would run it. Only where it listens and how it finds the API server differ."""

    def __init__(self, cluster, name, arguments, account=("muster-agent", "muster")):
        self.log = cluster.folder / f"{name}.log"
        self._memory = {}
        token = cluster.folder / f"{name}.token"
        token.write_text(cluster.service_account_token(*account))
        kept = [word for word in arguments[1:] if not re.match("--(listen|threads|lease)=", word)]
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen(
                [MUSTER, "agent", "--kube-api", cluster.server, "--ca", str(cluster.authority), "--token-file",
                 str(token), "--listen", "tcp:127.0.0.1:0", "--log-format", "text", "--threads", "1", "--lease",
                 "muster/muster-agent", *kept],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log)

    def is_ready(self):
        with contextlib.suppress(AttributeError, OSError):  # it does not listen yet, or answers 503
            return self.get("/readyz") == "ready\n"
        return False


class ManifestsTest(unittest.TestCase):
    def setUp(self):
        self.cluster = self.enterContext(ControlPlane(kwok=True))
        self.api = self.cluster.api
        self.api.apply(objects.namespace("muster"), objects.namespace("kai-scheduler"), objects.namespace("ml"))

    def objects_of(self, folder):
        """What kubectl makes of a folder."""
        text = self.cluster.kubectl("kustomize", str(FOLDERS / folder))
        text = self.cluster.kubectl("create", "--dry-run=client", "-o", "json", "-f", "-", text=text)
        return json.loads(f"[{text.strip()}]".replace("\n}\n{", "\n},\n{"))

    def pods_of(self, folder):
        return [item["spec"]["template"] for item in self.objects_of(folder) if item["kind"] == "Deployment"]

    def container(self, folder):
        """Muster's, of the only Deployment of a folder."""
        spec = self.pods_of(folder)[0]["spec"]
        return next(one for one in spec["containers"] + spec.get("initContainers", []) if one["name"] == "muster")

    def apply(self, folder, *arguments):
        """Also checks that the API server has nothing to remark."""
        done = subprocess.run(["kubectl", "apply", "-k", str(FOLDERS / folder), "--validate=strict", *arguments],
                              env=self.cluster.environment(), text=True, capture_output=True)
        # kubectl remarks that it has not created the namespaces itself.
        remarks = [line for line in done.stderr.splitlines() if "last-applied-configuration" not in line]
        self.assertEqual((done.returncode, remarks), (0, []), folder)

    def agent(self, name, arguments, account=("muster-agent", "muster")):
        agent = ContainerAgent(self.cluster, name, arguments, account)
        self.addCleanup(agent.stop)
        wait_for(f"{name} to be ready", agent.is_ready)
        self.assertNotIn("may not", agent.text())
        return agent

    def create_pod(self, name, namespace, **rest):
        """As the API server keeps it."""
        self.api.create(objects.pod(name, namespace, **rest))
        return self.pod(name, namespace)

    def pod(self, name, namespace):
        return next(one for one in self.api.list("v1", "Pod", namespace) if one["metadata"]["name"] == name)

    def await_gate(self, namespace):
        """Creates pods until one has scheduling gates, which it returns: a policy works some time after its creation."""
        names = (f"probe-{i}" for i in range(1000))
        return wait_for("the policy to work",
                        lambda: self.create_pod(next(names), namespace, gpus=0)["spec"].get("schedulingGates"))

    def test_the_api_server_takes_every_folder(self):
        self.cluster.kubectl("label", "namespace", "muster", "pod-security.kubernetes.io/warn=restricted")
        for folder in APPLIED:
            with self.subTest(folder):
                self.apply(folder, "--dry-run=server")

    def test_the_pods_keep_the_restricted_standard(self):
        """The API server takes a pod of each template where only such pods are allowed."""
        self.cluster.kubectl("label", "namespace", "muster", "pod-security.kubernetes.io/enforce=restricted")
        count = 0
        for folder in APPLIED:
            for template in self.pods_of(folder):
                pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": folder, "namespace": "muster"},
                       "spec": template["spec"]}
                self.cluster.kubectl("create", "--dry-run=server", "-f", "-", text=json.dumps(pod))
                count += 1
        self.assertEqual(count, 5)

    def test_another_namespace(self):
        """A kustomization of one's own changes the namespace and the image; the roles follow."""
        folder = self.cluster.folder / "own"
        folder.mkdir()
        # Kustomize knows only relative paths.
        base = pathlib.Path("../" * len(folder.resolve().parents)) / str(FOLDERS / "gates").lstrip("/")
        (folder / "kustomization.yaml").write_text(
            f"resources: [{base}]\nnamespace: ml\n"
            "images: [{name: registry.example/muster, newName: example.com/muster, newTag: '1'}]\n")
        found = self.objects_of(folder)
        subjects = [one["namespace"] for item in found for one in item.get("subjects", [])]
        self.assertEqual(subjects, ["ml", "ml"])
        deployment = next(item for item in found if item["kind"] == "Deployment")
        self.assertEqual(deployment["metadata"]["namespace"], "ml")
        self.assertEqual(deployment["spec"]["template"]["spec"]["containers"][0]["image"], "example.com/muster:1")

    def test_the_gate_comes_to_new_pods_of_labelled_namespaces_only(self):
        old = self.create_pod("old", "ml")
        self.apply("gate")
        self.api.apply(objects.namespace("planned", {"muster/planned": "true"}))
        self.assertEqual(self.await_gate("planned"), GATE)
        own = self.create_pod("own", "planned", schedulingGates=[{"name": "example.com/mine"}])
        self.assertEqual({gate["name"] for gate in own["spec"]["schedulingGates"]},
                         {"example.com/mine", "muster/planned"})
        self.cluster.create_nodes(1)
        for name, rest in (("bound", {"nodeName": "gpu-1"}), ("daemon", {})):
            pod = objects.pod(name, "planned", **rest)
            if name == "daemon":
                pod["metadata"]["ownerReferences"] = [
                    {"apiVersion": "apps/v1", "kind": "DaemonSet", "name": "d", "uid": "u"}]
            self.api.create(pod)
            self.assertNotIn("schedulingGates", self.pod(name, "planned")["spec"], name)
        self.assertNotIn("schedulingGates", self.create_pod("other", "ml")["spec"])
        # A namespace that is labelled later: its old pods stay as they are.
        self.cluster.kubectl("label", "namespace", "ml", "muster/planned=true")
        self.await_gate("ml")
        self.assertEqual(self.pod("old", "ml")["spec"], old["spec"])

    def test_advice_with_two_replicas(self):
        """One of the two acts. With the roles of `none`, it says why a pod waits."""
        self.apply("advice")
        arguments = self.container("advice")["args"]
        agents = [self.agent(name, arguments) for name in ("first", "second")]
        wait_for("one to lead", lambda: [one.leads() for one in agents].count(True) == 1)
        self.create_pod("waits", "ml")
        events = wait_for("an Event", lambda: self.api.list("events.k8s.io/v1", "Event", "ml"))
        self.assertEqual({event["regarding"]["name"] for event in events}, {"waits"})
        writes = {(verb, resource) for user, verb, resource, _, _ in self.cluster.writes()
                  if user == "system:serviceaccount:muster:muster-agent"}
        self.assertEqual({resource for _, resource in writes}, {"events", "leases"})

    def test_beside_a_kube_scheduler(self):
        """The two containers of sidecar-kube-scheduler in one service account: the scheduler binds a whole gang."""
        self.apply("sidecar-kube-scheduler")
        self.api.apply(objects.namespace("planned", {"muster/planned": "true"}))
        self.cluster.install_custom_resources("scheduling.x-k8s.io")
        self.cluster.create_nodes(2)
        self.run_kube_scheduler()
        self.agent("sidecar", self.container("sidecar-kube-scheduler")["args"])
        self.await_gate("planned")
        self.api.create_all(objects.coscheduling_gang("train", "planned", 2, 8, schedulerName="muster-scheduler"))

        def running():
            return [pod for pod in self.api.list("v1", "Pod", "planned")
                    if pod["metadata"]["name"].startswith("train-") and pod["status"]["phase"] == "Running"]

        wait_for("the gang to run", lambda: len(running()) == 2)
        for pod in running():
            self.assertEqual(pod["spec"]["nodeName"], pod["metadata"]["annotations"]["muster/node"])

    def run_kube_scheduler(self):
        """With the configuration of its ConfigMap, and with the service account of its pod."""
        config = next(item for item in self.objects_of("sidecar-kube-scheduler") if item["kind"] == "ConfigMap")
        kubeconfig = self.cluster.folder / "muster-scheduler.kubeconfig"
        self.cluster.write_kubeconfig(kubeconfig, self.cluster.service_account_token("muster-agent", "muster"))
        path = self.cluster.folder / "scheduler-config.yaml"
        path.write_text(f"{config['data']['scheduler-config.yaml']}clientConnection: {{kubeconfig: {kubeconfig}}}\n")
        with open(self.cluster.folder / "muster-scheduler.log", "wb") as log:
            process = subprocess.Popen(
                [self.cluster.binaries / "kube-scheduler", f"--config={path}", f"--secure-port={free_ports(1)[0]}",
                 f"--cert-dir={self.cluster.folder / 'muster-scheduler'}", f"--authentication-kubeconfig={kubeconfig}",
                 f"--authorization-kubeconfig={kubeconfig}"],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log)

        def stop():
            process.terminate()
            process.wait(30)

        self.addCleanup(stop)

    def test_beside_kais_scheduler(self):
        """The patch adds the sidecar to a Deployment, whose service account then may do what the mode `kai` needs."""
        self.cluster.install_custom_resources("scheduling.run.ai")
        self.cluster.create_nodes(1)
        self.api.apply(objects.kai_queue("research", 8))
        pod = {"serviceAccountName": "scheduler", "containers": [{"name": "scheduler", "image": "example.com/kai:1"}]}
        self.api.apply(
            {"apiVersion": "v1", "kind": "ServiceAccount",
             "metadata": {"name": "scheduler", "namespace": "kai-scheduler"}},
            {"apiVersion": "apps/v1", "kind": "Deployment",
             "metadata": {"name": "kai-scheduler-default", "namespace": "kai-scheduler"},
             "spec": {"selector": {"matchLabels": {"app": "s"}},
                      "template": {"metadata": {"labels": {"app": "s"}}, "spec": pod}}})
        self.apply("sidecar-kai")
        self.cluster.kubectl("patch", "deployment", "kai-scheduler-default", "-n", "kai-scheduler", "--patch-file",
                             str(FOLDERS / "sidecar-kai" / "sidecar.yaml"))
        spec = self.api.list("apps/v1", "Deployment", "kai-scheduler")[0]["spec"]["template"]["spec"]
        self.assertEqual([one["name"] for one in spec["containers"]], ["scheduler"])
        sidecar = spec["initContainers"][0]
        self.assertEqual(sidecar["restartPolicy"], "Always")
        self.agent("sidecar", sidecar["args"], ("scheduler", "kai-scheduler"))
        self.api.create_all(objects.kai_gang("mine", "ml", "research", 2, 4, schedulerName="muster"))
        self.api.create_all(objects.kai_gang("others", "ml", "research", 1, 1, schedulerName="kai-scheduler"))
        wait_for("the BindRequests", lambda: {one["metadata"]["name"] for one in self.api.list(
            "scheduling.run.ai/v1alpha2", "BindRequest", "ml")} == {"mine-0", "mine-1"})


if __name__ == "__main__":
    unittest.main()
