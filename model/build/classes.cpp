// Pod classes: pods with equal requests, filters and anti-affinity share a class.
#include <algorithm>
#include <array>
#include <span>

#include "model/base/saturating.h"
#include "model/build/stages.h"
#include "model/snapshot/filters.h"

namespace muster {
namespace {

constexpr std::uint64_t kEndOfList = ~std::uint64_t{0};

// The results of the filters of one shape for each class of nodes.
struct FilterVerdict {
  std::vector<bool> allowed;
  std::vector<std::int32_t> preferred_weight, untolerated_soft_taints;
};

// Writes the parts of a spec as numbers, so that equal parts are equal sequences.
class SpecWriter {
 public:
  // Everything that the filters read.
  std::span<const std::uint64_t> filters_of(const PodSpec& spec) {
    numbers_.clear();
    for (const std::string_view model : spec.gpu_models) add(model);
    add(kEndOfList);
    for (const auto& [key, value] : spec.node_selector) {
      add(key);
      add(value);
    }
    add(kEndOfList);
    for (const auto* terms : {&spec.node_affinity.required, &spec.volume_terms}) {
      if (*terms) {
        add((*terms)->size());
        for (const NodeSelectorTerm& term : **terms) add(term);
      }
      add(kEndOfList);
    }
    for (const PreferredNodeTerm& preferred : spec.node_affinity.preferred) {
      add(static_cast<std::uint64_t>(preferred.weight));
      add(preferred.term);
    }
    add(kEndOfList);
    for (const Toleration& toleration : spec.tolerations) {
      add(toleration.key);
      add(toleration.value);
      add((toleration.exists ? 8U : 0U) +
          (toleration.effect ? 1U + static_cast<std::uint64_t>(*toleration.effect) : 0U));
    }
    return numbers_;
  }

  std::span<const std::uint64_t> shape_of(const PodSpec& spec, std::span<const ResourceIndex> host_ports,
                                          std::uint32_t filter) {
    numbers_.assign({filter, static_cast<std::uint64_t>(spec.gpu.kind), static_cast<std::uint64_t>(spec.gpu.devices),
                     static_cast<std::uint64_t>(spec.gpu.share)});
    for (const auto& [resource, amount] : spec.resources) {
      if (amount == 0) continue;
      add(resource.value());
      add(static_cast<std::uint64_t>(amount));
    }
    add(kEndOfList);
    for (const ResourceIndex port : host_ports) add(port.value());
    return numbers_;
  }

 private:
  void add(std::uint64_t number) { numbers_.push_back(number); }
  void add(std::string_view text) { add(std::uint64_t{strings_.number(text)}); }
  void add(const std::vector<SelectorRequirement>& requirements) {
    add(requirements.size());
    for (const SelectorRequirement& requirement : requirements) {
      add(requirement.key);
      add(static_cast<std::uint64_t>(requirement.op));
      add(requirement.values.size());
      for (const std::string_view value : requirement.values) add(value);
    }
  }
  void add(const NodeSelectorTerm& term) {
    add(term.match_expressions);
    add(term.match_fields);
  }

  NameTable strings_;
  std::vector<std::uint64_t> numbers_;
};

class PodClassifier {
 public:
  explicit PodClassifier(ProblemDraft& draft)
      : draft_(draft), shapes_of_(draft.snapshot.pod_specs.size()), plain_class_(draft.snapshot.pod_specs.size()) {}

  PodClassIndex class_of(PodSpecIndex spec, std::span<const PodTermRole> terms) {
    const bool is_plain = terms.empty();
    if (is_plain && !plain_class_[spec].is_none()) return plain_class_[spec];
    signature_.assign({shape_of(spec).number});
    for (const PodTermRole& term : terms)
      signature_.push_back(static_cast<std::uint64_t>(term.kind) << 32U | term.index);
    const auto [number, is_new] = classes_.intern(signature_);
    if (is_new) add_class(spec, terms);
    if (is_plain) plain_class_[spec] = PodClassIndex(number);
    return PodClassIndex(number);
  }

 private:
  struct Shape {
    std::uint32_t number = NameTable::kAbsent;
    std::uint32_t filter = NameTable::kAbsent;
  };

  const Shape& shape_of(PodSpecIndex spec) {
    Shape& shape = shapes_of_[spec];
    if (shape.number != NameTable::kAbsent) return shape;
    const PodSpec& source = draft_.snapshot.pod_specs[spec];
    const auto [filter, is_new] = filters_.intern(writer_.filters_of(source));
    if (is_new) verdicts_.push_back(verdict_of(source));
    shape = {shapes_.intern(writer_.shape_of(source, host_ports_of(spec), filter)).first, filter};
    return shape;
  }

  std::span<const ResourceIndex> host_ports_of(PodSpecIndex spec) const {
    return draft_.host_ports.size() == 0 ? std::span<const ResourceIndex>() : draft_.host_ports[spec];
  }

