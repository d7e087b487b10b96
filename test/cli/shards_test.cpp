// --shard, --shards, --resume and `muster merge`: one input for several processes.
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "test/cli/program.h"
#include "test/cli/snapshots.h"

namespace muster::cli {
namespace {

// Seven snapshots with a line that is broken and one that is blank.
class Shards : public testing::Test {
 protected:
  Shards() {
    std::vector<std::string> lines;
    for (int i = 0; i < 7; ++i) lines.push_back(R"({"format":"muster/v1","id":")" + std::to_string(i) + R"("})");
    lines[3] = "{";
    lines[3] += "\"broken";
    lines.insert(lines.begin() + 5, "");
    in_ = place_.file("in.jsonl", joined(lines));
    whole_ = place_.run("solve --deterministic " + in_).out;
  }
  std::string part(int index, int count) const {
    return place_
        .run("solve --deterministic --shard " + std::to_string(index) + "/" + std::to_string(count) + " " + in_)
        .out;
  }

  Workplace place_;
  std::string in_, whole_;
};

TEST_F(Shards, MergedAreTheBytesOfOneProcess) {
  ASSERT_EQ(lines_of(whole_).size(), 7U);
  for (const int count : {1, 2, 3, 7}) {
    std::string files;
    for (int i = 0; i < count; ++i) files += " " + place_.file("part" + std::to_string(i), part(i, count));
    const Outcome merged = place_.run("merge" + files + " --of " + in_);
    EXPECT_EQ(merged.exit_code, 0) << merged.err;
    EXPECT_EQ(merged.out, whole_) << count;
  }
}

TEST_F(Shards, TakeTheirIndexFromTheEngine) {
  const std::string rest = "solve --deterministic --shards 3 " + in_;
  EXPECT_EQ(place_.run(rest, "", "JOB_COMPLETION_INDEX=2").out, part(2, 3));
  EXPECT_EQ(place_.run(rest, "", "SLURM_ARRAY_TASK_ID=12 SLURM_ARRAY_TASK_MIN=10").out, part(2, 3));
  const Outcome without = place_.run(rest);
  EXPECT_EQ(without.exit_code, 64);
  EXPECT_NE(without.err.find("JOB_COMPLETION_INDEX"), std::string::npos) << without.err;
}

TEST_F(Shards, ThatAreEmptyAreNoError) {
  const Outcome empty = place_.run("solve --shard 8/9 " + in_);
  EXPECT_EQ(empty.exit_code, 0) << empty.err;
  EXPECT_EQ(empty.out, "");
  EXPECT_EQ(place_.run("solve --shard 0/1").exit_code, 0);
  EXPECT_EQ(place_.run("solve").exit_code, 66);
}

TEST_F(Shards, ThatCannotBeAreRejected) {
  for (const std::string shard : {"3/3", "-1/3", "1", "1/0", "/", "x/2", "1/2/3"}) {
    const Outcome refused = place_.run("solve --shard " + shard + " " + in_);
    EXPECT_EQ(refused.exit_code, 64) << shard;
    EXPECT_EQ(refused.out, "");
  }
  EXPECT_EQ(place_.run("solve --shard 0/2 --shards 2 " + in_).exit_code, 64);
}

TEST_F(Shards, GoOnAfterALineThatWasTornOff) {
  const std::string all = part(1, 3);
  const std::string first = lines_of(all).front() + "\n";
  const std::string file = place_.file("part", first + all.substr(first.size(), 20));
  const std::string command = "solve --deterministic --shard 1/3 --resume --output " + file + " " + in_;
  EXPECT_EQ(place_.run(command).exit_code, 0);
  EXPECT_EQ(place_.content("part"), all);
  EXPECT_EQ(place_.run(command).exit_code, 0);  // there is nothing left to do
  EXPECT_EQ(place_.content("part"), all);
  EXPECT_EQ(place_.run("solve --resume " + in_).exit_code, 64);  // it needs a file
}

TEST_F(Shards, ThatLackLinesAreCounted) {
  const std::string torn = part(1, 3).substr(0, part(1, 3).size() - 5);  // lines 2 and, torn off, 5
  const std::string files =
      " " + place_.file("a", part(0, 3)) + " " + place_.file("b", torn) + " " + place_.file("c", "");
  const Outcome merged = place_.run("merge" + files);
  EXPECT_EQ(merged.exit_code, 1);
  EXPECT_EQ(lines_of(merged.out).size(), 4U);
  EXPECT_NE(merged.err.find("3 lines missing: 3 ("), std::string::npos) << merged.err;
  EXPECT_EQ(place_.run("merge" + files + " --of " + in_).err, merged.err);
  // Only the input tells that the last line is missing.
  const std::string first = lines_of(part(0, 2)).front() + "\n";
  const std::string two = " " + place_.file("d", first) + " " + place_.file("e", lines_of(part(1, 2)).front() + "\n");
  EXPECT_EQ(place_.run("merge" + two).exit_code, 0);
  const Outcome known = place_.run("merge" + two + " --of " + in_);
  EXPECT_EQ(known.exit_code, 1);
  EXPECT_NE(known.err.find("5 lines missing"), std::string::npos) << known.err;
}

TEST_F(Shards, ThatHaveTooManyLinesAreRejected) {
  const std::string files = " " + place_.file("a", part(0, 2) + "{}\n") + " " + place_.file("b", part(1, 2));
  const Outcome merged = place_.run("merge" + files + " --of " + in_);
  EXPECT_EQ(merged.exit_code, 1);
  EXPECT_NE(merged.err.find("has more lines"), std::string::npos) << merged.err;
}

TEST_F(Shards, AreVerifiedByParts) {
  const std::string plans = place_.file("plans", whole_);
  const Outcome part = place_.run("verify " + in_ + " " + plans + " --shard 1/3");
  EXPECT_NE(part.out.find("2 plans"), std::string::npos) << part.out << part.err;
}

TEST(Benchmarks, AreDividedByTheirNumber) {
  const Workplace place;
  const Outcome none = place.run("bench quality online --batch 8 --shard 2/3 --output " + place.path("results"));
  EXPECT_EQ(none.exit_code, 0) << none.err;
  EXPECT_EQ(none.out, "\n0 benchmarks, none failed\n");
}

// --- Experiments

TEST(SimulationGrid, AnswersEachLineWithItsExperiment) {
  const Workplace place;
  const std::string workload = R"(["generate","--preset","synth","--nodes","4","--seed","2"])";
  const std::vector<std::string> lines = {
      R"({"id":"a","workload":)" + workload + R"(,"policy":"fifo"})",
      R"({"id":"b","workload":)" + workload + R"(,"policy":"kai","period":"10m","drop":true})",
      R"({"id":"c","workload":)" + workload + R"(,"polcy":"kai"})",
      R"({"id":"d","workload":["import","nothing"]})",
      R"({"id":"e"})",
      "not JSON"};
  const std::string grid = place.file("grid", joined(lines));
  const Outcome all = place.run("simulate --grid " + grid);
  EXPECT_EQ(all.exit_code, 1) << all.err;
  const std::vector<std::string> answers = lines_of(all.out);
  ASSERT_EQ(answers.size(), lines.size());
  for (std::size_t i = 0; i < 5; ++i) EXPECT_TRUE(answers[i].starts_with(R"({"experiment":)" + lines[i])) << answers[i];
  // The rest of the answer is what the simulation by itself prints.
  const std::string made = place.file("w.jsonl", place.run("generate --preset synth --nodes 4 --seed 2").out);
  const std::string alone = place.run("simulate --policy fifo " + made).out;
  EXPECT_TRUE((answers[0] + "\n").ends_with("," + alone.substr(1))) << alone;
  EXPECT_NE(answers[2].find("--policy"), std::string::npos) << answers[2];
  EXPECT_NE(answers[3].find(R"("path":"$.workload")"), std::string::npos) << answers[3];
  EXPECT_NE(answers[4].find(R"("code":"MissingKey")"), std::string::npos) << answers[4];
  EXPECT_NE(answers[5].find(R"("code":"InvalidJson")"), std::string::npos) << answers[5];
  // The workload of the command is that of lines without one.
  EXPECT_NE(place.run("simulate " + made + " --grid -", R"({"policy":"fifo"})").out.find("\"cycles\""),
            std::string::npos);
}

TEST(SimulationGrid, GoesOnAndDividesAsPlansDo) {
  const Workplace place;
  std::vector<std::string> lines;
  for (int seed = 1; seed <= 5; ++seed)
    lines.push_back(R"({"workload":["generate","--nodes","3","--seed",")" + std::to_string(seed) + R"("]})");
  const std::string grid = place.file("grid", joined(lines));
  const std::string all = place.run("simulate --grid " + grid).out;
  ASSERT_EQ(lines_of(all).size(), 5U);
  std::string files;
  for (const std::string i : {"0", "1"}) {
    files += " " + place.path("part" + i);
    const std::string command =
        "simulate --shard " + i + "/2 --resume --grid " + grid + " --output " + place.path("part" + i);
    EXPECT_EQ(place.run(command).exit_code, 0);
    EXPECT_EQ(place.run(command).exit_code, 0);
  }
  EXPECT_EQ(place.run("merge" + files).out, all);
  EXPECT_EQ(place.run("simulate --resume " + grid).exit_code, 64);
}

}  // namespace
}  // namespace muster::cli
