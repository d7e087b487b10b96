#include "model/base/require.h"

#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <string_view>

namespace muster {

void fail_requirement(const char* file, int line, const char* condition) {
  // The last folder and the file, whatever the compiler was told: "base/require.cpp".
  std::string_view path = file;
  const std::size_t folder = path.rfind('/', path.rfind('/') - 1);
  if (folder != std::string_view::npos) path.remove_prefix(folder + 1);
  const std::string text = std::string(path) + ":" + std::to_string(line) + ": requirement not met: " + condition;
#ifdef MUSTER_CHECKS
  std::fwrite(text.data(), 1, text.size(), stderr);
  std::abort();
#else
  throw std::logic_error(text);
#endif
}

}  // namespace muster
