// The socket of a connection, TCP or Unix; internal to io/http/server.h.
#pragma once

#include <boost/asio/generic/stream_protocol.hpp>

namespace muster::http {

using StreamSocket = boost::asio::generic::stream_protocol::socket;
using SocketError = boost::system::error_code;

}  // namespace muster::http
