// Lines of a stream that comes in pieces; internal to this folder.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

namespace muster::api_server {

class LineSplitter {
 public:
  explicit LineSplitter(std::size_t max_bytes) : max_bytes_(max_bytes) {}

  // Calls `take` with each whole line, without its end, until that returns false. False: a line is too long.
  template <class Take>
  bool add(std::string_view bytes, Take take) {
    while (true) {
      const std::size_t end = bytes.find('\n');
      const bool is_whole = end != std::string_view::npos;
      const std::string_view part = bytes.substr(0, end);
      if (begun_.size() + part.size() > max_bytes_) return false;
      if (!is_whole) {
        begun_ += part;
        return true;
      }
      bytes.remove_prefix(end + 1);
      if (begun_.empty()) {
        if (!take(part)) return true;
        continue;
      }
      begun_ += part;
      const std::string line = std::move(begun_);
      begun_.clear();
      if (!take(std::string_view(line))) return true;
    }
  }
  void clear() { begun_.clear(); }

 private:
  std::size_t max_bytes_;
  std::string begun_;
};

}  // namespace muster::api_server
