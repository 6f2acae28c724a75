#ifndef VOLTCHECK_TOOLS_DOCUMENT_H_
#define VOLTCHECK_TOOLS_DOCUMENT_H_

#include <string>

namespace voltcheck::tools {

/// Writes a document atomically and says so on standard error; "-" is standard output. Throws Error
/// (status 2) when that fails.
void WriteDocument(const std::string& text, const std::string& out);

}  // namespace voltcheck::tools

#endif  // VOLTCHECK_TOOLS_DOCUMENT_H_
