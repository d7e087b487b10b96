"""A client of its own that watches all pods, to see what an agent does as others see it."""

import http.client
import json
import ssl
import threading
import time


class PodWatch:
    """Calls `on_event(kind, pod, moment)` for each change, on a thread of its own; lists again when a watch breaks.

    `kind` is ADDED, MODIFIED or DELETED, `moment` of time.monotonic(). `pods` has what is there, by (namespace, name).
    """

    def __init__(self, cluster, on_event):
        self.pods, self.error, self.breaks = {}, None, 0
        self._cluster, self._on_event = cluster, on_event
        self._stop, self._connection = threading.Event(), None
        self._tls = ssl.create_default_context(cafile=cluster.authority)
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        """The API server ends a watch after its timeout, so that the thread ends, too."""
        self._stop.set()
        self._thread.join(15)

    def _run(self):
        while not self._stop.is_set():
            try:
                version = self._list()
                while version and not self._stop.is_set():
                    version = self._watch(version)
            except (OSError, http.client.HTTPException, ValueError) as error:
                self.error, self.breaks = error, self.breaks + 1
                self._stop.wait(0.2)

    def _get(self, path):
        connection = http.client.HTTPSConnection("127.0.0.1", self._cluster.ports["api"], context=self._tls, timeout=40)
        connection.request("GET", path, headers={"Authorization": f"Bearer {self._cluster.tokens['admin']}",
                                                 "Accept": "application/json"})
        response = connection.getresponse()
        if response.status != 200:
            raise ValueError(f"{path}: {response.status}")
        return response

    def _list(self):
        answer = json.loads(self._get("/api/v1/pods").read())
        present = {}
        for pod in answer["items"]:
            present[pod["metadata"]["namespace"], pod["metadata"]["name"]] = pod
        for key, pod in list(self.pods.items()):
            new = present.get(key)
            if new is None or new["metadata"]["uid"] != pod["metadata"]["uid"]:
                self._apply("DELETED", pod)
        for key, pod in present.items():
            known = self.pods.get(key)
            if known is None or known["metadata"]["resourceVersion"] != pod["metadata"]["resourceVersion"]:
                self._apply("MODIFIED" if known else "ADDED", pod)
        return answer["metadata"]["resourceVersion"]

    def _watch(self, version):
        """Returns the last resource version, or nothing if it is too old."""
        query = f"watch=1&allowWatchBookmarks=true&timeoutSeconds=10&resourceVersion={version}"
        response = self._get(f"/api/v1/pods?{query}")
        while True:
            line = response.readline()
            if not line:
                return version
            event = json.loads(line)
            if event["type"] == "ERROR":
                return None
            version = event["object"]["metadata"]["resourceVersion"]
            if event["type"] != "BOOKMARK":
                self._apply(event["type"], event["object"])

    def _apply(self, kind, pod):
        key = pod["metadata"]["namespace"], pod["metadata"]["name"]
        if kind == "DELETED":
            self.pods.pop(key, None)
        else:
            self.pods[key] = pod
        self._on_event(kind, pod, time.monotonic())
