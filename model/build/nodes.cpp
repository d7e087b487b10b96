// Nodes: names, topology domains, and classes of nodes that this snapshot does not distinguish.
#include <algorithm>
#include <map>

#include "model/build/stages.h"
#include "model/snapshot/filters.h"

namespace muster {
namespace {

constexpr std::uint32_t kLastScope = 0xFFFFFFFF;  // of the coarsest domains of the first topology; then downwards

// One for each level that is of several topologies and that some request names without a topology.
void add_joint_levels(const Snapshot& snapshot, Topology& topology) {
  const auto add = [&](const TopologyRequest& request) {
    if (!request.topology.empty()) return;
    for (const std::string_view label : {request.required, request.preferred}) {
      const auto is_there = [&](const TopologyLevel& level) { return level.is_joint() && level.label == label; };
      if (label.empty() || std::ranges::any_of(topology.levels, is_there)) continue;
      std::vector<LevelPlace> places = places_of_level(snapshot.definitions, label, {});
      if (places.size() > 1) topology.levels.push_back({label, std::move(places)});
    }
  };
  for (const SnapshotGang& gang : snapshot.gangs) {
    add(gang.topology);
    for (const SnapshotSubgroup& subgroup : gang.subgroups) add(subgroup.topology);
  }
}

Failure add_topologies(ProblemDraft& draft) {
  const std::vector<SnapshotTopology>& topologies = draft.snapshot.definitions.topologies;
  Topology& topology = draft.problem.topology;
  NameTable names, levels;  // scope of a level: the topology
  for (std::uint32_t i = 0; i < topologies.size(); ++i) {
    if (!names.insert(topologies[i].name, i).second)
      return name_error(ErrorCode::kDuplicateName, path_to("topologies", i, "name"), "duplicate topology",
                        topologies[i].name);
    for (std::uint32_t level = 0; level < topologies[i].levels.size(); ++level) {
      const std::string_view label = topologies[i].levels[level];
      if (!levels.insert(label, level, i).second)
        return name_error(ErrorCode::kDuplicateName, path_to("topologies", i, "levels"), "duplicate level", label);
      topology.levels.push_back({label, {{i, level}}});
    }
  }
  topology.own_level_count = topology.levels.size();
  if (topologies.size() > 1) add_joint_levels(draft.snapshot, topology);
  return {};
}

// Finds the domains of nodes, which come in ascending order.
class DomainFinder {
 public:
  explicit DomainFinder(ProblemDraft& draft) : draft_(draft), topology_(draft.problem.topology) {}

  // On each level; none on those of topologies of which the node lacks a label.
  std::vector<DomainIndex> domains_of(NodeIndex node) {
    const Labels& labels = draft_.snapshot.nodes[node.value()].labels;
    const auto has_label = [&](std::string_view key) { return label_of(labels, key).has_value(); };
    std::vector<DomainIndex> found(topology_.levels.size());
    std::uint32_t top_scope = kLastScope;
    TopologyLevelIndex level(0);
    for (const SnapshotTopology& chain : draft_.snapshot.definitions.topologies) {
      const TopologyLevelIndex end(level.value() + chain.levels.size());
      if (!std::ranges::all_of(chain.levels, has_label)) level = end;
      for (std::uint32_t scope = top_scope--; level < end; ++level) {
        scope = names_.insert(*label_of(labels, topology_.levels[level].label), next_domain(), scope).first;
        found[level.value()] = add(DomainIndex(scope), level, node);
      }
    }
    for (; level.value() < topology_.levels.size(); ++level) found[level.value()] = joint_domain(level, node, found);
    return found;
  }

 private:
  std::uint32_t next_domain() const { return static_cast<std::uint32_t>(topology_.domains.size()); }

  DomainIndex add(DomainIndex domain, TopologyLevelIndex level, NodeIndex node) {
    if (domain.value() == next_domain()) topology_.domains.push_back({level, {}});
    topology_.domains[domain].nodes.push_back(node);
    return domain;
  }

