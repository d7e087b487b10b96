#!/usr/bin/env python3
"""A Kubernetes control plane on this machine, for tests.

    control_plane.py run [OPTION...] [-- COMMAND...]

runs COMMAND with KUBECONFIG set and ends with its exit code. Without COMMAND, it runs until it is interrupted. As a
module: `with ControlPlane(scheduler=True) as cluster: cluster.api.create(...)`.

The programs come from test/kubernetes/build. All of them listen on loopback ports, and end with the process that
started them, even if it is killed.
"""

import argparse
import contextlib
import json
import os
import pathlib
import random
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile

import custom_resources
import objects
import stages
from api_client import Api, ApiError, wait_for

HERE = pathlib.Path(__file__).resolve().parent
ADMIN = "admin"
USERS = {  # user -> its groups; the roles of the others come with Kubernetes
    ADMIN: "system:masters",
    "kwok": "system:masters",
    "system:kube-scheduler": "",
    "system:kube-controller-manager": "",
}
READS = ["get", "list", "watch"]
AUDIT_RULES = [  # the first that fits counts; reads of Kubernetes itself are left out
    {"level": "None", "verbs": READS, "users": ["system:apiserver", "kwok", "system:kube-scheduler",
                                                "system:kube-controller-manager"]},
    {"level": "None", "verbs": READS, "userGroups": ["system:serviceaccounts:kube-system"]},
    {"level": "None", "nonResourceURLs": ["/readyz*", "/livez*", "/healthz*"]},
    {"level": "Metadata", "verbs": READS},
    {"level": "Request"},
]
# There is no kubelet whose silence would tell anything, and no network.
CONTROLLERS = "*,-node-lifecycle-controller,-node-ipam-controller,-taint-eviction-controller"
WORKLOAD_GATES = ("GenericWorkload=true", "TopologyAwareWorkloadScheduling=true")


