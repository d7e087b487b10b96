// A snapshot as text, put together object by object, for tests that need a small cluster and not its JSON.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace muster::test {

// `more` is JSON: further members of the object, such as R"("queue":"a","priority":50)". What is not given has the
// default of the format. Names are put into the text as they are. Lists are in the order of the calls.
class Cluster {
 public:
  Cluster& node(std::string_view name, std::string_view more = "") { return add(nodes_, name, "", more); }
  Cluster& node(std::string_view name, int gpus, std::string_view more = "");
  Cluster& queue(std::string_view name, std::string_view more = "") { return add(queues_, name, "", more); }
  Cluster& gang(std::string_view name, std::string_view more = "") { return add(gangs_, name, "", more); }
  Cluster& pod(std::string_view name, std::string_view more = "") { return add(pods_, name, "", more); }
  // That asks for so many whole GPUs.
  Cluster& pod(std::string_view name, int gpus, std::string_view more = "");
  // NAME-0, NAME-1, ...
  Cluster& pods(std::string_view name, int count, std::string_view more = "");
  Cluster& pods(std::string_view name, int count, int gpus, std::string_view more = "");
  // A pod that runs on the node.
  Cluster& running(std::string_view name, std::string_view node, int gpus, std::string_view more = "");
  Cluster& policy(std::string_view members);
  // Further members of the snapshot itself, such as R"("topology":["rack"])".
  Cluster& with(std::string_view members);
  // The snapshot's time in seconds; 1000000 unless set.
  Cluster& at(std::int64_t time);

  // The members of the line but for format and time.
  std::string body() const;
  std::string line() const;

 private:
  Cluster& add(std::string& list, std::string_view name, std::string_view members, std::string_view more);

  std::string nodes_, queues_, gangs_, pods_, rest_;
  std::int64_t time_ = 1'000'000;
};

// A body (see Cluster) as a whole line.
std::string line_of(std::string_view body, std::int64_t time = 1'000'000);

}  // namespace muster::test
