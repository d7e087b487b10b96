// What is left out of Kubernetes documents before they are parsed as a whole: nothing that the import looks at.
#include "io/kubernetes/object/slim.h"

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "io/kubernetes/object/documents.h"
#include "test/io/kubernetes_objects.h"
#include "test/support/paths.h"

namespace muster::kubernetes {
namespace {

constexpr json::JsonLimits kLimits{std::size_t{1} << 30, 64};

std::vector<std::string> scenario_texts() {
  std::vector<std::string> texts;
  for (const auto& entry : std::filesystem::directory_iterator(test::source_folder() + "/test/scenarios/kubernetes")) {
    std::ifstream file(entry.path());
    std::stringstream text;
    text << file.rdbuf();
    texts.push_back(text.str());
  }
  return texts;
}

// The line and the remarks, or the error, by way of all of the text.
std::string outcome(const Result<Snapshot>& made) {
  if (!made)
    return std::string(error_code_text(made.error().code)) + " " + made.error().path + " " + made.error().message;
  return kubernetes::line_of(*made);
}

std::string of_all(const std::string& text) {
  json::JsonDocument document;
  if (const auto error = document.parse(join_documents(text), kLimits)) return outcome(*error);
  return outcome(import_kubernetes(document.root(), {}));
}

std::string of_slim(const std::string& text) { return outcome(import_kubernetes_text(text, {}, kLimits)); }

TEST(KubernetesSlim, TheImportIsThatOfTheWholeText) {
  for (const std::string& text : scenario_texts()) {
    for (const int indentation : {-1, 0, 4}) {
      const std::string document = Json::parse(text).dump(indentation);
      EXPECT_EQ(of_slim(document), of_all(document));
    }
    std::string documents, events;
    const Json list = Json::parse(text);
    for (const Json& item : list["items"]) {
      documents += item.dump(4) + "\n";
      events += Json{{"type", "ADDED"}, {"object", item}}.dump() + "\n";
    }
    EXPECT_EQ(of_slim(documents), of_all(documents));
    EXPECT_EQ(of_slim(events), of_all(events));
  }
}

TEST(KubernetesSlim, ALongTextIsExaminedPieceByPiece) {
  std::vector<Json> items = {node("n")};
  for (std::size_t i = 0; i < 500; ++i) {
    const std::string name = "p" + std::to_string(i);
    Json one = i % 3 == 0 ? running(pod(name.c_str()), "n") : pod(name.c_str());
    one["metadata"]["managedFields"] = Json::array({{{"fieldsV1", std::string(i * 37 % 5'000, 'x')}}});
    one["spec"]["priority"] = 1000 - static_cast<int>(i);
    items.push_back(std::move(one));
  }
  const Json list = Json::parse(list_of(items));
  for (const int indentation : {-1, 0, 4}) {
    const std::string document = list.dump(indentation);
    EXPECT_GT(document.size(), std::size_t{1} << 20);
    EXPECT_TRUE(of_slim(document) == of_all(document)) << indentation;
    const std::string twice = document + "\n\n" + node("m").dump(indentation);
    EXPECT_TRUE(of_slim(twice) == of_all(twice)) << indentation;
  }
}

TEST(KubernetesSlim, MostBytesAreLeftOut) {
  json::JsonBuilder slim;
  Json one = running(pod("p"), "n");
  one["metadata"]["managedFields"] = Json::array({{{"fieldsV1", std::string(4096, 'x')}}});
  one["metadata"]["annotations"]["kubectl.kubernetes.io/last-applied-configuration"] = std::string(4096, '{');
  one["spec"]["containers"] = Json::array({{{"env", Json::array({std::string(4096, '}')})}, {"name", "main"}}});
  one["status"]["containerStatuses"] =
      Json::array({{{"imageID", std::string(4096, '"')}, {"state", {{"running", {{"startedAt", "t"}}}}}}});
  std::string text = list_of({one, node("n")});
  ASSERT_TRUE(slim_objects(text, 64, Instants::kLatest, slim));
  EXPECT_LT(slim.bytes(), 4000U);
  std::string kept;
  json::JsonWriter writer(kept);
  json::NumberCursor numbers;
  write_json(writer, numbers, slim.root());
  EXPECT_LT(kept.size(), 1000U) << kept;
  EXPECT_NE(kept.find(R"("startedAt":"t")"), std::string::npos) << kept;
}

TEST(KubernetesSlim, ErrorsNameTheSamePlace) {
  const std::vector<Json> broken = {[] {
                                      Json one = pod("p");
                                      one["spec"]["priority"] = "high";
                                      return one;
                                    }(),
                                    [] {
                                      Json one = pod("p");
                                      one["metadata"]["labels"]["app"] = 5;
                                      one["metadata"]["labels"]["kai.scheduler/queue"] = 5;
                                      return one;
                                    }(),
                                    [] {
                                      Json one = pod("p");
                                      one["spec"]["containers"] = Json::array({1});
                                      return one;
                                    }(),
                                    [] {
                                      Json one = pod("p");
                                      one["spec"]["volumes"] = Json::object({{"a", 1}});
                                      return one;
                                    }(),
                                    [] {
                                      Json one = pod("p");
                                      one["metadata"] = Json::array();
                                      return one;
                                    }(),
                                    [] {
                                      Json one = pod("p");
                                      one["status"] = "Running";
                                      return one;
                                    }(),
                                    Json(7),
                                    Json::array(),
                                    Json::object(),
                                    Json(nullptr)};
  for (const Json& one : broken) {
    const std::string list = list_of({node("n"), one, pod("q")});
    EXPECT_EQ(of_slim(list), of_all(list)) << one.dump();
    EXPECT_EQ(of_slim(list).find("{\"format\""), std::string::npos) << one.dump();
    const std::string documents = node("n").dump() + one.dump(1) + pod("q").dump(2);
    EXPECT_EQ(of_slim(documents), of_all(documents)) << one.dump();
  }
}

TEST(KubernetesSlim, ATextThatIsCutIsRefusedAsBefore) {
  const std::string text = list_of({annotated(pod("p"), "quoted", "\\\"{["), node("n")});
  for (std::size_t size = 0; size < text.size(); ++size) {
    const std::string cut = text.substr(0, size);
    EXPECT_EQ(of_slim(cut), of_all(cut)) << cut;
    std::string other = text;
    other[size] = other[size] == '"' ? '}' : '"';
    EXPECT_EQ(of_slim(other), of_all(other)) << other;
  }
}

TEST(KubernetesSlim, LinesAreToldByTheirFirstKey) {
  for (const char* line :
       {R"({"apiVersion":"v1"})", R"( { "kind" : "List"})", R"({"type":"ADDED"})", "{\n  \"items\": []"}) {
    EXPECT_TRUE(begins_as_kubernetes(line)) << line;
  }
  for (const char* line : {"", "{", "{}", "[]", R"({"format":"muster/v1","kind":1})", R"({"id":"x"})", "\"kind\""}) {
    EXPECT_FALSE(begins_as_kubernetes(line)) << line;
  }
}

}  // namespace
}  // namespace muster::kubernetes
