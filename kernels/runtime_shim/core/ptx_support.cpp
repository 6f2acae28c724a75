#include "kernels/runtime_shim/core/ptx_support.h"

#include <string_view>

extern "C" {
extern const char voltcheck_shim_support_ptx[];
extern const char voltcheck_shim_support_ptx_end[];
}

namespace voltcheck::shim {
namespace {

constexpr std::string_view kPrint = "vprintf";
constexpr std::string_view kAssert = "__assertfail";
constexpr std::string_view kPrefix = "voltcheck_";

bool IsNameCharacter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '$' || c == '%';
}

/// The next place from `at` on where `name` stands as a whole word.
std::size_t FindWord(std::string_view text, std::string_view name, std::size_t at) {
  for (at = text.find(name, at); at != std::string_view::npos; at = text.find(name, at + 1)) {
    const std::size_t end = at + name.size();
    if ((at == 0 || !IsNameCharacter(text[at - 1])) &&
        (end == text.size() || !IsNameCharacter(text[end]))) {
      return at;
    }
  }
  return at;
}

/// Whether the module declares `name` as a function that somebody else has.
bool Imports(std::string_view ptx, std::string_view name) {
  constexpr std::string_view kExternal = ".extern .func";
  for (std::size_t at = ptx.find(kExternal); at != std::string_view::npos;
       at = ptx.find(kExternal, at + 1)) {
    const std::string_view declaration = ptx.substr(at, ptx.find(';', at) - at);
    if (FindWord(declaration, name, 0) != std::string_view::npos) {
      return true;
    }
  }
  return false;
}

void Rename(std::string& ptx, std::string_view name) {
  std::string renamed;
  renamed.reserve(ptx.size() + 256);
  std::size_t done = 0;
  for (std::size_t at = FindWord(ptx, name, 0); at != std::string::npos;
       at = FindWord(ptx, name, at + 1)) {
    renamed.append(ptx, done, at - done).append(kPrefix).append(name);
    done = at + name.size();
  }
  ptx = renamed.append(ptx, done, std::string::npos);
}

/// The support's PTX without its three header directives and with strings of its own names.
std::string SupportText() {
  std::string text(voltcheck_shim_support_ptx,
                   voltcheck_shim_support_ptx_end - voltcheck_shim_support_ptx);
  const std::size_t header = text.find(".address_size 64");
  text.erase(0, text.find('\n', header));
  for (std::size_t at = text.find("$str"); at != std::string::npos;
       at = text.find("$str", at + 1)) {
    text.replace(at, 1, "voltcheck_");
  }
  return text;
}

/// `mov.u32 %r1, %envreg2;` reads what the driver put there; here it reads a variable.
bool ReplaceEnvironment(std::string& ptx) {
  constexpr std::string_view kRegister = "%envreg";
  bool any = false;
  for (std::size_t at = ptx.find(kRegister); at != std::string::npos;
       at = ptx.find(kRegister, at + 1)) {
    const std::size_t move = ptx.rfind("mov.", at);
    const std::size_t comma = ptx.rfind(',', at);
    std::size_t end = at + kRegister.size();
    int number = 0;
    while (end < ptx.size() && ptx[end] >= '0' && ptx[end] <= '9') {
      number = number * 10 + (ptx[end++] - '0');
    }
    if (move == std::string::npos || comma == std::string::npos || comma < move || number > 31) {
      continue;
    }
    const std::size_t type_end = ptx.find_first_of(" \t", move);
    const std::string load = "ld.global.u32 " + ptx.substr(type_end, comma - type_end) + ", [" +
                             kEnvironment + "+" + std::to_string(4 * number) + "]";
    ptx.replace(move, end - move, load);
    at = move + load.size();
    any = true;
  }
  return any;
}

}  // namespace

std::string WithSupport(std::string ptx, Assertions assertions) {
  bool imports = false;
  for (const std::string_view name : {kPrint, kAssert}) {
    if (Imports(ptx, name) && (name == kPrint || assertions == Assertions::kPrinted)) {
      Rename(ptx, name);
      imports = true;
    }
  }
  if (ReplaceEnvironment(ptx)) {
    const std::size_t header = ptx.find(".address_size 64");
    if (header != std::string::npos) {
      ptx.insert(header + std::string_view(".address_size 64").size(),
                 std::string(" .visible .global .align 8 .b32 ") + kEnvironment + "[32];");
    }
  }
  return imports ? ptx + "\n" + SupportText() : ptx;
}

}  // namespace voltcheck::shim
