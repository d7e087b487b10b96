// What a pod asks for in all, as kube-scheduler counts it.
//
// Source: PodRequests of k8s.io/component-helpers/resource, v0.34: the sum over the containers and over the restartable
// init containers; at least what any other init container takes together with the restartable ones before it; requests
// of the pod as a whole in place of that for cpu, memory and huge pages; plus the overhead. A limit without a request
// is a request, as the API server writes it. While a pod is resized in place (KEP-1287), each container counts with the
// largest of what its spec asks for, what is allocated to it and what it has, and so does the pod as a whole. If the
// kubelet reports the resize as infeasible, cpu and memory of the spec do not count. (v1.37 takes the largest of the
// three sums over the containers instead, which is never more.)
#pragma once

#include <string_view>
#include <vector>

#include "io/kubernetes/object/object.h"

namespace muster::kubernetes {

using Billionths = __int128;  // of a resource's unit (cores, bytes, pieces), at most 2^63 units

struct RequestedAmount {
  std::string_view resource;
  Billionths amount = 0;
};
using RequestedAmounts = std::vector<RequestedAmount>;  // each resource once, in order of first appearance

// The parts of a pod that contain requests, all but `status` of its spec; each may be absent.
struct RequestParts {
  json::JsonValue containers, init_containers, overhead, resources, status;
};

// Errors: WrongType, InvalidValue (no quantity, negative), DuplicateKey, TooLarge.
[[nodiscard]] bool sum_requests(KubernetesReading& reading, const RequestParts& parts, RequestedAmounts& out);

// What each container of a list asks for by itself; an absent list has none. Errors: as above.
[[nodiscard]] bool read_container_requests(KubernetesReading& reading, json::JsonValue containers,
                                           std::vector<RequestedAmounts>& out);

// The amount in whole units, rounded up: thousandths of a core for cpu, else ones; -1 beyond 64 bits.
std::int64_t whole_units(const RequestedAmount& requested);

// Takes a resource out of the amounts; 0 if it is not there.
Billionths remove_resource(RequestedAmounts& amounts, std::string_view resource);

// Whole units of a resource that no container names.
void add_count(RequestedAmounts& amounts, std::string_view resource, std::int64_t count);

}  // namespace muster::kubernetes
