#include "test/api_server/certificates.h"

#include <filesystem>
#include <fstream>
#include <memory>

#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>
#include <unistd.h>

namespace muster::api_server {

namespace {

constexpr long kDay = 86'400, kHour = 3'600;

template <auto Free>
struct Freed {
  template <class T>
  void operator()(T* what) const {
    Free(what);
  }
};
using Key = std::unique_ptr<EVP_PKEY, Freed<EVP_PKEY_free>>;
using X509Pointer = std::unique_ptr<X509, Freed<X509_free>>;
using Bio = std::unique_ptr<BIO, Freed<BIO_free_all>>;

std::string text_of(BIO* bio) {
  char* bytes = nullptr;
  const long size = BIO_get_mem_data(bio, &bytes);
  return {bytes, static_cast<std::size_t>(size)};
}

Bio reading(const std::string& text) { return Bio(BIO_new_mem_buf(text.data(), static_cast<int>(text.size()))); }

void add_extension(X509* certificate, X509* issuer, int kind, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx_nodb(&context);
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  X509_EXTENSION* const extension = X509V3_EXT_conf_nid(nullptr, &context, kind, value.c_str());
  X509_add_ext(certificate, extension, -1);
  X509_EXTENSION_free(extension);
}

X509Pointer begin(const std::string& name, EVP_PKEY* key, long ends) {
  static long serial = 1;
  X509Pointer certificate(X509_new());
  X509_set_version(certificate.get(), 2);
  ASN1_INTEGER_set(X509_get_serialNumber(certificate.get()), serial++);
  X509_gmtime_adj(X509_getm_notBefore(certificate.get()), -kDay);
  X509_gmtime_adj(X509_getm_notAfter(certificate.get()), ends);
  X509_set_pubkey(certificate.get(), key);
  X509_NAME_add_entry_by_txt(X509_get_subject_name(certificate.get()), "CN", MBSTRING_ASC,
                             reinterpret_cast<const unsigned char*>(name.c_str()), -1, -1, 0);
  return certificate;
}

Certificate finish(X509* certificate, EVP_PKEY* key, EVP_PKEY* signer) {
  X509_sign(certificate, signer, EVP_sha256());
  const Bio certificate_text(BIO_new(BIO_s_mem())), key_text(BIO_new(BIO_s_mem()));
  PEM_write_bio_X509(certificate_text.get(), certificate);
  PEM_write_bio_PrivateKey(key_text.get(), key, nullptr, nullptr, 0, nullptr, nullptr);
  return {text_of(certificate_text.get()), text_of(key_text.get())};
}

}  // namespace

Certificate make_authority(const std::string& name) {
  const Key key(EVP_EC_gen("P-256"));
  const X509Pointer certificate = begin(name, key.get(), kDay);
  X509_set_issuer_name(certificate.get(), X509_get_subject_name(certificate.get()));
  add_extension(certificate.get(), certificate.get(), NID_basic_constraints, "critical,CA:TRUE");
  add_extension(certificate.get(), certificate.get(), NID_key_usage, "critical,keyCertSign");
  return finish(certificate.get(), key.get(), key.get());
}

Certificate make_certificate(const Certificate& authority, const std::string& names, Validity validity) {
  const Bio certificate_text = reading(authority.certificate), key_text = reading(authority.key);
  const X509Pointer issuer(PEM_read_bio_X509(certificate_text.get(), nullptr, nullptr, nullptr));
  const Key signer(PEM_read_bio_PrivateKey(key_text.get(), nullptr, nullptr, nullptr));
  const Key key(EVP_EC_gen("P-256"));
  const X509Pointer certificate = begin("server", key.get(), validity == Validity::kNow ? kDay : -kHour);
  X509_set_issuer_name(certificate.get(), X509_get_subject_name(issuer.get()));
  add_extension(certificate.get(), issuer.get(), NID_subject_alt_name, names);
  return finish(certificate.get(), key.get(), signer.get());
}

TestFile::TestFile(const std::string& text) {
  std::string name = std::filesystem::temp_directory_path() / "muster_api_server_XXXXXX";
  ::close(::mkstemp(name.data()));
  name_ = name;
  write(text);
}
TestFile::~TestFile() { ::unlink(name_.c_str()); }
void TestFile::write(const std::string& text) const { std::ofstream(name_, std::ios::binary) << text; }

}  // namespace muster::api_server
