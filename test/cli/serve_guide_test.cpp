// The commands of the guide work as it describes.
#include <fstream>
#include <iterator>
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "test/cli/server.h"
#include "test/cli/snapshots.h"
#include "test/support/paths.h"

namespace muster::cli {
namespace {

// The first block of docs/serve.md that begins so.
std::string block_of_guide(const std::string& beginning) {
  std::ifstream file(test::source_folder() + "/docs/serve.md");
  const std::string guide{std::istreambuf_iterator<char>(file), {}};
  const std::size_t begin = guide.find(beginning);
  if (begin == std::string::npos) return "";
  const std::size_t text = begin + beginning.find('\n') + 1;
  return guide.substr(text, guide.find("\n```", text) + 1 - text);
}

std::string quoted(const std::string& word) { return "'" + word + "'"; }

TEST(ServeGuide, TheClientInShellGetsAPlan) {
  const Workplace place;
  const Server server(place, {"--engine", "greedy"});
  const std::string client = place.file("client.sh", block_of_guide("```sh\n#!/bin/sh"));
  const std::string snapshot = place.file("snapshot.json", good_lines()[1]);
  const Outcome outcome = place.shell("sh " + client + " " + server.socket() + " " + snapshot + " 300ms");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  const std::string plan = place.file("plan.json", outcome.out);
  EXPECT_EQ(place.run("verify " + snapshot + " " + plan).exit_code, 0) << outcome.out;
  EXPECT_EQ(nlohmann::json::parse(outcome.out)["solver"]["budgetMs"], 300);
  const std::string broken = place.file("broken.json", "{}");
  const Outcome refused = place.shell("sh " + client + " " + server.socket() + " " + broken);
  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_NE(refused.err.find("MissingKey"), std::string::npos) << refused.err;
}

TEST(ServeGuide, TheClientInPythonTellsWhatToDo) {
  const Workplace place;
  const Server server(place, {"--engine", "greedy"});
  const std::string client = place.file("client.py", block_of_guide("```python\n#!/usr/bin/env python3"));
  const std::string snapshot = place.file("snapshot.json", good_lines()[1]);
  const Outcome outcome = place.shell("python3 " + client + " " + server.socket() + " " + snapshot);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("place g/0 on "), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.out.find("place g/1 on "), std::string::npos) << outcome.out;
  const Outcome refused =
      place.shell("python3 " + client + " " + server.socket() + " " + place.file("broken.json", "{}"));
  EXPECT_NE(refused.exit_code, 0);
  EXPECT_NE(refused.err.find("MissingKey at $.format"), std::string::npos) << refused.err;
}

// All but the start of the server, which the test has to begin on a port that is free.
TEST(ServeGuide, TheFirstTryWorksAsItStands) {
  const Workplace place;
  const Server server(place, {}, "tcp:127.0.0.1:0");
  std::string commands = block_of_guide("```sh\nmuster serve");
  ASSERT_TRUE(commands.starts_with("muster serve")) << commands;
  commands.erase(0, commands.find('\n') + 1);
  commands.pop_back();
  const std::string address = "127.0.0.1:7077";
  for (std::size_t at = 0; (at = commands.find(address)) != std::string::npos;) {
    commands.replace(at, address.size(), "127.0.0.1:" + std::to_string(server.port()));
  }
  const Outcome outcome = place.shell("set -e; cd " + quoted(place.path("")) + "; muster() { " + test::program() +
                                      " \"$@\"; }\n" + commands);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err << server.log();
  EXPECT_NE(outcome.out.find("1 plan, 0 violations, 0 false claims"), std::string::npos) << outcome.out;
}

}  // namespace
}  // namespace muster::cli
