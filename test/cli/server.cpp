#include "test/cli/server.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <thread>

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test/support/paths.h"

namespace muster::cli {
namespace {

constexpr int kPatienceSeconds = 10;

std::string dechunked(std::string& received, const std::function<bool()>& fill) {
  std::string body;
  while (true) {
    std::size_t line = 0;
    while ((line = received.find("\r\n")) == std::string::npos) {
      if (!fill()) return body;
    }
    const std::size_t size = std::strtoul(received.c_str(), nullptr, 16);
    while (received.size() < line + 2 + size + 2) {
      if (!fill()) return body;
    }
    body += received.substr(line + 2, size);
    received.erase(0, line + 2 + size + 2);
    if (size == 0) return body;
  }
}

}  // namespace

bool comes_true(const std::function<bool()>& condition) {
  for (int i = 0; i < kPatienceSeconds * 100; ++i) {
    if (condition()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

std::string HttpAnswer::field(const std::string& name) const {
  const std::size_t begin = head.find("\r\n" + name + ": ");
  if (begin == std::string::npos) return "";
  const std::size_t value = begin + name.size() + 4;
  return head.substr(value, head.find("\r\n", value) - value);
}

Client::~Client() { close(); }

bool Client::send(std::string_view bytes) const {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(descriptor_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
  return true;
}

void Client::end_sending() const { shutdown(descriptor_, SHUT_WR); }

void Client::close() {
  if (descriptor_ >= 0) ::close(descriptor_);
  descriptor_ = -1;
}

bool Client::fill() {
  std::string part(1 << 16, '\0');
  const ssize_t got = recv(descriptor_, part.data(), part.size(), 0);
  if (got > 0) received_.append(part, 0, static_cast<std::size_t>(got));
  return got > 0;
}

HttpAnswer Client::receive(bool has_body) {
  HttpAnswer answer;
  std::size_t end = 0;
  while ((end = received_.find("\r\n\r\n")) == std::string::npos) {
    if (!fill()) return answer;
  }
  answer.head = received_.substr(0, end + 2);
  received_.erase(0, end + 4);
  answer.status = std::atoi(answer.head.c_str() + std::strlen("HTTP/1.1 "));
  answer.is_last = answer.field("Connection") == "close";
  if (!has_body || answer.status == 100) return answer;
  if (answer.field("Transfer-Encoding") == "chunked") {
    answer.body = dechunked(received_, [this] { return fill(); });
  } else if (const std::string length = answer.field("Content-Length"); !length.empty()) {
    const std::size_t size = std::strtoul(length.c_str(), nullptr, 10);
    while (received_.size() < size && fill()) {
    }
    answer.body = received_.substr(0, size);
    received_.erase(0, size);
  } else {
    while (fill()) {
    }
    answer.body = std::exchange(received_, {});
  }
  return answer;
}

bool Client::is_closed() { return received_.empty() && !fill() && errno != EAGAIN; }

std::string get(const std::string& path) { return "GET " + path + " HTTP/1.1\r\nHost: muster\r\n\r\n"; }

std::string post(const std::string& path, const std::string& body, const std::string& more_fields,
                 const std::string& type) {
  return "POST " + path + " HTTP/1.1\r\nHost: muster\r\nContent-Type: " + type + "\r\n" + more_fields +
         "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}

Server::Server(const Workplace& place, std::vector<std::string> arguments, const std::string& address,
               int log_descriptor)
    : place_(place), socket_(place.path("muster.sock")), log_name_("serve.log") {
  std::vector<std::string> words = {"muster", "serve", "--listen", address.empty() ? "unix:" + socket_ : address};
  words.insert(words.end(), arguments.begin(), arguments.end());
  const std::string log = place.file(log_name_, "");
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  process_ = fork();
  if (process_ == 0) {
    dup2(log_descriptor >= 0 ? log_descriptor : open(log.c_str(), O_WRONLY | O_APPEND), STDERR_FILENO);
    execv(test::program().c_str(), argv.data());
    _exit(127);
  }
  const std::string listening = "listening on ";
  comes_true([&] {
    const bool listens =
        log_descriptor >= 0 ? connect().is_connected() : this->log().find(listening) != std::string::npos;
    return listens || waitpid(process_, nullptr, WNOHANG) == process_;
  });
  const std::string text = this->log();
  const std::size_t port = text.find(listening + "tcp:");
  if (port != std::string::npos)
    port_ = std::atoi(text.c_str() + text.find_first_of(":", port + listening.size() + 4) + 1);
}

Server::~Server() {
  if (process_ <= 0) return;
  kill(process_, SIGKILL);
  waitpid(process_, nullptr, 0);
}

Client Server::connect() const {
  const int descriptor = ::socket(port_ > 0 ? AF_INET : AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const timeval patience{kPatienceSeconds, 0};
  setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
  sockaddr_un local{};
  local.sun_family = AF_UNIX;
  std::memcpy(static_cast<char*>(local.sun_path), socket_.data(), std::min(socket_.size(), sizeof local.sun_path - 1));
  sockaddr_in internet{};
  internet.sin_family = AF_INET;
  internet.sin_port = htons(static_cast<std::uint16_t>(port_));
  internet.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const int error = port_ > 0 ? ::connect(descriptor, reinterpret_cast<const sockaddr*>(&internet), sizeof internet)
                              : ::connect(descriptor, reinterpret_cast<const sockaddr*>(&local), sizeof local);
  if (error == 0) return Client(descriptor);
  ::close(descriptor);
  return Client(-1);
}

void Server::signal(int number) const { kill(process_, number); }

int Server::exit_code() {
  int status = 0;
  waitpid(process_, &status, 0);
  process_ = -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

bool Server::has_logged(const std::string& text) const {
  return comes_true([&] { return log().find(text) != std::string::npos; });
}

}  // namespace muster::cli
