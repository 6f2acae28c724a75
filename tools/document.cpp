#include "tools/document.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <span>

#include "fixtures/case/error.h"

namespace voltcheck::tools {

Document::Document(const std::string& out) {
  if (out != "-") {
    file_ = std::make_unique<fixtures::AtomicFile>(out);
  }
}

void Document::Write(std::string_view part) {
  if (file_ != nullptr) {
    file_->Write(std::as_bytes(std::span(part)));
  } else if (std::fwrite(part.data(), 1, part.size(), stdout) != part.size()) {
    throw BadInput("standard output",
                   std::string("cannot be written (") + std::strerror(errno) + ")",
                   "make room, or name a file with --out");
  }
}

void Document::Finish() {
  if (file_ != nullptr) {
    file_->Commit();
    std::fprintf(stderr, "wrote %s\n", file_->path().c_str());
  } else if (std::fflush(stdout) != 0) {
    throw BadInput("standard output",
                   std::string("cannot be written (") + std::strerror(errno) + ")",
                   "make room, or name a file with --out");
  }
}

void WriteDocument(const std::string& text, const std::string& out) {
  Document document(out);
  document.Write(text);
  document.Finish();
}

}  // namespace voltcheck::tools
