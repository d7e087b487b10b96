// Finds the keys of an object that the import does not read.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "io/json/json_document.h"
#include "io/kubernetes/known/known.h"

namespace muster::kubernetes::known {

enum class Place : std::uint8_t { kAnnotation, kLabel, kResource, kField, kKind };

// "annotation", "label", "resource", "field" or "kind".
std::string_view place_name(Place place);

// The parts of an object that have keys; absent ones are values without a tape.
struct Subject {
  std::string_view group, kind;
  json::JsonValue metadata, spec, status;
};

// A template of pods that are to be made, and the metadata of the object that will make them, which is looked at as an
// object, too.
struct TemplateSubject {
  json::JsonValue metadata, spec, of_owner;
};

// A key that is not read.
struct Unread {
  Place place;
  std::string key;    // of a field its path, of a kind its name
  std::string value;  // as JSON unless it is a string; shortened
  const Rule* rule;   // none: no row has the key
};

// Appends what `subject` has of kIgnored, kHeld and kProtected keys, and keys of a known domain or kind that are in no
// row. Values that are empty count as absent. Cost: for a key that is none of a known domain, some nanoseconds and no
// allocation.
void find_unread(const Subject& subject, std::vector<Unread>& out);
void find_unread(const TemplateSubject& subject, std::vector<Unread>& out);

// The same of an object of a kind that the import does not read: the kind itself, or what else a row names. False: it
// is none of a known API group, or no row tells what the kind means; nothing is appended then.
bool find_unread_kind(const Subject& subject, std::vector<Unread>& out);

// The rule of a resource that pods request. None: it is harmless, or unknown.
const Rule* rule_of_resource(std::string_view resource);

// Whether an annotation must be kept for the import: it is read, or it is reported.
bool is_needed_annotation(std::string_view key);

}  // namespace muster::kubernetes::known
