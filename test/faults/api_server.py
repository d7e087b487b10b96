"""A small API server for one agent: nodes, pods and Leases, with lists, watches, bindings and Events."""

import http.server
import json
import socketserver
import threading
import time
import urllib.parse

KINDS = {"/api/v1/pods": ("v1", "Pod"), "/api/v1/nodes": ("v1", "Node")}


def node(name, gpus):
    allocatable = {"cpu": "64", "memory": "256Gi", "pods": "110", "nvidia.com/gpu": str(gpus)}
    return {"metadata": {"name": name, "uid": f"u-{name}"}, "spec": {},
            "status": {"allocatable": allocatable, "conditions": [{"type": "Ready", "status": "True"}]}}


def pod(name, gpus):
    container = {"name": "c", "resources": {"limits": {"nvidia.com/gpu": str(gpus)}}}
    metadata = {"name": name, "namespace": "ml", "uid": f"u-{name}", "creationTimestamp": "2026-01-01T00:00:00Z"}
    return {"metadata": metadata, "spec": {"schedulerName": "muster", "containers": [container]},
            "status": {"phase": "Pending"}}


class ApiServer(socketserver.ThreadingMixIn, http.server.HTTPServer):
    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.changed = threading.Condition(threading.RLock())
        self.version = 1
        self.is_ended = False
        self.objects = {path: {} for path in KINDS}
        self.leases = {}
        self.events = []  # (version, path, type, object)
        threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()

    def handle_error(self, request, client_address):
        pass  # the agent has gone

    def set(self, path, thing):
        with self.changed:
            self.version += 1
            version, kind = KINDS[path]
            thing = {"apiVersion": version, "kind": kind, **thing}
            thing["metadata"] = {**thing["metadata"], "resourceVersion": str(self.version)}
            name = thing["metadata"]["name"]
            self.events.append((self.version, path, "MODIFIED" if name in self.objects[path] else "ADDED", thing))
            self.objects[path][name] = thing
            self.changed.notify_all()

    def is_bound(self, name):
        with self.changed:
            return "nodeName" in self.objects["/api/v1/pods"][name]["spec"]

    def wait_until_bound(self, name, seconds, is_over):
        """Whether the pod is bound in time; `is_over` ends the wait."""
        end = time.monotonic() + seconds
        with self.changed:
            while not self.is_bound(name) and not is_over() and time.monotonic() < end:
                self.changed.wait(0.05)
            return self.is_bound(name)

    def end(self):
        with self.changed:
            self.is_ended = True
            self.changed.notify_all()
        self.shutdown()
        self.server_close()


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def answer(self, status, body):
        text = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def refuse(self, status, reason):
        self.answer(status, {"kind": "Status", "apiVersion": "v1", "reason": reason, "message": reason, "code": status})

    def do_GET(self):
        url = urllib.parse.urlsplit(self.path)
        query = urllib.parse.parse_qs(url.query)
        if url.path in KINDS:
            return self.watch(url.path, int(query["resourceVersion"][0])) if "watch" in query else self.list(url.path)
        if url.path in self.server.leases:
            return self.answer(200, self.server.leases[url.path])
        verbs = ["get", "list", "watch"]
        resources = [{"name": path.split("/")[-1], "kind": kind, "namespaced": kind == "Pod", "verbs": verbs}
                     for path, (_, kind) in KINDS.items()]
        known = {"/version": {}, "/api": {"kind": "APIVersions", "versions": ["v1"]},
                 "/apis": {"kind": "APIGroupList", "groups": []},
                 "/api/v1": {"kind": "APIResourceList", "resources": resources}}
        if url.path in known:
            return self.answer(200, known[url.path])
        return self.refuse(404, "NotFound")

    def list(self, path):
        with self.server.changed:
            version, kind = KINDS[path]
            items = list(self.server.objects[path].values())
            whole = {"kind": f"{kind}List", "apiVersion": version, "items": items,
                     "metadata": {"resourceVersion": str(self.server.version)}}
        self.answer(200, whole)

    def watch(self, path, seen):
        self.close_connection = True
        self.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n")
        while not self.server.is_ended:
            with self.server.changed:
                self.server.changed.wait_for(lambda: self.server.version > seen or self.server.is_ended)
                news = [event for event in self.server.events if event[0] > seen and event[1] == path]
                seen = self.server.version
            for _, _, kind, thing in news:
                self.wfile.write(json.dumps({"type": kind, "object": thing}).encode() + b"\n")
            self.wfile.flush()

    def body(self):
        return json.loads(self.rfile.read(int(self.headers.get("Content-Length", 0))) or b"{}")

    def do_POST(self):
        body, path = self.body(), self.path.split("?")[0]
        if path.endswith("/binding"):
            return self.bind(path.split("/")[-2], body)
        if path.endswith("/leases"):
            path += "/" + body["metadata"]["name"]
            return self.keep_lease(path, body)
        return self.answer(201, {})

    def do_PUT(self):
        self.keep_lease(self.path.split("?")[0], self.body())

    def keep_lease(self, path, body):
        with self.server.changed:
            self.server.version += 1
            body["metadata"]["resourceVersion"] = str(self.server.version)
            self.server.leases[path] = body
        self.answer(200, body)

    def bind(self, name, body):
        thing = self.server.objects["/api/v1/pods"].get(name)
        if thing is None:
            return self.refuse(404, "NotFound")
        if "nodeName" in thing["spec"]:
            return self.refuse(409, "Conflict")
        running = {"phase": "Running", "startTime": "2026-01-01T00:01:00Z"}
        self.server.set("/api/v1/pods", {**thing, "spec": {**thing["spec"], "nodeName": body["target"]["name"]},
                                         "status": running})
        return self.answer(201, {})
