// Fuzz target of the descriptor: any text is a valid case or one Error line, and a case comes back
// from its own text.
#include <cstdint>
#include <string>

#include "fixtures/case/descriptor.h"
#include "require.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  voltcheck::fuzz::ReadsOrRefuses("", [&] {
    const voltcheck::Case c = voltcheck::ParseDescriptor(text);
    voltcheck::fuzz::Require(voltcheck::ParseDescriptor(voltcheck::ToDescriptor(c)) == c);
  });
  return 0;
}
