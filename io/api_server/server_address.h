// Where the Kubernetes API server is.
#pragma once

#include <string>
#include <string_view>

#include "model/base/error.h"

namespace muster::api_server {

// Where the kubelet puts the files ca.crt, token and namespace of a pod's service account.
inline constexpr std::string_view kServiceAccountFolder = "/var/run/secrets/kubernetes.io/serviceaccount";

// With TLS, the certificate of the server must name `host` and be signed by an authority of `ca_file`; there is no
// option to switch this off. Without TLS, `host` is a loopback address.
struct ServerAddress {
  bool is_tls = true;
  std::string host, port;      // an IPv6 address without its brackets
  std::string base_path;       // before each target: "" or "/k8s/clusters/c-1"
  std::string ca_file;         // PEM, read again for each connection; empty: the authorities of the system
  std::string token_file;      // credentials.h; empty: requests without a token
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