  DomainIndex joint_domain(TopologyLevelIndex joint, NodeIndex node, const std::vector<DomainIndex>& found) {
    for (const TopologyLevelIndex own : topology_.own_levels()) {
      const DomainIndex domain = found[own.value()];
      if (topology_.levels[own].label != topology_.levels[joint].label || domain.is_none()) continue;
      return add(joint_.try_emplace({joint, domain}, DomainIndex(next_domain())).first->second, joint, node);
    }
    return DomainIndex::none();
  }

  ProblemDraft& draft_;
  Topology& topology_;
  NameTable names_;  // value: the domain; scope: the coarser domain
  std::map<std::pair<TopologyLevelIndex, DomainIndex>, DomainIndex> joint_;
};

// What the filters of this snapshot ask of labels and names. Two nodes with equal answers are equivalent. All values
// that no filter names count as one, so the hostname selector of one pod does not split all nodes.
class AskedLabels {
 public:
  explicit AskedLabels(const Snapshot& snapshot) {
    for (const PodSpec& spec : snapshot.pod_specs) add(spec);
    find_domain_keys(snapshot);
  }

  // Appends numbers that are equal for two nodes exactly if no filter distinguishes their labels and names.
  void describe(const SnapshotNode& node, std::vector<std::uint64_t>& out) {
    for (const auto& [label_key, label_value] : node.labels) {
      const std::uint32_t key = keys_.find(label_key);
      if (key == NameTable::kAbsent) continue;
      const std::uint32_t value = is_whole_[key] ? values_.number(label_value, key) : values_.find(label_value, key);
      out.push_back(std::uint64_t{key} << 32 | value);
    }
    out.push_back(names_.find(node.name));
  }

 private:
  std::uint32_t key_number(std::string_view key) {
    const std::uint32_t number = keys_.number(key);
    is_whole_.resize(keys_.size());
    return number;
  }

  void add(const SelectorRequirement& requirement) {
    const std::uint32_t key = key_number(requirement.key);
    if (requirement.op == SelectorOperator::kGt || requirement.op == SelectorOperator::kLt) is_whole_[key] = true;
    for (const std::string_view value : requirement.values) values_.number(value, key);
  }

  void add(const NodeSelectorTerm& term) {
    for (const SelectorRequirement& requirement : term.match_expressions) add(requirement);
    for (const SelectorRequirement& requirement : term.match_fields) {
      for (const std::string_view name : requirement.values) names_.number(name);
    }
  }

  void add(const PodSpec& spec) {
    for (const auto& [key, value] : spec.node_selector) values_.number(value, key_number(key));
    for (const auto* terms : {&spec.node_affinity.required, &spec.volume_terms}) {
      if (!*terms) continue;
      for (const NodeSelectorTerm& term : **terms) add(term);
    }
    for (const PreferredNodeTerm& preferred : spec.node_affinity.preferred) add(preferred.term);
    for (const PodTerm& term : spec.anti_affinity) domain_keys_.number(term.topology_key);
    for (const PodTerm& term : spec.affinity) domain_keys_.number(term.topology_key);
    for (const SpreadConstraint& constraint : spec.topology_spread) domain_keys_.number(constraint.topology_key);
  }

  // Domains of pod terms that hold a single node each (hostname) split nothing: the nodes differ only in identity.
  void find_domain_keys(const Snapshot& snapshot) {
    if (domain_keys_.size() == 0) return;
    std::vector<std::uint32_t> nodes_with(domain_keys_.size(), 0), values_of(domain_keys_.size(), 0);
    std::vector<std::string_view> key_names(domain_keys_.size());
    NameTable seen;
    for (const SnapshotNode& node : snapshot.nodes) {
      for (const auto& [key, value] : node.labels) {
        const std::uint32_t number = domain_keys_.find(key);
        if (number == NameTable::kAbsent) continue;
        key_names[number] = key;
        ++nodes_with[number];
        values_of[number] += seen.insert(value, 0, number).second ? 1 : 0;
      }
    }
    for (std::uint32_t number = 0; number < key_names.size(); ++number) {
      if (nodes_with[number] == 0) continue;
      const std::uint32_t key = key_number(key_names[number]);
      if (values_of[number] < nodes_with[number]) is_whole_[key] = true;
    }
  }

