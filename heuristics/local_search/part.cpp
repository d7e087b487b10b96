#include "heuristics/local_search/part.h"

#include <algorithm>
#include <array>
#include <map>
#include <random>
#include <unordered_map>
#include <utility>

#include "heuristics/local_search/part_wholeness.h"
#include "heuristics/local_search/value.h"
#include "heuristics/state/fit.h"
#include "model/objective/evaluation.h"
#include "model/objective/level_values.h"

namespace muster {

namespace {

constexpr std::int64_t kMillion = 1'000'000;
constexpr int kStopEvery = 8;           // trials between two reads of the clock
constexpr std::size_t kMostSites = 12;  // that a trial takes
constexpr std::array<std::size_t, 6> kSites{1, 2, 2,
                                            2, 3, 4};  // how many nodes a trial takes, one as likely as another
constexpr std::array<std::uint32_t, 4> kTakenOff{25, 50, 75, 100};  // percent of what may be taken off them
constexpr std::size_t kBundleShare = 4;                             // one trial in this many is for a waiting gang
constexpr std::size_t kGangShare = 3;                               // of the others, one in this many drops a gang
constexpr std::size_t kMeasures = 4;                                // of which pod that waits comes first
constexpr std::size_t kBundlesTried = 4;                            // gangs that may come in its place
constexpr std::size_t kDraws = 4;  // nodes that are examined, for the one with most idle

// The same everywhere, so that standard distributions are out.
class Dice {
 public:
  explicit Dice(std::uint64_t seed) : random_(seed) {}
  std::size_t below(std::size_t count) { return static_cast<std::size_t>(random_() % count); }
  double unit() { return static_cast<double>(random_() >> 11) / 0x1p53; }

 private:
  std::mt19937_64 random_;
};

struct Contents {
  std::vector<Amount> free;
  std::vector<DeviceUnits> devices;
  Room room() const { return {free, devices}; }
};

struct Occupant {
  PodIndex pod;
  DeviceList devices;
};

// A node of the part.
struct Site {
  NodeIndex node;
  Contents contents;
  std::vector<Occupant> pods;  // those that may move
  std::int64_t idle = 0;       // thousandths of its devices
  std::int64_t last_level = 0;
  std::int32_t breaking = 0;  // pods that keep the node from being whole
};

// What is requested, or an upper bound of what is free on one of several nodes: enough to reject most pods that fit
// nowhere.
struct Need {
  Amount cpu = 0, memory = 0;
  std::int64_t share = 0;  // millionths of one device
  bool exceeds(const Need& most) const { return cpu > most.cpu || memory > most.memory || share > most.share; }
};

Need need_of(const PodClass& pod_class) {
  std::int64_t share = 0;
  if (pod_class.gpu.kind == GpuRequestKind::kWhole) share = kMillion;
  if (pod_class.gpu.kind == GpuRequestKind::kFraction) share = pod_class.gpu.share;
  return {pod_class.request[kCpu.value()], pod_class.request[kMemory.value()], share};
}

// Waiting pods of equal value: of one class, and of gangs that count equally.
struct Offer {
  PodClassIndex pod_class;
  Need need;
  std::int64_t worth = 0;
  std::vector<PodIndex> pods;  // the pod that has waited longest is last
};

// One pod of a trial: its old and its new place.
struct Item {
  PodIndex pod;
  PodClassIndex pod_class;
  NodeIndex from, to;
  DeviceList from_devices, to_devices;
  double key = 0;
  bool is_offered = false;  // by itself, that is
};

struct ByValue {
  std::size_t operator()(PodIndex pod) const { return pod.value(); }
};

class Part {
 public:
  Part(const SearchScope& scope, const ClusterState& state, const SearchPart& input)
      : scope_(scope),
        problem_(scope.problem()),
        state_(state),
        input_(input),
        dice_(input.seed),
        wholeness_(scope, state),
        wishes_(state.wishes()) {
    for (const NodeIndex node : input.nodes) add_site(node);
    for (const PodIndex pod : input.singles) insert(pod);
    list_idle_sites();
    bundles_ = input.bundles;
    find_gangs();
  }

