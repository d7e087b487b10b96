#include "cli/serve/process_metrics.h"

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

#include <dirent.h>
#include <sys/resource.h>
#include <unistd.h>

namespace muster::cli {
namespace {

// Seconds since 1970 at which this process was started, as reported by the kernel.
double start_time() {
  std::ifstream stat("/proc/self/stat");
  const std::string text{std::istreambuf_iterator<char>(stat), {}};
  std::ifstream system("/proc/stat");
  double booted = 0;
  for (std::string word; system >> word;) {
    if (word == "btime") system >> booted;
  }
  // The command's name, in brackets, may contain anything; the 20th word after it is the start in ticks.
  std::size_t place = text.rfind(')');
  for (int i = 0; i < 20 && place != std::string::npos; ++i) place = text.find(' ', place + 1);
  if (place == std::string::npos) return 0;
  const long long ticks = std::atoll(text.c_str() + place);
  return booted + static_cast<double>(ticks) / static_cast<double>(sysconf(_SC_CLK_TCK));
}

double resident_bytes() {
  std::ifstream file("/proc/self/statm");
  double total = 0, resident = 0;
  file >> total >> resident;
  return resident * static_cast<double>(sysconf(_SC_PAGESIZE));
}

double cpu_seconds() {
  double sum = 0;
  for (const int who : {RUSAGE_SELF, RUSAGE_CHILDREN}) {
    rusage usage{};
    getrusage(who, &usage);
    sum += static_cast<double>(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           static_cast<double>(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
  }
  return sum;
}

double open_descriptors() {
  DIR* directory = opendir("/proc/self/fd");
  if (directory == nullptr) return 0;
  int count = -3;  // ".", ".." and the directory itself
  while (readdir(directory) != nullptr) ++count;
  closedir(directory);
  return count;
}

}  // namespace

void write_process_metrics(http::PrometheusText& out) {
  static const double start = start_time();
  out.family("process_resident_memory_bytes", "gauge", "Resident memory of the server, without its workers.")
      .sample({}, resident_bytes());
  out.family("process_start_time_seconds", "gauge", "Start of the process, in seconds since 1970.").sample({}, start);
  out.family("process_cpu_seconds_total", "counter", "Processor time, including that of workers that have exited.")
      .sample({}, cpu_seconds());
  out.family("process_open_fds", "gauge", "Open file descriptors.").sample({}, open_descriptors());
}

}  // namespace muster::cli
