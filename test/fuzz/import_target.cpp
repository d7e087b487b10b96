// The import of Kubernetes objects, for libFuzzer: whatever the text, an error or a line that the reader of lines
// takes. Its first byte chooses: YAML or JSON, with or without pods of templates.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "io/json/yaml.h"
#include "io/kubernetes/import.h"
#include "io/muster_v1/snapshot_reader.h"

namespace {

constexpr std::uint8_t kYaml = 1, kExpand = 2;

// A defect: ends the program, so that the fuzzer keeps the text.
void require(bool condition) {
  if (!condition) std::abort();
}

void run(std::uint8_t choice, std::string text) {
  constexpr muster::json::JsonLimits kLimits{std::size_t{1} << 24, 64};
  if ((choice & kYaml) != 0) {
    auto json = muster::json::yaml_to_json(text);
    if (!json) return require(!json.error().message.empty());
    text = *std::move(json);
  }
  muster::kubernetes::KubernetesOptions options;
  options.expand = (choice & kExpand) != 0;
  if (text.size() > kLimits.max_bytes) return;
  const auto made = muster::kubernetes::import_kubernetes_text(std::move(text), options, kLimits);
  if (!made) return require(!error_code_text(made.error().code).empty() && !made.error().message.empty());
  muster::json::JsonDocument document;
  require(!document.parse(made->line, {made->line.size(), 64}));
  // What the format refuses beyond the import, such as running pods that do not fit, names its object.
  const auto snapshot = muster::muster_v1::SnapshotReader().read(made->line);
  if (!snapshot) require(!snapshot.error().path.empty() && !snapshot.error().message.empty());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  if (size == 0) return 0;
  run(bytes[0], std::string(reinterpret_cast<const char*>(bytes) + 1, size - 1));
  return 0;
}