class ControlPlane:
    """etcd and kube-apiserver, and on demand kube-scheduler, kube-controller-manager and kwok.

    `scheduler`: True, or the text of a KubeSchedulerConfiguration, to which the kubeconfig is added.

    The folder, a temporary one by default, has the logs (NAME.log), the audit log and the data. A temporary folder is
    removed at the end.
    """

    def __init__(self, folder=None, *, scheduler=False, controllers=False, kwok=False, workload_api=False, gates=()):
        self.programs = {}  # name -> its process
        self._commands = {}  # name -> its command line
        self._folder, self._keeper, self._group = folder, None, None
        self._scheduler_configuration = scheduler if isinstance(scheduler, str) else ""
        self._optional = {"kube-scheduler": bool(scheduler), "kube-controller-manager": controllers, "kwok": kwok}
        self._gates = [*gates, *(WORKLOAD_GATES if workload_api else ())]
        self._runtime = ["--runtime-config=scheduling.k8s.io/v1beta1=true"] if workload_api else []
        self.binaries = binaries()

    def __enter__(self):
        return self.start()

    def __exit__(self, *_):
        self.stop()

    def start(self):
        """Starts everything and returns when the API server is ready. Raises OSError or TimeoutError."""
        self._prepare()
        try:
            self._start_programs()
        except BaseException:
            self.stop()
            raise
        return self

    def stop(self):
        """Kills all programs."""
        if self._keeper is None:
            return
        self._keeper.stdin.close()
        self._keeper.wait()
        self._keeper.stdout.close()
        self._keeper = None
        for program in self.programs.values():
            program.wait()

    def _prepare(self):
        temporary = self._folder is None
        folder = tempfile.mkdtemp(prefix="muster-control-plane-") if temporary else self._folder
        self.folder = pathlib.Path(folder).resolve()
        self.folder.mkdir(parents=True, exist_ok=True)
        keep = [sys.executable, str(HERE / "keeper.py")] + ([str(self.folder)] if temporary else [])
        self._keeper = subprocess.Popen(keep, stdin=subprocess.PIPE, stdout=subprocess.PIPE, process_group=0)
        self._group = int(self._keeper.stdout.readline())
        self.ports = dict(zip(("etcd", "peer", "api", "kube-scheduler", "kube-controller-manager"), free_ports(5)))
        self.server = f"https://127.0.0.1:{self.ports['api']}"
        self.authority = self.folder / "certificates" / "apiserver.crt"  # holds the certificate of its authority, too
        self.audit_log = self.folder / "audit.log"
        self.kubeconfig = self.folder / "kubeconfig"
        self.tokens = {user: secrets.token_urlsafe(24) for user in USERS}
        rows = [f'{self.tokens[user]},{user},{user},"{groups}"' for user, groups in USERS.items()]
        self._write("tokens.csv", "\n".join(rows) + "\n")
        policy = {"apiVersion": "audit.k8s.io/v1", "kind": "Policy", "rules": AUDIT_RULES}
        self._write("audit-policy.json", json.dumps(policy | {"omitStages": ["RequestReceived"]}))
        self._write("stages.yaml", stages.TEXT)
        self.accounts_key = self.folder / "accounts.key"
        subprocess.run(["openssl", "genrsa", "-out", self.accounts_key, "2048"], check=True, capture_output=True)

    def _write(self, name, text):
        path = self.folder / name
        path.touch(mode=0o600)
        path.write_text(text)
        return path

    def _start_programs(self):
        self._run("etcd", self._etcd())
        self._run("kube-apiserver", self._api_server())
        wait_for("the API server's certificate", lambda: self._alive() and self._has_certificates())
        self.api = Api(self.ports["api"], self.authority, self.tokens[ADMIN])
        self.await_ready()
        for user in USERS:
            self.write_kubeconfig(self.kubeconfig if user == ADMIN else self._credentials(user), self.tokens[user])
        for name, command in (("kube-scheduler", self._scheduler), ("kube-controller-manager", self._controllers),
                              ("kwok", self._kwok)):
            if self._optional[name]:
                self._run(name, command())

    def await_ready(self):
        """Waits until the API server answers /readyz."""
        wait_for("the API server", lambda: self._alive() and self.api.is_ready(), 180)

    def _has_certificates(self):
        return self.authority.exists() and self.authority.read_text().count("END CERTIFICATE") >= 2

    def _alive(self):
        for name, program in self.programs.items():
            if program.poll() is not None:
                log = (self.folder / f"{name}.log").read_text(errors="replace")
                raise OSError(f"{name} has ended with code {program.returncode}:\n{log[-3000:]}")
        return True

    def _run(self, name, command):
        self._commands[name] = command
        environment = {**os.environ, "HOME": str(self.folder)}  # kwok reads a file of its own there
        with open(self.folder / f"{name}.log", "ab") as log:
            self.programs[name] = subprocess.Popen(
                [self.binaries / name, *command], stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=self.folder,
                env=environment, process_group=self._group)

    def _etcd(self):
        client, peer = (f"http://127.0.0.1:{self.ports[name]}" for name in ("etcd", "peer"))
        return [
            f"--data-dir={self.folder / 'etcd'}", "--unsafe-no-fsync", "--log-level=warn",
            f"--listen-client-urls={client}", f"--advertise-client-urls={client}",
            f"--listen-peer-urls={peer}", f"--initial-advertise-peer-urls={peer}", f"--initial-cluster=default={peer}"]

    def _api_server(self):
        return [
            f"--etcd-servers=http://127.0.0.1:{self.ports['etcd']}", "--bind-address=127.0.0.1",
            "--advertise-address=127.0.0.1", f"--secure-port={self.ports['api']}",
            f"--cert-dir={self.folder / 'certificates'}", f"--token-auth-file={self.folder / 'tokens.csv'}",
            "--authorization-mode=RBAC", "--service-account-issuer=https://kubernetes.default.svc",
            f"--service-account-key-file={self.accounts_key}",
            f"--service-account-signing-key-file={self.accounts_key}",
            "--service-cluster-ip-range=10.0.0.0/24", "--endpoint-reconciler-type=none",
            f"--audit-policy-file={self.folder / 'audit-policy.json'}", f"--audit-log-path={self.audit_log}",
            "--audit-log-maxsize=100000",  # MB: one file, however long the run
            # ServiceAccount: pods need no account. TaintNodesByCondition: nothing removes the taint of a new node.
            # StorageObjectInUseProtection: without controllers, nothing removes the finalizer.
            "--disable-admission-plugins=ServiceAccount,TaintNodesByCondition,StorageObjectInUseProtection",
            *self._runtime, *self._feature_gates()]

    def _feature_gates(self):
        return [f"--feature-gates={','.join(self._gates)}"] if self._gates else []

    def _component(self, name):
        credentials = self._credentials(f"system:{name}")
        return [
            f"--kubeconfig={credentials}", f"--authentication-kubeconfig={credentials}",
            f"--authorization-kubeconfig={credentials}", "--bind-address=127.0.0.1", "--leader-elect=false",
            f"--secure-port={self.ports[name]}", f"--cert-dir={self.folder / name}", *self._feature_gates()]

    def _scheduler(self):
        command = self._component("kube-scheduler")
        if not self._scheduler_configuration:
            return command
        client = json.dumps({"kubeconfig": str(self._credentials("system:kube-scheduler"))})
        text = f"{self._scheduler_configuration}\nclientConnection: {client}\n"
        return [*command, f"--config={self._write('scheduler.yaml', text)}"]

    def _controllers(self):
        return [*self._component("kube-controller-manager"), f"--controllers={CONTROLLERS}",
                "--use-service-account-credentials=true", f"--root-ca-file={self.authority}",
                f"--service-account-private-key-file={self.accounts_key}"]

    def _kwok(self):
        return [
            f"--kubeconfig={self._credentials('kwok')}", f"--config={self.folder / 'stages.yaml'}",
            "--manage-all-nodes", "--node-lease-duration-seconds=0"]

    def _credentials(self, user):
        return self.folder / f"kubeconfig-{user.removeprefix('system:')}"

    def write_kubeconfig(self, path, token, namespace="default"):
        """A kubeconfig with this token, which verifies the server's certificate."""
        config = {
            "apiVersion": "v1", "kind": "Config", "current-context": "test",
            "contexts": [{"name": "test", "context": {"cluster": "test", "user": "test", "namespace": namespace}}],
            "clusters": [{"name": "test",
                          "cluster": {"server": self.server, "certificate-authority": str(self.authority)}}],
            "users": [{"name": "test", "user": {"token": token}}],
        }
        return self._write(path, json.dumps(config))

    def service_account_token(self, name, namespace="default", seconds=3600, secret=None):
        """A token of the service account, which must exist; the API server accepts 600 s and more.

        If it is bound to a Secret, which is then created, it ends with that, too.
        """
        request = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest",
                   "spec": {"expirationSeconds": seconds}}
        if secret:
            self.api.create({"apiVersion": "v1", "kind": "Secret",
                             "metadata": {"name": secret, "namespace": namespace}})
            request["spec"]["boundObjectRef"] = {"apiVersion": "v1", "kind": "Secret", "name": secret}
        path = self.api.path("v1", "ServiceAccount", name, namespace, "token")
        return self.api.request("POST", path, request)["status"]["token"]

    def api_as(self, token):
        return Api(self.ports["api"], self.authority, token)

    def environment(self):
        """Of programs that use the cluster by kubectl."""
        return {**os.environ, "KUBECONFIG": str(self.kubeconfig), "KUBECACHEDIR": str(self.folder / "kubectl"),
                "PATH": f"{self.binaries}:{os.environ['PATH']}"}

    def kubectl(self, *arguments, text=None):
        """What kubectl prints, given `text` on stdin. Raises CalledProcessError, which has its stderr."""
        return subprocess.run(["kubectl", *arguments], input=text, env=self.environment(), text=True, check=True,
                              capture_output=True).stdout

    def install_custom_resources(self, *groups):
        """Those of custom_resources.py, of the groups or all; returns when the API server serves them."""
        definitions = custom_resources.definitions(*groups)
        self.api.apply(*definitions)
        for item in definitions:
            group, names = item["spec"]["group"], item["spec"]["names"]
            path = f"/apis/{group}/{item['spec']['versions'][0]['name']}/{names['plural']}"
            wait_for(f"the kind {item['metadata']['name']}", lambda path=path: self._is_served(path))

    def _is_served(self, path):
        try:
            return self.api.request("GET", path, limit=1)
        except ApiError as error:
            if error.status == 404:
                return None
            raise

    def create_nodes(self, count, prefix="gpu-", **node):
        """`count` nodes gpu-1, gpu-2, ...; further arguments go to objects.node."""
        self.api.create_all([objects.node(f"{prefix}{i}", **node) for i in range(1, count + 1)])

    def halt(self, name, how=signal.SIGTERM):
        """Ends a program; after 30 s it is killed."""
        program = self.programs.pop(name)
        program.send_signal(how)
        try:
            program.wait(30)
        except subprocess.TimeoutExpired:
            program.kill()
            program.wait()

    def restart(self, name="kube-apiserver", how=signal.SIGTERM):
        """Ends a program and starts it again with the same command line, so with the same port."""
        self.halt(name, how)
        self.resume(name)

    def resume(self, name):
        """Starts a program again that was halted."""
        self._run(name, self._commands[name])
        if name in ("etcd", "kube-apiserver"):
            self.await_ready()

    @contextlib.contextmanager
    def paused(self, name="etcd"):
        """Stops the program by SIGSTOP for as long as the block runs."""
        self.programs[name].send_signal(signal.SIGSTOP)
        try:
            yield
        finally:
            self.programs[name].send_signal(signal.SIGCONT)

    def audit(self, user=None):
        """The events of the audit log so far, of all users or one; all requests but the reads of Kubernetes itself."""
        lines = self.audit_log.read_text().split("\n")[:-1]  # the last line may be incomplete
        events = [json.loads(line) for line in lines]
        return [event for event in events if user is None or event["user"]["username"] == user]

    def writes(self, user=None):
        """The writes so far, refused ones too: [(user, verb, "resource/part", "namespace/name", HTTP status)]."""
        return [written(event) for event in self.audit(user)
                if event["verb"] not in READS and event["stage"] == "ResponseComplete" and "objectRef" in event]

    def memory(self):
        """Program -> the most memory that it has had resident, in MiB."""
        peaks = {}
        for name, program in self.programs.items():
            status = pathlib.Path(f"/proc/{program.pid}/status").read_text()
            peaks[name] = int(status.split("VmHWM:")[1].split()[0]) // 1024
        return peaks


