#include "io/muster_v1/histories.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "io/json/json_document.h"
#include "io/json/json_writer.h"
#include "io/muster_v1/shared_fields.h"
#include "io/snapshot_writer/records.h"

namespace muster::muster_v1 {

namespace {

constexpr std::int64_t kGpuScale = 1'000'000, kCpuScale = 1'000;

// --- Filling in

void fill_durations(std::vector<Histories::Durations>& durations,
                    const std::unordered_map<std::string_view, std::string_view>& queues, OverTime& over_time) {
  std::erase_if(durations, [&](const auto& one) { return !one.queue.empty() && !queues.contains(one.queue); });
  auto& told = over_time.expected_durations.emplace();
  for (const Histories::Durations& one : durations) {
    DurationHistory& history = told.emplace_back(one.history);
    if (!one.queue.empty()) history.queue = queues.at(one.queue);
  }
}

void fill_usage(std::vector<Histories::Usage>& usage, std::vector<SnapshotQueue>& queues) {
  std::unordered_map<std::string_view, SnapshotQueue*> known;
  for (SnapshotQueue& queue : queues) {
    queue.gpu.usage = queue.cpu.usage = queue.memory.usage = 0;
    known.emplace(queue.name, &queue);
  }
  std::erase_if(usage, [&](const Histories::Usage& one) { return !known.contains(one.queue); });
  for (const Histories::Usage& one : usage) {
    SnapshotQueue& queue = *known.at(one.queue);
    queue.gpu.usage = static_cast<double>(one.gpu);
    queue.cpu.usage = static_cast<double>(one.cpu);
    queue.memory.usage = static_cast<double>(one.memory);
  }
}

bool tells_usage(const SnapshotQueue& queue) { return queue.gpu.usage || queue.cpu.usage || queue.memory.usage; }

// --- Writing

void write_usage(std::string_view key, Amount amount, std::int64_t scale, json::JsonWriter& json) {
  json.key(key).object().member("usage", json::Exact{amount, scale}).end();
}

}  // namespace

Histories fill_in(Histories histories, Snapshot& snapshot) {
  std::unordered_map<std::string_view, std::string_view> queues;  // their names in the snapshot
  for (const SnapshotQueue& queue : snapshot.queues) queues.emplace(queue.name, queue.name);
  if (snapshot.queues.empty()) queues.emplace("default", "default");
  OverTime& over_time = snapshot.policy.over_time;
  if (over_time.expected_durations || over_time.order != SeniorityRule::kExpectedDuration) histories.durations.reset();
  if (snapshot.queues.empty() || std::ranges::any_of(snapshot.queues, tells_usage)) histories.usage.reset();
  if (histories.durations) fill_durations(*histories.durations, queues, over_time);
  if (histories.usage) fill_usage(*histories.usage, snapshot.queues);
  return histories;
}

void write_histories(const Histories& histories, std::string& out) {
  std::string text;
  json::JsonWriter json(text);
  if (histories.durations) {
    std::vector<DurationHistory> durations;
    for (const Histories::Durations& one : *histories.durations) {
      durations.push_back(one.history);
      durations.back().queue = one.queue;
    }
    snapshot_writer::write_duration_histories(json, durations);
  }
  if (histories.usage) {
    json.key("queues").array();
    for (const Histories::Usage& one : *histories.usage) {
      json.object().member("name", one.queue);
      write_usage("gpu", one.gpu, kGpuScale, json);
      write_usage("cpu", one.cpu, kCpuScale, json);
      write_usage("memory", one.memory, 1, json);
      json.end();
    }
    json.end();
  }
  out.append("{").append(text.starts_with(',') ? text.substr(1) : text).append("}");
}

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
  Reading in{false, &names, {}};
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
