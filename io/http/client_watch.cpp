#include "io/http/client_watch.h"

#include <cerrno>
#include <utility>

#include <boost/asio/socket_base.hpp>
#include <poll.h>
#include <sys/socket.h>

namespace muster::http {

void ClientWatch::begin(std::function<void()> stirs) {
  if (is_watching_) return;
  is_watching_ = true;
  socket_.async_wait(boost::asio::socket_base::wait_read, [this, stirs = std::move(stirs)](const SocketError& error) {
    is_watching_ = false;
    if (!error) stirs();
  });
}

bool ClientWatch::has_left() {
  char byte = 0;
  const ssize_t got = ::recv(socket_.native_handle(), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
  if (got > 0 || (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR))) return false;
  pollfd end{socket_.native_handle(), 0, 0};
  return !(is_unix_ && got == 0 && ::poll(&end, 1, 0) == 0);
}

}  // namespace muster::http
