// The nodes on which the volumes of pods let them run, as docs/kubernetes.md maps them.
#include <iterator>

#include "model/snapshot/filters.h"
#include "test/io/kubernetes_objects.h"

namespace muster::kubernetes {
namespace {

constexpr const char* kZone = "topology.kubernetes.io/zone";

Json claim(const char* name, Json spec, const char* phase = "Bound") {
  Json made = in_namespace(object("v1", "PersistentVolumeClaim", name, std::move(spec)));
  made["status"]["phase"] = phase;
  return made;
}

Json bound(const char* name, const char* volume, const char* mode = "ReadWriteMany") {
  return claim(name, {{"volumeName", volume}, {"accessModes", {mode}}});
}

Json unbound(const char* name, const char* storage_class) {
  return claim(name, {{"storageClassName", storage_class}, {"accessModes", {"ReadWriteMany"}}}, "Pending");
}

Json volume(const char* name, const char* key, std::vector<std::string> values) {
  Json made = object("v1", "PersistentVolume", name, Json::object());
  const Json term{{"matchExpressions", {{{"key", key}, {"operator", "In"}, {"values", values}}}}};
  made["spec"]["nodeAffinity"]["required"]["nodeSelectorTerms"] = Json::array({term});
  return made;
}

Json storage_class(const char* name, const char* mode, const char* provisioner = "csi.example.com") {
  Json made{{"apiVersion", "storage.k8s.io/v1"}, {"kind", "StorageClass"}, {"metadata", {{"name", name}}}};
  made["provisioner"] = provisioner;
  made["volumeBindingMode"] = mode;
  return made;
}

Json using_claims(Json made, const std::vector<const char*>& claims) {
  made["spec"]["volumes"] = Json::array();
  for (const char* one : claims) {
    made["spec"]["volumes"].push_back({{"name", one}, {"persistentVolumeClaim", {{"claimName", one}}}});
  }
  return made;
}

Json in_zone(const char* name, const char* zone) { return labelled(node(name), kZone, zone); }

// The nodes that the pod's required affinity and its volumes leave; "held" if it is not to be placed.
std::string nodes_for(const std::vector<Json>& objects, std::string_view name) {
  const auto made = muster_v1::SnapshotReader().read(imported(objects).line.dump());
  EXPECT_TRUE(made) << made.error().message;
  std::string names;
  for (const SnapshotPod& one : made->pods) {
    if (one.name != name) continue;
    if (one.status == PodStatus::kGated) return "held";
    for (const SnapshotNode& there : made->nodes) {
      const PodSpec& spec = made->pod_specs[one.spec];
      if (required_affinity_holds(spec, there) && volume_terms_hold(spec, there)) names.append(there.name);
    }
  }
  return names;
}

std::vector<Json> with_three_zones(std::vector<Json> objects) {
  for (Json& one : std::vector<Json>{in_zone("a", "za"), in_zone("b", "zb"), in_zone("c", "zc")}) {
    objects.push_back(std::move(one));
  }
  return objects;
}

TEST(KubernetesVolumes, TieAPodToTheNodesOfTheirVolume) {
  const std::vector<Json> objects =
      with_three_zones({using_claims(pod("p"), {"data"}), bound("data", "v"), volume("v", kZone, {"za", "zb"})});
  EXPECT_EQ(nodes_for(objects, "team/p"), "ab");
  EXPECT_FALSE(imported(objects).pod("team/p").contains("unboundVolumes"));
}

TEST(KubernetesVolumes, AndThePodsOwnAffinityHoldTogether) {
  Json both = using_claims(pod("p"), {"data", "more"});
  both["spec"]["affinity"]["nodeAffinity"] = Json::parse(
      R"({"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[
          {"matchExpressions":[{"key":"topology.kubernetes.io/zone","operator":"In","values":["za"]}]},
          {"matchExpressions":[{"key":"topology.kubernetes.io/zone","operator":"NotIn","values":["za","zb"]}]}]},
          "preferredDuringSchedulingIgnoredDuringExecution":[{"weight":5,"preference":{"matchExpressions":[
          {"key":"x","operator":"Exists"}]}}]})");
  const auto nodes = [&](std::vector<std::string> first, std::vector<std::string> second) {
    return nodes_for(with_three_zones({both, bound("data", "v"), bound("more", "w"),
                                       volume("v", kZone, std::move(first)), volume("w", kZone, std::move(second))}),
                     "team/p");
  };
  EXPECT_EQ(nodes({"za", "zb", "zc"}, {"za", "zb", "zc"}), "ac");
  EXPECT_EQ(nodes({"za", "zb"}, {"za", "zc"}), "a");
  EXPECT_EQ(nodes({"zb"}, {"zb"}), "");
  const Json made = imported(with_three_zones({both, bound("data", "v"), bound("more", "w"), volume("v", kZone, {"za"}),
                                               volume("w", kZone, {"za"})}))
                        .pod("team/p");
  EXPECT_EQ(made["nodeAffinity"]["preferredDuringSchedulingIgnoredDuringExecution"][0]["weight"], 5);
}

