// What one worker of a race is asked, one question after another (Backend::race).
#pragma once

#include <utility>

#include "solver/cbc/milp_request.h"
#include "solver/lp/milp.h"

namespace muster::cbc {

class Lane {
 public:
  virtual ~Lane() = default;

  // Null: nothing more is to be asked. Valid until the next call; its deadline may be earlier than that of the race.
  virtual const Question* next() = 0;
  // The answer to the last question. Where the worker was stopped, it is what had been found by then.
  virtual void hear(MilpAnswer answer) = 0;
  // What the race is about is known.
  virtual bool is_settled() const = 0;
};

// A lane that asks once.
class OneQuestion : public Lane {
 public:
  explicit OneQuestion(Question question) : question_(std::move(question)) {
    answer_.status = SolveStatus::kNoSolution;
  }

  const Question* next() override { return std::exchange(is_asked_, true) ? nullptr : &question_; }
  void hear(MilpAnswer answer) override { answer_ = std::move(answer); }
  bool is_settled() const override {
    return answer_.status == SolveStatus::kOptimal || answer_.status == SolveStatus::kInfeasible;
  }

  // kNoSolution, if it was not asked.
  const MilpAnswer& answer() const { return answer_; }

 private:
  Question question_;
  bool is_asked_ = false;
  MilpAnswer answer_;
};

}  // namespace muster::cbc
