// Whether the next plan admits a gang if the cluster is changed: the question behind every remedy.
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "model/change/change.h"
#include "solver/answers/experiment.h"

namespace muster::answers {

// What a plan of the changed cluster says of the gang.
struct Admitted {
  bool admits = false;
  bool proven = false;       // and no plan that is better, or as good, says otherwise
  std::int64_t evicted = 0;  // pods that it evicts and does not move
  std::int64_t moved = 0;
};

using Changes = std::vector<change::Change>;

// Asks the experiment, each question once, and once more before its answer is given to a user. `test` says no more once
// the time is up or the tests are used up.
class Admission {
 public:
  struct Question {
    std::string gang;
    bool refusal_proven = false;  // the plan without changes, which does not admit the gang, is optimal
    Work least_work = 1;          // of a pod of the gang
  };
  // `experiment` outlives the object. `most_tests`: a limit of work that is the same on every machine.
  Admission(Experiment& experiment, Question question, std::int64_t most_tests)
      : experiment_(experiment), question_(std::move(question)), tests_left_(most_tests) {}

  bool refusal_proven() const { return question_.refusal_proven; }

  // None: there is no time for another plan. Changes that cannot be applied admit nothing. That a gang is admitted is
  // never proven here. Cost: that of Experiment::solve, twice where a refusal is proven.
  std::optional<Admitted> test(const Changes& changes);
  // The same for changes that are about to be offered, after their test, with all the time that one cycle has. If they
  // are not proven to admit the gang, `test` says from then on that they do not. None: there is no time for it.
  std::optional<Admitted> settle(const Changes& changes);
  // What the greedy engine says of another cluster, for a guess; it is not counted as a test, and never proven.
  // Requires sketch_on, the cluster of which outlives its use.
  std::optional<Admitted> sketch(const Changes& changes);
  void sketch_on(const Snapshot& cluster);

  // From now on until the next call: whether a search asks at all. It gets no answer.
  void begin_trial();
  bool is_trial() const { return is_trial_; }
  bool was_asked() const { return was_asked_; }
  void note_asked() { was_asked_ = true; }
  // From now on until the next call: the share of the time that is left, and of the tests, that one search may take. A
  // half of that time is for `settle` alone.
  void begin_search(double share);
  bool is_over() const;

 private:
  // What a plan of the changed cluster says in which the gang is worth a little more or less. If it is refused though
  // it is worth more, or admitted though it is worth less, no plan that is as good as the best one says otherwise: such
  // a plan would be the better one now. Shares count without weights, so nothing else is decided by them.
  Admitted leaning(const Changes& changes, double direction, portfolio::Clock::time_point end, int budgets);
  // So that there is time for others after it.
  portfolio::Clock::time_point end_of_test() const;

  Experiment& experiment_;
  Question question_;
  std::int64_t tests_left_;
  std::int64_t tests_of_search_ = 0;
  bool is_trial_ = false, was_asked_ = false;
  portfolio::Clock::time_point end_of_search_ = portfolio::Clock::time_point::max(), end_of_kind_ = end_of_search_;
  const Snapshot* sketch_cluster_ = nullptr;
  std::unordered_map<std::string, Admitted> known_, sketched_;  // the second: of this cluster
  std::set<std::string> settled_;
};

}  // namespace muster::answers
