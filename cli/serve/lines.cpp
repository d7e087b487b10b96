#include "cli/serve/lines.h"

#include <limits>
#include <string>

#include <fmt/format.h>

#include "cli/line/verify_line.h"
#include "cli/terminal/terminal.h"
#include "io/json/json_writer.h"

namespace muster::cli {

Answer verify_answer(muster_v1::SnapshotReader& reader, std::string_view snapshot, std::optional<std::string_view> plan,
                     std::int64_t number) {
  VerifiedLine verified;
  if (plan) {
    verified = verify_line(reader, snapshot, *plan);
  } else {
    verified.id = muster_v1::SnapshotReader::id_of(snapshot);
    verified.findings.push_back({"answers", "snapshot", "it has no plan"});
  }
  Answer answer;
  answer.number = number;
  json::JsonWriter json(answer.text);
  json.raw(R"({"line":)").integer(number).raw(R"(,"id":)").string(verified.id);
  json.raw(verified.findings.empty() ? R"(,"valid":true,"findings":[)" : R"(,"valid":false,"findings":[)");
  bool first = true;
  for (const Finding& finding : verified.findings) {
    json.separate(first).raw(finding.rule.empty() ? R"({"kind":"falseClaim")" : R"({"kind":"violation","rule":)");
    if (!finding.rule.empty()) json.string(finding.rule);
    json.raw(R"(,"subject":)").string(finding.subject).raw(R"(,"message":)").string(finding.message).raw("}");
  }
  json.raw("]}\n");
  return answer;
}

Answer import_answer(std::string_view text, const kubernetes::KubernetesOptions& options) {
  Answer answer;
  answer.number = 1;
  Result<kubernetes::ImportedSnapshot> imported = kubernetes::import_kubernetes_text(
      std::string(text), options, {std::numeric_limits<std::size_t>::max(), muster_v1::ReaderOptions().max_depth});
  if (!imported) {
    answer.is_error = true;
    answer.error = imported.error();
    return answer;
  }
  answer.text = imported->line + "\n";
  for (const std::string& remark : imported->remarks) {
    answer.log += fmt::format("{}{}", answer.log.empty() ? "" : "\n", escaped(remark));
  }
  for (const Warning& warning : imported->warnings) {
    answer.log += fmt::format("{}{}", answer.log.empty() ? "" : "\n", warning_text(warning));
  }
  return answer;
}

}  // namespace muster::cli
