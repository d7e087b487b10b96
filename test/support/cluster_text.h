// A snapshot as text, put together object by object, for tests that need a small cluster and not its JSON.
#pragma once

#include <string>
#include <string_view>

namespace muster {

// `more` is JSON: further members of the object, such as R"("queue":"a","priority":50)". What is not given has the
// default of the format. Names are put into the text as they are.
class ClusterText {
 public:
  ClusterText& node(std::string_view name, int gpus, std::string_view more = "") {
    return add(nodes_, name, R"("gpus":{"count":)" + std::to_string(gpus) + "}", more);
  }
  ClusterText& queue(std::string_view name, std::string_view more = "") { return add(queues_, name, "", more); }
  ClusterText& gang(std::string_view name, std::string_view more = "") { return add(gangs_, name, "", more); }
  // That asks for so many whole GPUs.
  ClusterText& pod(std::string_view name, int gpus, std::string_view more = "") {
    return add(pods_, name, R"("gpu":{"count":)" + std::to_string(gpus) + "}", more);
  }
  // NAME-0, NAME-1, ...
  ClusterText& pods(std::string_view name, int count, int gpus, std::string_view more = "") {
    for (int i = 0; i < count; ++i) pod(std::string(name) + "-" + std::to_string(i), gpus, more);
    return *this;
  }
  // Further members of the snapshot itself, such as R"("policy":{"placement":"pack"})".
  ClusterText& with(std::string_view members) {
    append(rest_, members);
    return *this;
  }

  // As BuiltProblem takes it: without format and time.
  std::string body() const {
    std::string text = rest_;
    append_list(text, "nodes", nodes_);
    append_list(text, "queues", queues_);
    append_list(text, "gangs", gangs_);
    append_list(text, "pods", pods_);
    return text;
  }
  std::string line(int time = 1000000) const {
    return R"({"format":"muster/v1","time":)" + std::to_string(time) + "," + body() + "}";
  }

 private:
  ClusterText& add(std::string& list, std::string_view name, std::string_view members, std::string_view more) {
    std::string object = R"("name":")" + std::string(name) + "\"";
    append(object, members);
    append(object, more);
    append(list, "{" + object + "}");
    return *this;
  }
  static void append(std::string& text, std::string_view part) {
    if (part.empty()) return;
    if (!text.empty()) text += ",";
    text += part;
  }
  static void append_list(std::string& text, std::string_view key, const std::string& list) {
    if (!list.empty()) append(text, "\"" + std::string(key) + "\":[" + list + "]");
  }

  std::string nodes_, queues_, gangs_, pods_, rest_;
};

}  // namespace muster
