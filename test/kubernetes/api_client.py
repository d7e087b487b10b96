"""A client of the Kubernetes API: JSON over HTTP/1.1 with TLS, one connection for each thread.

Objects are dictionaries as in JSON. Fast enough for thousands of objects: a request takes about a millisecond.
"""

import concurrent.futures
import http.client
import json
import ssl
import threading
import time
import urllib.parse

MERGE = "application/merge-patch+json"
STRATEGIC = "application/strategic-merge-patch+json"
APPLY = "application/apply-patch+yaml"  # JSON is YAML
BROKEN = (http.client.HTTPException, ConnectionError, TimeoutError, ssl.SSLError)


class ApiError(Exception):
    """The API server has refused a request; `status` is the HTTP status, `reason` the reason of the answer."""

    def __init__(self, method, path, status, text):
        try:
            answer = json.loads(text)
        except ValueError:
            answer = {}
        self.status, self.reason = status, answer.get("reason", "")
        super().__init__(f"{method} {path}: {status} {self.reason}: {answer.get('message', text[:500])}")


def wait_for(what, found, seconds=60.0):
    """Asks `found` until it returns something true, and returns that. Raises TimeoutError with the text `what`."""
    end = time.monotonic() + seconds
    while True:
        value = found()
        if value:
            return value
        if time.monotonic() > end:
            raise TimeoutError(f"after {seconds:g} s still waiting for {what}")
        time.sleep(0.05)


class Api:
    """The API server at `https://127.0.0.1:port`, as the user that the token belongs to."""

    def __init__(self, port, authority, token, timeout=60.0):
        self.port, self.token, self.timeout = port, token, timeout
        self._tls = ssl.create_default_context(cafile=authority)
        self._local = threading.local()
        self._resources = {}  # API version -> its kinds

    def request(self, method, path, body=None, *, content="application/json", **query):
        """The parsed answer, or its text if it is not JSON. Raises ApiError, or OSError without a connection."""
        if query:
            path += "?" + urllib.parse.urlencode(query)
        data = None if body is None else json.dumps(body, separators=(",", ":")).encode()
        headers = {"Authorization": f"Bearer {self.token}", "Accept": "application/json", "Content-Type": content}
        connection = getattr(self._local, "connection", None)
        if connection is not None:  # the server may have closed it in the meantime
            try:
                return self._exchange(connection, method, path, data, headers)
            except BROKEN:
                self.disconnect()
        connection = http.client.HTTPSConnection("127.0.0.1", self.port, context=self._tls, timeout=self.timeout)
        self._local.connection = connection
        try:
            return self._exchange(connection, method, path, data, headers)
        except BROKEN:
            self.disconnect()
            raise

    @staticmethod
    def _exchange(connection, method, path, data, headers):
        connection.request(method, path, data, headers)
        response = connection.getresponse()
        text = response.read()
        if response.status >= 400:
            raise ApiError(method, path, response.status, text.decode(errors="replace"))
        return json.loads(text) if "json" in response.getheader("Content-Type", "") else text.decode()

    def disconnect(self):
        """Closes the connection of this thread."""
        connection = getattr(self._local, "connection", None)
        if connection is not None:
            connection.close()
        self._local.connection = None

    def is_ready(self):
        try:
            return self.request("GET", "/readyz") == "ok"
        except (ApiError, OSError, http.client.HTTPException):
            return False

    def kind(self, api_version, kind):
        """(plural, whether it has namespaces, whether it has a status of its own), as the API server tells."""
        kinds = self._resources.get(api_version, {})
        if kind not in kinds:
            base = f"/apis/{api_version}" if "/" in api_version else f"/api/{api_version}"
            resources = self.request("GET", base)["resources"]
            names = {resource["name"] for resource in resources}
            kinds = {resource["kind"]: (resource["name"], resource["namespaced"], resource["name"] + "/status" in names)
                     for resource in resources if "/" not in resource["name"]}
            self._resources[api_version] = kinds
        return kinds[kind]

    def path(self, api_version, kind, name="", namespace="", part=""):
        """The path of an object, of a `part` of it such as `status`, or without a name of all objects."""
        plural, has_namespace, _ = self.kind(api_version, kind)
        path = f"/apis/{api_version}" if "/" in api_version else f"/api/{api_version}"
        if has_namespace and namespace:
            path += f"/namespaces/{namespace}"
        return "/".join([path, plural] + [word for word in (name, part) if word])

    def path_of(self, item, part="", *, named=True):
        metadata = item["metadata"]
        namespace = metadata.get("namespace", "default")
        return self.path(item["apiVersion"], item["kind"], metadata["name"] if named else "", namespace, part)

    def get(self, api_version, kind, name, namespace="default"):
        return self.request("GET", self.path(api_version, kind, name, namespace))

    def list(self, api_version, kind, namespace="", labels=""):
        """All objects, in one request; without a namespace those of all namespaces."""
        query = {"labelSelector": labels} if labels else {}
        items = self.request("GET", self.path(api_version, kind, namespace=namespace), **query)["items"]
        return [{"apiVersion": api_version, "kind": kind, **item} for item in items]

    def create(self, item):
        """Creates the object with its status, and returns it."""
        created = self.request("POST", self.path_of(item, named=False), item)
        return self._with_status(item, created)

    def create_all(self, items, threads=8):
        """Creates many objects, in any order."""
        self._many(self.create, items, threads)

    def apply(self, *items):
        """Creates or changes the objects, in this order, as `kubectl apply --server-side --force-conflicts`."""
        for item in items:
            applied = self.request("PATCH", self.path_of(item), item, content=APPLY, fieldManager="test", force="true")
            self._with_status(item, applied)

    def patch(self, api_version, kind, name, namespace="default", *, change, part="", content=MERGE):
        return self.request("PATCH", self.path(api_version, kind, name, namespace, part), change, content=content)

    def delete(self, api_version, kind, name, namespace="default", **query):
        return self.request("DELETE", self.path(api_version, kind, name, namespace), **query)

    def _with_status(self, item, written):
        """Most kinds drop the status of an object that is written; a Node that is created keeps it."""
        has_status = self.kind(item["apiVersion"], item["kind"])[2]
        if "status" not in item or not has_status or written.get("status", {}).items() >= item["status"].items():
            return written
        return self.request("PATCH", self.path_of(item, "status"), {"status": item["status"]}, content=MERGE)

    def _many(self, action, items, threads):
        if not items:
            return
        self.kind(items[0]["apiVersion"], items[0]["kind"])  # once, and not in each thread
        with concurrent.futures.ThreadPoolExecutor(threads) as pool:
            for _ in pool.map(action, items):
                pass
