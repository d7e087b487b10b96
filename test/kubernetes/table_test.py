#!/usr/bin/env python3
"""Needs no control plane: the custom resources are those that Muster reads, and the modules here can be imported."""

import pathlib
import re
import unittest

import churn  # noqa: F401  it and what it imports have no syntax errors
import custom_resources
import scale  # noqa: F401
import test_agent  # noqa: F401
import test_control_plane  # noqa: F401
import test_snapshot  # noqa: F401
import test_workloads  # noqa: F401

KINDS = pathlib.Path(__file__).resolve().parents[2] / "io" / "kubernetes" / "object" / "kinds.cpp"
KUBERNETES = {"", "apps", "batch", "node.k8s.io", "policy", "scheduling.k8s.io", "storage.k8s.io"}  # served by the API server itself


class TableTest(unittest.TestCase):
    def test_has_each_kind_that_muster_reads_with_a_version_that_it_reads(self):
        rows = {(group, kind): (version, has_namespace)
                for group, version, _, kind, has_namespace, _ in custom_resources.TABLE}
        pattern = r'\{"([^"]*)",\s*"(\w+)",\s*"([^"]*)",\s*KubernetesKind::\w+,\s*(true|false),'
        read = [row for row in re.findall(pattern, KINDS.read_text()) if row[0] not in KUBERNETES]
        self.assertEqual({(group, kind) for group, kind, _, _ in read}, set(rows))
        for group, kind, versions, has_namespace in read:
            version, row_has_namespace = rows[group, kind]
            self.assertIn(version, versions.split())
            self.assertEqual(row_has_namespace, has_namespace == "true", f"{group} {kind}")

    def test_definitions_of_protected_groups_are_annotated(self):
        for item in custom_resources.definitions():
            is_protected = item["spec"]["group"].endswith(".k8s.io")
            self.assertEqual("annotations" in item["metadata"], is_protected, item["metadata"]["name"])


if __name__ == "__main__":
    unittest.main()
