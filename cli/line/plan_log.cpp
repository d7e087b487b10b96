#include "cli/line/plan_log.h"

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "cli/terminal/console.h"
#include "io/json/json_writer.h"
#include "io/muster_v1/plan_line.h"

namespace muster::cli {
namespace {

std::string first_plan_line(std::string_view run) {
  std::string line;
  json::JsonWriter(line).object().member("format", "muster/v1").member("checkpoint", run).end();
  return line;
}

std::optional<std::string> content_of(int file) {
  std::string content;
  std::array<char, 1 << 16> chunk{};
  for (;;) {
    const ssize_t count = read(file, chunk.data(), chunk.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return std::nullopt;
    if (count == 0) return content;
    content.append(chunk.data(), static_cast<std::size_t>(count));
  }
}

}  // namespace

PlanLog::~PlanLog() {
  if (file_ >= 0) close(file_);
}

std::optional<InputError> PlanLog::open(const std::string& path, std::string_view run) {
  const auto failed = [&] { return InputError{ErrorCode::kNoInput, path, std::strerror(errno)}; };
  file_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (file_ < 0) return failed();
  const std::optional<std::string> content = content_of(file_);
  if (!content) return failed();
  const std::size_t whole = content->rfind('\n') == std::string::npos ? 0 : content->rfind('\n') + 1;
  if (ftruncate(file_, static_cast<off_t>(whole)) != 0 || lseek(file_, 0, SEEK_END) < 0) return failed();
  if (whole == 0) {
    errno = write_all(file_, first_plan_line(run) + '\n');
    return errno == 0 ? std::nullopt : std::optional(failed());
  }
  std::string_view rest = std::string_view(*content).substr(0, whole);
  const auto next = [&] {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(line.size() + 1);
    return line;
  };
  if (next() != first_plan_line(run)) {
    return InputError{ErrorCode::kInvalidValue, path,
                      "belongs to another run: the input, the options or the version differ"};
  }
  while (!rest.empty()) lines_.emplace_back(next());
  return std::nullopt;
}

Result<Plan> PlanLog::plan(std::size_t cycle, const Problem& problem) const {
  Result<muster_v1::ReadPlan> read = muster_v1::read_plan(lines_[cycle], &problem);
  if (!read) return read.error();
  return std::move(read->plan);
}

int PlanLog::append(const Problem& problem, const Plan& plan) const {
  if (file_ < 0) return 0;
  std::string line;
  muster_v1::write_plan({problem, plan, explain::Report{}, muster_v1::SolverStatement{}, false}, line);
  line += '\n';
  return write_all(file_, line);
}

}  // namespace muster::cli
