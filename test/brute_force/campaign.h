// Many random instances, each compared; findings are counted and reported.
//
// MUSTER_INSTANCES=10000 sets the number of instances, MUSTER_SEED another first seed. What becomes of instances with a
// fault: test/support/drawn.h.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <string>

#include "test/brute_force/comparison.h"

namespace muster::brute_force {

// The environment's number of that name.
std::uint64_t setting(const char* name, std::uint64_t otherwise);

struct CampaignOptions {
  std::function<std::string(std::uint64_t seed)> instance;
  ComparisonOptions comparison;
  std::uint64_t instances = 300;  // if the environment does not set it
  std::uint64_t most_short = 0;   // of a thousand instances, plans that are not the best and do not claim to be
};

// All instances, on two threads; each finding with its seed.
class Campaign {
 public:
  explicit Campaign(CampaignOptions options);

  void run();
  void print() const;
  // Fails the test where anything but agreement was found.
  void expect_agreement() const;
  // Parts of all instances that brute force has solved.
  double part_with_evictions() const { return part(evicting_); }
  double part_with_moves() const { return part(moving_); }

 private:
  void work();
  void record(std::uint64_t seed, const std::string& line, const Comparison& comparison);
  std::int64_t count(Finding finding) const;
  double part(std::int64_t number) const {
    return solved_ == 0 ? 0 : static_cast<double>(number) / static_cast<double>(solved_);
  }

  CampaignOptions options_;
  std::uint64_t first_seed_, instances_;
  std::atomic<std::uint64_t> next_{0};
  std::mutex mutex_;
  std::map<Finding, std::int64_t> findings_;
  std::map<std::string, std::int64_t> short_of_;
  std::int64_t solved_ = 0, proven_ = 0, greedy_best_ = 0, states_ = 0, evicting_ = 0, moving_ = 0, giving_ = 0,
               relaxed_ = 0;
  double seconds_ = 0;
  std::string details_;
};

}  // namespace muster::brute_force
