// The dashboard and the alerts query metrics that the server and the agent export, and no others.
#include <cstdlib>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "bench/support/serve_process.h"
#include "test/cli/program.h"
#include "test/cli/snapshots.h"
#include "test/deploy/deploy_files.h"
#include "test/support/paths.h"

namespace muster {
namespace {

using bench::get;
using bench::post;

// Expressions by the panel or the alert that they are of.
using Expressions = std::map<std::string, std::string>;

const nlohmann::json& dashboard() {
  static const auto parsed = nlohmann::json::parse(deploy_file("grafana/muster.json"));
  return parsed;
}
nlohmann::json rules() {
  const nlohmann::json document = deploy_documents("prometheus/alerts.yaml").at(0);
  nlohmann::json all = nlohmann::json::array();
  for (const auto& group : document["groups"]) all.insert(all.end(), group["rules"].begin(), group["rules"].end());
  return all;
}

Expressions dashboard_expressions() {
  Expressions expressions;
  for (const auto& panel : dashboard()["panels"]) {
    if (!panel.contains("targets")) continue;
    for (const auto& target : panel["targets"])
      expressions[panel["title"].get<std::string>() + "/" + target["refId"].get<std::string>()] = target["expr"];
  }
  for (const auto& annotation : dashboard()["annotations"]["list"])
    expressions[annotation["name"]] = annotation["expr"];
  for (const auto& variable : dashboard()["templating"]["list"]) {
    if (variable["type"] == "query") expressions[variable["name"]] = variable["definition"];
  }
  return expressions;
}

Expressions alert_expressions() {
  Expressions expressions;
  for (const auto& rule : rules()) expressions[rule["alert"]] = rule["expr"];
  return expressions;
}

// The answer of an agent whose API server is not there, once it has the part.
std::string agent_answer(const std::string& path, const std::string& part) {
  const cli::Workplace workplace;
  const std::string socket = workplace.path("agent.sock"), answer = workplace.path("answer");
  const std::string ask = "curl -sf --unix-socket " + socket + " http://agent" + path + " > " + answer;
  const cli::Outcome outcome = workplace.shell(
      test::program() + " agent --kube-api http://127.0.0.1:1 --lease off --quiet --listen unix:" + socket +
      " 2> /dev/null & agent=$!; for i in $(seq 600); do " + ask + " && grep -q '" + part + "' " + answer + " && cat " +
      answer + " && break; sleep 0.05; done; kill $agent; wait $agent");
  EXPECT_NE(outcome.out, "") << outcome.err;
  return outcome.out;
}

// The /metrics of a server that has answered, refused and failed a few requests, and those of an agent.
std::string make_metrics_text() {
  const bench::ServeProcess server({"--quiet", "--engine", "greedy"});
  server.ask(post("/v1/solve", cli::good_lines()[0]));
  server.ask(post("/v1/solve", "nonsense"));
  return server.ask(get("/metrics"))->body + agent_answer("/metrics", "muster_agent_leads");
}
const std::string& metrics_text() {
  static const std::string text = make_metrics_text();
  return text;
}

// Names of series, and names of labels; both with what Prometheus adds.
std::set<std::string> series_of(const std::string& metrics) {
  std::set<std::string> series = {"up"};
  series.merge(all_matches(metrics, "(^|\n)([a-z_]+)[{ ]", 2));
  // Not exported before there is one; what has no value yet is still declared.
  for (const std::string& name : all_matches(metrics, "# TYPE ([a-z_]+) histogram", 1))
    for (const char* suffix : {"_bucket", "_sum", "_count"}) series.insert(name + suffix);
  series.merge(all_matches(metrics, "# TYPE ([a-z_]+) (?:counter|gauge)", 1));
  return series;
}
std::set<std::string> labels_of(const std::string& metrics) {
  std::set<std::string> labels = {"job", "instance", "le", "kind"};  // `kind` needs an API server
  labels.merge(all_matches(metrics, "[{,]([a-z_]+)=\"", 1));
  return labels;
}

std::set<std::string> series_named_in(const std::string& expression) {
  return all_matches(expression, R"(\b(muster_[a-z_]+|process_[a-z_]+|up)\b)");
}
std::set<std::string> labels_named_in(const std::string& expression) {
  std::set<std::string> labels = all_matches(expression, R"re([{,]\s*([a-z_]+)\s*=~?")re", 1);
  for (const std::string& list : all_matches(expression, R"(\b(?:by|without|ignoring|on) \(([^)]*)\))", 1))
    labels.merge(all_matches(list, "[a-z_]+"));
  return labels;
}

void expect_known(const Expressions& expressions) {
  const std::string& metrics = metrics_text();
  const std::set<std::string> series = series_of(metrics), labels = labels_of(metrics);
  ASSERT_GT(expressions.size(), 10U);
  for (const auto& [name, expression] : expressions) {
    const auto named = series_named_in(expression);
    EXPECT_FALSE(named.empty()) << name << " asks for nothing: " << expression;
    for (const std::string& one : named) EXPECT_TRUE(series.contains(one)) << name << ": " << one;
    for (const std::string& label : labels_named_in(expression))
      EXPECT_TRUE(labels.contains(label)) << name << ": label " << label;
  }
}

TEST(Monitoring, EveryMetricOfTheDashboardIsExported) { expect_known(dashboard_expressions()); }
TEST(Monitoring, EveryMetricOfTheAlertsIsExported) { expect_known(alert_expressions()); }

TEST(Monitoring, EveryExportedMetricIsOnTheDashboard) {
  std::string all;
  for (const auto& [name, expression] : dashboard_expressions()) all += expression + "\n";
  for (const std::string& name : all_matches(metrics_text(), "# TYPE (muster_[a-z_]+) ", 1))
    EXPECT_NE(all.find(name), std::string::npos) << name;
}

TEST(Monitoring, TheStatusOfAnAgentThatReadsNothingSaysWhy) {
  const auto status = nlohmann::json::parse(agent_answer("/v1/status", "cannot connect"));
  EXPECT_EQ(status["blocked"], "the cluster has not been read yet");
  EXPECT_EQ(status["complete"], false);
  EXPECT_EQ(status["leads"], true);  // --lease off
}

TEST(Monitoring, ThePanelsOfTheDashboardDoNotLieOnEachOther) {
  std::set<std::pair<int, int>> taken;
  std::set<int> ids;
  for (const auto& panel : dashboard()["panels"]) {
    EXPECT_TRUE(ids.insert(panel["id"].get<int>()).second) << panel["id"];
    const auto& at = panel["gridPos"];
    const int x = at["x"], y = at["y"], width = at["w"], height = at["h"];
    EXPECT_LE(x + width, 24) << panel["title"];
    for (int i = x; i < x + width; ++i)
      for (int j = y; j < y + height; ++j) EXPECT_TRUE(taken.emplace(i, j).second) << panel["title"];
  }
}

TEST(Monitoring, EveryAlertSaysHowUrgentItIsAndWhatToDo) {
  std::set<std::string> names;
  for (const auto& rule : rules()) {
    const auto name = rule["alert"].get<std::string>();
    EXPECT_TRUE(names.insert(name).second) << name;
    const auto severity = rule["labels"].value("severity", "");
    EXPECT_TRUE(severity == "page" || severity == "ticket" || severity == "note") << name;
    EXPECT_NE(rule["annotations"].value("summary", ""), "") << name;
    EXPECT_NE(rule["annotations"].value("description", ""), "") << name;
  }
}

TEST(Monitoring, PrometheusTakesTheRulesAndTheyFireWhenTheyShould) {
  const cli::Workplace workplace;
  if (workplace.shell("command -v promtool").exit_code != 0) GTEST_SKIP() << "promtool is not installed";
  for (const char* command :
       {"check rules alerts.yaml", "test rules alerts_test.yaml", "check config prometheus.yaml"}) {
    const cli::Outcome outcome = workplace.shell("cd " + deploy_path("prometheus") + " && promtool " + command);
    EXPECT_EQ(outcome.exit_code, 0) << command << "\n" << outcome.out << outcome.err;
  }
}

}  // namespace
}  // namespace muster
