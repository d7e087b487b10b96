#include "model/base/words.h"

#include <cstdint>
#include <limits>

#include <gtest/gtest.h>

namespace muster {
namespace {

TEST(Counted, HasAnSUnlessItIsOne) {
  EXPECT_EQ(counted(0, "node"), "0 nodes");
  EXPECT_EQ(counted(1, "node"), "1 node");
  EXPECT_EQ(counted(2, "free GPU"), "2 free GPUs");
}

TEST(MemoryWords, UseTheLargestUnitThatFitsUpToGib) {
  constexpr std::int64_t kMib = 1 << 20, kGib = std::int64_t{1} << 30;
  EXPECT_EQ(memory_words(0), "0 GiB");
  EXPECT_EQ(memory_words(1), "1 B");
  EXPECT_EQ(memory_words(512 * kMib), "512 MiB");
  EXPECT_EQ(memory_words(1536 * kMib), "1.5 GiB");
  EXPECT_EQ(memory_words(-3 * kGib), "-3 GiB");
  EXPECT_EQ(memory_words(4096 * kGib), "4096 GiB");
  EXPECT_EQ(memory_words(kGib + 1), "1 GiB");
  EXPECT_EQ(memory_words(2 * kGib - 1), "2 GiB");
  EXPECT_EQ(memory_words(std::numeric_limits<std::int64_t>::min()), "-8589934592 GiB");
}

TEST(ShellWord, IsPlainIfItHasNothingThatAShellReads) {
  EXPECT_EQ(shell_word("ml/train-0.a_b=c:1,d@e+f%"), "ml/train-0.a_b=c:1,d@e+f%");
  EXPECT_EQ(shell_word(""), "''");
  EXPECT_EQ(shell_word("a b"), "'a b'");
  EXPECT_EQ(shell_word("a'b"), R"('a'"'"'b')");
  EXPECT_EQ(shell_word("=a"), "'=a'");
  for (const char* word :
       {"~", "$x", "`x`", "a;b", "a|b", "a&b", "*", "?", "[a]", "{a,b}", "<a", "#a", "!a", "a\"b", "a\\b"})
    EXPECT_EQ(shell_word(word), "'" + std::string(word) + "'");
}

}  // namespace
}  // namespace muster
