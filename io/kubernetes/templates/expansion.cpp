#include "io/kubernetes/templates/expansion.h"

#include <algorithm>
#include <charconv>
#include <limits>

namespace muster::kubernetes {

namespace {

constexpr Billionths kMostAmount = Billionths{std::numeric_limits<std::int64_t>::max()} * 1'000'000'000;

void add_amount(std::string_view resource, Billionths amount, RequestedAmounts& sums) {
  auto known = std::ranges::find(sums, resource, &RequestedAmount::resource);
  if (known == sums.end()) known = sums.insert(known, {resource, 0});
  known->amount = std::min(kMostAmount, known->amount + std::min(kMostAmount, amount));
}

// The requests of so many such pods; whole devices are `gpu`.
void add_amounts(const KubernetesPod& pod, std::int64_t times, RequestedAmounts& sums) {
  if (times <= 0) return;
  for (const auto& [resource, amount] : pod.requests) add_amount(resource, amount * times, sums);
  if (pod.gpus.request.kind == GpuRequestKind::kWhole) {
    add_amount("gpu", Billionths{pod.gpus.request.devices} * times * 1'000'000'000, sums);
  }
}

// The set that a label of a pod names; -1: none.
std::int64_t set_of(const PodRole& role, const KubernetesPod& pod) {
  if (role.row->set_label.empty()) return 0;
  const std::string_view text = find_label(pod.labels, role.row->set_label);
  std::int64_t set = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), set);
  return error == std::errc() && end == text.data() + text.size() && !text.empty() ? set : -1;
}

bool is_of(const PodRole& role, const KubernetesPod& pod) {
  return role.row->role_label.empty() || find_label(pod.labels, role.row->role_label) == role.name;
}

bool is_active(const KubernetesPod& pod) {
  return pod.state.status != PodStatus::kSucceeded && pod.state.status != PodStatus::kFailed && !pod.state.is_left_out;
}

// Whether a group exists, as an object or by what its pods say.
bool has_group(const KubernetesPod& pod) {
  const GroupSystem system = pod.membership.reference.system;
  return system != GroupSystem::kNone && system != GroupSystem::kKaiOwner && system != GroupSystem::kKaiPod;
}

// Which of the gangs of an object the pods of a set belong to.
std::string part_of(const GangChoice& choice, const PodRole& role, std::int64_t set) {
  return choice.is_per_set ? std::to_string(set) : role.gang;
}

OwnerKey key_of(const KubernetesObject& object) { return {object.namespace_name, object.kind, object.name}; }

}  // namespace

bool TemplateExpansion::is_expanded(const KubernetesObject& object) const {
  return titles_.empty() || std::ranges::find(titles_, object.title()) != titles_.end();
}

bool TemplateExpansion::expand(std::vector<KubernetesPod>& pods) {
  pods_ = &pods;
  there_ = pods.size();
  find_existing();
  for (const OwnerKey& root : owners_.roots()) {
    if (!expand_below(root, 0)) return false;
  }
  return true;
}

void TemplateExpansion::find_existing() {
  for (std::size_t i = 0; i < pods_->size(); ++i) {
    const KubernetesPod& pod = (*pods_)[i];
    names_.emplace(Name(pod.namespace_name, pod.name), i);
    for (const OwnerKey& maker : owners_.makers_of(pod)) existing_[maker].push_back(i);
  }
}

// The object; or what it controls, if it cannot be expanded itself, or has made the object that it acts as.
bool TemplateExpansion::expand_below(const OwnerKey& key, int depth) {
  const KubernetesObject* object = owners_.find_object(key);
  if (object == nullptr || depth > 8) return true;
  const MakerRow* row = find_maker_row(object->group, object->kind);
  const std::vector<OwnerKey> children = owners_.controlled_by(key);
  const bool has_acted =
      row != nullptr && !row->acting.makes_another &&
      std::ranges::any_of(children, [&](const auto& child) { return std::get<1>(child) == row->acting.as; });
  if (row != nullptr && !has_acted && is_expanded(*object)) {
    bool has_made = false;
    if (!expand_object(*object, has_made)) {
      in_.error.message = object->title() + ": " + in_.error.message;
      return false;
    }
    if (has_made && !row->acting.makes_another) return true;
  }
  return std::ranges::all_of(children, [&](const OwnerKey& child) { return expand_below(child, depth + 1); });
}

