// Requests to the Kubernetes API server, their answers, and the limits of both; see api_client.h.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "model/base/error_code.h"

namespace muster::api_server {

struct ApiLimits {
  std::size_t max_connections = 8;  // for requests; streams do not count
  std::size_t max_header_bytes = 65'536;
  std::size_t max_body_bytes = std::size_t{256} << 20;
  std::chrono::milliseconds connect_timeout{10'000};  // to find the name, connect and complete TLS
  std::chrono::milliseconds request_timeout{60'000};  // from the start to the last byte; without waiting for its turn
  std::chrono::milliseconds idle_timeout{30'000};     // how long an unused connection is kept
  std::chrono::milliseconds token_period{5'000};      // Credentials::kPeriod
  std::string user_agent = "muster";
};

struct ApiRequest {
  std::string method = "GET";
  std::string target = {};  // "/api/v1/pods?limit=500": without the base path of the address
  std::string accept = "application/json";
  std::string content_type = {};  // of the body
  std::string body = {};
  std::chrono::milliseconds timeout{0};  // 0: ApiLimits::request_timeout; streams have none
};

struct ApiResponse {
  unsigned status = 0;                              // 0: none came; `error` says why
  std::optional<std::chrono::seconds> retry_after;  // of the field Retry-After, if that is a number
  std::string date;                                 // of the field Date, as it came: "Sun, 01 Mar 2026 10:00:00 GMT"
  std::string content_type, body;
  // If is_ok() is false, one sentence for people: "GET /api/v1/pods: 403 Forbidden: pods is forbidden: ...", "POST
  // /api/v1/namespaces/a/pods/b/binding: no answer within 60 s". Else empty.
  std::string error;
  std::string reason;  // of a Status in the body: "Expired", "Conflict", "AlreadyExists", "NotFound"; else empty

  bool is_ok() const { return status / 100 == 2; }
};

struct StreamHandlers {
  std::function<void(const ApiResponse& head)> open = {};  // the status is 2xx; the body follows
  std::function<void(std::string_view bytes)> bytes = {};  // any piece of the body, never empty
  // The last call. Status 2xx: the stream has been open, and `error` says what cut it, or is empty if the server ended
  // it properly. Else as of a request.
  std::function<void(const ApiResponse&)> end = {};
};

using ApiHandler = std::function<void(ApiResponse)>;

// Where the Kubernetes API server is.
//
// Where the kubelet puts the files ca.crt, token and namespace of a pod's service account.
inline constexpr std::string_view kServiceAccountFolder = "/var/run/secrets/kubernetes.io/serviceaccount";

// With TLS, the certificate of the server must name `host` and be signed by an authority of `ca_file`; there is no
// option to switch this off. Without TLS, `host` is a loopback address.
struct ServerAddress {
  bool is_tls = true;
  std::string host, port;      // an IPv6 address without its brackets
  std::string base_path;       // before each target: "" or "/k8s/clusters/c-1"
  std::string ca_file;         // PEM, read again for each connection; empty: the authorities of the system
  std::string token_file;      // read by Credentials; empty: requests without a token
  std::string namespace_name;  // that Muster runs in; empty: unknown

  // "https://[fd00::1]:6443/k8s/clusters/c-1"
  std::string text() const;
};

// In a pod. `host` and `port`: the values of KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT. Errors: Unavailable
// (one of them is empty: not in a cluster), NoInput (a file of `folder` cannot be read; the message names it).
Result<ServerAddress> address_in_cluster(std::string_view host, std::string_view port,
                                         const std::string& folder = std::string(kServiceAccountFolder));

// By a URL: "http://127.0.0.1:8001" of `kubectl proxy`, or "https://api.example.com:6443" with files, each of which may
// be empty. Errors: InvalidValue; Insecure (http:// to an address other than loopback); NoInput.
Result<ServerAddress> address_of_url(std::string_view url, const std::string& ca_file, const std::string& token_file);

}  // namespace muster::api_server
