// `muster serve` as a child, and clients that send arbitrary bytes on its socket.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <sys/types.h>

#include "test/cli/program.h"

namespace muster::cli {

struct HttpAnswer {
  int status = 0;  // 0: the connection ended without one
  std::string head, body;
  bool is_last = false;  // the server closes the connection after it

  std::string field(const std::string& name) const;  // as it stands in the head; empty: absent
};

// A raw connection. Whatever takes longer than ten seconds fails.
class Client {
 public:
  explicit Client(int descriptor) : descriptor_(descriptor) {}
  ~Client();
  Client(Client&& other) noexcept
      : descriptor_(std::exchange(other.descriptor_, -1)), received_(std::move(other.received_)) {}
  Client& operator=(Client&&) = delete;
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  bool is_connected() const { return descriptor_ >= 0; }
  bool send(std::string_view bytes) const;
  void end_sending() const;  // half a close
  void close();
  // The next answer, with its body; `has_body` is false for one to HEAD.
  HttpAnswer receive(bool has_body = true);
  HttpAnswer ask(std::string_view bytes) {
    send(bytes);
    return receive();
  }
  // Whether the server closes the connection, and nothing comes before.
  bool is_closed();

 private:
  bool fill();

  int descriptor_;
  std::string received_;
};

std::string get(const std::string& path);
std::string post(const std::string& path, const std::string& body, const std::string& more_fields = "",
                 const std::string& type = "application/json");

class Server {
 public:
  // `arguments` in addition to --listen; waits until it listens. `address`: empty for a Unix socket in `place`.
  // `log_descriptor`: destination of stderr instead of log(); none: -1.
  explicit Server(const Workplace& place, std::vector<std::string> arguments = {}, const std::string& address = "",
                  int log_descriptor = -1);
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  Client connect() const;
  // One request on a new connection.
  HttpAnswer ask(const std::string& request) const { return connect().ask(request); }
  void signal(int number) const;
  // Waits for its end. -number: it died of a signal.
  int exit_code();
  std::string log() const { return place_.content(log_name_); }
  // Waits until the log holds it; false: not within ten seconds.
  bool has_logged(const std::string& text) const;
  pid_t process() const { return process_; }
  const std::string& socket() const { return socket_; }
  int port() const { return port_; }  // of TCP; 0: none

 private:
  const Workplace& place_;
  std::string socket_, log_name_;
  int port_ = 0;
  pid_t process_ = -1;
};

// Waits for what comes about in other processes; false: not within ten seconds.
bool comes_true(const std::function<bool()>& condition);

}  // namespace muster::cli
