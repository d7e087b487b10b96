#include "test/cli/snapshots.h"

#include <cstddef>
#include <functional>
#include <random>

namespace muster::cli {
namespace {

constexpr const char* kNodes =
    R"("nodes":[{"name":"n1","resources":{"cpu":"32","memory":"256Gi"},"gpus":{"count":4,"memory":"40Gi","model":"A100"}},)"
    R"({"name":"n2","resources":{"cpu":"32","memory":"256Gi"},"gpus":{"count":2,"memory":"16Gi","model":"T4"}}])";

std::string snapshot(std::size_t number, const std::string& rest) {
  return R"({"format":"muster/v1","id":"good-)" + std::to_string(number) + R"(","time":1000000,)" + kNodes + "," +
         rest + "}";
}

using Random = std::mt19937;
using Damage = std::function<std::string(const std::string&, Random&)>;

std::size_t draw(Random& random, std::size_t below) { return random() % below; }

// `text` with `what` in front of the first `seam`, or `what` alone if there is no such place.
std::string insert_at(const std::string& text, const std::string& seam, const std::string& what) {
  const std::size_t place = text.find(seam);
  return place == std::string::npos ? what
                                    : text.substr(0, place + seam.size()) + what + text.substr(place + seam.size());
}

Damage with_pod(const std::string& pod) {
  return [pod](const std::string& line, Random&) { return insert_at(line, R"("pods":[)", pod + ","); };
}

Damage with_node(const std::string& node) {
  return [node](const std::string& line, Random&) { return insert_at(line, R"("nodes":[)", node + ","); };
}

Damage with_key(const std::string& member) {
  return [member](const std::string& line, Random&) { return "{" + member + "," + line.substr(1); };
}

Damage instead(const std::string& text) {
  return [text](const std::string&, Random&) { return text; };
}

Damage inserted(const std::string& bytes) {
  return [bytes](const std::string& line, Random& random) {
    std::string damaged = line;
    return damaged.insert(1 + draw(random, line.size() - 1), bytes);
  };
}

const std::vector<Damage>& damages() {
  static const std::vector<Damage> all = {
      [](const std::string& line, Random& random) { return line.substr(0, 1 + draw(random, line.size() - 1)); },
      [](const std::string& line, Random& random) { return line.substr(1 + draw(random, line.size() - 1)); },
      [](const std::string& line, Random&) { return line + line; },
      [](const std::string& line, Random&) { return line + "x"; },
      [](const std::string& line, Random&) { return "[" + line + "]"; },
      [](const std::string& line, Random&) { return "{" + line.substr(line.find(',') + 1); },  // no format
      inserted("\xff"),
      inserted("\xc0\xaf"),
      inserted("\x01"),
      inserted(std::string(1, '\0')),
      with_key(R"("format":"muster/v2")"),
      with_key(R"("colour":"blue")"),
      with_key(R"("id":"\ud800")"),
      with_key(R"("policy":{"budget":"soon"})"),
      with_key(R"("policy":{"actions":["explode"]})"),
      with_key(R"("topology":"rack")"),
      with_key(R"("queues":[{"name":"a","parent":"b"},{"name":"b","parent":"a"}],"x":0)"),
      with_node(R"({"name":"n1"})"),
      with_node(R"({"name":""})"),
      with_node(R"({"name":7})"),
      with_node(R"({"name":"bad","resources":{"cpu":"5Xi"}})"),
      with_node(R"({"name":"bad","gpus":{"count":-1}})"),
      with_node(R"({"name":"bad","taints":[{"key":"k","effect":"Sometimes"}]})"),
      with_pod(R"({"name":"bad","gang":"no/such"})"),
      with_pod(R"({"name":"bad","node":"nowhere"})"),
      with_pod(R"({"name":"bad","gpu":{"count":1,"memory":"1Gi"}})"),
      with_pod(R"({"name":"bad","gpu":{"fraction":1.5}})"),
      with_pod(R"({"name":"bad","priorityClass":"no-such"})"),
      with_pod(R"({"name":"bad","node":"n1","gpu":{"count":9}})"),
      with_pod(R"({"name":"twice"},{"name":"twice"})"),
      with_pod(R"({"name":"bad","resources":{"cpu":1e400}})"),
      instead("null"),
      instead("{}"),
      instead("\"a string\""),
      instead("1"),
      instead(std::string(5000, '[')),
      instead(std::string(300, '{') + std::string(300, '}')),
      instead("\xef\xbb\xbf"),
      instead(std::string(1, '\0')),
      instead("what is this"),
  };
  return all;
}

}  // namespace

std::vector<std::string> good_lines() {
  return {
      snapshot(0, R"("pods":[{"name":"a/1","gpu":{"count":2}},{"name":"a/2","gpu":{"fraction":0.5}}])"),
      snapshot(1, R"("gangs":[{"name":"g","minMember":2}],"pods":[{"name":"g/0","gang":"g","gpu":{"count":2}},)"
                  R"({"name":"g/1","gang":"g","gpu":{"count":2}}])"),
      snapshot(2, R"("gangs":[{"name":"big"}],"pods":[{"name":"big/0","gang":"big","gpu":{"count":4}},)"
                  R"({"name":"big/1","gang":"big","gpu":{"count":4}}])"),
      snapshot(3, R"("pods":[{"name":"m/1","gpu":{"memory":"30Gi"}},{"name":"m/2","gpu":{"memory":"20Gi"}},)"
                  R"({"name":"c/1","resources":{"cpu":"500m","memory":"1Gi"}}])"),
      snapshot(4,
               R"("priorityClasses":[{"name":"high","value":125}],"pods":[{"name":"old","node":"n1","gpu":{"count":4},)"
               R"("priority":50,"started":999000},{"name":"new","gpu":{"count":4},"priorityClass":"high"}])"),
      snapshot(5, R"("queues":[{"name":"q","gpu":{"quota":2}},{"name":"r","gpu":{"quota":4}}],"pods":[)"
                  R"({"name":"q/1","queue":"q","gpu":{"count":1}},{"name":"r/1","queue":"r","gpu":{"count":3}}])"),
      snapshot(6,
               R"("pods":[{"name":"gone","status":"succeeded"},{"name":"held","status":"gated","gpu":{"count":1}}])"),
  };
}

std::string broken_line(const std::string& good, std::uint32_t seed) {
  Random random(seed);
  return damages()[seed % damages().size()](good, random);
}

}  // namespace muster::cli
