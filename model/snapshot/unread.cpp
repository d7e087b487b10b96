#include "model/snapshot/unread.h"

#include <cctype>
#include <utility>

namespace muster {

std::string unread_title(const UnreadKey& key) {
  if (key.place == "kind") return "the kind " + key.key;
  std::string title = key.place;
  title.append(" ").append(key.key);
  if (!key.value.empty()) title.append(" \"").append(key.value).append("\"");
  return title;
}

std::string remark_text(const Warning& remark) {
  return is_unread(remark) ? remark.object + " " + remark.name + ": " + remark.message : remark.message;
}

Warning unread_warning(const UnreadKey& key) {
  std::string text = unread_title(key);
  text += key.treatment == "unknown" ? " is not known to Muster" : " is not read";
  text.append("; it may change ").append(key.may_change);
  if (key.treatment == "held") text += "; what it may concern is held";
  if (key.treatment == "protected") text += "; the pods that it may protect stay where they run";
  if (key.count > 1) text.append("; ").append(std::to_string(key.count)).append(" objects have it");
  std::string kind = key.kind;
  if (!kind.empty()) kind[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(kind[0])));
  return {ErrorCode::kUnread, std::move(kind), key.name, std::move(text)};
}

}  // namespace muster
