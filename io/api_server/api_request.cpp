#include "io/api_server/api_request.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdint>
#include <fstream>
#include <optional>
#include <utility>

#include <boost/asio/ip/address.hpp>
#include <fmt/format.h>

namespace muster::api_server {

namespace {

InputError invalid(std::string_view url, std::string_view why) {
  return {ErrorCode::kInvalidValue, {}, fmt::format("the URL of the API server, \"{}\": {}", url, why)};
}

bool is_readable(const std::string& file) {
  std::ifstream stream(file, std::ios::binary);
  return stream.good() && stream.peek() != std::ifstream::traits_type::eof();
}

std::optional<InputError> unreadable(const std::string& file) {
  if (is_readable(file)) return std::nullopt;
  return InputError{ErrorCode::kNoInput, {}, fmt::format("cannot read {}, or it is empty", file)};
}

bool is_port(std::string_view text) {
  std::uint16_t port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  return error == std::errc() && end == text.data() + text.size() && port > 0;
}

bool is_ip_address(const std::string& host) {
  boost::system::error_code error;
  boost::asio::ip::make_address(host, error);
  return !error;
}

bool is_host(const std::string& host) {
  return is_ip_address(host) || (!host.empty() && std::ranges::all_of(host, [](char c) {
           return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '.' || c == '_';
         }));
}

bool is_loopback(const std::string& host) {
  boost::system::error_code error;
  const auto address = boost::asio::ip::make_address(host, error);
  return error ? host == "localhost" : address.is_loopback();
}

// "host:port", "[fd00::1]:port", each without the port.
bool split_authority(std::string_view authority, ServerAddress& out) {
  std::size_t colon = authority.rfind(':');
  if (authority.starts_with('[')) {
    const std::size_t end = authority.find(']');
    if (end == std::string_view::npos) return false;
    out.host = authority.substr(1, end - 1);
    if (out.host.find(':') == std::string::npos) return false;
    colon = end + 1 < authority.size() ? end + 1 : std::string_view::npos;
    if (colon != std::string_view::npos && authority[colon] != ':') return false;
  } else {
    out.host = authority.substr(0, colon);
    if (out.host.find(':') != std::string::npos) return false;
  }
  if (colon != std::string_view::npos) out.port = authority.substr(colon + 1);
  return is_host(out.host) && is_port(out.port);
}

}  // namespace

std::string ServerAddress::text() const {
  const bool is_v6 = host.find(':') != std::string::npos;
  return fmt::format("{}://{}{}{}:{}{}", is_tls ? "https" : "http", is_v6 ? "[" : "", host, is_v6 ? "]" : "", port,
                     base_path);
}

Result<ServerAddress> address_in_cluster(std::string_view host, std::string_view port, const std::string& folder) {
  if (host.empty() || port.empty()) {
    return InputError{ErrorCode::kUnavailable,
                      {},
                      "not in a cluster: KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not set"};
  }
  ServerAddress address;
  address.host = host;
  address.port = port;
  if (!is_host(address.host) || !is_port(address.port))
    return invalid(address.text(), "KUBERNETES_SERVICE_HOST or KUBERNETES_SERVICE_PORT is not valid");
  address.ca_file = folder + "/ca.crt";
  address.token_file = folder + "/token";
  for (const std::string& file : {address.ca_file, address.token_file}) {
    if (auto error = unreadable(file)) return *std::move(error);
  }
  std::ifstream stream(folder + "/namespace");
  stream >> address.namespace_name;
  return address;
}

Result<ServerAddress> address_of_url(std::string_view url, const std::string& ca_file, const std::string& token_file) {
  ServerAddress address;
  std::string_view rest = url;
  if (rest.starts_with("https://")) {
    rest.remove_prefix(8);
  } else if (rest.starts_with("http://")) {
    rest.remove_prefix(7);
    address.is_tls = false;
  } else {
    return invalid(url, "it must begin with https:// or http://");
  }
  const std::size_t slash = std::min(rest.find('/'), rest.size());
  std::string_view path = rest.substr(slash);
  while (path.ends_with('/')) path.remove_suffix(1);
  if (!std::ranges::all_of(path, [](char c) { return c > ' ' && c < '\x7f' && c != '?' && c != '#'; }))
    return invalid(url, "its path must have no query and no spaces");
  address.base_path = path;
  address.port = address.is_tls ? "443" : "80";
  if (!split_authority(rest.substr(0, slash), address)) return invalid(url, "it must be SCHEME://HOST[:PORT][/PATH]");
  if (!address.is_tls && !is_loopback(address.host)) {
    return InputError{
        ErrorCode::kInsecure,
        {},
        fmt::format("{}: without TLS, Muster connects only to loopback addresses, such as that of kubectl "
                    "proxy; use https://",
                    url)};
  }
  address.ca_file = ca_file;
  address.token_file = token_file;
  for (const std::string& file : {ca_file, token_file}) {
    if (file.empty()) continue;
    if (auto error = unreadable(file)) return *std::move(error);
  }
  return address;
}

}  // namespace muster::api_server