  NameTable keys_, names_, domain_keys_;
  NameTable values_;            // scope: the key's number
  std::vector<bool> is_whole_;  // by key: every value counts
};

NodeClass node_class_of(ProblemDraft& draft, const SnapshotNode& node) {
  NodeClass result;
  result.capacity.assign(draft.problem.resource_count, 0);
  for (const auto& [resource, amount] : node.resources) result.capacity[resource.value()] = amount;
  result.device_count = node.gpu_count;
  result.device_memory_mib = node.gpu_memory_mib;
  if (!node.gpu_model.empty()) result.model = ModelIndex(draft.models.number(node.gpu_model));
  result.cordoned = node.unschedulable;
  return result;
}

class NodeClassifier {
 public:
  explicit NodeClassifier(ProblemDraft& draft) : draft_(draft), labels_(draft.snapshot) {
    std::size_t end = 0;
    for (const SnapshotTopology& chain : draft.snapshot.definitions.topologies) {
      end += chain.levels.size();
      if (!chain.levels.empty()) finest_.emplace_back(end - 1);
    }
  }

  NodeClassIndex class_of(NodeIndex index) {
    const SnapshotNode& node = draft_.snapshot.nodes[index.value()];
    describe(node, draft_.problem.nodes[index].domains);
    const auto [number, is_new] = classes_.intern(signature_);
    if (is_new) draft_.problem.node_classes.push_back(node_class_of(draft_, node));
    draft_.problem.node_classes[NodeClassIndex(number)].nodes.push_back(index);
    return NodeClassIndex(number);
  }

 private:
  void describe(const SnapshotNode& node, const std::vector<DomainIndex>& domains) {
    signature_.assign({node.unschedulable ? std::uint64_t{1} : 0, static_cast<std::uint64_t>(node.gpu_count),
                       static_cast<std::uint64_t>(node.gpu_memory_mib), strings_.number(node.gpu_model)});
    for (const auto& [resource, amount] : node.resources) {
      if (amount == 0) continue;
      signature_.push_back(resource.value());
      signature_.push_back(static_cast<std::uint64_t>(amount));
    }
    signature_.push_back(kEndOfList);
    for (const Taint& taint : node.taints) {
      signature_.push_back(strings_.number(taint.key));
      signature_.push_back(strings_.number(taint.value));
      signature_.push_back(static_cast<std::uint64_t>(taint.effect));
    }
    signature_.push_back(kEndOfList);
    for (const TopologyLevelIndex level : finest_) signature_.push_back(domains[level.value()].value());
    labels_.describe(node, signature_);
  }

  static constexpr std::uint64_t kEndOfList = ~std::uint64_t{0};
  ProblemDraft& draft_;
  AskedLabels labels_;
  std::vector<TopologyLevelIndex> finest_;  // of each topology: its domain determines those of all other levels
  NameTable strings_;
  SequenceTable classes_;
  std::vector<std::uint64_t> signature_;
};

}  // namespace

Failure build_nodes(ProblemDraft& draft) {
  if (Failure failure = add_topologies(draft)) return failure;
  const std::vector<SnapshotNode>& nodes = draft.snapshot.nodes;
  draft.nodes.reserve(nodes.size());
  draft.problem.nodes.resize(nodes.size());
  DomainFinder domains(draft);
  NodeClassifier classifier(draft);
  for (const NodeIndex index : draft.problem.nodes.indices()) {
    const SnapshotNode& node = nodes[index.value()];
    if (!draft.nodes.insert(node.name, index.value()).second) {
      return name_error(ErrorCode::kDuplicateName, path_to("nodes", index.value(), "name"), "duplicate node",
                        node.name);
    }
    draft.problem.nodes[index].domains = domains.domains_of(index);
    draft.problem.nodes[index].node_class = classifier.class_of(index);
  }
  return {};
}

}  // namespace muster
