#include "io/http/output_queue.h"

#include <iterator>
#include <utility>

#include <boost/asio/buffer.hpp>
#include <boost/asio/write.hpp>

#include "model/base/require.h"

namespace muster::http {

void OutputQueue::add(std::string bytes, std::function<void()> sent) {
  waiting_.push_back({std::move(bytes), std::move(sent)});
}

void OutputQueue::write(std::function<void(const SocketError&)> done) {
  MUSTER_REQUIRE(!is_writing_);
  is_writing_ = true;
  sending_.assign(std::make_move_iterator(waiting_.begin()), std::make_move_iterator(waiting_.end()));
  waiting_.clear();
  std::vector<boost::asio::const_buffer> buffers;
  for (const Piece& piece : sending_) buffers.emplace_back(piece.bytes.data(), piece.bytes.size());
  boost::asio::async_write(socket_, buffers, [this, done = std::move(done)](const SocketError& error, std::size_t) {
    is_writing_ = false;
    done(error);
  });
}

void OutputQueue::confirm() {
  for (const Piece& piece : std::exchange(sending_, {})) {
    if (piece.sent) piece.sent();
  }
}

}  // namespace muster::http
