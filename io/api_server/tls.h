// TLS as a client of the API server; internal to this folder.
#pragma once

#include <string>

#include <boost/asio/ssl/context.hpp>
#include <openssl/ssl.h>

namespace muster::api_server {

// A context that verifies its peer by the authorities of a PEM file, or of the system if the name is empty. `error` is
// set if the file cannot be used.
boost::asio::ssl::context make_tls_context(const std::string& ca_file, std::string& error);

// The certificate of the peer must name this host, a name or an IP address. False: OpenSSL has no memory.
bool expect_host(SSL* connection, const std::string& host);

// Why a handshake failed: the verification of the certificate, else `otherwise`.
std::string handshake_error(const SSL* connection, const std::string& otherwise);

}  // namespace muster::api_server