  std::vector<Step> run(const StopRequest& stop) {
    if (sites_.empty()) return {};
    for (std::int64_t trial = 0; trial < input_.trials; ++trial) {
      if (stop && trial % kStopEvery == 0 && stop()) break;
      try_once();
    }
    return std::move(steps_);
  }

 private:
  // --- What there is

  void add_site(NodeIndex node) {
    Site site;
    site.node = node;
    const auto free = state_.free(node);
    const auto devices = state_.free_devices(node);
    site.contents = {{free.begin(), free.end()}, {devices.begin(), devices.end()}};
    for (const PodIndex pod : state_.pods_on(node)) {
      if (scope_.may_move(pod)) site.pods.push_back({pod, state_.place_of(pod).devices});
      site.breaking += scope_.whole_nodes().breaks(pod, node) ? 1 : 0;
    }
    value(site);
    sites_.push_back(std::move(site));
  }

  // Gangs that lie completely in this part, and have no pod more than they need.
  void find_gangs() {
    std::map<GangIndex, std::int32_t> here;
    for (std::size_t i = 0; i < sites_.size(); ++i) {
      for (const Occupant& occupant : sites_[i].pods) {
        const GangIndex gang = problem_.pods[occupant.pod].gang;
        if (problem_.gangs[gang].pods.size() == 1 || !scope_.may_drop(gang)) continue;
        site_of_[occupant.pod] = i;
        ++here[gang];
      }
    }
    for (const auto& [gang, pods] : here) {
      if (pods == std::ssize(problem_.gangs[gang].pods) && scope_.spare(state_, gang) == 0) gangs_.push_back(gang);
    }
  }

  void value(Site& site) const {
    site.idle = idle_thousandths(problem_, site.node, site.contents.devices);
    site.last_level =
        last_level_of(problem_, {problem_.nodes[site.node].node_class, site.contents.free, site.contents.devices});
  }

  using OfferKey = std::pair<PodClassIndex, std::int64_t>;
  Offer& offer_of(PodIndex pod) {
    const OfferKey key{problem_.pods[pod].pod_class, scope_.worth(pod)};
    const auto [at, is_new] = offer_positions_.try_emplace(key, offers_.size());
    if (is_new) offers_.push_back({key.first, need_of(problem_.pod_classes[key.first]), key.second, {}});
    return offers_[at->second];
  }
  bool waits_less(PodIndex a, PodIndex b) const {
    const std::int64_t wait_a = problem_.gangs[problem_.pods[a].gang].waited_seconds;
    const std::int64_t wait_b = problem_.gangs[problem_.pods[b].gang].waited_seconds;
    return wait_a != wait_b ? wait_a < wait_b : a > b;
  }
  void insert(PodIndex pod) {
    std::vector<PodIndex>& pods = offer_of(pod).pods;
    const auto less = [&](PodIndex a, PodIndex b) { return waits_less(a, b); };
    pods.insert(std::ranges::upper_bound(pods, pod, less), pod);
  }
  void withdraw(PodIndex pod) { std::erase(offer_of(pod).pods, pod); }

  // Whether the pod may be dropped in the current state. Gangs of several pods belong to one part, which counts their
  // spare ones.
  bool may_drop(PodIndex pod) {
    const GangIndex gang = problem_.pods[pod].gang;
    if (!scope_.may_drop(gang)) return false;
    return problem_.gangs[gang].pods.size() == 1 || (gang.value() % input_.of == input_.number && spare(gang) > 0);
  }
  std::int32_t& spare(GangIndex gang) {
    const auto [at, is_new] = spare_.try_emplace(gang, 0);
    if (is_new) at->second = scope_.spare(state_, gang);
    return at->second;
  }

  // --- One trial

  void try_once() {
    chosen_.clear();
    placed_.clear();
    needed_.clear();
    optional_.clear();
    completed_.clear();
    gain_ = {};
    leaving_ = GangIndex::none();
    GangIndex bundle = GangIndex::none();
    if (!bundles_.empty() && dice_.below(kBundleShare) == 0) {
      bundle = bundles_[dice_.below(bundles_.size())];
      choose_sites_for(bundle);
    } else if (!gangs_.empty() && dice_.below(kGangShare) == 0) {
      choose_sites_of(gangs_[dice_.below(gangs_.size())]);
    } else {
      choose_sites();
    }
    if (chosen_.empty()) return;
    take_off();
    rule_ = dice_.below(3);
    bool is_better = put_needed() && (bundle.is_none() || put_bundle(bundle));
    if (is_better) {
      fill(bundle);
      is_better = weigh_up();
    }
    if (is_better) {
      keep();
    } else {
      undo();
    }
  }

