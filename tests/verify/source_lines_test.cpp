// What stands at the source lines that findings name.
#include "verify/source_lines.h"

#include <gtest/gtest.h>

#include "temporary_folder.h"

namespace voltcheck::verify {
namespace {

kernels::Finding At(const std::string& module, const std::string& source) {
  kernels::Finding finding;
  finding.file = module;
  finding.source = source;
  return finding;
}

TEST(SourceLines, OfBuiltInKernelsAreInTheBinary) {
  SourceLines lines({});
  EXPECT_EQ(lines.Text(At("silu_mul.ptx", "silu_mul.cu:1")).substr(0, 2), "//");
  EXPECT_EQ(lines.Text(At("silu_mul.ptx", "silu_mul.cu:999999")), "");
  EXPECT_EQ(lines.Text(At("silu_mul.ptx", "nothing.cu:1")), "");
  EXPECT_EQ(lines.Text(At("nothing.ptx", "silu_mul.cu:1")), "");
  EXPECT_EQ(lines.Text(At("silu_mul.ptx", "")), "");
}

TEST(SourceLines, OfOtherKernelsAreReadWhereTheyLie) {
  const TemporaryFolder folder;
  WriteBytes(folder / "mine.cu", "first\n\t  x = y;  \r\nlast");
  WriteBytes(folder / "near.cuh", "beside the PTX\n");
  WriteBytes(folder / "secret.txt", "nobody's business\n");
  kernels::ModuleImage image;
  image.name = folder / "mine.ptx";
  image.ptx = ".file 1 \"" + (folder / "mine.cu") + "\"\n.file 2 \"near.cuh\"\n.file 3 \"" +
              (folder / "secret.txt") + "\"\n.file 4 \"/a/two.cu\"\n.file 5 \"/b/two.cu\"\n";
  SourceLines lines({image});
  EXPECT_EQ(lines.Text(At(image.name, "mine.cu:2")), "x = y;");
  EXPECT_EQ(lines.Text(At(image.name, "mine.cu:3")), "last");
  EXPECT_EQ(lines.Text(At(image.name, "near.cuh:1")), "beside the PTX");
  EXPECT_EQ(lines.Text(At(image.name, "secret.txt:1")), "");
  EXPECT_EQ(lines.Text(At(image.name, "two.cu:1")), "");
}

}  // namespace
}  // namespace voltcheck::verify