TEST(KubernetesVolumes, StandApartFromTheAffinityThatASpreadHonours) {
  Json spread = using_claims(pod("p"), {"data"});
  spread["spec"]["topologySpreadConstraints"] = Json::parse(
      R"([{"maxSkew":1,"topologyKey":"topology.kubernetes.io/zone","whenUnsatisfiable":"DoNotSchedule","labelSelector":{}}])");
  const Json made = imported(with_three_zones({spread, bound("data", "v"), volume("v", kZone, {"za"})})).pod("team/p");
  EXPECT_FALSE(made.contains("held"));
  EXPECT_FALSE(made.contains("nodeAffinity"));
  EXPECT_EQ(made["volumeNodeAffinity"], volume("v", kZone, {"za"})["spec"]["nodeAffinity"]);
}

TEST(KubernetesVolumes, InAZoneOfTheirLabelGoToNodesOfItOrWithoutAny) {
  Json zonal = object("v1", "PersistentVolume", "v", Json::object());
  const auto nodes = [&](const char* key, const char* value) {
    std::vector<Json> objects =
        with_three_zones({using_claims(pod("p"), {"data"}), bound("data", "v"), labelled(zonal, key, value)});
    objects.push_back(node("bare"));
    objects.push_back(labelled(node("old"), "failure-domain.beta.kubernetes.io/zone", "za"));
    return nodes_for(objects, "team/p");
  };
  EXPECT_EQ(nodes(kZone, "za"), "abare") << "the old name of the label says nothing of the new one";
  EXPECT_EQ(nodes(kZone, "za__zc"), "acbare");
  EXPECT_EQ(nodes("failure-domain.beta.kubernetes.io/zone", "za"), "abareold");
  EXPECT_EQ(nodes(kZone, "za__"), "abcbareold") << "a value that is none means nothing";
}

TEST(KubernetesVolumes, WhoseClaimCannotBeUsedHoldThePod) {
  const auto nodes = [](Json one) {
    std::vector<Json> objects =
        with_three_zones({using_claims(pod("p"), {"data"}), volume("v", kZone, {"za"}), unbound("other", "x")});
    objects.push_back(storage_class("now", "Immediate"));
    objects.push_back(std::move(one));
    return nodes_for(objects, "team/p");
  };
  EXPECT_EQ(nodes(bound("data", "v")), "a");
  EXPECT_EQ(nodes(bound("elsewhere", "v")), "held") << "there is no claim of that name";
  EXPECT_EQ(nodes(bound("data", "gone")), "held") << "no volume of that name";
  EXPECT_EQ(nodes(claim("data", {{"volumeName", "v"}}, "Lost")), "held");
  EXPECT_EQ(nodes(claim("data", {{"volumeName", "v"}}, "Pending")), "held") << "bound from one side only";
  EXPECT_EQ(nodes(unbound("data", "now")), "held");
  EXPECT_EQ(nodes(unbound("data", "unknown")), "held");
  EXPECT_EQ(nodes(claim("data", Json::object(), "Pending")), "held") << "no class";
  Json leaving = bound("data", "v");
  leaving["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z";
  EXPECT_EQ(nodes(leaving), "held");
}

TEST(KubernetesVolumes, ThatWaitForTheirConsumerAreLeftToItsScheduler) {
  Json late = storage_class("late", "WaitForFirstConsumer");
  const auto objects = [&] {
    return with_three_zones({using_claims(pod("p"), {"data"}), unbound("data", "late"), late});
  };
  EXPECT_EQ(nodes_for(objects(), "team/p"), "abc");
  EXPECT_EQ(imported(objects()).pod("team/p")["unboundVolumes"], true);
  late["allowedTopologies"] = Json::parse(
      R"([{"matchLabelExpressions":[{"key":"topology.kubernetes.io/zone","values":["za"]}]},
          {"matchLabelExpressions":[{"key":"topology.kubernetes.io/zone","values":["zc"]}]}])");
  EXPECT_EQ(nodes_for(objects(), "team/p"), "ac");
  std::vector<Json> chosen = with_three_zones({using_claims(pod("p"), {"data"}), late});
  chosen.push_back(annotated(unbound("data", "late"), "volume.kubernetes.io/selected-node", "c"));
  EXPECT_EQ(nodes_for(chosen, "team/p"), "c") << "its volume is being made for that node";
}

