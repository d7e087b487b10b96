#include "io/http/listener.h"

#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <optional>

#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "model/base/process.h"

namespace muster::http {
namespace {

constexpr mode_t kAllButUserAndGroup = 0117;  // 0777 & ~0117 = 0660

InputError unavailable(const std::string& name, const std::string& reason) {
  return {ErrorCode::kUnavailable, name, "cannot listen on " + name + ": " + reason};
}

InputError unavailable(const std::string& name, int error) { return unavailable(name, std::strerror(error)); }

int new_socket(int family) { return ::socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0); }

// The state of the path of a Unix socket: some process listens there, none does any more (so it is removed), or it is
// something else.
std::optional<InputError> make_way(const sockaddr_un& address) {
  const std::string path = static_cast<const char*>(address.sun_path);
  struct stat about {};
  if (::lstat(path.c_str(), &about) != 0) return std::nullopt;  // bind() reports any other fault
  if (!S_ISSOCK(about.st_mode)) return unavailable("unix:" + path, "the file exists and is not a socket");
  const Descriptor probe(new_socket(AF_UNIX));
  const int connected = ::connect(probe.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address);
  if (connected == 0 || errno == EAGAIN) {
    return InputError{ErrorCode::kInUse, "unix:" + path, "another process already listens on unix:" + path};
  }
  if (errno != ECONNREFUSED) return unavailable("unix:" + path, errno);
  ::unlink(path.c_str());
  return std::nullopt;
}

Result<int> open_unix(const std::string& path) {
  const std::string name = "unix:" + path;
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) return unavailable(name, "the path is longer than 107 bytes");
  std::memcpy(static_cast<char*>(address.sun_path), path.data(), path.size());
  // If two servers start together, the second checks after the first has bound. If the directory cannot be locked, a
  // collision is unlikely in any case.
  const std::string directory = path.find('/') == std::string::npos ? "." : path.substr(0, path.rfind('/') + 1);
  const Descriptor lock(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (lock.get() >= 0) ::flock(lock.get(), LOCK_EX);
  if (auto error = make_way(address)) return *std::move(error);
  Descriptor listener(new_socket(AF_UNIX));
  if (listener.get() < 0) return unavailable(name, errno);
  const mode_t before = ::umask(kAllButUserAndGroup);
  const int bound = ::bind(listener.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address);
  const int error = errno;
  ::umask(before);
  if (bound != 0) return unavailable(name, error);
  if (::listen(listener.get(), SOMAXCONN) != 0) return unavailable(name, errno);
  return listener.release();
}

bool is_loopback(const sockaddr& address) {
  if (address.sa_family == AF_INET) {
    return (ntohl(reinterpret_cast<const sockaddr_in&>(address).sin_addr.s_addr) >> 24) == 127;
  }
  return address.sa_family == AF_INET6 &&
         IN6_IS_ADDR_LOOPBACK(&reinterpret_cast<const sockaddr_in6&>(address).sin6_addr) != 0;
}

Result<int> open_tcp(const ListenAddress& wanted, bool is_insecure) {
  const std::string name = "tcp:" + wanted.host + ":" + wanted.port;
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE;
  addrinfo* found = nullptr;
  const char* host = wanted.host.empty() ? nullptr : wanted.host.c_str();
  const int failure = ::getaddrinfo(host, wanted.port.c_str(), &hints, &found);
  if (failure != 0) return unavailable(name, ::gai_strerror(failure));
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> addresses(found, &::freeaddrinfo);
  const addrinfo& address = *addresses;
  if (!is_insecure && !is_loopback(*address.ai_addr)) {
    return InputError{
        ErrorCode::kInsecure, name,
        name + " can be reached from other machines, without encryption or authentication; --insecure allows it"};
  }
  Descriptor listener(new_socket(address.ai_family));
  if (listener.get() < 0) return unavailable(name, errno);
  const int on = 1;
  ::setsockopt(listener.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (::bind(listener.get(), address.ai_addr, address.ai_addrlen) != 0) {
    if (errno == EADDRINUSE) return InputError{ErrorCode::kInUse, name, "another process already listens on " + name};
    return unavailable(name, errno);
  }
  if (::listen(listener.get(), SOMAXCONN) != 0) return unavailable(name, errno);
  return listener.release();
}

}  // namespace

Result<ListenAddress> parse_listen_address(std::string_view text) {
  const InputError error{ErrorCode::kInvalidValue, std::string(text), "must be unix:PATH or tcp:HOST:PORT"};
  if (text.starts_with("unix:") && text.size() > 5) return ListenAddress{true, std::string(text.substr(5)), {}, {}};
  const std::size_t colon = text.rfind(':');
  if (!text.starts_with("tcp:") || colon < 4) return error;
  std::string_view host = text.substr(4, colon - 4);
  const std::string_view port = text.substr(colon + 1);
  if (port.empty() || port.size() > 5 || port.find_first_not_of("0123456789") != std::string_view::npos) return error;
  const bool is_bracketed = host.size() > 2 && host.starts_with('[') && host.ends_with(']');
  if (is_bracketed) host = host.substr(1, host.size() - 2);
  if (!is_bracketed && host.find(':') != std::string_view::npos) return error;
  return ListenAddress{false, {}, std::string(host), std::string(port)};
}

Result<int> open_listener(const ListenAddress& address, bool is_insecure) {
  return address.is_unix ? open_unix(address.path) : open_tcp(address, is_insecure);
}

void remove_socket(const ListenAddress& address) {
  if (address.is_unix) ::unlink(address.path.c_str());
}

std::string name_of_listener(const ListenAddress& address, int descriptor) {
  if (address.is_unix) return "unix:" + address.path;
  sockaddr_storage bound{};
  socklen_t size = sizeof bound;
  std::array<char, NI_MAXHOST> host{};
  std::array<char, NI_MAXSERV> port{};
  if (::getsockname(descriptor, reinterpret_cast<sockaddr*>(&bound), &size) != 0 ||
      ::getnameinfo(reinterpret_cast<const sockaddr*>(&bound), size, host.data(), host.size(), port.data(), port.size(),
                    NI_NUMERICHOST | NI_NUMERICSERV) != 0) {
    return "tcp:" + address.host + ":" + address.port;
  }
  const bool is_long = bound.ss_family == AF_INET6;
  return std::string("tcp:") + (is_long ? "[" : "") + host.data() + (is_long ? "]:" : ":") + port.data();
}

}  // namespace muster::http