bool TemplateExpansion::expand_object(const KubernetesObject& object, bool& has_made) {
  const FindObject find = [&](std::string_view kind, std::string_view name) -> const KubernetesObject* {
    for (const std::string_view space : {object.namespace_name, std::string_view()}) {
      const auto found = references_.runtimes.find({space, kind, name});
      if (found != references_.runtimes.end()) return &found->second;
    }
    return nullptr;
  };
  std::vector<PodMaker> makers;
  if (!read_pod_makers(in_, object, find, makers)) return false;
  for (PodMaker& maker : makers) {
    if (maker.cannot.empty() && maker.roles.empty()) maker.cannot = "its spec describes no pods";
    if (maker.is_done) {
      if (!titles_.empty()) in_.remarks.add(std::string(object.kind) + " has ended and makes no more pods", object);
    } else if (!maker.cannot.empty()) {
      in_.remarks.add(std::string(object.kind) + " cannot be expanded: " + maker.cannot, object);
      continue;
    } else if (!expand_maker(maker, key_of(object))) {
      return false;
    }
    has_made = true;
  }
  return true;
}

bool TemplateExpansion::expand_maker(const PodMaker& maker, const OwnerKey& source) {
  static const std::vector<std::size_t> kNone;
  const auto there = existing_.find(source);
  const bool has_none =
      there == existing_.end() || find_maker_row(maker.source.group, maker.source.kind)->acting.makes_another;
  Making making{maker, has_none ? kNone : there->second};
  for (const PodRole& role : maker.roles) {
    if (role.pods() <= kMostMadePods && maker.pods() <= kMostMadePods) continue;
    return in_.fail(maker.source.value, ErrorCode::kTooLarge,
                    "templates make more than " + std::to_string(kMostMadePods) + " pods in total");
  }
  find_missing(making);
  std::int64_t count = 0;
  for (const Missing& missing : making.missing) count += missing.count;
  if (count == 0) return true;
  if (static_cast<std::int64_t>(pods_->size() - there_) + count > kMostMadePods) {
    return in_.fail(maker.source.value, ErrorCode::kTooLarge,
                    "templates make more than " + std::to_string(kMostMadePods) + " pods in total");
  }
  // The object that it acts as is between its pods and the object of the input.
  if (maker.source.kind != maker.object.kind || maker.name != maker.source.name) {
    KubernetesObject acting = maker.object;
    acting.name = keep(maker.name);
    owners_.add_made(acting, source);
  }
  return read_firsts(making) && add_groups(making) && make_pods(making);
}

// Pods that do not tell their set fill one set after another.
void TemplateExpansion::count_active(const Making& making, Missing& missing) const {
  const PodRole& role = *missing.role;
  std::int64_t others = 0;
  for (const std::size_t i : making.there) {
    const KubernetesPod& pod = (*pods_)[i];
    if (!is_active(pod) || !is_of(role, pod)) continue;
    if (role.row->set_label.empty())
      ++others;
    else
      ++missing.active[std::max<std::int64_t>(0, set_of(role, pod))];
  }
  for (std::int64_t set = 0; set < role.sets; ++set) {
    if (others > 0) missing.active[set] = std::min(others, role.size);
    others = std::max<std::int64_t>(0, others - role.size);
    const auto found = missing.active.find(set);
    missing.count += std::max<std::int64_t>(0, role.size - (found == missing.active.end() ? 0 : found->second));
  }
}

void TemplateExpansion::find_missing(Making& making) const {
  for (const PodRole& role : making.maker.roles) {
    Missing missing;
    missing.role = &role;
    if (role.names.is_counted) {
      count_active(making, missing);
    } else {
      for (std::int64_t set = 0; set < role.sets; ++set) {
        for (std::int64_t i = 0; i < role.size; ++i) {
          const std::string name = fill_pattern(role.names.pattern, making.maker, role, {set, role.first_pod + i});
          if (!names_.contains(Name(making.maker.source.namespace_name, name))) ++missing.count;
        }
      }
    }
    making.missing.push_back(std::move(missing));
  }
}

// The existing part of a gang determines which one it is.
void TemplateExpansion::add_member(Making& making, const PodRole& role, std::int64_t set, std::size_t pod) const {
  if (has_group((*pods_)[pod])) making.members.emplace(part_of(making.choice, role, set), pod);
}

