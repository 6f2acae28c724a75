#include "tools/document.h"

#include <cstdio>
#include <span>

#include "fixtures/atomic_file.h"

namespace voltcheck::tools {

void WriteDocument(const std::string& text, const std::string& out) {
  if (out == "-") {
    std::fwrite(text.data(), 1, text.size(), stdout);
    return;
  }
  fixtures::WriteFileAtomically(out, std::as_bytes(std::span(text)));
  std::fprintf(stderr, "wrote %s\n", out.c_str());
}

}  // namespace voltcheck::tools
