// Files made to exhaust the parser: each is refused with a line that says which limit it met.
#include <gtest/gtest.h>

#include <string>

#include "kernels/simulator/ptx/limits.h"
#include "parse.h"

namespace voltcheck::simulator::ptx {
namespace {

std::string Repeat(const std::string& text, std::size_t count) {
  std::string repeated;
  repeated.reserve(text.size() * count);
  for (std::size_t i = 0; i < count; ++i) {
    repeated += text;
  }
  return repeated;
}

void ExpectRefused(const std::string& error, const std::string& reason) {
  EXPECT_NE(error.find(reason), std::string::npos) << error;
}

TEST(PtxHostile, RegisterRanges) {
  ExpectRefused(BodyError(".reg .b32 %x<4000000000>;"), "more than 262144 registers");
  ExpectRefused(BodyError(".reg .b32 %x<18446744073709551615>;"), "more than 262144 registers");
  ExpectRefused(BodyError(Repeat("{ .reg .b32 %x<100000>; }", 4)), "more than 262144 registers");
  ExpectRefused(BodyError(".reg .b32 %" + std::string(1000, 'x') + "<1000>;"), "range is too long");
}

TEST(PtxHostile, ArraySizes) {
  ExpectRefused(ItemError(".global .u64 x[18446744073709551615];"), "too many elements");
  ExpectRefused(ItemError(".global .u64 x[4294967296][4294967296];"), "too many elements");
  ExpectRefused(ItemError(".global .b8 x" + Repeat("[2]", 60) + ";"), "too many array dimensions");
  ExpectRefused(ItemError(".global .b8 x[1000000000000] = {1};"), "initialises more than");
  ExpectRefused(ItemError(".global .b8 x[][500000000000] = {" + Repeat("{},", 100) + "};"),
                "initialises more than");
  ExpectRefused(
      ItemError(Repeat(".global .b8 x[60000000] = {1};", 1) + ".global .b8 y[60000000] = {1};"),
      "initialises more than");
}

TEST(PtxHostile, Nesting) {
  ExpectRefused(BodyError(Repeat("{", 100000)), "blocks nested more than 64 deep");
  ExpectRefused(BodyError("mov.u32 %r1, " + Repeat("(", 100000)), "nested too deeply");
  ExpectRefused(BodyError("mov.u32 %r1, " + Repeat("-", 100000) + "1;"), "nested too deeply");
  ExpectRefused(BodyError("mov.u32 %r1, " + Repeat("1?", 100000)), "nested too deeply");
  ExpectRefused(BodyError("mov.u32 %r1, " + Repeat("{", 100000)), "operands nested too deeply");
  ExpectRefused(BodyError("mov.u32 %r1, " + Repeat("[%rd1,", 100000)),
                "operands nested too deeply");
  ExpectRefused(ItemError(".global .b8 x[2] = " + Repeat("{", 100000)), "expected a constant");
  EXPECT_EQ(BodyError(Repeat("{", 60) + "ret;" + Repeat("}", 60)), "");
}

TEST(PtxHostile, LongLists) {
  ExpectRefused(BodyError("x " + Repeat("%r1,", 1000) + "%r1;"), "more than 64 operands");
  ExpectRefused(BodyError("x {" + Repeat("%r1,", 1000) + "%r1};"), "more than 512 elements");
  ExpectRefused(BodyError("x [%rd1" + Repeat(",%r1", 1000) + "];"),
                "too many operands in an address");
  ExpectRefused(BodyError("bra " + std::string(1000000, 'x') + ";"),
                "a token of 1000000 characters");
}

TEST(PtxHostile, ManyParts) {
  ExpectRefused(BodyError("x" + Repeat(".a", 9000000) + ";"), "more than 8388608 parts");
  ExpectRefused(BodyError("L: .branchtargets " + Repeat("a,", 9000000) + "a;"),
                "more than 8388608 parts");
}

TEST(PtxHostile, Size) {
  ExpectRefused(ErrorOf(std::string(kMaxTextBytes + 1, ' ')), "the largest PTX text allowed");
}

TEST(PtxHostile, EveryPrefixOfAValidFileIsRefusedOrParsed) {
  const std::string text =
      ReadFile(std::string(VOLTCHECK_SOURCE_DIR) + "/tests/simulator/ptx/data/forms.ptx");
  ASSERT_EQ(ErrorOf(text), "");
  std::size_t refused = 0;
  for (std::size_t size = 0; size < text.size(); ++size) {
    refused += ErrorOf(text.substr(0, size)).empty() ? 0 : 1;
  }
  EXPECT_GT(refused, text.size() / 2) << "most prefixes end inside a function";
}

TEST(PtxHostile, EveryMissingCharacterIsRefusedOrParsed) {
  const std::string text =
      ReadFile(std::string(VOLTCHECK_SOURCE_DIR) + "/tests/simulator/ptx/data/forms.ptx");
  for (std::size_t at = 0; at < text.size(); ++at) {
    std::string shorter = text;
    shorter.erase(at, 1);
    const std::string error = ErrorOf(shorter);
    if (!error.empty()) {
      EXPECT_EQ(error.rfind("test.ptx:", 0), 0U) << error;
    }
  }
}

}  // namespace
}  // namespace voltcheck::simulator::ptx