def written(event):
    target = event["objectRef"]
    resource = "/".join(word for word in (target.get("resource"), target.get("subresource")) if word)
    name = "/".join(word for word in (target.get("namespace"), target.get("name")) if word)
    return event["user"]["username"], event["verb"], resource, name, event.get("responseStatus", {}).get("code")


def binaries():
    """The folder of the programs. Raises FileNotFoundError if one is missing."""
    build = subprocess.run([HERE / "build", "--folder"], check=True, capture_output=True, text=True)
    folder = pathlib.Path(build.stdout.strip())
    for name in ("etcd", "kube-apiserver", "kube-scheduler", "kube-controller-manager", "kubectl", "kwok"):
        if not (folder / name).exists():
            raise FileNotFoundError(f"{folder / name} is missing; run test/kubernetes/build")
    if shutil.which("openssl") is None:
        raise FileNotFoundError("openssl is missing; install the package openssl")
    return folder


def free_ports(count):
    """Free loopback ports below those that the kernel gives to clients, so that they stay free during a restart."""
    first_of_clients = int(pathlib.Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()[0])
    ports = []
    for port in random.SystemRandom().sample(range(10000, max(first_of_clients, 20000)), 1000):
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.bind(("127.0.0.1", port))
            ports.append(port)
        if len(ports) == count:
            return ports
    raise OSError("no free ports")


