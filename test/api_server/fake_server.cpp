#include "test/api_server/fake_server.h"

#include <algorithm>
#include <cctype>
#include <csignal>
#include <cstdlib>
#include <utility>

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <openssl/bio.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace muster::api_server {

bool FakeConnection::write_chunk(std::string_view bytes) {
  return write(fmt::format("{:x}\r\n{}\r\n", bytes.size(), bytes));
}

struct FakeServer::Connection final : FakeConnection {
  Connection(int socket, const std::optional<Certificate>& certificate) : descriptor(socket) {
    if (!certificate) return;
    context = SSL_CTX_new(TLS_server_method());
    BIO* const certificate_text = BIO_new_mem_buf(certificate->certificate.data(), -1);
    BIO* const key_text = BIO_new_mem_buf(certificate->key.data(), -1);
    X509* const parsed = PEM_read_bio_X509(certificate_text, nullptr, nullptr, nullptr);
    EVP_PKEY* const key = PEM_read_bio_PrivateKey(key_text, nullptr, nullptr, nullptr);
    SSL_CTX_use_certificate(context, parsed);
    SSL_CTX_use_PrivateKey(context, key);
    X509_free(parsed);
    EVP_PKEY_free(key);
    BIO_free(certificate_text);
    BIO_free(key_text);
    tls = SSL_new(context);
    SSL_set_fd(tls, descriptor);
  }
  ~Connection() override {
    SSL_free(tls);
    SSL_CTX_free(context);
    ::close(descriptor);
  }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  bool accept() { return tls == nullptr || SSL_accept(tls) == 1; }
  bool write(std::string_view bytes) override {
    while (!bytes.empty()) {
      const auto size = tls == nullptr ? ::send(descriptor, bytes.data(), bytes.size(), MSG_NOSIGNAL)
                                       : SSL_write(tls, bytes.data(), static_cast<int>(bytes.size()));
      if (size <= 0) return false;
      bytes.remove_prefix(static_cast<std::size_t>(size));
    }
    return true;
  }
  bool read() {
    char bytes[4096];
    const auto size = tls == nullptr ? ::recv(descriptor, bytes, sizeof bytes, 0) : SSL_read(tls, bytes, sizeof bytes);
    if (size > 0) input.append(bytes, static_cast<std::size_t>(size));
    return size > 0;
  }
  void stall() override {
    while (read()) {
    }
  }
  bool is_open() const override {
    pollfd state{descriptor, POLLIN | POLLRDHUP, 0};
    ::poll(&state, 1, 0);
    return (state.revents & (POLLRDHUP | POLLHUP | POLLERR)) == 0;
  }
  // None: the connection has ended.
  std::optional<FakeRequest> next();

  int descriptor;
  SSL_CTX* context = nullptr;
  SSL* tls = nullptr;
  std::string input;
  std::thread thread;
  std::atomic<bool> is_done{false};
};

namespace {

FakeRequest parse_head(std::string_view head) {
  FakeRequest request;
  const std::string_view line = head.substr(0, head.find("\r\n"));
  const std::size_t first = line.find(' '), last = line.rfind(' ');
  request.method = line.substr(0, first);
  request.target = line.substr(first + 1, last - first - 1);
  request.path = request.target.substr(0, request.target.find('?'));
  std::string_view query(request.target);
  query.remove_prefix(std::min(query.size(), request.path.size() + 1));
  while (!query.empty()) {
    const std::string_view part = query.substr(0, query.find('&'));
    query.remove_prefix(std::min(query.size(), part.size() + 1));
    const std::size_t sign = std::min(part.find('='), part.size());
    request.query.emplace(part.substr(0, sign), part.substr(std::min(part.size(), sign + 1)));
  }
  head.remove_prefix(line.size() + 2);
  while (!head.empty()) {
    const std::string_view field = head.substr(0, head.find("\r\n"));
    head.remove_prefix(std::min(head.size(), field.size() + 2));
    const std::size_t colon = field.find(": ");
    if (colon == std::string_view::npos) continue;
    std::string name(field.substr(0, colon));
    std::ranges::transform(name, name.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    request.fields.emplace(std::move(name), field.substr(colon + 2));
  }
  return request;
}

}  // namespace

std::optional<FakeRequest> FakeServer::Connection::next() {
  std::size_t end = std::string::npos;
  while ((end = input.find("\r\n\r\n")) == std::string::npos) {
    if (!read()) return std::nullopt;
  }
  FakeRequest request = parse_head(std::string_view(input).substr(0, end + 2));
  input.erase(0, end + 4);
  const auto length = request.fields.find("content-length");
  const std::size_t bytes = length == request.fields.end() ? 0 : std::stoul(length->second);
  while (input.size() < bytes) {
    if (!read()) return std::nullopt;
  }
  request.body = input.substr(0, bytes);
  input.erase(0, bytes);
  return request;
}

FakeServer::FakeServer(Handler handler, std::optional<Certificate> certificate)
    : handler_(std::move(handler)), certificate_(std::move(certificate)) {
  std::signal(SIGPIPE, SIG_IGN);
  listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  if (::bind(listener_, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0 || ::listen(listener_, 128) != 0 ||
      ::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size) != 0) {
    std::abort();
  }
  port_ = ntohs(address.sin_port);
  acceptor_ = std::thread([this] { accept(); });
}

FakeServer::~FakeServer() {
  is_stopped_ = true;
  ::shutdown(listener_, SHUT_RDWR);
  acceptor_.join();
  ::close(listener_);
  cut();
  for (const auto& connection : open_) connection->thread.join();
}

void FakeServer::cut() {
  const std::lock_guard lock(mutex_);
  for (const auto& connection : open_) ::shutdown(connection->descriptor, SHUT_RDWR);
}

std::vector<FakeRequest> FakeServer::requests() const {
  const std::lock_guard lock(mutex_);
  return requests_;
}

void FakeServer::accept() {
  while (!is_stopped_) {
    const int socket = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (socket < 0) return;
    ++connections_;
    auto connection = std::make_shared<Connection>(socket, certificate_);
    const std::lock_guard lock(mutex_);
    open_.remove_if([](const auto& old) {
      if (!old->is_done) return false;
      old->thread.join();
      return true;
    });
    open_.push_back(connection);
    connection->thread = std::thread([this, raw = connection.get()] {
      serve(*raw);
      ::shutdown(raw->descriptor, SHUT_RDWR);
      raw->is_done = true;
    });
  }
}

void FakeServer::serve(Connection& connection) {
  if (!connection.accept()) return;
  while (auto request = connection.next()) {
    {
      const std::lock_guard lock(mutex_);
      requests_.push_back(*request);
    }
    const FakeAnswer answer = handler_(*request);
    if (answer.instead) return answer.instead(connection);
    const std::string framing = answer.is_chunked ? "Transfer-Encoding: chunked\r\n"
                                                  : fmt::format("Content-Length: {}\r\n", answer.body.size());
    if (!connection.write(fmt::format("HTTP/1.1 {} Phrase\r\nDate: Sun, 01 Mar 2026 10:00:00 GMT\r\nContent-Type: "
                                      "application/json\r\n{}{}{}\r\n",
                                      answer.status, framing, answer.fields,
                                      answer.closes ? "Connection: close\r\n" : ""))) {
      return;
    }
    if (!answer.is_chunked) {
      connection.write(answer.body);
    } else {
      for (std::size_t at = 0; at < answer.body.size(); at += 7)
        connection.write_chunk(std::string_view(answer.body).substr(at, 7));
      connection.write("0\r\n\r\n");
    }
    if (answer.closes) return;
  }
}

}  // namespace muster::api_server
