#include "io/muster_v1/histories_reader.h"

#include <array>
#include <string>
#include <utility>

#include "io/json/json_document.h"
#include "io/muster_v1/shared_fields.h"

namespace muster::muster_v1 {

using json::Field, json::JsonValue, json::Reading;

namespace {

constexpr json::JsonLimits kLimits = {std::size_t{1} << 30, 16};

template <QuantityUnit Unit>
constexpr std::array<Field<Reading, Amount>, 1> kUsageFields = {
    {{"usage",
      [](Reading& in, JsonValue v, Amount& amount) {
        return in.read_amount(v, {Unit, Rounding::kDown}, amount);
      },
      true}}};

template <QuantityUnit Unit, Amount Histories::Usage::*Member>
bool read_usage(Reading& in, JsonValue v, Histories::Usage& usage) {
  return json::read_fields(in, v, kUsageFields<Unit>, usage.*Member);
}

constexpr std::array<Field<Reading, Histories::Usage>, 4> kQueueFields = {
    {{"name",
      [](Reading& in, JsonValue v, Histories::Usage& usage) {
        std::string_view name;
        if (!in.read_name(v, name)) return false;
        usage.queue = name;
        return true;
      },
      true},
     {"gpu", read_usage<QuantityUnit::kMillionth, &Histories::Usage::gpu>},
     {"cpu", read_usage<QuantityUnit::kThousandth, &Histories::Usage::cpu>},
     {"memory", read_usage<QuantityUnit::kOne, &Histories::Usage::memory>}}};

bool read_durations(Reading& in, JsonValue list, Histories& histories) {
  std::vector<DurationHistory> read;
  if (!json::read_list(in, list, kDurationHistoryFields<Reading>, read)) return false;
  auto& durations = histories.durations.emplace();
  for (DurationHistory& history : read) {
    durations.push_back({std::string(std::exchange(history.queue, {})), history});
  }
  return true;
}

constexpr std::array<Field<Reading, Histories>, 2> kHistoriesFields = {
    {{"expectedDurations", read_durations}, {"queues", [](Reading& in, JsonValue v, Histories& histories) {
                                               return json::read_list(in, v, kQueueFields, histories.usage.emplace());
                                             }}}};

}  // namespace

bool read_histories(Reading& in, JsonValue object, Histories& out) {
  return json::read_fields(in, object, kHistoriesFields, out);
}

Result<Histories> read_histories(std::string_view text) {
  json::JsonDocument document;
  if (auto error = document.parse(text, kLimits)) return *std::move(error);
  StringPool names;
  Reading in{document, false, &names, {}};
  Histories histories;
  if (!read_histories(in, document.root(), histories)) return std::move(in.error);
  return histories;
}

void add_history_objects(std::vector<json::KnownObject>& out) {
  out.push_back(json::known_object("histories", kHistoriesFields));
  out.push_back(json::known_object("durationHistory", kDurationHistoryFields<Reading>));
  out.push_back(json::known_object("queueUsage", kQueueFields));
  out.push_back(json::known_object("usage", kUsageFields<QuantityUnit::kOne>));
}

}  // namespace muster::muster_v1
