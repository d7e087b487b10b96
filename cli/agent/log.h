// What the agent tells of its work: lines of the log, and the counts of its metrics.
#pragma once

#include <cstdint>
#include <set>
#include <string>

#include "cli/agent/act.h"
#include "cli/terminal/console.h"

namespace muster::cli {

// Counted since the start.
struct AgentCounts {
  std::int64_t plans = 0, unreadable = 0;  // objects that no plan can be made of
  std::int64_t stale = 0;                  // plans that the cluster had outrun when they were to be carried out
  std::int64_t started = 0, evicted = 0, refused = 0, held_back = 0;  // pods
  std::int64_t taken_back = 0;                                        // BindRequests that had failed
  std::int64_t messages = 0;                                          // failures of watches, Leases and Events
};

// Not synchronized.
class AgentLog {
 public:
  // The console outlives it.
  AgentLog(Console& console, bool dry_run) : console_(console), dry_run_(dry_run) {}

  void say(Severity severity, const std::string& sentence);
  // Counts a message.
  void warn(const std::string& sentence);
  // An act that has been tried, counted; `error` empty: it has succeeded.
  void note(const Act& act, const std::string& error);
  // What acts leave out; each remark once.
  void remark(const std::string& remark);

  const std::string& last_warning() const { return last_warning_; }
  const AgentCounts& counts() const { return counts_; }
  void count_plan() { ++counts_.plans; }
  void count_unreadable() { ++counts_.unreadable; }
  void count_stale() { ++counts_.stale; }
  void count_held_back(std::int64_t pods) { counts_.held_back += pods; }

 private:
  Console& console_;
  const bool dry_run_;
  AgentCounts counts_;
  std::string last_warning_;
  std::set<std::string> remarks_;  // that were told
};

}  // namespace muster::cli