  FilterVerdict verdict_of(const PodSpec& spec) const {
    FilterVerdict verdict;
    for (const NodeClass& node_class : draft_.problem.node_classes) {
      const SnapshotNode& node = draft_.snapshot.nodes[node_class.nodes.front().value()];
      verdict.allowed.push_back(passes_filters(spec, node));
      verdict.preferred_weight.push_back(preferred_weight(spec, node));
      verdict.untolerated_soft_taints.push_back(untolerated_soft_taints(spec, node));
    }
    return verdict;
  }

  void add_class(PodSpecIndex spec, std::span<const PodTermRole> terms) {
    const PodSpec& source = draft_.snapshot.pod_specs[spec];
    const FilterVerdict& verdict = verdicts_[shape_of(spec).filter];
    PodClass result;
    result.spec = spec;
    result.request.assign(draft_.problem.resource_count, 0);
    for (const auto& [resource, amount] : source.resources) {
      result.request[resource.value()] = amount;
      const Work slice = mig_slice_work(draft_.snapshot.resource_names[resource]);
      result.mig_gpu_usage = saturating_add(result.mig_gpu_usage, saturating_multiply(amount, slice * 1'000));
    }
    for (const ResourceIndex port : host_ports_of(spec)) result.request[port.value()] = 1;
    result.gpu = source.gpu;
    result.smallest_gpu_usage =
        saturating_add(gpu_usage(source.gpu, reference_device_mib(source, draft_.device_kinds)), result.mig_gpu_usage);
    result.counts_as_gpu = source.gpu.kind != GpuRequestKind::kNone || result.mig_gpu_usage > 0;
    result.allowed = verdict.allowed;
    result.preferences.preferred_weight = verdict.preferred_weight;
    result.preferences.untolerated_soft_taints = verdict.untolerated_soft_taints;
    for (const PodTermRole& term : terms) add_term(term, result);
    for (OwnedSpread& owned : result.spread_owned)
      owned.counts_itself = owned.counts_itself || std::ranges::binary_search(result.spread_matched, owned.spread);
    for (OwnedPreferredTerm& owned : result.preferences.preferred_owned)
      owned.counts_itself = std::ranges::binary_search(result.preferences.preferred_matched, owned.preferred_term);
    draft_.problem.pod_classes.push_back(std::move(result));
  }

  static void add_term(const PodTermRole& term, PodClass& result) {
    switch (term.kind) {
      case PodTermRole::Kind::kAntiAffinityOwned:
        return result.anti_affinity_owned.push_back(AntiAffinityIndex(term.index));
      case PodTermRole::Kind::kAntiAffinityMatched:
        return result.anti_affinity_matched.push_back(AntiAffinityIndex(term.index));
      case PodTermRole::Kind::kAffinityOwned:
        result.affinity = AffinityIndex(term.index);
        return;
      case PodTermRole::Kind::kAffinityMatched:
        return result.affinity_matched.push_back(AffinityIndex(term.index));
      case PodTermRole::Kind::kSpreadOwned:
      case PodTermRole::Kind::kSpreadOwnedSelf:
        return result.spread_owned.push_back(
            {SpreadIndex(term.index), term.kind == PodTermRole::Kind::kSpreadOwnedSelf});
      case PodTermRole::Kind::kSpreadMatched:
        return result.spread_matched.push_back(SpreadIndex(term.index));
      case PodTermRole::Kind::kPreferredOwned:
        return result.preferences.preferred_owned.push_back({PreferredTermIndex(term.index), false});
      case PodTermRole::Kind::kPreferredMatched:
        return result.preferences.preferred_matched.push_back(PreferredTermIndex(term.index));
    }
  }

  ProblemDraft& draft_;
  SpecWriter writer_;
  SequenceTable filters_, shapes_, classes_;
  std::vector<FilterVerdict> verdicts_;
  Indexed<PodSpecIndex, Shape> shapes_of_;
  Indexed<PodSpecIndex, PodClassIndex> plain_class_;
  std::vector<std::uint64_t> signature_;
};

std::span<const PodTermRole> terms_of(const PodTerms& terms, PodIndex pod) {
  if (terms.begin.empty()) return {};
  const std::uint32_t begin = terms.begin[pod.value()];
  return std::span(terms.all).subspan(begin, terms.begin[pod.value() + 1] - begin);
}

}  // namespace

void build_pod_classes(ProblemDraft& draft, const PodTerms& terms) {
  PodClassifier classifier(draft);
  for (const PodIndex pod : draft.problem.pods.indices()) {
    draft.problem.pods[pod].pod_class =
        classifier.class_of(draft.snapshot.pods[pod.value()].spec, terms_of(terms, pod));
  }
  if (!draft.snapshot.policy.expected_workload) return;
  for (const ExpectedPod& expected : *draft.snapshot.policy.expected_workload) {
    ExpectedClass& added = draft.problem.objective.expected_workload.emplace_back();
    added.pod_class = classifier.class_of(expected.spec, {});
  }
}

}  // namespace muster
