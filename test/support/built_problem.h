// A problem read and built from the keys of a snapshot line; what tests of the model start from.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "io/muster_v1/snapshot_reader.h"
#include "model/build/build_problem.h"
#include "model/problem/problem.h"

namespace muster {

// What becomes of objects that do not add up.
enum class Oddities : std::uint8_t { kErrors, kSettled };

class BuiltProblem {
 public:
  // `body`: what follows "format" and "time" (1000000) in the line.
  explicit BuiltProblem(const std::string& body, Oddities oddities = Oddities::kErrors)
      : snapshot_(std::make_unique<Snapshot>(read(body, oddities))) {
    Result<Problem> built = build_problem(*snapshot_);
    if (!built) {
      ADD_FAILURE() << error_code_text(built.error().code) << " at " << built.error().path << ": "
                    << built.error().message;
      return;
    }
    problem_ = std::move(*built);
  }

  const Problem& operator*() const { return problem_; }
  const Problem* operator->() const { return &problem_; }
  const Snapshot& snapshot() const { return *snapshot_; }

  PodIndex pod(std::string_view name) const { return named<PodIndex>(snapshot_->pods, name); }
  NodeIndex node(std::string_view name) const { return named<NodeIndex>(snapshot_->nodes, name); }
  GangIndex gang(std::string_view name) const { return named<GangIndex>(problem_.gangs, name); }
  QueueIndex queue(std::string_view name) const { return named<QueueIndex>(problem_.queues, name); }
  const PodClass& class_of(std::string_view name) const { return problem_.class_of(pod(name)); }
  std::vector<std::int32_t> devices_of(std::string_view name) const {
    const auto devices = problem_.devices_of(pod(name));
    return {devices.begin(), devices.end()};
  }

  static Snapshot read(const std::string& body, Oddities oddities = Oddities::kErrors) {
    Result<Snapshot> snapshot =
        muster_v1::SnapshotReader({.strict = oddities == Oddities::kErrors}).read(line_of(body));
    if (snapshot) return std::move(*snapshot);
    ADD_FAILURE() << error_code_text(snapshot.error().code) << " at " << snapshot.error().path << ": "
                  << snapshot.error().message;
    return {};
  }
  // What is wrong with it, as "code path"; empty if nothing is. What is plain from the line alone the reader refuses.
  static std::string error_of(const std::string& body) {
    Result<Snapshot> snapshot = muster_v1::SnapshotReader().read(line_of(body));
    if (!snapshot) return std::string(error_code_text(snapshot.error().code)) + " " + snapshot.error().path;
    const Result<Problem> built = build_problem(*snapshot);
    return built ? "" : std::string(error_code_text(built.error().code)) + " " + built.error().path;
  }

 private:
  static std::string line_of(const std::string& body) {
    return R"({"format":"muster/v1","time":1000000,)" + body + "}";
  }

  template <class I, class Items>
  static I named(const Items& items, std::string_view name) {
    std::size_t at = 0;
    for (const auto& item : items) {
      if (item.name == name) return I(at);
      ++at;
    }
    ADD_FAILURE() << "nothing is named " << name;
    return I(std::size_t{0});
  }

  std::unique_ptr<Snapshot> snapshot_;
  Problem problem_;
};

}  // namespace muster