TEST(KubernetesVolumes, MadeByHandAreThoseThatMatchTheClaim) {
  const Json by_hand = storage_class("hand", "WaitForFirstConsumer", "kubernetes.io/no-provisioner");
  const auto available = [](const char* name, const char* zone, const char* size) {
    Json made = volume(name, kZone, {zone});
    made["spec"]["storageClassName"] = "hand";
    made["spec"]["capacity"]["storage"] = size;
    made["spec"]["accessModes"] = {"ReadWriteMany"};
    made["status"]["phase"] = "Available";
    return made;
  };
  Json wanted = unbound("data", "hand");
  wanted["spec"]["resources"]["requests"]["storage"] = "10Gi";
  std::vector<Json> objects = with_three_zones({using_claims(pod("p"), {"data"}), wanted, by_hand,
                                                available("large", "za", "10Gi"), available("small", "zb", "9Gi")});
  EXPECT_EQ(nodes_for(objects, "team/p"), "a");
  objects.push_back(available("other", "zc", "1Ti"));
  EXPECT_EQ(nodes_for(objects, "team/p"), "ac");
  objects.push_back(using_claims(pod("q"), {"data-q"}));
  objects.push_back(unbound("data-q", "hand"));
  EXPECT_EQ(nodes_for(objects, "team/p"), "held") << "each volume can be bound once";
}

TEST(KubernetesVolumes, ThatOneNodeMayUseAreUsedThere) {
  const std::vector<Json> objects =
      with_three_zones({using_claims(pod("p"), {"data"}), running(using_claims(pod("q"), {"data"}), "b"),
                        bound("data", "v", "ReadWriteOnce"), volume("v", kZone, {"za", "zb"})});
  EXPECT_EQ(nodes_for(objects, "team/p"), "b");
  EXPECT_EQ(nodes_for(objects, "team/q"), "b") << "p is sent to where the volume is attached";
  const std::vector<Json> alone =
      with_three_zones({running(using_claims(pod("q"), {"data"}), "b"), bound("data", "v", "ReadWriteOnce"),
                        volume("v", kZone, {"za", "zb"})});
  EXPECT_EQ(nodes_for(alone, "team/q"), "ab") << "by itself it may move to where its volume is";
}

TEST(KubernetesVolumes, ThatOnePodMayUseHoldTheOthers) {
  std::vector<Json> objects = with_three_zones({using_claims(pod("p"), {"data"}), using_claims(pod("q"), {"data"}),
                                                bound("data", "v", "ReadWriteOncePod"), volume("v", kZone, {"za"})});
  EXPECT_EQ(nodes_for(objects, "team/p"), "a") << "the first by age and name";
  EXPECT_EQ(nodes_for(objects, "team/q"), "held");
  objects.push_back(running(using_claims(pod("r"), {"data"}), "a"));
  EXPECT_EQ(nodes_for(objects, "team/p"), "held");
  const std::vector<Json> shared =
      with_three_zones({running(using_claims(pod("r"), {"data"}), "a"), running(using_claims(pod("s"), {"data"}), "a"),
                        bound("data", "v", "ReadWriteOncePod"), volume("v", kZone, {"za", "zb"})});
  EXPECT_EQ(nodes_for(shared, "team/r"), "a") << "moved, it would not start again beside s";
}

