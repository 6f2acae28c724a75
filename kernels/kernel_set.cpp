#include "kernels/kernel_set.h"

#include <openssl/evp.h>

#include <algorithm>
#include <array>
#include <memory>

#include "fixtures/case/error.h"
#include "kernels/embedded_modules.h"

namespace voltcheck::kernels {
namespace {

std::vector<ModuleImage> ReadEmbeddedModules() {
  std::vector<ModuleImage> modules;
  for (const EmbeddedModule* m = voltcheck_embedded_modules; m->name != nullptr; ++m) {
    modules.push_back({m->name, std::string(m->ptx_begin, m->ptx_end),
                       std::as_bytes(std::span<const char>(m->cubin_begin, m->cubin_end))});
  }
  return modules;
}

/// Entry names of each built-in module, found once for the whole program.
const std::vector<std::vector<std::string>>& BuiltInEntries() {
  static const auto* const entries = [] {
    auto* all = new std::vector<std::vector<std::string>>;
    for (const ModuleImage& module : BuiltInModules()) {
      all->push_back(EntryNames(module.ptx));
    }
    return all;
  }();
  return *entries;
}

class Sha256 {
 public:
  Sha256() : context_(EVP_MD_CTX_new(), EVP_MD_CTX_free) {
    if (context_ == nullptr || EVP_DigestInit_ex(context_.get(), EVP_sha256(), nullptr) != 1) {
      throw Error(ExitStatus::kUnavailable,
                  "libcrypto: SHA-256 is not available; install OpenSSL 3");
    }
  }
  /// Adds the text's length and then the text, so that no two sequences of texts hash alike.
  void Add(std::string_view text) {
    std::array<unsigned char, 8> length{};
    for (std::size_t i = 0; i < length.size(); ++i) {
      length[i] = static_cast<unsigned char>(text.size() >> (8 * i));
    }
    EVP_DigestUpdate(context_.get(), length.data(), length.size());
    EVP_DigestUpdate(context_.get(), text.data(), text.size());
  }
  std::string Hex() {
    std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
    unsigned int size = 0;
    EVP_DigestFinal_ex(context_.get(), digest.data(), &size);
    constexpr std::string_view kDigits = "0123456789abcdef";
    std::string hex;
    for (unsigned int i = 0; i < size; ++i) {
      hex += kDigits[digest[i] >> 4];
      hex += kDigits[digest[i] & 15];
    }
    return hex;
  }

 private:
  std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context_;
};

}  // namespace

const std::vector<ModuleImage>& BuiltInModules() {
  static const auto* const modules = new std::vector<ModuleImage>(ReadEmbeddedModules());
  return *modules;
}

std::string HashModules(const std::vector<ModuleImage>& modules) {
  Sha256 hash;
  for (const ModuleImage& module : modules) {
    const std::string_view name = module.name;
    hash.Add(name.substr(name.rfind('/') + 1));
    hash.Add(module.ptx);
  }
  return hash.Hex();
}

std::vector<std::string> EntryNames(std::string_view ptx) {
  constexpr std::string_view kEntry = ".entry";
  constexpr std::string_view kSpace = " \t\r\n";
  std::vector<std::string> names;
  for (std::size_t at = ptx.find(kEntry); at != std::string_view::npos; at = ptx.find(kEntry, at)) {
    at += kEntry.size();
    const std::size_t begin = ptx.find_first_not_of(kSpace, at);
    if (begin == at || begin == std::string_view::npos) {
      continue;
    }
    const std::size_t end = std::min(ptx.find_first_of(" \t\r\n({;", begin), ptx.size());
    names.emplace_back(ptx.substr(begin, end - begin));
  }
  return names;
}

KernelSet::KernelSet(Device& device, std::vector<ModuleImage> overrides)
    : device_(device), overrides_(std::move(overrides)) {
  for (std::size_t i = overrides_.size(); i-- > 0;) {
    sources_.push_back({&overrides_[i], EntryNames(overrides_[i].ptx)});
  }
  const std::vector<ModuleImage>& built_in = BuiltInModules();
  for (std::size_t i = 0; i < built_in.size(); ++i) {
    sources_.push_back({&built_in[i], BuiltInEntries()[i]});
  }
  static const auto* const built_in_hash = new std::string(HashModules(built_in));
  hash_ = *built_in_hash;
  if (!overrides_.empty()) {
    std::vector<ModuleImage> all = built_in;
    all.insert(all.end(), overrides_.begin(), overrides_.end());
    hash_ = HashModules(all);
  }
}

KernelHandle KernelSet::Find(std::string_view name) {
  const std::size_t hash = name.rfind('#');
  const std::string_view entry = hash == std::string_view::npos ? name : name.substr(hash + 1);
  for (Source& source : sources_) {
    if (entry.size() != name.size() && source.image->name != name.substr(0, hash)) {
      continue;
    }
    if (std::find(source.entries.begin(), source.entries.end(), entry) == source.entries.end()) {
      continue;
    }
    if (source.loaded < 0) {
      source.loaded = static_cast<int>(device_.LoadModule(*source.image));
    }
    return device_.FindKernel(static_cast<std::uint32_t>(source.loaded), entry);
  }
  throw BadInput("kernel " + std::string(name), "no module has this entry",
                 "`voltcheck list kernels` shows what there is");
}

}  // namespace voltcheck::kernels
