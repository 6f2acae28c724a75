#include "kernels/simulator/ptx/directives.h"

#include <limits>
#include <string>
#include <vector>

namespace voltcheck::simulator::ptx {
namespace {

std::uint32_t ExpectUint32(Cursor& cursor, const char* what) {
  const Location where = cursor.Peek().location;
  const std::uint64_t value = cursor.ExpectInteger(what);
  if (value > std::numeric_limits<std::uint32_t>::max()) {
    cursor.Fail(where, std::string(what) + " is too large", "use at most 32 bits");
  }
  return static_cast<std::uint32_t>(value);
}

/// Up to three comma-separated numbers of threads or blocks; those left out are 1.
std::vector<std::uint32_t> ParseExtents(Cursor& cursor, const char* what) {
  std::vector<std::uint32_t> extents;
  do {
    extents.push_back(ExpectUint32(cursor, what));
  } while (extents.size() < 3 && cursor.Try(","));
  extents.resize(3, 1);
  return extents;
}

}  // namespace

void ParseFile(Cursor& cursor, Module& module) {
  const std::uint32_t number = ExpectUint32(cursor, "the number of a source file");
  if (cursor.Peek().kind != Token::Kind::kString) {
    cursor.FailExpected("the name of a source file", "write it in quotes");
  }
  cursor.Charge(1);
  module.source_files[number] = std::string(cursor.Take().text);
  while (cursor.Try(",")) {
    cursor.ExpectInteger("the time or the size of a source file");
  }
}

SourcePosition ParseLoc(Cursor& cursor) {
  SourcePosition position;
  position.file = ExpectUint32(cursor, "the number of a source file");
  position.line = ExpectUint32(cursor, "a source line");
  ExpectUint32(cursor, "a source column");
  while (cursor.Try(",")) {
    const Token attribute = cursor.ExpectName("function_name or inlined_at");
    if (attribute.text == "function_name") {
      cursor.ExpectName("the label of a function's name");
      if (cursor.Try("+")) {
        cursor.ExpectInteger("an offset");
      }
    } else if (attribute.text == "inlined_at") {
      ExpectUint32(cursor, "the number of a source file");
      ExpectUint32(cursor, "a source line");
      ExpectUint32(cursor, "a source column");
    } else {
      cursor.Fail(attribute.location, Quote(attribute.text) + " behind .loc",
                  "write function_name or inlined_at");
    }
  }
  return position;
}

void SkipPragma(Cursor& cursor) {
  do {
    if (cursor.Peek().kind != Token::Kind::kString) {
      cursor.FailExpected("the text of .pragma", "write it in quotes");
    }
    cursor.Take();
  } while (cursor.Try(","));
  cursor.Expect(";", "after .pragma");
}

void SkipSection(Cursor& cursor) {
  const Location where = cursor.Peek().location;
  if (cursor.Peek().kind != Token::Kind::kWord && !cursor.AtName()) {
    cursor.FailExpected("the name of a section", "write one such as .debug_str");
  }
  cursor.Take();
  cursor.Expect("{", "before the contents of a section");
  for (int depth = 1; depth > 0;) {
    if (cursor.AtEnd()) {
      cursor.Fail(where, "this section never ends", "close it with '}'");
    }
    const Token token = cursor.Take();
    if (token.kind == Token::Kind::kPunctuation) {
      depth += token.text == "{" ? 1 : token.text == "}" ? -1 : 0;
    }
  }
}

bool SkipFunctionProperty(Cursor& cursor) {
  if (cursor.TryWord("noreturn")) {
    return true;
  }
  if (cursor.TryWord("abi_preserve") || cursor.TryWord("abi_preserve_control")) {
    ExpectUint32(cursor, "a number of registers");
    return true;
  }
  return false;
}

void ParseTuning(Cursor& cursor, Function& function) {
  while (cursor.Peek().kind == Token::Kind::kWord) {
    if (cursor.TryWord("maxntid")) {
      const Location where = cursor.Peek().location;
      const auto extents = ParseExtents(cursor, "a number of threads");
      std::uint64_t product = 1;
      for (const std::uint32_t extent : extents) {
        product = product > std::numeric_limits<std::uint32_t>::max() ? product : product * extent;
      }
      if (product == 0 || product > std::numeric_limits<std::uint32_t>::max()) {
        cursor.Fail(where, ".maxntid of no or too many threads", "write 1 to 1024");
      }
      function.max_threads = static_cast<std::uint32_t>(product);
    } else if (cursor.TryWord("reqntid")) {
      const auto extents = ParseExtents(cursor, "a number of threads");
      for (int axis = 0; axis < 3; ++axis) {
        function.required_threads[axis] = extents[axis];
      }
    } else if (cursor.TryWord("reqnctapercluster") || cursor.TryWord("maxclusterrank")) {
      ParseExtents(cursor, "a number of blocks");
    } else if (cursor.TryWord("minnctapersm") || cursor.TryWord("maxnctapersm") ||
               cursor.TryWord("maxnreg")) {
      ExpectUint32(cursor, "a number");
    } else if (cursor.TryWord("pragma")) {
      SkipPragma(cursor);
    } else if (!cursor.TryWord("explicitcluster") && !cursor.TryWord("blocksareclusters") &&
               !SkipFunctionProperty(cursor)) {
      cursor.FailExpected("'{' before the kernel's body", "remove the directive");
    }
  }
}

}  // namespace voltcheck::simulator::ptx
