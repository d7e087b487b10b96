// A script in place of kubectl that answers from files beside it and notes its calls.
#pragma once

#include <string>
#include <string_view>

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "test/cli/program.h"

namespace muster::cli {

// Prints what the real one (1.32) prints: an empty list on stdout, too, if a kind cannot be listed.
inline constexpr std::string_view kFakeKubectl = R"(#!/bin/sh
dir=$(dirname "$0")
echo "$*" >> "$dir/calls"
refuse() { echo '{"apiVersion":"v1","items":[],"kind":"List"}'; cat "$1" >&2; exit 1; }
case $1 in
api-resources)
  cat "$dir/resources"
  if [ -f "$dir/down" ]; then cat "$dir/down" >&2; exit 1; fi ;;
config) cat "$dir/namespace" 2> /dev/null || exit 1 ;;
get)
  if [ -f "$dir/$2.error" ]; then refuse "$dir/$2.error"; fi
  case "$*" in *--all-namespaces*) if [ -f "$dir/$2.forbidden" ]; then refuse "$dir/$2.forbidden"; fi ;; esac
  if [ ! -f "$dir/$2" ]; then echo "error: the server doesn't have a resource type \"$2\"" >&2; exit 1; fi
  cat "$dir/$2" ;;
esac
)";

inline constexpr std::string_view kFakeNode =
    R"({"apiVersion":"v1","kind":"List","items":[{"apiVersion":"v1","kind":"Node","metadata":{"name":"n1"},"status":{"allocatable":{"cpu":"8","memory":"32Gi","pods":"110","nvidia.com/gpu":"4"},"conditions":[{"type":"Ready","status":"True"}]}}]})";

inline std::string fake_pod(const std::string& name, const std::string& more = "") {
  return R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":")" + name +
         R"(","namespace":"ml","creationTimestamp":"2026-03-01T10:00:00Z"},"spec":{)" + more +
         R"("containers":[{"name":"c","resources":{"limits":{"nvidia.com/gpu":"1"}}}]},"status":{"phase":"Pending"}})";
}

inline std::string fake_list(const std::string& items) {
  return R"({"apiVersion":"v1","kind":"List","items":[)" + items + "]}";
}

// Writes the script; returns its path. The server has nodes and pods: one node, and no pod.
inline std::string install_fake_kubectl(const Workplace& place) {
  std::string kubectl = place.file("kubectl", kFakeKubectl);
  EXPECT_EQ(chmod(kubectl.c_str(), 0755), 0);
  place.file("resources",
             "nodes                  no   v1      false   Node\n"
             "pods                   po   v1      true    Pod\n");
  place.file("nodes", kFakeNode);
  place.file("pods", fake_list(""));
  return kubectl;
}

}  // namespace muster::cli