  void choose(std::size_t site) {
    if (std::ranges::find(chosen_, site) != chosen_.end()) return;
    if (work_.size() == chosen_.size()) work_.emplace_back();
    work_[chosen_.size()] = sites_[site].contents;
    chosen_.push_back(site);
  }
  std::size_t draw_idle() {
    if (idle_sites_.empty()) return dice_.below(sites_.size());
    const auto draw = [&] { return idle_sites_[dice_.below(idle_sites_.size())]; };
    std::size_t best = draw();
    for (std::size_t draws = 1; draws < kDraws; ++draws) {
      const std::size_t other = draw();
      if (sites_[other].idle > sites_[best].idle) best = other;
    }
    return best;
  }
  void list_idle_sites() {
    idle_sites_.clear();
    for (std::size_t site = 0; site < sites_.size(); ++site)
      if (sites_[site].idle > 0) idle_sites_.push_back(site);
  }
  void choose_sites() {
    const std::size_t count = std::min(kSites[dice_.below(kSites.size())], sites_.size());
    choose(dice_.below(4) == 0 ? dice_.below(sites_.size()) : draw_idle());
    for (std::size_t i = 1; i < count; ++i) choose(dice_.below(2) == 0 ? dice_.below(sites_.size()) : draw_idle());
  }
  void choose_sites_for(GangIndex gang) {
    const PodClass& pod_class = problem_.class_of(problem_.gangs[gang].pods.front());
    const std::size_t count = std::min({problem_.gangs[gang].pods.size() + 1, kMostSites, sites_.size()});
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t site = i % 2 == 0 ? draw_idle() : dice_.below(sites_.size());
      if (fit::node(problem_, pod_class, sites_[site].node)) choose(site);
    }
  }

  // All nodes of a gang, which is to leave, and perhaps others.
  void choose_sites_of(GangIndex gang) {
    leaving_ = gang;
    for (const PodIndex pod : problem_.gangs[gang].pods) choose(site_of_.at(pod));
    if (chosen_.size() > kMostSites) chosen_.clear();
    if (!chosen_.empty()) {
      for (std::size_t more = dice_.below(3); more > 0; --more) choose(dice_.below(sites_.size()));
    }
  }

  void take_off() {
    const std::uint32_t percent = kTakenOff[dice_.below(kTakenOff.size())];
    for (std::size_t at = 0; at < chosen_.size(); ++at) {
      const Site& site = sites_[chosen_[at]];
      for (const Occupant& occupant : site.pods) {
        const PodIndex pod = occupant.pod;
        const bool leaves = problem_.pods[pod].gang == leaving_;
        if (!leaves && percent < 100 && dice_.below(100) >= percent) continue;
        hold(work_[at], site.node, problem_.class_of(pod), occupant.devices, -1);
        Item item{pod, problem_.pods[pod].pod_class, site.node, NodeIndex::none(), occupant.devices, {}, 0, false};
        if (leaves) {
          optional_.push_back(std::move(item));
        } else if (may_drop(pod)) {
          item.is_offered = true;
          if (problem_.gangs[problem_.pods[pod].gang].pods.size() > 1) --spare(problem_.pods[pod].gang);
          insert(pod);
          optional_.push_back(std::move(item));
        } else {
          needed_.push_back(std::move(item));
        }
      }
    }
  }

  // All that the gang's minimum needs, or nothing.
  bool put_bundle(GangIndex gang) {
    const Group& root = problem_.groups[problem_.gangs[gang].root];
    std::int32_t missing = root.minimum;
    const std::size_t before = placed_.size();
    for (const PodIndex pod : root.pods) {
      if (missing == 0) break;
      if (!fit::is_pending(problem_.pods[pod])) continue;
      Item item{pod, problem_.pods[pod].pod_class, NodeIndex::none(), NodeIndex::none(), {}, {}, 0, false};
      if (!put(item)) break;
      placed_.push_back(std::move(item));
      --missing;
    }
    if (missing == 0) {
      completed_.push_back(gang);
      return true;
    }
    for (; placed_.size() > before; placed_.pop_back()) {
      const Item& item = placed_.back();
      hold(work_of(item.to), item.to, problem_.pod_classes[item.pod_class], item.to_devices, -1);
    }
    return false;
  }
  Contents& work_of(NodeIndex node) {
    std::size_t at = 0;
    while (sites_[chosen_[at]].node != node) ++at;
    return work_[at];
  }

