#include "io/kubernetes/pod/run_time.h"

#include <algorithm>
#include <string>

#include "io/kubernetes/object/instants.h"

namespace muster::kubernetes {

namespace {

// The end of one container, which may have none.
bool read_container_end(KubernetesReading& in, json::JsonValue container, std::string_view& out) {
  json::JsonValue state, terminated, finished;
  return in.expect(container, json::JsonKind::kObject) && in.take(container, "state", state) &&
         in.take(state, "terminated", terminated) && in.take(terminated, "finishedAt", finished) &&
         in.instant(finished, out);
}

}  // namespace

void ExpectedRunTime::add(const ExpectedRunTime& other) {
  if (!annotated) annotated = other.annotated;
  if (other.deadline) deadline = std::min(deadline.value_or(*other.deadline), *other.deadline);
}

std::optional<Nanoseconds> read_annotated_duration(KubernetesReading& in, const KubernetesObject& object,
                                                   json::JsonValue annotations) {
  json::JsonValue value;
  const bool is_taken = in.try_without_path([&] { return in.take(annotations, in.duration_annotation, value); });
  if (is_taken && !value) return std::nullopt;
  std::optional<Nanoseconds> duration;
  if (is_taken && value.is(json::JsonKind::kString)) duration = parse_written_duration(value.string());
  if (duration && *duration > 0) return duration;
  in.remarks.add("the annotation " + std::string(in.duration_annotation) +
                     " is not a duration of more than 0, such as \"5400\", \"1h30m\" or \"01:30:00\", and is ignored",
                 object);
  return std::nullopt;
}

std::optional<Nanoseconds> read_deadline(KubernetesReading& in, const KubernetesObject& object, std::string_view key,
                                         json::JsonValue seconds) {
  if (!seconds) return std::nullopt;
  std::optional<Nanoseconds> deadline;
  if (seconds.is(json::JsonKind::kInteger)) deadline = duration_of_whole_seconds(seconds.integer());
  if (!deadline) in.remarks.add(std::string(key) + " is not a number of seconds above 0 and is ignored", object);
  return deadline;
}

std::optional<Nanoseconds> read_labelled_deadline(KubernetesReading& in, const KubernetesObject& object,
                                                  json::JsonValue seconds) {
  if (!seconds) return std::nullopt;
  std::optional<Nanoseconds> deadline;
  if (seconds.is(json::JsonKind::kString)) deadline = parse_whole_seconds(seconds.string());
  if (!deadline)
    in.remarks.add(std::string(kKueueMaxTimeLabel) + " is not a number of seconds above 0 and is ignored", object);
  return deadline;
}

ExpectedRunTime read_expected_run_time(KubernetesReading& in, const KubernetesObject& object, const PodParts& parts) {
  const json::JsonValue deadline = parts.spec[PodParts::kActiveDeadline], label = parts.labels[PodParts::kKueueMaxTime];
  ExpectedRunTime run_time{read_annotated_duration(in, object, parts.all_annotations),
                           read_deadline(in, object, "activeDeadlineSeconds", deadline)};
  run_time.add({{}, read_labelled_deadline(in, object, label)});
  return run_time;
}

std::string_view read_end(KubernetesReading& in, const KubernetesObject& object) {
  json::JsonValue containers;
  bool has_any = false;
  std::string_view latest;
  bool is_read = in.try_without_path(
      [&] { return in.take(object.status, "containerStatuses", containers) && in.has_elements(containers, has_any); });
  if (is_read && has_any) {
    for (const json::JsonValue container : containers.elements()) {
      std::string_view end;
      is_read = in.try_without_path([&] { return read_container_end(in, container, end); }) && is_read;
      if (!end.empty() && (latest.empty() || is_earlier(latest, end))) latest = end;
    }
  }
  if (is_read) return latest;
  in.remarks.add("the end of a finished pod cannot be read, and its run time is ignored", object);
  return {};
}

}  // namespace muster::kubernetes
