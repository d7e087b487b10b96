// A client of HTTP/1.1 on a Unix socket that writes arbitrary bytes, and reads answers as strictly as a client may. The
// tests also use it to send malformed requests.
#pragma once

#include <algorithm>
#include <cctype>
#include <charconv>
#include <chrono>
#include <cstring>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include <poll.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

namespace muster::bench {

struct HttpAnswer {
  int status = 0;
  std::map<std::string, std::string> fields;  // names in lower case
  std::string body;

  std::string field(const std::string& name) const {
    const auto found = fields.find(name);
    return found == fields.end() ? "" : found->second;
  }
};

// A whole request with a body, in one piece.
inline std::string post(std::string_view path, std::string_view body, std::string_view type = "application/json",
                        std::string_view more_fields = "") {
  return "POST " + std::string(path) + " HTTP/1.1\r\nHost: muster\r\nContent-Type: " + std::string(type) +
         "\r\nContent-Length: " + std::to_string(body.size()) + "\r\n" + std::string(more_fields) + "\r\n" +
         std::string(body);
}
inline std::string get(std::string_view path) {
  return "GET " + std::string(path) + " HTTP/1.1\r\nHost: muster\r\n\r\n";
}

class HttpClient {
 public:
  // Connects. Throws if no server listens.
  explicit HttpClient(const std::string& socket_path) : socket_(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    const timeval patience{10, 0};
    setsockopt(socket_, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (socket_path.size() >= sizeof address.sun_path) throw std::runtime_error(socket_path + " is too long");
    std::ranges::copy(socket_path, address.sun_path);
    if (connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) return;
    const int error = errno;
    close(socket_);
    throw std::runtime_error(socket_path + ": " + std::strerror(error));
  }
  ~HttpClient() { close(socket_); }
  HttpClient(const HttpClient&) = delete;
  HttpClient& operator=(const HttpClient&) = delete;

  // False: the server does not read any more, or has not for ten seconds.
  bool send(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t sent = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent <= 0) return false;
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
    return true;
  }
  // Nothing more is sent, and the server sees this; answers are still read.
  void end_sending() { shutdown(socket_, SHUT_WR); }

  // The next answer, whole. None: the connection has ended before, or nothing came for that long.
  std::optional<HttpAnswer> answer(int milliseconds) {
    auto answer = head(milliseconds);
    if (!answer || answer->status < 200) return answer;
    const bool is_read = answer->field("transfer-encoding") == "chunked" ? read_chunks(answer->body, milliseconds)
                                                                         : read_counted(*answer, milliseconds);
    if (!is_read) return std::nullopt;
    is_within_answer_ = false;
    return answer;
  }
  // The same without its body, as the answer to HEAD is.
  std::optional<HttpAnswer> head(int milliseconds) {
    const auto end = read_until("\r\n\r\n", milliseconds);
    if (!end) return std::nullopt;
    const HttpAnswer answer = head_of(received_.substr(0, *end + 2));
    received_.erase(0, *end + 4);
    is_within_answer_ = answer.status >= 200;
    return answer;
  }
  // Whether the last answer has begun and did not come whole.
  bool is_cut() const { return is_within_answer_ || !received_.empty(); }

  // Whether the server has left within that time; nothing is read for it.
  bool is_left_within(int milliseconds) const {
    pollfd end{socket_, 0, 0};
    return poll(&end, 1, milliseconds) > 0;
  }
  // Whether the server closes the connection within that time, without sending anything more.
  bool is_closed_within(int milliseconds) { return received_.empty() && !read_some(milliseconds) && is_at_end_; }
  // Whether the server ends the connection within that time, whatever it sends before.
  bool ends_within(int milliseconds) {
    const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(milliseconds);
    while (!is_at_end_) {
      const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until - std::chrono::steady_clock::now());
      if (left.count() <= 0) return false;
      read_some(static_cast<int>(left.count()));
      received_.clear();
    }
    return true;
  }

 private:
  // False: nothing came in time, or the connection has ended.
  bool read_some(int milliseconds) {
    pollfd ready{socket_, POLLIN, 0};
    if (poll(&ready, 1, milliseconds) <= 0) return false;
    char chunk[1 << 16];
    const ssize_t got = recv(socket_, chunk, sizeof chunk, 0);
    if (got <= 0) {
      is_at_end_ = true;
      return false;
    }
    received_.append(chunk, static_cast<std::size_t>(got));
    return true;
  }
  // The position of the mark.
  std::optional<std::size_t> read_until(std::string_view mark, int milliseconds) {
    while (true) {
      const std::size_t at = received_.find(mark);
      if (at != std::string::npos) return at;
      if (!read_some(milliseconds)) return std::nullopt;
    }
  }
  static HttpAnswer head_of(const std::string& head) {
    HttpAnswer answer;
    if (!head.starts_with("HTTP/1.")) throw std::runtime_error("no answer of HTTP/1: " + head.substr(0, 80));
    answer.status = std::stoi(head.substr(9, 3));
    for (std::size_t at = head.find("\r\n") + 2; at < head.size();) {
      const std::size_t end = head.find("\r\n", at), colon = head.find(':', at);
      if (colon > end) throw std::runtime_error("a field without a colon: " + head.substr(at, end - at));
      std::string name = head.substr(at, colon - at);
      std::ranges::transform(name, name.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
      const std::size_t value = std::min(end, head.find_first_not_of(' ', colon + 1));
      answer.fields[std::move(name)] = head.substr(value, end - value);
      at = end + 2;
    }
    return answer;
  }
  bool read_counted(HttpAnswer& answer, int milliseconds) {
    const std::string length = answer.field("content-length");
    if (length.empty() && answer.status != 204) throw std::runtime_error("an answer without a length");
    const std::size_t size = length.empty() ? 0 : std::stoul(length);
    while (received_.size() < size)
      if (!read_some(milliseconds)) return false;
    answer.body = received_.substr(0, size);
    received_.erase(0, size);
    return true;
  }
  bool read_chunks(std::string& body, int milliseconds) {
    while (true) {
      const auto line_end = read_until("\r\n", milliseconds);
      if (!line_end) return false;
      std::size_t size = 0;
      if (std::from_chars(received_.data(), received_.data() + *line_end, size, 16).ec != std::errc())
        throw std::runtime_error("a chunk without its size: " + received_.substr(0, *line_end));
      while (received_.size() < *line_end + size + 4)
        if (!read_some(milliseconds)) return false;
      body.append(received_, *line_end + 2, size);
      received_.erase(0, *line_end + size + 4);
      if (size == 0) return true;
    }
  }

  int socket_;
  bool is_at_end_ = false, is_within_answer_ = false;
  std::string received_;
};

}  // namespace muster::bench
