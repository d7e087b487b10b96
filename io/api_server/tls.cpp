#include "io/api_server/tls.h"

#include <boost/asio/ip/address.hpp>
#include <openssl/err.h>
#include <openssl/x509_vfy.h>

namespace muster::api_server {

boost::asio::ssl::context make_tls_context(const std::string& ca_file, std::string& error) {
  boost::asio::ssl::context context(boost::asio::ssl::context::tls_client);
  SSL_CTX* const native = context.native_handle();
  SSL_CTX_set_min_proto_version(native, TLS1_2_VERSION);
  SSL_CTX_set_verify(native, SSL_VERIFY_PEER, nullptr);
  // As in Go, a certificate of the file is trusted even if it is that of an intermediate authority.
  X509_VERIFY_PARAM_set_flags(SSL_CTX_get0_param(native), X509_V_FLAG_PARTIAL_CHAIN);
  ERR_clear_error();
  if (ca_file.empty()) {
    if (SSL_CTX_set_default_verify_paths(native) != 1) error = "cannot load the certificate authorities of the system";
  } else if (SSL_CTX_load_verify_locations(native, ca_file.c_str(), nullptr) != 1) {
    error = "cannot read certificates of authorities from " + ca_file;
  }
  ERR_clear_error();
  return context;
}

bool expect_host(SSL* connection, const std::string& host) {
  X509_VERIFY_PARAM* const param = SSL_get0_param(connection);
  boost::system::error_code no_address;
  boost::asio::ip::make_address(host, no_address);
  if (!no_address) return X509_VERIFY_PARAM_set1_ip_asc(param, host.c_str()) == 1;
  X509_VERIFY_PARAM_set_hostflags(param, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS | X509_CHECK_FLAG_NEVER_CHECK_SUBJECT);
  return X509_VERIFY_PARAM_set1_host(param, host.c_str(), host.size()) == 1 &&
         SSL_ctrl(connection, SSL_CTRL_SET_TLSEXT_HOSTNAME, TLSEXT_NAMETYPE_host_name,
                  const_cast<char*>(host.c_str())) == 1;
}

std::string handshake_error(const SSL* connection, const std::string& otherwise) {
  const long verified = SSL_get_verify_result(connection);
  if (verified == X509_V_OK) return otherwise;
  return std::string("the certificate of the server is not accepted: ") + X509_verify_cert_error_string(verified);
}

}  // namespace muster::api_server