void TemplateExpansion::find_members(Making& making) const {
  if (there_ == 0) return;
  for (const PodRole& role : making.maker.roles) {
    for (const std::size_t i : making.there) {
      if (is_of(role, (*pods_)[i])) add_member(making, role, set_of(role, (*pods_)[i]), i);
    }
    if (role.names.is_counted) continue;
    for (std::int64_t set = 0; set < role.sets; ++set) {
      for (std::int64_t i = 0; i < role.size; ++i) {
        const std::string name = fill_pattern(role.names.pattern, making.maker, role, {set, role.first_pod + i});
        const auto found = names_.find(Name(making.maker.source.namespace_name, name));
        if (found != names_.end() && found->second < there_) add_member(making, role, set, found->second);
      }
    }
  }
}

// Whether existing pods belong to groups that the controller of a LeaderWorkerSet has made: `name-index-revision`.
bool TemplateExpansion::has_groups_of_sets(const Making& making) const {
  return std::ranges::any_of(making.members, [&](const auto& member) {
    const GroupReference& reference = (*pods_)[member.second].membership.reference;
    return reference.system == GroupSystem::kVolcano &&
           reference.name.starts_with(making.maker.name + "-" + member.first + "-");
  });
}

bool TemplateExpansion::read_firsts(Making& making) {
  const std::vector<PodRole>& roles = making.maker.roles;
  making.choice.is_per_set = making.maker.row->gang == GangMaker::kLeaderWorkerSet;
  find_members(making);
  std::string_view scheduler = default_scheduler(making.maker);
  for (const PodRole& role : roles) {
    const json::JsonValue name = member_of(role.spec, "schedulerName");
    if (name && name.is(json::JsonKind::kString)) scheduler = name.string();
    if (role.pods() > 0) break;
  }
  if (!choose_gang(in_, making.maker, scheduler, has_groups_of_sets(making), making.choice)) return false;
  return std::ranges::all_of(making.missing, [&](Missing& missing) { return read_first(making, missing); });
}

// A reference that the template has itself counts; the controller of a LeaderWorkerSet replaces it.
bool TemplateExpansion::read_first(const Making& making, Missing& missing) {
  const PodMaker& maker = making.maker;
  const PodRole& role = *missing.role;
  if (role.pods() == 0) return true;
  PodAdditions additions;
  for (const auto& [key, value] : role.names.labels) {
    if (is_of_role(value)) additions.labels.emplace_back(key, fill_pattern(value, maker, role, {}));
  }
  additions.owner_kind = maker.object.kind;
  additions.owner_name = maker.name;
  additions.scheduler = default_scheduler(maker);
  additions.priority_class = maker.policy.priority_class;
  additions.changes = role.changes;
  if (!read_template(maker, role, additions, missing.first)) return false;
  const bool is_in_gang = making.choice.system != GangSystem::kNone && !role.is_outside;
  const GroupSystem own = missing.first.membership.reference.system;
  const bool has_own = own != GroupSystem::kNone && own != GroupSystem::kKueue;
  missing.is_marked = is_in_gang && (!has_own || making.choice.is_per_set);
  if (missing.is_marked) {
    mark_members(making.choice, role, gang_name(maker, making.choice, 0), additions);
    missing.first = {};
    if (!read_template(maker, role, additions, missing.first)) return false;
  }
  hold(maker, role, missing.first);
  if (maker.is_suspended) missing.first.state.status = PodStatus::kGated;
  return true;
}

// If the made pod cannot be read, the error is that of the template, with its path.
bool TemplateExpansion::read_template(const PodMaker& maker, const PodRole& role, const PodAdditions& additions,
                                      KubernetesPod& out) {
  KubernetesObject source = maker.object;
  source.name = maker.source.name;
  source.value = role.value;
  source.metadata = role.metadata;
  source.spec = role.spec;
  source.status = {};
  if (!role.changes.spec_text.empty()) source.spec = made_.add(R"({"spec":)" + role.changes.spec_text + "}").spec;
  if (!in_.expect(source.spec, json::JsonKind::kObject)) return false;
  std::string held;
  source.created = {};
  const KubernetesObject pod = made_.add(pod_text(in_, source, additions, references_.classes, held));
  if (!in_.try_without_path([&] { return read_pod(in_, pod, out); })) {
    KubernetesPod unused;
    return read_pod(in_, source, unused) && read_pod(in_, pod, out);
  }
  if (!held.empty()) out.hold(keep(std::move(held)));
  if (!out.state.node.empty()) {
    out.state.node = {};
    out.state.status = PodStatus::kPending;
    out.hold("the pod template sets nodeName, which Muster does not plan");
  }
  return true;
}