  bool put_needed() {
    for (Item& item : needed_) {
      const PodClass& pod_class = problem_.pod_classes[item.pod_class];
      item.key = (static_cast<double>(pod_class.work) + 1e-6 * static_cast<double>(pod_class.request[kCpu.value()])) *
                 (1 + 0.3 * dice_.unit());
    }
    std::ranges::sort(needed_,
                      [](const Item& a, const Item& b) { return a.key != b.key ? a.key > b.key : a.pod < b.pod; });
    for (Item& item : needed_) {
      if (!put(item)) return false;
    }
    return true;
  }

  // Puts the item on the best of the chosen nodes.
  bool put(Item& item) {
    const PodClass& pod_class = problem_.pod_classes[item.pod_class];
    std::size_t best = chosen_.size();
    double best_score = 0;
    for (std::size_t at = 0; at < chosen_.size(); ++at) {
      const NodeIndex node = sites_[chosen_[at]].node;
      if (!fits(pod_class, at)) continue;
      if (!item.from.is_none() && !scope_.keeps_domains(item.pod, item.from, node)) continue;
      const double score = score_of(pod_class, at);
      if (best == chosen_.size() || score < best_score) {
        best = at;
        best_score = score;
      }
    }
    if (best == chosen_.size()) return false;
    item.to = sites_[chosen_[best]].node;
    item.to_devices = *choose_devices(work_[best].room(), problem_, pod_class, item.to);
    hold(work_[best], item.to, pod_class, item.to_devices, +1);
    return true;
  }

  bool fits(const PodClass& pod_class, std::size_t at) const {
    const NodeIndex node = sites_[chosen_[at]].node;
    const Room room = work_[at].room();
    return fit::node(problem_, pod_class, node) && fit::capacity(room, pod_class) &&
           fit::devices(room, problem_, pod_class, node);
  }

  // Smaller is better: fullest first, or the same part of the cpu as of the devices left, or any.
  double score_of(const PodClass& pod_class, std::size_t at) {
    if (rule_ == 2 || chosen_.size() == 1) return dice_.unit();
    const NodeClass& node_class = problem_.class_of(sites_[chosen_[at]].node);
    const auto whole = static_cast<double>(std::max<Amount>(1, node_class.capacity[kCpu.value()]));
    const double cpu = static_cast<double>(work_[at].free[kCpu.value()] - pod_class.request[kCpu.value()]) / whole;
    const double idle = static_cast<double>(idle_thousandths(problem_, sites_[chosen_[at]].node, work_[at].devices)) /
                        (1000.0 * std::max(1, node_class.device_count));
    const double noise = 0.1 * dice_.unit();
    return rule_ == 0 ? idle + noise : std::abs(cpu - idle) + noise;
  }

  void hold(Contents& contents, NodeIndex node, const PodClass& pod_class, const DeviceList& devices,
            std::int64_t sign) const {
    for (std::size_t r = 0; r < contents.free.size(); ++r) contents.free[r] -= sign * pod_class.request[r];
    if (devices.empty()) return;
    const DeviceUnits units = share_units(pod_class, problem_.class_of(node));
    for (const std::int32_t device : devices) contents.devices[static_cast<std::size_t>(device)] -= sign * units;
  }

