// Whether the next plan admits a gang if the cluster is changed: the question behind every remedy.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "model/change/change.h"
#include "solver/answers/experiment.h"

namespace muster::answers {

// What a plan of the changed cluster says of the gang.
struct Admitted {
  bool admits = false;
  bool proven = false;       // see Run::is_choice_proven
  std::int64_t evicted = 0;  // pods that it evicts and does not move
  std::int64_t moved = 0;
};

using Changes = std::vector<change::Change>;

// Asks the experiment, each question once. `test` says no more once the time is up or the tests are used up.
class Admission {
 public:
  struct Question {
    std::string gang;
    bool refusal_proven = false;  // the plan without changes, which does not admit the gang, is optimal
  };
  // `experiment` outlives the object. `most_tests`: a limit of work that is the same on every machine.
  Admission(Experiment& experiment, Question question, std::int64_t most_tests)
      : experiment_(experiment), question_(std::move(question)), tests_left_(most_tests) {}

  bool refusal_proven() const { return question_.refusal_proven; }

  // None: there is no time for another plan. Changes that cannot be applied admit nothing. Cost: that of
  // Experiment::solve.
  std::optional<Admitted> test(const Changes& changes);
  // What the greedy engine says of another cluster, for a guess; it is not counted as a test, and never proven.
  // Requires sketch_on, the cluster of which outlives its use.
  std::optional<Admitted> sketch(const Changes& changes);
  void sketch_on(const Snapshot& cluster);

  // From now on until the next call: whether a search asks at all. It gets no answer.
  void begin_trial();
  bool is_trial() const { return is_trial_; }
  bool was_asked() const { return was_asked_; }
  void note_asked() { was_asked_ = true; }
  // From now on until the next call: the share of the time that is left, and of the tests, that one search may take.
  void begin_search(double share);
  bool is_over() const;

 private:
  // So that there is time for others after it.
  portfolio::Clock::time_point end_of_test() const;

  Experiment& experiment_;
  Question question_;
  std::int64_t tests_left_;
  std::int64_t tests_of_search_ = 0;
  bool is_trial_ = false, was_asked_ = false;
  portfolio::Clock::time_point end_of_search_ = portfolio::Clock::time_point::max();
  const Snapshot* sketch_cluster_ = nullptr;
  std::unordered_map<std::string, Admitted> known_, sketched_;  // the second: of this cluster
};

}  // namespace muster::answers
