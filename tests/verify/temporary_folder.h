#ifndef VOLTCHECK_TESTS_VERIFY_TEMPORARY_FOLDER_H_
#define VOLTCHECK_TESTS_VERIFY_TEMPORARY_FOLDER_H_

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "fixtures/case/temporary_folder.h"

namespace voltcheck::verify {

/// A folder of its own for one test.
class TemporaryFolder : public voltcheck::TemporaryFolder {
 public:
  /// Names of everything in it.
  std::vector<std::string> Names() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(path())) {
      names.push_back(entry.path().filename().string());
    }
    return names;
  }
};

inline std::string ReadBytes(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

inline void WriteBytes(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

}  // namespace voltcheck::verify

#endif  // VOLTCHECK_TESTS_VERIFY_TEMPORARY_FOLDER_H_
