#include "test/brute_force/campaign.h"

#include <chrono>
#include <cstdlib>
#include <iostream>
#include <optional>
#include <thread>

#include <gtest/gtest.h>

#include "test/support/drawn.h"
#include "test/support/paths.h"

namespace muster::brute_force {

std::uint64_t setting(const char* name, std::uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

Campaign::Campaign(CampaignOptions options)
    : options_(std::move(options)),
      first_seed_(setting("MUSTER_SEED", 1)),
      instances_(setting("MUSTER_INSTANCES", options_.instances)) {}

void Campaign::run() {
  const auto start = std::chrono::steady_clock::now();
  std::thread other([this] { work(); });
  work();
  other.join();
  seconds_ = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

std::int64_t Campaign::count(Finding finding) const {
  const auto at = findings_.find(finding);
  return at == findings_.end() ? 0 : at->second;
}

void Campaign::expect_agreement() const {
  for (const Finding finding : {Finding::kUnreadable, Finding::kBruteForce, Finding::kThrows, Finding::kRule,
                                Finding::kBeyond, Finding::kFalseProof}) {
    EXPECT_EQ(count(finding), 0) << finding_name(finding);
  }
  EXPECT_LE(static_cast<std::uint64_t>(count(Finding::kShort)) * 1000, options_.most_short * instances_) << details_;
  std::cout << details_;
}

void Campaign::print() const {
  std::cout << instances_ << " instances in " << seconds_ << " s, " << states_ << " states:";
  for (const auto& [finding, number] : findings_) std::cout << " " << finding_name(finding) << " " << number << ";";
  std::cout << " proven " << proven_ << ", greedy is best " << greedy_best_;
  if (relaxed_ > 0) std::cout << ", short where the formulation is a relaxation " << relaxed_;
  for (const auto& [level, number] : short_of_) std::cout << ", short of " << level << " " << number;
  if (options_.comparison.with_evictions) {
    std::cout << "; the best plan evicts in " << 100 * part_with_evictions() << " %, moves in "
              << 100 * part_with_moves() << " %, either in " << 100 * part(giving_) << " %";
  }
  std::cout << "\n";
}

void Campaign::work() {
  portfolio::Portfolio portfolio(test::program());
  for (std::uint64_t i = next_++; i < instances_; i = next_++) {
    const std::optional<std::string> given = test::given_snapshot();
    const std::string line = given ? *given : options_.instance(first_seed_ + i);
    const Comparison comparison = compare_engines(line, portfolio, options_.comparison);
    const std::lock_guard lock(mutex_);
    record(first_seed_ + i, line, comparison);
  }
}

void Campaign::record(std::uint64_t seed, const std::string& line, const Comparison& comparison) {
  ++findings_[comparison.finding];
  solved_ += comparison.states > 0 ? 1 : 0;
  proven_ += comparison.is_proven ? 1 : 0;
  greedy_best_ += comparison.greedy_is_best ? 1 : 0;
  evicting_ += comparison.evicts ? 1 : 0;
  moving_ += comparison.moves ? 1 : 0;
  giving_ += comparison.evicts || comparison.moves ? 1 : 0;
  states_ += comparison.states;
  relaxed_ += comparison.is_relaxed ? 1 : 0;
  if (comparison.finding == Finding::kAgrees || comparison.finding == Finding::kTooLarge) return;
  if (!comparison.first_level.empty()) ++short_of_[comparison.first_level];
  test::keep_failing(line);
  details_ += "seed " + std::to_string(seed) + ": " + std::string(finding_name(comparison.finding)) + "\n";
  for (const std::string& remark : comparison.remarks) details_ += "    " + remark + "\n";
}

}  // namespace muster::brute_force
