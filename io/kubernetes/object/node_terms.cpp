#include "io/kubernetes/object/node_terms.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>
#include <utility>

namespace muster::kubernetes {

namespace {

template <class Values>
void make_set(Values& values) {
  std::ranges::sort(values);
  const auto rest = std::ranges::unique(values);
  values.erase(rest.begin(), rest.end());
}

bool read_requirement(KubernetesReading& in, json::JsonValue object, NodeRequirement& out) {
  static constexpr std::array<std::string_view, 3> kKeys = {"key", "operator", "values"};
  std::array<json::JsonValue, 3> found;
  bool has_values = false;
  if (!in.expect(object, json::JsonKind::kObject) || !in.take(object, kKeys, found) || !in.text(found[0], out.key) ||
      !in.text(found[1], out.op) || !in.has_elements(found[2], has_values)) {
    return false;
  }
  if (!has_values) return true;
  for (const json::JsonValue value : found[2].elements()) {
    if (!in.text(value, out.values.emplace_back())) return false;
  }
  make_set(out.values);
  return true;
}

bool read_requirements(KubernetesReading& in, json::JsonValue list, const NodeRequirement& kind, NodeTerm& out) {
  bool has_any = false;
  if (!in.has_elements(list, has_any)) return false;
  if (!has_any) return true;
  for (const json::JsonValue element : list.elements()) {
    if (!read_requirement(in, element, out.emplace_back(kind))) return false;
  }
  return true;
}

bool exclude_each_other(const NodeRequirement& a, const NodeRequirement& b) {
  const auto asks_for_value = [](const NodeRequirement& one) { return one.op == "In" || one.op == "Exists"; };
  return a.key == b.key && a.is_field == b.is_field &&
         ((a.op == "DoesNotExist" && asks_for_value(b)) || (b.op == "DoesNotExist" && asks_for_value(a)));
}

// False: no node could meet it.
bool add_requirement(NodeTerm& term, const NodeRequirement& more) {
  if (std::ranges::any_of(term, [&](const auto& known) { return exclude_each_other(known, more); })) return false;
  const auto same = std::ranges::find_if(term, [&](const NodeRequirement& known) {
    return known.key == more.key && known.is_field == more.is_field && known.op == "In" && more.op == "In";
  });
  if (same == term.end()) {
    term.push_back(more);
    return true;
  }
  std::vector<std::string_view> values;
  std::ranges::set_intersection(same->values, more.values, std::back_inserter(values));
  same->values = std::move(values);
  return !same->values.empty();
}

bool is_choice(const NodeTerm& term) { return term.size() == 1 && term.front().op == "In"; }

// Terms that are one choice among values of the same key become one.
void join_choices(NodeTerms& terms) {
  NodeTerms joined;
  for (NodeTerm& term : terms) {
    const auto same = std::ranges::find_if(joined, [&](const NodeTerm& known) {
      return is_choice(term) && is_choice(known) && known.front().key == term.front().key &&
             known.front().is_field == term.front().is_field;
    });
    if (same == joined.end()) {
      joined.push_back(std::move(term));
    } else {
      auto& values = same->front().values;
      values.insert(values.end(), term.front().values.begin(), term.front().values.end());
    }
  }
  for (NodeTerm& term : joined) {
    if (is_choice(term)) make_set(term.front().values);
  }
  make_set(joined);
  terms = std::move(joined);
}

}  // namespace

NodeTerm label_term(std::string_view key, std::vector<std::string_view> values) {
  make_set(values);
  return {{key, "In", std::move(values), false}};
}

NodeTerm name_term(std::vector<std::string_view> names) {
  make_set(names);
  return {{"metadata.name", "In", std::move(names), true}};
}

bool read_node_terms(KubernetesReading& in, json::JsonValue list, NodeTerms& out) {
  static constexpr std::array<std::string_view, 2> kKeys = {"matchExpressions", "matchFields"};
  bool has_any = false;
  if (!in.has_elements(list, has_any)) return false;
  if (!has_any) return true;
  for (const json::JsonValue element : list.elements()) {
    std::array<json::JsonValue, 2> found;
    NodeTerm term;
    if (!in.expect(element, json::JsonKind::kObject) || !in.take(element, kKeys, found) ||
        !read_requirements(in, found[0], {{}, {}, {}, false}, term) ||
        !read_requirements(in, found[1], {{}, {}, {}, true}, term)) {
      return false;
    }
    make_set(term);
    if (!term.empty()) out.push_back(std::move(term));
  }
  join_choices(out);
  return true;
}

NodeTerms both(const NodeTerms& a, const NodeTerms& b) {
  NodeTerms product;
  for (const NodeTerm& left : a) {
    for (const NodeTerm& right : b) {
      NodeTerm term = left;
      if (!std::ranges::all_of(right, [&](const NodeRequirement& more) { return add_requirement(term, more); })) {
        continue;
      }
      make_set(term);
      product.push_back(std::move(term));
    }
  }
  join_choices(product);
  return product;
}

}  // namespace muster::kubernetes
