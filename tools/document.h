#ifndef VOLTCHECK_TOOLS_DOCUMENT_H_
#define VOLTCHECK_TOOLS_DOCUMENT_H_

#include <memory>
#include <string>
#include <string_view>

#include "fixtures/atomic_file.h"

namespace voltcheck::tools {

/// A document that is written in parts: a file that appears whole or not at all, and standard error
/// says so; "-" is standard output. Throws Error (status 2) when that fails.
class Document {
 public:
  explicit Document(const std::string& out);
  void Write(std::string_view part);
  void Finish();

 private:
  std::unique_ptr<fixtures::AtomicFile> file_;  ///< null: standard output
};

/// A document in one piece.
void WriteDocument(const std::string& text, const std::string& out);

}  // namespace voltcheck::tools

#endif  // VOLTCHECK_TOOLS_DOCUMENT_H_