void TemplateExpansion::hold(const PodMaker& maker, const PodRole& role, KubernetesPod& pod) {
  if (role.held.empty()) return;
  if (!role.held.ends_with("-topology"))
    return pod.hold(keep("its " + std::string(maker.source.kind) + " sets " + std::string(role.held) +
                         ", which Muster does not plan"));
  std::string_view value;
  for (const json::JsonValue metadata : {maker.object.metadata, maker.source.metadata, role.metadata,
                                         member_of(member_of(role.value, "template"), "metadata")}) {
    if (value.empty()) value = text_in(metadata, "annotations", role.held);
  }
  pod.hold(keep("the " + std::string(maker.source.kind) +
                " requests an exclusive topology, which Muster does not plan: " + std::string(role.held) + " \"" +
                std::string(value) + "\""));
}

RequestedAmounts TemplateExpansion::all_amounts(const Making& making) const {
  RequestedAmounts sums;
  if (!making.choice.counts_all_resources || making.maker.policy.min_resources) return sums;
  for (const Missing& missing : making.missing) {
    const std::int64_t pods = making.choice.is_per_set ? missing.role->size : missing.role->pods();
    add_amounts(missing.first, pods, sums);
  }
  return sums;
}

bool TemplateExpansion::add_groups(const Making& making) {
  const auto marked = std::ranges::find_if(making.missing, &Missing::is_marked);
  if (marked == making.missing.end()) return true;
  const RequestedAmounts all = all_amounts(making);
  const std::int64_t sets = making.choice.is_per_set ? marked->role->sets : 1;
  for (std::int64_t set = 0; set < sets; ++set) {
    if (making.members.contains(part_of(making.choice, *marked->role, set))) continue;
    KubernetesKind kind{};
    const std::string text =
        group_text(in_, making.maker, making.choice, gang_name(making.maker, making.choice, set), kind);
    if (text.empty()) return true;
    if (!add_group_(kind, made_.add(text), all)) return false;
  }
  return true;
}

// Under the given name, if no pod has it.
void TemplateExpansion::make(const Making& making, const Missing& missing, PodPlace place, std::string name) {
  const PodRole& role = *missing.role;
  KubernetesPod& made = pods_->emplace_back(missing.first);
  made.name = keep(std::move(name));
  names_.emplace(Name(made.namespace_name, made.name), pods_->size() - 1);
  for (const auto& [key, value] : role.names.labels) {
    if (!is_of_role(value)) made.labels.added.emplace_back(key, keep(fill_pattern(value, making.maker, role, place)));
  }
  const auto member = making.members.find(part_of(making.choice, role, place.set));
  if (member != making.members.end() && !role.is_outside) {
    const GroupMembership& other = (*pods_)[member->second].membership;
    made.membership.reference = other.reference;
  } else if (missing.is_marked && making.choice.is_per_set && place.set > 0) {
    made.membership.reference.name = keep(gang_name(making.maker, making.choice, place.set));
  }
}

void TemplateExpansion::make_set(const Making& making, const Missing& missing, std::int64_t set) {
  const PodRole& role = *missing.role;
  const std::string_view space = making.maker.source.namespace_name;
  if (!role.names.is_counted) {
    for (std::int64_t i = role.first_pod; i < role.first_pod + role.size; ++i) {
      std::string name = fill_pattern(role.names.pattern, making.maker, role, {set, i});
      if (!names_.contains(Name(space, name))) make(making, missing, {set, i}, std::move(name));
    }
    return;
  }
  const auto active = missing.active.find(set);
  std::int64_t count = role.size - (active == missing.active.end() ? 0 : active->second);
  const std::string prefix = fill_pattern(role.names.pattern, making.maker, role, {set, 0}) + "-";
  for (std::int64_t i = 0; count > 0; ++i) {
    std::string name = prefix + std::to_string(i);
    if (names_.contains(Name(space, name))) continue;
    make(making, missing, {set, i}, std::move(name));
    --count;
  }
}

bool TemplateExpansion::make_pods(const Making& making) {
  std::int64_t sets = 0;
  for (const Missing& missing : making.missing)
    sets = std::max(sets, missing.role->pods() > 0 ? missing.role->sets : 0);
  for (std::int64_t set = 0; set < sets; ++set) {  // a leader before its workers
    for (const Missing& missing : making.missing) {
      if (set < missing.role->sets && missing.role->size > 0) make_set(making, missing, set);
    }
  }
  return true;
}

}  // namespace muster::kubernetes