  // Offers, the best first by one of several measures, as long as they fit.
  void fill(GangIndex bundle) {
    order_.clear();
    const std::size_t measure = dice_.below(kMeasures);
    const auto key_of = [&](double worth, double cpu) {
      if (measure == 3) return dice_.unit();
      const double key = measure == 0 ? worth : measure == 1 ? worth / cpu : worth * worth / cpu;
      return key * (1 + 0.5 * dice_.unit());
    };
    const Need most = most_free();
    for (std::size_t i = 0; i < offers_.size(); ++i) {
      if (offers_[i].pods.empty() || offers_[i].need.exceeds(most)) continue;
      const PodClass& pod_class = problem_.pod_classes[offers_[i].pod_class];
      bool fits_somewhere = false;
      for (std::size_t at = 0; at < chosen_.size() && !fits_somewhere; ++at) fits_somewhere = fits(pod_class, at);
      if (!fits_somewhere) continue;
      const auto worth = static_cast<double>(offers_[i].worth);
      const double cpu = static_cast<double>(pod_class.request[kCpu.value()]) + 100;
      order_.push_back({key_of(worth, cpu), i});
    }
    draw_bundles(bundle);
    for (std::size_t i = 0; i < drawn_.size(); ++i) {
      double worth = 0, cpu = 100;
      for (const PodIndex pod : problem_.gangs[drawn_[i]].pods) {
        worth += static_cast<double>(scope_.worth(pod));
        cpu += static_cast<double>(problem_.class_of(pod).request[kCpu.value()]);
      }
      if (measure == 0) worth /= static_cast<double>(problem_.gangs[drawn_[i]].pods.size());
      order_.push_back({key_of(worth, cpu), offers_.size() + i});
    }
    std::ranges::sort(order_, [](const auto& a, const auto& b) {
      return a.first != b.first ? a.first > b.first : a.second < b.second;
    });
    for (const auto& [key, position] : order_) {
      if (position >= offers_.size()) {
        put_bundle(drawn_[position - offers_.size()]);
        continue;
      }
      Offer& offer = offers_[position];
      while (!offer.pods.empty()) {
        Item item{offer.pods.back(), offer.pod_class, NodeIndex::none(), NodeIndex::none(), {}, {}, 0, true};
        if (!put(item)) break;
        offer.pods.pop_back();
        const GangIndex gang = problem_.pods[item.pod].gang;
        if (problem_.gangs[gang].pods.size() > 1) ++spare(gang);
        placed_.push_back(std::move(item));
      }
    }
  }

  Need most_free() const {
    Need most;
    for (std::size_t at = 0; at < chosen_.size(); ++at) {
      most.cpu = std::max(most.cpu, work_[at].free[kCpu.value()]);
      most.memory = std::max(most.memory, work_[at].free[kMemory.value()]);
      const DeviceUnits millionth = problem_.device_capacity(sites_[chosen_[at]].node) / kMillion;
      for (const DeviceUnits units : work_[at].devices) most.share = std::max(most.share, units / millionth);
    }
    return most;
  }

  // Gangs that may be added in addition to the offered one: the gang that left, and some that wait.
  void draw_bundles(GangIndex already) {
    drawn_.clear();
    if (!leaving_.is_none()) drawn_.push_back(leaving_);
    const std::size_t count = leaving_.is_none() ? 1 : kBundlesTried;
    for (std::size_t i = 0; i < count && !bundles_.empty(); ++i) {
      const GangIndex gang = bundles_[dice_.below(bundles_.size())];
      if (gang != already && std::ranges::find(drawn_, gang) == drawn_.end()) drawn_.push_back(gang);
    }
  }

  // --- The outcome

