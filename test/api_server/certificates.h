// Certificates that a test makes: keys on P-256, valid for a day.
#pragma once

#include <string>

namespace muster::api_server {

struct Certificate {
  std::string certificate, key;  // PEM
};

// An authority that signs itself.
Certificate make_authority(const std::string& name);
// Of a server; `names` as OpenSSL has them: "DNS:localhost,IP:127.0.0.1". It ended an hour ago if it is expired.
enum class Validity { kNow, kExpired };
Certificate make_certificate(const Certificate& authority, const std::string& names,
                             Validity validity = Validity::kNow);

// A file of a test, removed at its end.
class TestFile {
 public:
  explicit TestFile(const std::string& text);
  ~TestFile();
  TestFile(const TestFile&) = delete;
  TestFile& operator=(const TestFile&) = delete;
  void write(const std::string& text) const;
  const std::string& name() const { return name_; }

 private:
  std::string name_;
};

}  // namespace muster::api_server
