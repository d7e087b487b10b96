#include "solver/cbc/worker_protocol.h"

#include <chrono>
#include <cstddef>
#include <vector>

#include <gtest/gtest.h>

namespace muster::cbc {
namespace {

lp::Milp small_model() {
  lp::Milp milp;
  milp.add_row(-lp::kInfinity, 4);
  milp.add_row(1, 2);
  milp.add_column({3, 0, 5, true}, {{0, 1.5}, {1, -1}});
  milp.add_column({-2, -lp::kInfinity, 7, false}, {{1, 2}});
  return milp;
}

MilpRequest request_of() {
  MilpRequest request;
  request.deadline = std::chrono::steady_clock::time_point(std::chrono::nanoseconds(123'456'789));
  request.relative_gap = 0.25;
  request.work = WorkLimit(77);
  request.node_limit = 9;
  request.start = {1, 2.5};
  request.cutoff = 11.5;
  request.relax = true;
  request.without_preprocessing = true;
  request.way = SearchWay::kFewHeuristics;
  request.absolute_gap = 0.25;
  return request;
}

TEST(WorkerProtocol, ReadsTheQuestionThatWasWritten) {
  const auto read = decode_question(encode(small_model(), request_of()));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->milp.objective, (std::vector<double>{3, -2}));
  EXPECT_EQ(read->milp.lower, (std::vector<double>{0, -lp::kInfinity}));
  EXPECT_EQ(read->milp.upper, (std::vector<double>{5, 7}));
  EXPECT_EQ(read->milp.is_integer, (std::vector<std::uint8_t>{1, 0}));
  EXPECT_EQ(read->milp.row_lower, (std::vector<double>{-lp::kInfinity, 1}));
  EXPECT_EQ(read->milp.row_upper, (std::vector<double>{4, 2}));
  EXPECT_EQ(read->milp.column_begin, (std::vector<std::int32_t>{0, 2, 3}));
  EXPECT_EQ(read->milp.entry_row, (std::vector<std::int32_t>{0, 1, 1}));
  EXPECT_EQ(read->milp.entry_value, (std::vector<double>{1.5, -1, 2}));
  EXPECT_EQ(read->request.deadline, request_of().deadline);
  EXPECT_EQ(read->request.relative_gap, 0.25);
  EXPECT_EQ(read->request.work.left(), 77);
  EXPECT_EQ(read->request.node_limit, 9);
  EXPECT_EQ(read->request.start, (std::vector<double>{1, 2.5}));
  EXPECT_EQ(read->request.cutoff, 11.5);
  EXPECT_TRUE(read->request.relax);
  EXPECT_TRUE(read->request.without_preprocessing);
  EXPECT_EQ(read->request.way, SearchWay::kFewHeuristics);
  EXPECT_EQ(read->request.absolute_gap, 0.25);
}

TEST(WorkerProtocol, SaysWhatIsLeftOfTheWork) {
  MilpRequest request = request_of();
  request.work.spend(70);
  EXPECT_EQ(decode_question(encode(small_model(), request))->request.work.left(), 7);
  request.work = WorkLimit();
  EXPECT_TRUE(decode_question(encode(small_model(), request))->request.work.is_none());
}

MilpAnswer answer_of() {
  MilpAnswer answer;
  answer.status = SolveStatus::kFeasible;
  answer.objective = 6.5;
  answer.bound = 8;
  answer.x = {1, 2, 3};
  answer.row_price = {0.5, -0.25};
  answer.nodes = 12;
  answer.work = 34;
  answer.start_was_used = true;
  answer.message = "stopped";
  return answer;
}

TEST(WorkerProtocol, ReadsTheAnswerThatWasWritten) {
  const auto read = decode_answer(encode(answer_of()));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->status, SolveStatus::kFeasible);
  EXPECT_EQ(read->objective, 6.5);
  EXPECT_EQ(read->bound, 8);
  EXPECT_EQ(read->x, (std::vector<double>{1, 2, 3}));
  EXPECT_EQ(read->row_price, (std::vector<double>{0.5, -0.25}));
  EXPECT_EQ(read->nodes, 12);
  EXPECT_EQ(read->work, 34);
  EXPECT_TRUE(read->start_was_used);
  EXPECT_EQ(read->message, "stopped");
}

// Cut anywhere, or with a byte too many.
TEST(WorkerProtocol, ReadsNothingOfAnotherLength) {
  const std::vector<std::byte> question = encode(small_model(), request_of()), answer = encode(answer_of());
  for (std::size_t size = 0; size < question.size(); ++size) {
    EXPECT_FALSE(decode_question(std::span(question).first(size))) << size;
  }
  for (std::size_t size = 0; size < answer.size(); ++size) EXPECT_FALSE(decode_answer(std::span(answer).first(size)));
  std::vector<std::byte> longer = question;
  longer.push_back(std::byte{0});
  EXPECT_FALSE(decode_question(longer));
  longer = answer;
  longer.push_back(std::byte{0});
  EXPECT_FALSE(decode_answer(longer));
}

TEST(WorkerProtocol, ReadsNoModelWhoseArraysDoNotFitTogether) {
  const auto is_read = [](const auto& break_it) {
    lp::Milp milp = small_model();
    break_it(milp);
    return decode_question(encode(milp, request_of())).has_value();
  };
  EXPECT_TRUE(is_read([](lp::Milp&) {}));
  EXPECT_FALSE(is_read([](lp::Milp& m) { m.lower.pop_back(); }));
  EXPECT_FALSE(is_read([](lp::Milp& m) { m.is_integer.push_back(0); }));
  EXPECT_FALSE(is_read([](lp::Milp& m) { m.row_upper.pop_back(); }));
  EXPECT_FALSE(is_read([](lp::Milp& m) { m.entry_row[1] = 2; })) << "there is no such row";
  EXPECT_FALSE(is_read([](lp::Milp& m) { m.entry_row[1] = -1; }));
  EXPECT_FALSE(is_read([](lp::Milp& m) { m.entry_value.pop_back(); }));
  EXPECT_FALSE(is_read([](lp::Milp& m) { m.column_begin[1] = 9; })) << "the second column begins behind its end";
  EXPECT_FALSE(is_read([](lp::Milp& m) { m.column_begin[0] = 1; }));
}

TEST(WorkerProtocol, ReadsNoStatusWayOrBoolThatThereIsNot) {
  std::vector<std::byte> bytes = encode(answer_of());
  bytes[0] = std::byte{200};
  EXPECT_FALSE(decode_answer(bytes));
  bytes = encode(small_model(), request_of());
  bytes.back() = std::byte{2};  // `relax`
  EXPECT_FALSE(decode_question(bytes));
  MilpRequest request = request_of();
  request.way = static_cast<SearchWay>(3);
  EXPECT_FALSE(decode_question(encode(small_model(), request)));
}

}  // namespace
}  // namespace muster::cbc