  // Pairs the pods taken off with the pods placed, and adds up the gain.
  bool weigh_up() {
    for (const Item& item : optional_) {
      const auto again = std::ranges::find(placed_, item.pod, &Item::pod);
      if (again != placed_.end()) {
        again->from = item.from;
        again->from_devices = item.from_devices;
      } else {
        gain_.worth -= scope_.worth(item.pod);
      }
    }
    for (const Item& item : placed_) gain_.worth += item.from.is_none() ? scope_.worth(item.pod) : 0;
    for (const Item& item : needed_) gain_.worth += item.from.is_none() ? scope_.worth(item.pod) : 0;
    if (gain_.worth < 0 || !changes_anything()) return false;
    const auto count = [&](const Item& item, NodeIndex node, std::int64_t sign) {
      if (node.is_none()) return;
      gain_.seniority += sign * seniority_of(problem_, item.pod);
      gain_.preference += sign * preference_of(problem_, item.pod, node);
    };
    const auto count_both = [&](const Item& item) {
      count(item, item.from, -1);
      count(item, item.to, +1);
    };
    std::ranges::for_each(needed_, count_both);
    std::ranges::for_each(placed_, count_both);
    for (const Item& item : optional_) {
      if (is_dropped(item)) count(item, item.from, -1);
    }
    if (!problem_.wishes.empty()) gain_.preference += gain_.wishes = gain_of_wishes();
    if (scope_.has_whole_nodes()) gain_.wholeness = gain_of_wholeness();
    for (std::size_t at = 0; at < chosen_.size(); ++at) {
      const Site& site = sites_[chosen_[at]];
      gain_.last_level += site.last_level - last_level_of(problem_, {problem_.nodes[site.node].node_class,
                                                                     work_[at].free, work_[at].devices});
    }
    if (gain_ == Gain{} && input_.counts_usable) {
      for (std::size_t at = 0; at < chosen_.size(); ++at) {
        const Site& site = sites_[chosen_[at]];
        gain_.usable += usable_thousandths(problem_, site.node, work_[at].room()) -
                        usable_thousandths(problem_, site.node, site.contents.room());
      }
      if (gain_.usable < kLeastUsable) return false;
    }
    return gain_ > Gain{};
  }
  static constexpr double kLeastUsable = 1e-3;  // less is rounding

  template <class Visit>
  void for_each_move(const Visit& visit) const {
    for (const Item& item : needed_) visit(item);
    for (const Item& item : placed_) visit(item);
    for (const Item& item : optional_) {
      if (is_dropped(item)) visit(item);
    }
  }

  // By how the pods of the trial, and all pods related to them, meet their preferred terms.
  std::int64_t gain_of_wishes() {
    const std::int64_t before = wishes_.value();
    follow_wishes(Follow::kOn);
    const std::int64_t gain = wishes_.value() - before;
    follow_wishes(Follow::kBack);
    return gain;
  }

  enum class Follow : std::uint8_t { kOn, kBack };
  void follow_wishes(Follow follow) {
    for_each_move([&](const Item& item) {
      const PodClass& pod_class = problem_.pod_classes[item.pod_class];
      const Work work = problem_.pods[item.pod].weighted_work;
      if (item.from == item.to) return;
      if (!item.from.is_none()) wishes_.count(pod_class, item.from, work, follow == Follow::kBack);
      if (!item.to.is_none()) wishes_.count(pod_class, item.to, work, follow == Follow::kOn);
    });
  }

  WholenessValues gain_of_wholeness() {
    moves_.clear();
    node_changes_.clear();
    for_each_move([&](const Item& item) {
      if (item.from != item.to) moves_.push_back({item.pod, item.from, item.to});
    });
    if (moves_.empty()) return {};
    for (std::size_t at = 0; at < chosen_.size(); ++at) {
      const Site& site = sites_[chosen_[at]];
      node_changes_.push_back({site.node, site.breaking, site.breaking + newly_breaking(site.node)});
    }
    return wholeness_.gain_of(moves_, node_changes_);
  }

  std::int32_t newly_breaking(NodeIndex node) const {
    std::int32_t change = 0;
    for (const PartWholeness::Move& move : moves_) change += (move.to == node ? 1 : 0) - (move.from == node ? 1 : 0);
    return change;
  }

  bool is_dropped(const Item& item) const { return std::ranges::find(placed_, item.pod, &Item::pod) == placed_.end(); }
  bool changes_anything() const {
    const auto stays = [](const Item& item) { return item.from == item.to && item.from_devices == item.to_devices; };
    return !std::ranges::all_of(needed_, stays) || !std::ranges::all_of(placed_, stays) ||
           std::ranges::any_of(optional_, [&](const Item& item) { return is_dropped(item); });
  }

  void undo() {
    for (std::size_t i = placed_.size(); i-- > 0;) {
      if (!placed_[i].is_offered) continue;
      const GangIndex gang = problem_.pods[placed_[i].pod].gang;
      if (problem_.gangs[gang].pods.size() > 1) --spare(gang);
      insert(placed_[i].pod);
    }
    for (const Item& item : optional_) {
      if (!item.is_offered) continue;
      const GangIndex gang = problem_.pods[item.pod].gang;
      if (problem_.gangs[gang].pods.size() > 1) ++spare(gang);
      withdraw(item.pod);
    }
  }

