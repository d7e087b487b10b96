#include <array>
#include <cstdio>
#include <fstream>
#include <sstream>
#include <string>
#include <utility>

#include <gtest/gtest.h>
#include <sys/wait.h>

#include "datasets/traces/openb.h"
#include "test/support/paths.h"

namespace muster::traces {
namespace {

const std::string kDatasets = test::source_folder() + "/datasets";

// What a shell command prints, and its exit code.
std::pair<std::string, int> run(const std::string& command) {
  std::FILE* pipe = popen((command + " 2>&1").c_str(), "r");
  if (pipe == nullptr) return {"", -1};
  std::string output;
  std::array<char, 4096> chunk{};
  while (const std::size_t count = std::fread(chunk.data(), 1, chunk.size(), pipe)) output.append(chunk.data(), count);
  const int status = pclose(pipe);
  return {output, WIFEXITED(status) ? WEXITSTATUS(status) : -1};
}

std::string text_of(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

TEST(OpenbFiles, AreTheOnesThatTheChecksumsWereTakenOf) {
  const auto [output, exit_code] = run("cd '" + kDatasets + "/openb' && sha256sum --strict --check SHA256SUMS");
  EXPECT_EQ(exit_code, 0) << output;
}

TEST(OpenbFiles, AreAllListedWithTheirChecksums) {
  const auto [missing, exit_code] =
      run("cd '" + kDatasets +
          "/openb' && for f in *; do [ $f = SHA256SUMS ] || grep -q \" $f$\" SHA256SUMS || echo $f; done");
  EXPECT_EQ(missing, "");
  const std::string readme = text_of(kDatasets + "/README.md");
  std::istringstream sums(text_of(kDatasets + "/openb/SHA256SUMS"));
  std::string sum, file;
  int count = 0;
  while (sums >> sum >> file) {
    EXPECT_NE(readme.find("| `" + file + "` | `" + sum + "` |"), std::string::npos) << file;
    ++count;
  }
  EXPECT_GE(count, 9);
}

TEST(OpenbFiles, HoldTheNodesAndPodsOfThePaper) {
  const auto input = load_openb(openb_trace_files(kDatasets + "/openb", "default"));
  ASSERT_TRUE(input) << input.error().path << input.error().message;
  EXPECT_EQ(input->nodes.size(), 1213u);
  EXPECT_EQ(openb_cluster_thousandths(*input), 6'212'000);
  std::int64_t cpu_milli = 0;
  for (const generator::InstanceNode& node : input->nodes) cpu_milli += node.cpu_milli;
  EXPECT_EQ(cpu_milli, 107'018'000);
  EXPECT_EQ(input->pods.size(), 8152u);
  EXPECT_EQ(input->order.size(), 10'866u);
}

TEST(OpenbFiles, LieInTheSourceTree) { EXPECT_EQ(openb_source_directory(), kDatasets + "/openb"); }

TEST(OpenbFiles, AreNamedWhenTheyCannotBeRead) {
  for (const OpenbFiles& files :
       {OpenbFiles{"/nowhere.csv", kDatasets + "/openb/pods_default.csv", ""},
        OpenbFiles{kDatasets + "/openb/nodes.csv", "/nowhere.csv", ""},
        OpenbFiles{kDatasets + "/openb/nodes.csv", kDatasets + "/openb/pods_default.csv", "/nowhere.csv"}}) {
    const auto input = load_openb(files);
    ASSERT_FALSE(input);
    EXPECT_EQ(error_code_text(input.error().code), "NoInput");
    EXPECT_EQ(input.error().path, "/nowhere.csv");
  }
}

TEST(OpenbNodes, AreReadByColumnNameInAnyOrder) {
  const auto nodes =
      parse_openb_nodes("model,extra,gpu,memory_mib,cpu_milli,sn\r\nT4,x,2,1024,6500,a\r\n,,0,0,1000,b", "n.csv");
  ASSERT_TRUE(nodes);
  ASSERT_EQ(nodes->size(), 2u);
  EXPECT_EQ((*nodes)[0].name, "a");
  EXPECT_EQ((*nodes)[0].cpu_milli, 6500);
  EXPECT_EQ((*nodes)[0].memory_mib, 1024);
  EXPECT_EQ((*nodes)[0].gpu_count, 2);
  EXPECT_EQ((*nodes)[0].gpu_model, "T4");
  EXPECT_EQ((*nodes)[1].gpu_count, 0);
}

TEST(OpenbPods, AskForWholeDevicesSharesModelsOrNone) {
  const auto pods = parse_openb_pods(
      "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec\n"
      "whole,1000,2,8,1000,\nshare,1000,2,1,460,V|A|V\nnone,1000,2,0,0,\n",
      "p.csv");
  ASSERT_TRUE(pods);
  EXPECT_EQ((*pods)[0].shape.gpu, (GpuRequest{GpuRequestKind::kWhole, 8, 0}));
  EXPECT_EQ((*pods)[1].shape.gpu, (GpuRequest{GpuRequestKind::kFraction, 1, 460'000}));
  EXPECT_EQ((*pods)[1].shape.gpu_models, (std::vector<std::string>{"A", "V"}));
  EXPECT_EQ((*pods)[2].shape.gpu, GpuRequest{});
}

TEST(OpenbPods, NeedNoColumnOfModels) {
  const auto pods = parse_openb_pods("name,cpu_milli,memory_mib,num_gpu,gpu_milli\np,1000,2,1,1000\n", "p.csv");
  ASSERT_TRUE(pods);
  EXPECT_TRUE((*pods)[0].shape.gpu_models.empty());
}

struct BadTable {
  const char* what;
  const char* text;
  const char* code;
  const char* path;
};
void PrintTo(const BadTable& table, std::ostream* out) { *out << table.what; }

class BadNodes : public testing::TestWithParam<BadTable> {};
TEST_P(BadNodes, AreRefusedWithFileLineAndColumn) {
  const auto nodes = parse_openb_nodes(GetParam().text, "n.csv");
  ASSERT_FALSE(nodes);
  EXPECT_EQ(error_code_text(nodes.error().code), GetParam().code);
  EXPECT_EQ(nodes.error().path, GetParam().path);
  EXPECT_NE(nodes.error().message, "");
}
INSTANTIATE_TEST_SUITE_P(
    Openb, BadNodes,
    testing::Values(
        BadTable{"missing column", "sn,cpu_milli,memory_mib,model\na,1,1,T4\n", "MissingColumn", "n.csv:1:gpu"},
        BadTable{"empty file", "", "MissingColumn", "n.csv:1:sn"},
        BadTable{"word for a number", "sn,cpu_milli,memory_mib,gpu,model\na,1,1,2,T4\nb,1,many,2,T4\n", "InvalidValue",
                 "n.csv:3:memory_mib"},
        BadTable{"number with a tail", "sn,cpu_milli,memory_mib,gpu,model\na,1k,1,2,T4\n", "InvalidValue",
                 "n.csv:2:cpu_milli"},
        BadTable{"empty number", "sn,cpu_milli,memory_mib,gpu,model\na,,1,2,T4\n", "InvalidValue", "n.csv:2:cpu_milli"},
        BadTable{"negative number", "sn,cpu_milli,memory_mib,gpu,model\na,1,1,-2,T4\n", "InvalidValue", "n.csv:2:gpu"},
        BadTable{"number beyond 64 bits", "sn,cpu_milli,memory_mib,gpu,model\na,99999999999999999999,1,2,T4\n",
                 "InvalidValue", "n.csv:2:cpu_milli"},
        BadTable{"too few fields", "sn,cpu_milli,memory_mib,gpu,model\na,1,1,2\n", "InvalidValue", "n.csv:2"},
        BadTable{"too many fields", "sn,cpu_milli,memory_mib,gpu,model\na,1,1,2,T4,\n", "InvalidValue", "n.csv:2"},
        BadTable{"empty line", "sn,cpu_milli,memory_mib,gpu,model\n\na,1,1,2,T4\n", "InvalidValue", "n.csv:2"},
        BadTable{"name twice", "sn,cpu_milli,memory_mib,gpu,model\na,1,1,2,T4\na,1,1,2,T4\n", "DuplicateName",
                 "n.csv:3:sn"},
        BadTable{"no name", "sn,cpu_milli,memory_mib,gpu,model\n,1,1,2,T4\n", "InvalidValue", "n.csv:2:sn"}));

class BadPods : public testing::TestWithParam<BadTable> {};
TEST_P(BadPods, AreRefusedWithFileLineAndColumn) {
  const auto pods = parse_openb_pods(
      std::string("name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec\n") + GetParam().text, "p.csv");
  ASSERT_FALSE(pods);
  EXPECT_EQ(error_code_text(pods.error().code), GetParam().code);
  EXPECT_EQ(pods.error().path, GetParam().path);
}
INSTANTIATE_TEST_SUITE_P(
    Openb, BadPods,
    testing::Values(BadTable{"share of two", "a,1,1,2,500,\n", "InvalidValue", "p.csv:2:gpu_milli"},
                    BadTable{"nothing of one", "a,1,1,1,0,\n", "InvalidValue", "p.csv:2:gpu_milli"},
                    BadTable{"more than one", "a,1,1,1,1001,\n", "InvalidValue", "p.csv:2:gpu_milli"},
                    BadTable{"name twice", "a,1,1,0,0,\na,1,1,0,0,\n", "DuplicateName", "p.csv:3:name"}));

TEST(OpenbOrder, NamesTheLineOfARowThatIsNotThere) {
  const auto order = parse_openb_order("0\n2\n3\n", "o.idx", 3);
  ASSERT_FALSE(order);
  EXPECT_EQ(error_code_text(order.error().code), "InvalidValue");
  EXPECT_EQ(order.error().path, "o.idx:3:row");
}

TEST(OpenbOrder, MayNameARowAgain) {
  const auto order = parse_openb_order("1\r\n1\n0", "o.idx", 2);
  ASSERT_TRUE(order);
  EXPECT_EQ(*order, (std::vector<std::uint32_t>{1, 1, 0}));
}

}  // namespace
}  // namespace muster::traces
