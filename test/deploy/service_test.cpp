// The files of docs/deploy that run the server: flags that it knows, hardened as they claim.
#include <algorithm>
#include <filesystem>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "bench/support/serve_process.h"
#include "test/cli/program.h"
#include "test/deploy/deploy_files.h"
#include "test/support/paths.h"

namespace muster {
namespace {

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

using Json = nlohmann::json;

const Json& manifest(const std::string& kind) {
  static const std::vector<Json> documents = deploy_documents("kubernetes/muster.yaml");
  for (const Json& document : documents)
    if (document.at("kind") == kind) return document;
  throw std::runtime_error("there is no " + kind);
}
const Json& pod() { return manifest("Deployment").at("spec").at("template").at("spec"); }
const Json& muster_container() { return pod().at("initContainers").at(0); }
Json pod_monitor() { return deploy_documents("kubernetes/podmonitor.yaml").at(0); }

// Of a file of docs/deploy; comments count, too.
std::set<std::string> flags_named_in(const std::string& file) {
  std::set<std::string> flags = all_matches(deploy_file(file), R"((^|[\s"`\[(])(--[a-z][a-z-]+))", 2);
  if (file.ends_with(".ini"))
    for (const std::string& key : all_matches(deploy_file(file), R"(\n([a-z-]+) = )", 1)) flags.insert("--" + key);
  return flags;
}

TEST(Service, EveryFlagOfItsFilesIsKnownToTheServer) {
  const std::string help = cli::Workplace().run("serve --help").out;
  std::size_t count = 0;
  for (const char* file : {"systemd/muster.service", "systemd/muster.ini", "kubernetes/muster.yaml"}) {
    for (const std::string& flag : flags_named_in(file)) {
      EXPECT_NE(help.find(flag), std::string::npos) << file << " names " << flag;
      ++count;
    }
  }
  const std::string image = deploy_file("Dockerfile");
  const std::size_t command = image.find("CMD [") + 4;
  for (const std::string word : Json::parse(image.substr(command, image.find('\n', command) - command))) {
    if (!word.starts_with("--")) continue;
    EXPECT_NE(help.find(word), std::string::npos) << "Dockerfile names " << word;
    ++count;
  }
  EXPECT_GE(count, 10U);
}

Json agent_deployment() {
  return deploy_documents("kubernetes/agent/deployment.yaml").at(0).at("spec").at("template").at("spec");
}

TEST(Service, TheAgentsManifestsFitTheAgent) {
  const cli::Workplace workplace;
  const std::string help = workplace.run("agent --help").out;
  for (const char* file : {"agent/deployment.yaml", "sidecar-kube-scheduler/scheduler.yaml", "sidecar-kai/sidecar.yaml",
                           "gates/kustomization.yaml"}) {
    const std::set<std::string> flags = flags_named_in(std::string("kubernetes/") + file);
    EXPECT_GE(flags.size(), 1U) << file;
    for (const std::string& flag : flags) {
      if (flag == "--config" || flag == "--patch-file") continue;  // of other programs
      EXPECT_NE(help.find(flag), std::string::npos) << file << " names " << flag;
    }
  }
  const Json pod = agent_deployment();
  EXPECT_NE(
      workplace.run("agent --print-rbac none").out.find("name: " + pod.at("serviceAccountName").get<std::string>()),
      std::string::npos);
  const Json container = pod.at("containers").at(0);
  EXPECT_EQ(pod.at("securityContext").at("runAsNonRoot"), true);
  EXPECT_EQ(container.at("securityContext").at("readOnlyRootFilesystem"), true);
  EXPECT_EQ(container.at("securityContext").at("allowPrivilegeEscalation"), false);
  for (const char* probe : {"livenessProbe", "readinessProbe"})
    EXPECT_EQ(container.at(probe).at("httpGet").at("port"), container.at("ports").at(0).at("name"));
}

TEST(Service, ItsSidecarsAreTheAgentsContainer) {
  const Json container = agent_deployment().at("containers").at(0);
  const Json kai = deploy_documents("kubernetes/sidecar-kai/sidecar.yaml").at(0);
  const Json scheduler = deploy_documents("kubernetes/sidecar-kube-scheduler/scheduler.yaml").at(0);
  for (const Json& deployment : {kai, scheduler}) {
    const Json sidecar = deployment.at("spec").at("template").at("spec").at("initContainers").at(0);
    EXPECT_EQ(sidecar.at("restartPolicy"), "Always");
    EXPECT_EQ(sidecar.at("startupProbe").at("httpGet").at("path"), "/healthz");
    for (const char* key : {"name", "image", "ports", "livenessProbe", "readinessProbe", "resources"})
      EXPECT_EQ(sidecar.at(key), container.at(key)) << key;
    for (const auto& [key, value] : container.at("securityContext").items())
      EXPECT_EQ(sidecar.at("securityContext").at(key), value) << key;
    for (const Json& word : container.at("args"))
      EXPECT_NE(std::ranges::find(sidecar.at("args"), word), sidecar.at("args").end()) << word;
  }
}

TEST(Service, TheRolesOfEachModeAreThoseThatTheAgentPrints) {
  std::size_t modes = 0;
  for (const auto& entry : std::filesystem::directory_iterator(deploy_path("kubernetes/rbac"))) {
    const std::string mode = entry.path().filename();
    EXPECT_EQ(deploy_file("kubernetes/rbac/" + mode + "/rbac.yaml"),
              cli::Workplace().run("agent --print-rbac " + mode).out)
        << "muster agent --print-rbac " << mode << " > docs/deploy/kubernetes/rbac/" << mode << "/rbac.yaml";
    ++modes;
  }
  EXPECT_GE(modes, 4U);
}

TEST(Service, TheExtendersManifestFitsTheAgent) {
  const std::string help = cli::Workplace().run("agent --help").out, text = deploy_file("kubernetes/extender.yaml");
  const std::vector<Json> documents = deploy_documents("kubernetes/extender.yaml");
  const Json containers = documents.at(1).at("spec").at("template").at("spec").at("containers");
  for (const Json& argument : containers.at(0).at("args")) {
    const std::string flag = argument.get<std::string>();
    if (!flag.starts_with("--")) continue;
    EXPECT_NE(help.find(flag.substr(0, flag.find('='))), std::string::npos) << flag;
  }
  EXPECT_NE(help.find("tcp:127.0.0.1:7079"), std::string::npos);
  EXPECT_NE(text.find("urlPrefix: http://127.0.0.1:7079/extender"), std::string::npos);
  for (const Json& container : containers) {
    EXPECT_EQ(container.at("securityContext").at("readOnlyRootFilesystem"), true);
    EXPECT_EQ(container.at("securityContext").at("allowPrivilegeEscalation"), false);
  }
}

TEST(Service, TheGateOfTheAdmissionPolicyIsTheAgents) {
  const std::string policy = deploy_file("kubernetes/gate/gate.yaml");
  EXPECT_EQ(deploy_documents("kubernetes/gate/gate.yaml").size(), 2U);
  EXPECT_NE(policy.find(R"(schedulingGates{name: "muster/planned"})"), std::string::npos);
  EXPECT_NE(cli::Workplace().run("agent --help").out.find("muster/planned"), std::string::npos);
}

TEST(Service, ItsConfigurationFileIsTaken) {
  const cli::Workplace workplace;
  std::string settings = deploy_file("systemd/muster.ini");
  settings = replaced(settings, "unix:/run/muster/muster.sock", "unix:" + workplace.path("other.sock"));
  settings = replaced(settings, "tcp:127.0.0.1:7078", "tcp:127.0.0.1:0");
  const std::string file = workplace.file("muster.ini", settings);
  const bench::ServeProcess server({"--config", file});  // throws if it does not get ready
  EXPECT_EQ(server.ask(bench::get("/healthz"))->status, 200);
}

TEST(Service, SystemdTakesTheUnit) {
  const cli::Workplace workplace;
  if (workplace.shell("command -v systemd-analyze").exit_code != 0) GTEST_SKIP() << "systemd-analyze is not installed";
  workplace.file("muster.service",
                 replaced(deploy_file("systemd/muster.service"), "/usr/local/bin/muster", test::program()));
  const cli::Outcome verified = workplace.shell("systemd-analyze verify --man=no " + workplace.path("muster.service"));
  EXPECT_EQ(verified.exit_code, 0) << verified.err;
  EXPECT_EQ(verified.err.find("muster.service"), std::string::npos) << verified.err;
  // Exposure of at most 1.5 of 10, as stated in README.md.
  const cli::Outcome rated = workplace.shell("systemd-analyze security --offline=true --threshold=15 --no-pager " +
                                             workplace.path("muster.service"));
  EXPECT_EQ(rated.exit_code, 0) << rated.out << rated.err;
}

TEST(Service, SystemdTakesItsUser) {
  const cli::Workplace workplace;
  if (workplace.shell("command -v systemd-sysusers").exit_code != 0)
    GTEST_SKIP() << "systemd-sysusers is not installed";
  std::filesystem::create_directory(workplace.path("etc"));
  const cli::Outcome outcome = workplace.shell("systemd-sysusers --dry-run --root=" + workplace.path("") + " " +
                                               deploy_path("systemd/muster.sysusers.conf"));
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_NE((outcome.out + outcome.err).find("muster"), std::string::npos);
}

TEST(Service, EveryManifestHasItsNameAndPlace) {
  for (const char* file :
       {"kubernetes/muster.yaml", "kubernetes/podmonitor.yaml", "kubernetes/agent/deployment.yaml"}) {
    for (const Json& document : deploy_documents(file)) {
      EXPECT_TRUE(document.contains("apiVersion") && document.at("metadata").contains("name")) << document;
      if (document.at("kind") == "Namespace") continue;
      EXPECT_EQ(document.at("metadata").at("namespace"), "muster") << document;
    }
  }
  const Json labels = manifest("Deployment").at("spec").at("template").at("metadata").at("labels");
  EXPECT_EQ(manifest("Deployment").at("spec").at("selector").at("matchLabels"), labels);
  EXPECT_EQ(manifest("NetworkPolicy").at("spec").at("podSelector").at("matchLabels"), labels);
  EXPECT_EQ(pod_monitor().at("spec").at("selector").at("matchLabels"), labels);
}

TEST(Service, EveryContainerIsHardened) {
  const Json security = pod().at("securityContext");
  EXPECT_EQ(security.at("runAsNonRoot"), true);
  EXPECT_GT(security.at("runAsUser"), 0);
  EXPECT_EQ(security.at("seccompProfile").at("type"), "RuntimeDefault");
  EXPECT_EQ(pod().at("automountServiceAccountToken"), false);
  for (const char* list : {"initContainers", "containers"}) {
    for (const Json& container : pod().at(list)) {
      const Json own = container.at("securityContext");
      EXPECT_EQ(own.at("allowPrivilegeEscalation"), false) << container.at("name");
      EXPECT_EQ(own.at("readOnlyRootFilesystem"), true) << container.at("name");
      EXPECT_EQ(own.at("capabilities").at("drop"), Json::array({"ALL"})) << container.at("name");
      EXPECT_TRUE(container.at("resources").at("requests").contains("cpu")) << container.at("name");
      EXPECT_TRUE(container.at("resources").at("limits").contains("memory")) << container.at("name");
    }
  }
}

TEST(Service, TheSidecarStartsFirstAndSharesItsSocketAlone) {
  EXPECT_EQ(muster_container().at("restartPolicy"), "Always");
  std::set<std::string> volumes, empty_folders;
  for (const Json& volume : pod().at("volumes")) {
    volumes.insert(volume.at("name"));
    if (volume.contains("emptyDir")) empty_folders.insert(volume.at("name"));
  }
  for (const char* list : {"initContainers", "containers"}) {
    for (const Json& container : pod().at(list))
      for (const Json& mount : container.at("volumeMounts")) EXPECT_TRUE(volumes.contains(mount.at("name"))) << mount;
  }
  ASSERT_EQ(muster_container().at("volumeMounts").size(), 1U);
  const Json mount = muster_container().at("volumeMounts").at(0);
  EXPECT_TRUE(empty_folders.contains(mount.at("name"))) << mount;
  const auto folders = all_matches(deploy_file("kubernetes/muster.yaml"), "--listen=unix:(.*)/[^/\n]*\n", 1);
  EXPECT_EQ(folders, std::set<std::string>{mount.at("mountPath")});
}

TEST(Service, ItsProbesAndItsMetricsAreWhereItIsObserved) {
  const Json port = muster_container().at("ports").at(0);
  const std::string name = port.at("name");
  EXPECT_LE(name.size(), 15U);  // of a port in Kubernetes
  EXPECT_EQ(all_matches(deploy_file("kubernetes/muster.yaml"), "--observe=tcp:0.0.0.0:([0-9]+)", 1),
            std::set<std::string>{std::to_string(port.at("containerPort").get<int>())});
  EXPECT_EQ(pod_monitor().at("spec").at("podMetricsEndpoints").at(0).at("port"), name);
  const cli::Workplace workplace;
  const bench::ServeProcess server({"--quiet", "--observe", "unix:" + workplace.path("observed.sock")});
  for (const char* probe : {"startupProbe", "livenessProbe", "readinessProbe"}) {
    const Json request = muster_container().at(probe).at("httpGet");
    EXPECT_EQ(request.at("port"), name) << probe;
    bench::HttpClient kubelet(workplace.path("observed.sock"));
    kubelet.send(bench::get(request.at("path").get<std::string>()));
    EXPECT_EQ(kubelet.answer(10'000)->status, 200) << request;
  }
}

// What every image of Debian has is left out.
TEST(Service, TheImageHasTheLibrariesOfTheProgram) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "with a sanitizer it needs more of them";
#endif
  const cli::Workplace workplace;
  if (workplace.shell("command -v dpkg && command -v readelf").exit_code != 0) GTEST_SKIP() << "not on Debian";
  const std::string image = deploy_file("Dockerfile"), found = workplace.shell("ldd " + test::program()).out;
  const std::string dynamic = workplace.shell("readelf -d " + test::program()).out;
  const std::set<std::string> libraries = all_matches(dynamic, R"(Shared library: \[(lib[^\]]*)\])", 1);
  EXPECT_GE(libraries.size(), 5U);
  std::string patterns;
  for (const std::string& library : libraries) {
    const std::size_t at = found.find("=> ", found.find("\t" + library + " ")) + 3;
    const std::filesystem::path path = found.substr(at, found.find(' ', at) - at);
    patterns += " '*/" + path.parent_path().filename().string() + "/" + library + "'";
  }
  const std::set<std::string> packages = all_matches(workplace.shell("dpkg -S" + patterns).out, "(^|\n)([^:]+):", 2);
  EXPECT_GE(packages.size(), 5U);
  const std::regex in_every_image("libc6|libstdc\\+\\+6|libgcc-s1|liblzma5");
  for (const std::string& package : packages) {
    if (std::regex_match(package, in_every_image)) continue;
    EXPECT_TRUE(
        std::regex_search(image, std::regex(" " + std::regex_replace(package, std::regex("[.+]"), "\\$&") + "\\s")))
        << package << " is not installed in it";
  }
}

}  // namespace
}  // namespace muster
