// Fewer page faults in large buffers: they would be a good part of the time of what reads files of hundreds of MB.
#pragma once

#include <cstddef>
#include <memory>

#include <sys/mman.h>

namespace muster {

// Asks the kernel for large pages in the place that a string or a vector has reserved, if that is large.
template <class Buffer>
void ask_for_large_pages(Buffer& buffer) {
  constexpr std::size_t kPage = 4096, kLarge = std::size_t{8} << 20;
  void* begin = buffer.data();
  std::size_t size = buffer.capacity() * sizeof(*buffer.data());
  if (size >= kLarge && std::align(kPage, kPage, begin, size) != nullptr)
    static_cast<void>(madvise(begin, size / kPage * kPage, MADV_HUGEPAGE));
}

}  // namespace muster
