// Fuzz target of the fixture reader. The HDF5 library runs in a child process, so whatever it does
// with a crafted file, this process sees one Error line; a fixture that is read has the hash it
// names.
#include "fixtures/fixture_file.h"
#include "memory_file.h"
#include "require.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const voltcheck::fuzz::MemoryFile file(data, size);
  voltcheck::fuzz::ReadsOrRefuses(file.path() + ": ", [&] {
    const voltcheck::fixtures::Fixture fixture = voltcheck::fixtures::ReadFixture(file.path());
    voltcheck::fuzz::Require(voltcheck::fixtures::HashFixture(fixture) == fixture.hash);
  });
  return 0;
}
