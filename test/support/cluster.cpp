#include "test/support/cluster.h"

namespace muster::test {
namespace {

void append(std::string& text, std::string_view part) {
  if (part.empty()) return;
  if (!text.empty()) text += ",";
  text += part;
}

void append_list(std::string& text, std::string_view key, const std::string& list) {
  if (!list.empty()) append(text, "\"" + std::string(key) + "\":[" + list + "]");
}

std::string numbered(std::string_view name, int number) { return std::string(name) + "-" + std::to_string(number); }

std::string count_of(int gpus) { return R"({"count":)" + std::to_string(gpus) + "}"; }

}  // namespace

Cluster& Cluster::node(std::string_view name, int gpus, std::string_view more) {
  return add(nodes_, name, R"("gpus":)" + count_of(gpus), more);
}

Cluster& Cluster::pod(std::string_view name, int gpus, std::string_view more) {
  return add(pods_, name, R"("gpu":)" + count_of(gpus), more);
}

Cluster& Cluster::pods(std::string_view name, int count, std::string_view more) {
  for (int i = 0; i < count; ++i) pod(numbered(name, i), more);
  return *this;
}

Cluster& Cluster::pods(std::string_view name, int count, int gpus, std::string_view more) {
  for (int i = 0; i < count; ++i) pod(numbered(name, i), gpus, more);
  return *this;
}

Cluster& Cluster::running(std::string_view name, std::string_view node, int gpus, std::string_view more) {
  return add(pods_, name, R"("node":")" + std::string(node) + R"(","gpu":)" + count_of(gpus), more);
}

Cluster& Cluster::policy(std::string_view members) { return with(R"("policy":{)" + std::string(members) + "}"); }

Cluster& Cluster::with(std::string_view members) {
  append(rest_, members);
  return *this;
}

Cluster& Cluster::at(std::int64_t time) {
  time_ = time;
  return *this;
}

std::string Cluster::body() const {
  std::string text = rest_;
  append_list(text, "nodes", nodes_);
  append_list(text, "queues", queues_);
  append_list(text, "gangs", gangs_);
  append_list(text, "pods", pods_);
  return text;
}

std::string Cluster::line() const { return line_of(body(), time_); }

Cluster& Cluster::add(std::string& list, std::string_view name, std::string_view members, std::string_view more) {
  std::string object = R"("name":")" + std::string(name) + "\"";
  append(object, members);
  append(object, more);
  append(list, "{" + object + "}");
  return *this;
}

std::string line_of(std::string_view body, std::int64_t time) {
  std::string line = R"({"format":"muster/v1","time":)" + std::to_string(time);
  append(line, body);
  return line + "}";
}

}  // namespace muster::test
