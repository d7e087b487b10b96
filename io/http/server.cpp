#include "io/http/server.h"

#include <cerrno>
#include <exception>
#include <system_error>
#include <thread>
#include <utility>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <sys/socket.h>
#include <unistd.h>

#include "io/http/client_watch.h"
#include "io/http/connection.h"

namespace muster::http {
namespace {

namespace asio = boost::asio;

constexpr int kAcceptedAtOnce = 64;  // then others have their turn
constexpr std::chrono::milliseconds kOutOfDescriptors{100};
constexpr std::chrono::milliseconds kOutOfMemory{10};

constexpr std::string_view kFull =
    "HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\nRetry-After: 1\r\nConnection: close\r\n\r\n";

void until_there_is_memory(const auto& action) {
  while (true) {
    try {
      return action();
    } catch (const std::exception&) {
      std::this_thread::sleep_for(kOutOfMemory);
    }
  }
}

}  // namespace

struct HttpServer::Implementation {
  Implementation(const std::vector<int>& descriptors, HttpService& service, const HttpLimits& limits)
      : context(io, service, limits), work(asio::make_work_guard(io)), retry(io) {
    for (const int descriptor : descriptors) listeners.emplace_back(io, descriptor);
    context.on_closed = [this] { stop_when_drained(); };
    for (auto& listener : listeners) await(listener);
  }

  // Whatever becomes of single connections, the listener goes on.
  void await(asio::posix::stream_descriptor& listener) {
    until_there_is_memory([&] { wait_for(listener); });
  }

  void wait_for(asio::posix::stream_descriptor& listener) {
    listener.async_wait(asio::posix::stream_descriptor::wait_read, [this, &listener](const SocketError& error) {
      if (error || context.is_draining) return;
      if (accept_some(listener, kAcceptedAtOnce)) return await(listener);
      retry.expires_after(kOutOfDescriptors);
      retry.async_wait([this, &listener](const SocketError& cancelled) {
        if (!cancelled && !context.is_draining) await(listener);
      });
    });
  }

  // False: there are no descriptors left.
  bool accept_some(asio::posix::stream_descriptor& listener, int most) {
    for (int i = 0; i < most; ++i) {
      const int descriptor = ::accept4(listener.native_handle(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
      if (descriptor >= 0) {
        open(descriptor);
      } else if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
        return false;
      } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
        return true;
      }
    }
    return true;
  }

  void open(int descriptor) {
    if (context.connections.size() >= context.limits.max_connections) {
      // If it does not fit into the socket's buffer, the client has to do without.
      [[maybe_unused]] const ssize_t sent = ::send(descriptor, kFull.data(), kFull.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
      ::close(descriptor);
      return context.service.dropped("max_connections");
    }
    std::shared_ptr<HttpConnection> connection;
    try {
      connection = make_connection(context, descriptor);
      context.connections.insert(connection);
    } catch (const std::exception&) {
      if (!connection) ::close(descriptor);
      return context.service.dropped("defect");
    }
    context.connection_count = context.connections.size();
    connection->start();
  }

  // Clients that have connected by now count as accepted.
  void drain() {
    if (context.is_draining) return;
    context.is_draining = true;
    constexpr int kAll = 1 << 20;
    for (auto& listener : listeners) {
      accept_some(listener, kAll);
      SocketError ignored;
      listener.close(ignored);
    }
    retry.cancel();
    until_there_is_memory([this] {
      const auto connections = context.connections;
      for (const auto& connection : connections) connection->drain();
    });
    stop_when_drained();
  }

  void stop_when_drained() {
    if (context.is_draining && context.connections.empty()) work.reset();
  }

  asio::io_context io{1};
  HttpContext context;
  asio::executor_work_guard<asio::io_context::executor_type> work;
  std::vector<asio::posix::stream_descriptor> listeners;
  asio::steady_timer retry;
};

HttpServer::HttpServer(const std::vector<int>& listeners, HttpService& service, const HttpLimits& limits)
    : implementation_(std::make_unique<Implementation>(listeners, service, limits)) {}

HttpServer::~HttpServer() = default;

void HttpServer::run() {
  while (true) {
    try {
      implementation_->io.run();
      return;
    } catch (const std::exception&) {
      implementation_->context.service.dropped("defect");  // of one handler; the others go on
    }
  }
}

void HttpServer::drain() {
  until_there_is_memory([this] { asio::post(implementation_->io, [this] { implementation_->drain(); }); });
}

void HttpServer::set_limits(const HttpLimits& limits) {
  asio::post(implementation_->io, [this, limits] { implementation_->context.limits = limits; });
}

void HttpServer::post(const std::function<void()>& task) {
  until_there_is_memory([&] { asio::post(implementation_->io, task); });
}

std::size_t HttpServer::connections() const { return implementation_->context.connection_count; }

}  // namespace muster::http
