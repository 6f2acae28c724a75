#include "verify/mutation/assembler.h"

#include <gtest/gtest.h>

namespace voltcheck::mutation {
namespace {

std::string Kernel(const std::string& body) {
  return ".version 7.8\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n"
         ".reg .b32 %r<8>; .reg .b64 %rd<4>;\nld.param.u64 %rd1, [p];\n" +
         body + "\nret;\n}\n";
}

TEST(Assemble, SameCodeForOtherNames) {
  const Assembled one =
      Assemble(FindAssembler(""), Kernel("mov.u32 %r1, 7; st.global.u32 [%rd1], %r1;"), "k");
  const Assembled same =
      Assemble(FindAssembler(""), Kernel("mov.u32 %r5, 7; st.global.u32 [%rd1], %r5;"), "k");
  const Assembled other =
      Assemble(FindAssembler(""), Kernel("mov.u32 %r1, 8; st.global.u32 [%rd1], %r1;"), "k");
  ASSERT_TRUE(one.accepted) << one.message;
  EXPECT_FALSE(one.code.empty());
  EXPECT_EQ(one.code, same.code);
  EXPECT_NE(one.code, other.code);
}

TEST(Assemble, SharedMemoryCounts) {
  const std::string use =
      "mov.u32 %r1, s; st.shared.u32 [%r1], %r1; ld.shared.u32 %r2, [%r1]; "
      "st.global.u32 [%rd1], %r2;";
  const Assembled small = Assemble(FindAssembler(""), Kernel(".shared .b8 s[16];\n" + use), "k");
  const Assembled large = Assemble(FindAssembler(""), Kernel(".shared .b8 s[32];\n" + use), "k");
  ASSERT_TRUE(small.accepted && large.accepted);
  EXPECT_NE(small.code, large.code);
}

TEST(Assemble, SaysWhyItRefuses) {
  const Assembled refused = Assemble(FindAssembler(""), Kernel("add.rz.s32 %r1, %r2, %r3;"), "k");
  EXPECT_FALSE(refused.accepted);
  EXPECT_NE(refused.message.find("error"), std::string::npos) << refused.message;
}

}  // namespace
}  // namespace voltcheck::mutation