TEST(KubernetesVolumes, ThatAreEphemeralHaveTheClaimOfTheirPod) {
  Json made = pod("p");
  made["spec"]["volumes"] = Json::parse(R"([{"name":"scratch","ephemeral":{"volumeClaimTemplate":{"spec":{}}}},
                                            {"name":"config","configMap":{"name":"c"}}])");
  Json own = bound("p-scratch", "v");
  std::vector<Json> objects = with_three_zones({made, own, volume("v", kZone, {"zb"})});
  EXPECT_EQ(nodes_for(objects, "team/p"), "held") << "the claim belongs to another pod";
  objects[1]["metadata"]["ownerReferences"] = Json::array({{{"kind", "Pod"}, {"name", "p"}, {"controller", true}}});
  EXPECT_EQ(nodes_for(objects, "team/p"), "b");
  objects[1]["metadata"]["name"] = "q-scratch";
  EXPECT_EQ(nodes_for(objects, "team/p"), "held") << "not made yet";
}

TEST(KubernetesVolumes, OfWhichTheListHasNoneArePassedOverWithAWord) {
  const std::vector<Json> objects = with_three_zones({using_claims(pod("p"), {"data"})});
  EXPECT_EQ(nodes_for(objects, "team/p"), "abc");
  EXPECT_TRUE(imported(objects).says("persistentvolumeclaims and storageclasses"));
  const std::vector<Json> without_volumes = with_three_zones({using_claims(pod("p"), {"data"}), bound("data", "v")});
  EXPECT_EQ(nodes_for(without_volumes, "team/p"), "abc");
  EXPECT_TRUE(imported(without_volumes).says("add persistentvolumes to `kubectl get`"));
}

Json of_driver(const char* name, const char* handle, const char* driver = "ebs.csi.aws.com") {
  return object("v1", "PersistentVolume", name, {{"csi", {{"driver", driver}, {"volumeHandle", handle}}}});
}

Json csi_node(const char* name, Json allocatable) {
  return object("storage.k8s.io/v1", "CSINode", name,
                {{"drivers", {{{"name", "ebs.csi.aws.com"}, {"allocatable", std::move(allocatable)}}}}});
}

constexpr const char* kAttached = "attachable-volumes-csi-ebs.csi.aws.com";

TEST(KubernetesVolumes, OfACsiDriverCountTowardsTheLimitOfTheNode) {
  const ImportedObjects made =
      imported({node("n"), node("m"), csi_node("n", {{"count", 25}}), csi_node("m", Json::object()),
                storage_class("later", "WaitForFirstConsumer", "ebs.csi.aws.com"), bound("one", "v1"),
                bound("two", "v2"), bound("same", "v2"), bound("other", "v3"), unbound("three", "later"),
                of_driver("v1", "h1"), of_driver("v2", "h2"), of_driver("v3", "h3", "else.example.com"),
                using_claims(pod("p"), {"one", "two", "same", "other", "three"}),
                running(using_claims(pod("q"), {"one", "two"}), "n"), running(using_claims(pod("r"), {"two"}), "n")});
  EXPECT_EQ(made.at("nodes", "n")["resources"][kAttached], 25);
  EXPECT_GT(made.at("nodes", "m")["resources"][kAttached], 1'000'000) << "it has no limit";
  EXPECT_EQ(made.pod("team/p")["resources"][kAttached], 3) << "each volume once";
  EXPECT_EQ(made.pod("team/q")["resources"][kAttached], 2);
  EXPECT_FALSE(made.pod("team/r")["resources"].contains(kAttached)) << "it is attached to the node already";
}

TEST(KubernetesVolumes, OfACsiDriverWhoseLimitsAreNotToldAreRemarkedUpon) {
  const ImportedObjects made =
      imported({node("n"), bound("one", "v1"), of_driver("v1", "h1"), using_claims(pod("p"), {"one"})});
  EXPECT_FALSE(made.pod("team/p")["resources"].contains(kAttached));
  EXPECT_TRUE(made.says("csinodes to `kubectl get`"));
}

TEST(KubernetesVolumes, OfRunningPodsOnlyKeepThemWhereTheyAre) {
  std::vector<Json> objects = with_three_zones({running(using_claims(pod("p"), {"data"}), "c"), unbound("other", "x")});
  EXPECT_EQ(nodes_for(objects, "team/p"), "c") << "its claim is gone, and it runs";
}

}  // namespace
}  // namespace muster::kubernetes
