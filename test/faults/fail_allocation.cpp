// A library for LD_PRELOAD: the allocation of number MUSTER_FAIL_ALLOCATION, counted over all threads from the first
// call of poll() or epoll_wait(), throws std::bad_alloc. MUSTER_FAIL_FILE: "failed" is written there once it has
// happened.
//
// Calls before that are those of the program's start. Processes that the program starts do not fail.
#include <atomic>
#include <cstdlib>
#include <new>

#include <dlfcn.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/epoll.h>
#include <unistd.h>

namespace {

std::atomic<long> left{0};  // 0: not counted yet; -1: never again
pid_t owner = 0;

void begin() {
  const char* number = std::getenv("MUSTER_FAIL_ALLOCATION");
  if (number == nullptr || left != 0) return;
  owner = getpid();
  left = std::atol(number);
}

bool is_time_to_fail() {
  if (left <= 0 || getpid() != owner || left.fetch_sub(1) != 1) return false;
  left = -1;
  if (const char* file = std::getenv("MUSTER_FAIL_FILE")) {
    const int descriptor = open(file, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    if (descriptor >= 0 && write(descriptor, "failed\n", 7) == 7) close(descriptor);
  }
  return true;
}

void* allocate(std::size_t bytes, std::size_t alignment) {
  if (is_time_to_fail()) throw std::bad_alloc();
  void* got = alignment == 0 ? std::malloc(bytes == 0 ? 1 : bytes)
                             : std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
  if (got == nullptr) throw std::bad_alloc();
  return got;
}

}  // namespace

extern "C" int poll(pollfd* descriptors, nfds_t count, int timeout) {
  static const auto next = reinterpret_cast<int (*)(pollfd*, nfds_t, int)>(dlsym(RTLD_NEXT, "poll"));
  begin();
  return next(descriptors, count, timeout);
}

extern "C" int epoll_wait(int epoll, epoll_event* events, int most, int timeout) {
  static const auto next = reinterpret_cast<int (*)(int, epoll_event*, int, int)>(dlsym(RTLD_NEXT, "epoll_wait"));
  begin();
  return next(epoll, events, most, timeout);
}

void* operator new(std::size_t bytes) { return allocate(bytes, 0); }
void* operator new[](std::size_t bytes) { return allocate(bytes, 0); }
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return allocate(bytes, static_cast<std::size_t>(alignment));
}
void* operator new[](std::size_t bytes, std::align_val_t alignment) {
  return allocate(bytes, static_cast<std::size_t>(alignment));
}
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept { return std::malloc(bytes == 0 ? 1 : bytes); }
void* operator new[](std::size_t bytes, const std::nothrow_t&) noexcept { return std::malloc(bytes == 0 ? 1 : bytes); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }
