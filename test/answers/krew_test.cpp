// The manifest of the plugin for Krew, docs/deploy/krew.
#include <algorithm>
#include <string>

#include <gtest/gtest.h>

#include "io/json/yaml.h"
#include "test/cli/program.h"
#include "test/support/paths.h"

namespace muster::cli {
namespace {

const std::string kFill = test::source_folder() + "/docs/deploy/krew/fill";

TEST(KrewManifest, IsFilledIn) {
  const Workplace place;
  const std::string archive = place.file("muster.tar.gz", "an archive");
  const Outcome filled =
      place.shell(kFill + " 1.2.3 https://example.com/muster " + archive + " https://example.com/m.tar.gz");
  ASSERT_EQ(filled.exit_code, 0) << filled.err;
  EXPECT_EQ(filled.out.find('@'), std::string::npos) << filled.out;
  const auto json = json::yaml_to_json(filled.out);
  ASSERT_TRUE(json) << json.error().message;
  const std::string sum = place.shell("sha256sum " + archive).out.substr(0, 64);
  for (const std::string& member :
       {std::string(R"("apiVersion":"krew.googlecontainertools.github.com/v1alpha2")"),
        std::string(R"("kind":"Plugin")"), std::string(R"("metadata":{"name":"muster"})"),
        std::string(R"("version":"v1.2.3")"), std::string(R"("homepage":"https://example.com/muster")"),
        std::string(R"("shortDescription":")"),
        std::string(R"("selector":{"matchLabels":{"os":"linux","arch":"amd64"}})"),
        std::string(R"("uri":"https://example.com/m.tar.gz")"), R"("sha256":")" + sum + '"',
        std::string(R"("bin":"muster")")}) {
    EXPECT_NE(json->find(member), std::string::npos) << member << "\n" << *json;
  }
}

TEST(KrewManifest, NeedsAllItsArguments) {
  const Workplace place;
  EXPECT_EQ(place.shell(kFill + " 1.2.3").exit_code, 64);
  EXPECT_NE(place.shell(kFill + " 1.2.3 h " + place.path("missing") + " u").exit_code, 0);
}

}  // namespace
}  // namespace muster::cli