def run(options):
    with ControlPlane(options.folder, scheduler=options.scheduler, controllers=options.controllers, kwok=options.kwok,
                      workload_api=options.workload_api) as cluster:
        if options.custom_resources:
            cluster.install_custom_resources()
        cluster.create_nodes(options.nodes)
        if not options.command:
            print(f"export KUBECONFIG={cluster.kubeconfig}", flush=True)
            while True:
                signal.pause()
        command = subprocess.Popen(options.command, env=cluster.environment())
        try:
            return command.wait()
        finally:
            if command.poll() is None:
                command.terminate()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    runner = parser.add_subparsers(dest="action", required=True).add_parser("run", help="run COMMAND with KUBECONFIG set")
    runner.add_argument("--scheduler", action="store_true", help="with kube-scheduler")
    runner.add_argument("--controllers", action="store_true", help="with kube-controller-manager")
    runner.add_argument("--kwok", action="store_true", help="with kwok, which lets pods run that have a node")
    runner.add_argument("--workload-api", action="store_true", help="with PodGroups of scheduling.k8s.io")
    runner.add_argument("--custom-resources", action="store_true", help="with the kinds of KAI, Volcano, ...")
    runner.add_argument("--nodes", type=int, default=0, help="number of nodes with 8 GPUs each")
    runner.add_argument("--folder", help="keep logs and data in this folder")
    runner.add_argument("command", nargs="*", metavar="COMMAND", help="after --")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        code = run(options)
    except KeyboardInterrupt:
        code = 130
    except (OSError, TimeoutError) as error:
        sys.exit(f"control_plane.py: {error}")
    sys.exit(code if code >= 0 else 128 - code)


if __name__ == "__main__":
    main()