  void keep() {
    Step step;
    step.gain = gain_;
    const auto note = [&](const Item& item) {
      if (item.from == item.to && item.from_devices == item.to_devices) return;
      step.changes.push_back({item.pod, {item.from, item.from_devices}, {item.to, item.to_devices}});
    };
    std::ranges::for_each(needed_, note);
    std::ranges::for_each(placed_, note);
    for (const Item& item : optional_) {
      if (is_dropped(item)) note(item);
    }
    for (std::size_t at = 0; at < chosen_.size(); ++at) {
      Site& site = sites_[chosen_[at]];
      site.contents = work_[at];
      std::erase_if(site.pods, [&](const Occupant& occupant) {
        const auto is_it = [&](const Item& item) { return item.pod == occupant.pod; };
        return std::ranges::any_of(needed_, is_it) || std::ranges::any_of(optional_, is_it);
      });
      const auto enter = [&](const Item& item) {
        if (item.to == site.node) site.pods.push_back({item.pod, item.to_devices});
      };
      std::ranges::for_each(needed_, enter);
      std::ranges::for_each(placed_, enter);
      if (scope_.has_whole_nodes()) site.breaking += newly_breaking(site.node);
      value(site);
    }
    if (!problem_.wishes.empty()) follow_wishes(Follow::kOn);
    if (scope_.has_whole_nodes()) wholeness_.carry_out(moves_, node_changes_);
    list_idle_sites();
    note_gangs();
    steps_.push_back(std::move(step));
  }

  // The gangs that have come and left as a whole.
  void note_gangs() {
    if (!leaving_.is_none()) {
      std::erase(gangs_, leaving_);
      bundles_.push_back(leaving_);
    }
    for (const GangIndex gang : completed_) {
      std::erase(bundles_, gang);
      spare_[gang] = 0;
      if (problem_.groups[problem_.gangs[gang].root].minimum == std::ssize(problem_.gangs[gang].pods))
        gangs_.push_back(gang);
    }
    const auto note = [&](const Item& item) {
      for (std::size_t at : chosen_) {
        if (sites_[at].node == item.to) site_of_[item.pod] = at;
      }
    };
    std::ranges::for_each(needed_, note);
    std::ranges::for_each(placed_, note);
  }

  const SearchScope& scope_;
  const Problem& problem_;
  const ClusterState& state_;
  const SearchPart& input_;
  Dice dice_;
  PartWholeness wholeness_;
  WishTally wishes_;
  std::vector<Site> sites_;
  std::vector<std::size_t> idle_sites_;  // of which devices are idle
  std::vector<Offer> offers_;
  std::map<OfferKey, std::size_t> offer_positions_;
  std::vector<GangIndex> bundles_;
  std::vector<GangIndex> gangs_;                                // that lie here whole
  std::unordered_map<PodIndex, std::size_t, ByValue> site_of_;  // of the pods of gangs
  std::map<GangIndex, std::int32_t> spare_;
  std::vector<Step> steps_;
  // Of one trial.
  std::vector<std::size_t> chosen_;               // sites
  std::vector<Contents> work_;                    // of the chosen ones
  std::vector<Item> needed_, optional_, placed_;  // must be put down again; may be; was put down of what is offered
  std::vector<std::pair<double, std::size_t>> order_;
  GangIndex leaving_;                         // whole, if it is not put down again
  std::vector<GangIndex> drawn_, completed_;  // gangs that wait: those that are tried, those that were put down
  Gain gain_;
  std::size_t rule_ = 0;
  std::vector<PartWholeness::Move> moves_;
  std::vector<PartWholeness::NodeChange> node_changes_;
};

}  // namespace

Gain& Gain::operator+=(const Gain& other) {
  worth += other.worth;
  seniority += other.seniority;
  for (std::size_t i = 0; i < wholeness.size(); ++i) wholeness[i] += other.wholeness[i];
  preference += other.preference;
  last_level += other.last_level;
  usable += other.usable;
  wishes += other.wishes;
  return *this;
}

std::vector<Step> improve_part(const SearchScope& scope, const ClusterState& state, const SearchPart& part,
                               const StopRequest& stop) {
  return Part(scope, state, part).run(stop);
}

}  // namespace muster
