// A library for LD_PRELOAD: of the program's checks (MUSTER_REQUIRE), the one of number MUSTER_FAIL_CHECK fails,
// counted over all threads from the start. MUSTER_CHECK_SITES is a file with a line for each check: where its
// conditional jump stands in the program, and where it goes on if the check fails (test/faults/run finds them in the
// disassembly). MUSTER_FAIL_FILE: "failed" is written there once it has happened.
//
// Each jump is replaced by a breakpoint, whose handler does what the jump would have done, or the other. So the program
// itself has no switch for this. For x86-64. Processes that the program starts do not fail.
#include <algorithm>
#include <array>
#include <atomic>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

namespace {

struct Site {
  std::uintptr_t jump = 0, taken = 0, next = 0, failed = 0;
  unsigned condition = 0;  // the lower half of the jump's operation code
};

constexpr std::size_t kMost = 1024;
std::array<Site, kMost> sites;  // sorted by `jump`; written before the program starts
std::size_t site_count = 0;
std::atomic<long> left{0};
const char* mark = nullptr;

bool holds(unsigned condition, std::uint64_t flags) {
  const bool carry = (flags & 1U) != 0, parity = (flags & 4U) != 0, zero = (flags & 64U) != 0;
  const bool sign = (flags & 128U) != 0, overflow = (flags & 2048U) != 0;
  const std::array<bool, 8> tests = {
      overflow, carry, zero, carry || zero, sign, parity, sign != overflow, zero || sign != overflow};
  return tests[condition >> 1U] != ((condition & 1U) != 0);
}

void tell() {
  const int descriptor = open(mark, O_WRONLY | O_CREAT | O_TRUNC, 0666);
  if (descriptor >= 0 && write(descriptor, "failed\n", 7) == 7) close(descriptor);
}

void check(int, siginfo_t*, void* context) {
  greg_t* const registers = static_cast<ucontext_t*>(context)->uc_mcontext.gregs;
  const auto jump = static_cast<std::uintptr_t>(registers[REG_RIP]) - 1;
  Site* const end = sites.begin() + site_count;
  const Site* const site = std::lower_bound(sites.begin(), end, jump, [](const Site& a, auto b) { return a.jump < b; });
  if (site == end || site->jump != jump) std::abort();
  const bool fails = left.fetch_sub(1) == 1;
  if (fails) tell();
  const bool is_taken = holds(site->condition, static_cast<std::uint64_t>(registers[REG_EFL]));
  registers[REG_RIP] = static_cast<greg_t>(fails ? site->failed : is_taken ? site->taken : site->next);
}

// Reads the jump and puts the breakpoint in its place.
Site read_site(std::uintptr_t jump, std::uintptr_t failed) {
  auto* const code = reinterpret_cast<unsigned char*>(jump);
  const bool is_long = code[0] == 0x0F;
  std::int32_t distance = static_cast<signed char>(code[1]);
  if (is_long) std::memcpy(&distance, code + 2, sizeof distance);
  const std::uintptr_t next = jump + (is_long ? 6 : 2);
  const Site site{jump, next + static_cast<std::uintptr_t>(distance), next, failed, code[is_long ? 1 : 0] & 15U};
  const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  auto* const start = reinterpret_cast<void*>(jump / page * page);
  if (mprotect(start, page, PROT_READ | PROT_WRITE | PROT_EXEC) != 0) std::abort();
  code[0] = 0xCC;
  return site;
}

[[gnu::constructor]] void begin() {
  const char* number = std::getenv("MUSTER_FAIL_CHECK");
  const char* path = std::getenv("MUSTER_CHECK_SITES");
  mark = std::getenv("MUSTER_FAIL_FILE");
  if (number == nullptr || path == nullptr || mark == nullptr) return;
  mark = strdup(mark);
  left = std::atol(number);
  std::uintptr_t base = 0;  // the program is the first of the list
  dl_iterate_phdr(
      [](dl_phdr_info* program, std::size_t, void* to) {
        *static_cast<std::uintptr_t*>(to) = program->dlpi_addr;
        return 1;
      },
      &base);
  std::FILE* file = std::fopen(path, "r");
  unsigned long jump = 0, failed = 0;
  while (file != nullptr && site_count < kMost && std::fscanf(file, "%lx %lx", &jump, &failed) == 2)
    sites[site_count++] = read_site(base + jump, base + failed);
  if (file == nullptr || site_count == 0 || std::fclose(file) != 0) std::abort();
  std::sort(sites.begin(), sites.begin() + site_count, [](const Site& a, const Site& b) { return a.jump < b.jump; });
  for (const char* name : {"MUSTER_FAIL_CHECK", "MUSTER_CHECK_SITES", "LD_PRELOAD"}) unsetenv(name);
  struct sigaction action = {};
  action.sa_sigaction = check;
  action.sa_flags = SA_SIGINFO | SA_NODEFER;
  sigaction(SIGTRAP, &action, nullptr);
}

}  // namespace
