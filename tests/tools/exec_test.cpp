// `voltcheck exec` on hand-written PTX: each kind of argument, each kind of refusal.
#include <gtest/gtest.h>

#include <cstring>
#include <nlohmann/json.hpp>
#include <vector>

#include "command.h"
#include "tools/npy.h"

namespace voltcheck::tools {
namespace {

// y[i] = s * x[i] + y[i] for i < n, one thread each; and out[0] = *p + v of a struct { u64 p; u32 v
// }.
constexpr const char* kPtx = R"(
.version 6.0
.target sm_70
.address_size 64
.visible .entry axpy(.param .u32 n, .param .f32 s, .param .u64 x, .param .u64 y)
{
  .reg .pred %p;
  .reg .b32 %r<4>;
  .reg .f32 %f<4>;
  .reg .b64 %rd<6>;
  mov.u32 %r0, %ctaid.x;
  mov.u32 %r1, %ntid.x;
  mov.u32 %r2, %tid.x;
  mad.lo.s32 %r0, %r0, %r1, %r2;
  ld.param.u32 %r3, [n];
  setp.ge.u32 %p, %r0, %r3;
  @%p bra done;
  ld.param.f32 %f0, [s];
  ld.param.u64 %rd0, [x];
  ld.param.u64 %rd1, [y];
  mul.wide.u32 %rd2, %r0, 4;
  add.s64 %rd3, %rd0, %rd2;
  add.s64 %rd4, %rd1, %rd2;
  ld.global.f32 %f1, [%rd3];
  ld.global.f32 %f2, [%rd4];
  fma.rn.f32 %f3, %f0, %f1, %f2;
  st.global.f32 [%rd4], %f3;
done:
  ret;
}
.visible .entry add_from_struct(.param .u64 out, .param .align 8 .b8 packed[16])
{
  .reg .b32 %r<4>;
  .reg .b64 %rd<4>;
  ld.param.u64 %rd0, [out];
  ld.param.u64 %rd1, [packed];
  ld.param.u32 %r0, [packed+8];
  ld.global.u32 %r1, [%rd1];
  add.s32 %r2, %r0, %r1;
  st.global.u32 [%rd0], %r2;
  ret;
}
)";

// Each thread prints its number and a name.
constexpr const char* kPrinting = R"(
.version 6.0
.target sm_70
.address_size 64
.extern .func (.param .b32 count) vprintf(.param .b64 format, .param .b64 arguments);
.global .align 1 .b8 format[17] = {116, 104, 114, 101, 97, 100, 32, 37, 100, 32, 111, 102, 32, 37, 115, 10, 0};
.global .align 1 .b8 name[6] = {98, 108, 111, 99, 107, 0};
.visible .entry prints()
{
  .local .align 8 .b8 depot[16];
  .reg .b32 %r<2>;
  .reg .b64 %rd<4>;
  mov.u64 %rd0, depot;
  cvta.local.u64 %rd0, %rd0;
  mov.u32 %r0, %tid.x;
  st.u32 [%rd0], %r0;
  mov.u64 %rd1, name;
  cvta.global.u64 %rd1, %rd1;
  st.u64 [%rd0+8], %rd1;
  mov.u64 %rd2, format;
  cvta.global.u64 %rd2, %rd2;
  {
    .param .b64 f;
    .param .b64 a;
    .param .b32 n;
    st.param.b64 [f], %rd2;
    st.param.b64 [a], %rd0;
    call.uni (n), vprintf, (f, a);
    ld.param.b32 %r1, [n];
  }
  ret;
}
)";

template <typename T>
std::string Raw(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

template <typename T>
std::vector<T> Values(const std::string& bytes) {
  std::vector<T> values(bytes.size() / sizeof(T));
  std::memcpy(values.data(), bytes.data(), values.size() * sizeof(T));
  return values;
}

class ExecTest : public CommandTest {
 protected:
  ExecTest() {
    WriteText(Path("k.ptx"), kPtx);
    WriteText(Path("x.bin"), Raw<float>({1, 2, 3}));
    WriteText(Path("y.bin"), Raw<float>({10, 20, 30}));
  }
  Outcome Axpy(const std::vector<std::string>& more, const std::string& n = "3") const {
    std::vector<std::string> words{"exec", "k.ptx", "axpy",     "--grid", "2",    "--block",
                                   "32",   "--arg", "u32:" + n, "--arg",  "f32:2"};
    words.insert(words.end(), more.begin(), more.end());
    return Run(words);
  }
};

TEST_F(ExecTest, RawBuffersInAndOut) {
  const Outcome run = Axpy({"--arg", "in:x.bin", "--arg", "inout:y.bin:z.bin"});
  EXPECT_EQ(run.status, 0) << run.out << run.err;
  EXPECT_EQ(Values<float>(ReadText(Path("z.bin"))), (std::vector<float>{12, 24, 36}));
  EXPECT_EQ(Values<float>(ReadText(Path("y.bin"))), (std::vector<float>{10, 20, 30}));
  EXPECT_EQ(Axpy({"--arg", "in:x.bin", "--arg", "inout:y.bin"}).status, 0);
  EXPECT_EQ(Values<float>(ReadText(Path("y.bin"))), (std::vector<float>{12, 24, 36}));
}

TEST_F(ExecTest, NpyKeepsTypeAndShape) {
  NpyHeader header;
  header.dtype = "<f4";
  header.shape = {3, 1};
  WriteText(Path("y.npy"), NpyPreamble(header) + Raw<float>({10, 20, 30}));
  const Outcome run = Axpy({"--arg", "in:x.bin", "--arg", "inout:y.npy:z.npy"});
  EXPECT_EQ(run.status, 0) << run.out << run.err;
  EXPECT_EQ(ReadText(Path("z.npy")), NpyPreamble(header) + Raw<float>({12, 24, 36}));
}

TEST_F(ExecTest, AddressesArePatchedIntoStructs) {
  WriteText(Path("s.bin"), Raw<std::uint32_t>({0, 0, 5, 0}));
  WriteText(Path("seven.bin"), Raw<std::uint32_t>({7}));
  // The kernel has two parameters; the pointed-to buffer needs no parameter of its own, so it is
  // the output.
  const Outcome run = Run({"exec", "k.ptx", "add_from_struct", "--arg", "inout:seven.bin:out.bin",
                           "--arg", "bytes:s.bin@0=arg0"});
  EXPECT_EQ(run.status, 0) << run.out << run.err;
  EXPECT_EQ(Values<std::uint32_t>(ReadText(Path("out.bin"))), std::vector<std::uint32_t>{12});
}

TEST_F(ExecTest, PrintsWhatTheKernelPrints) {
  WriteText(Path("p.ptx"), kPrinting);
  const std::string text = "thread 0 of block\nthread 1 of block\n";
  const Outcome run = Run({"exec", "p.ptx", "prints", "--block", "2"});
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_EQ(run.out, text);
  const Outcome json = Run({"exec", "p.ptx", "prints", "--block", "2", "--json"});
  EXPECT_EQ(nlohmann::json::parse(json.out)["printed"], text);
}

TEST_F(ExecTest, ReadsBeyondABufferAreFoundAndNothingIsWritten) {
  const Outcome run = Axpy({"--arg", "in:x.bin", "--arg", "inout:y.bin:z.bin", "--json"}, "4");
  EXPECT_EQ(run.status, 1) << run.out << run.err;
  const nlohmann::json json = nlohmann::json::parse(run.out);
  ASSERT_GT(json["summary"]["findings"], 0);
  EXPECT_EQ(json["findings"][0]["kernel"], "axpy");
  EXPECT_FALSE(std::filesystem::exists(Path("z.bin")));
}

TEST_F(ExecTest, UninitialisedReadsAreFoundUnlessSwitchedOff) {
  const std::vector<std::string> arguments{"--arg", "in:x.bin", "--arg", "out:z.bin:12"};
  EXPECT_EQ(Axpy(arguments).status, 1);
  std::vector<std::string> unchecked = arguments;
  unchecked.insert(unchecked.end(), {"--check", "none"});
  EXPECT_EQ(Axpy(unchecked).status, 0);
  EXPECT_EQ(Axpy({"--arg", "in:x.bin", "--arg", "zeros:12"}).status, 0);
}

TEST_F(ExecTest, RefusalsAreOneLine) {
  const auto refuse = [&](const std::vector<std::string>& more, const std::string& what) {
    ExpectRefusal(Axpy(more), 2, what);
  };
  refuse({"--arg", "in:nowhere.bin", "--arg", "zeros:12"}, "nowhere.bin");
  refuse({"--arg", "in:x.bin"}, "axpy");
  refuse({"--arg", "in:x.bin", "--arg", "out:z.bin"}, "needs out:FILE:BYTES");
  refuse({"--arg", "in:x.bin", "--arg", "out:z.bin:many"}, "cannot be 'many'");
  refuse({"--arg", "in:x.bin", "--arg", "out:missing/z.bin:12"}, "missing/z.bin");
  refuse({"--arg", "in:x.bin", "--arg", "thing:1"}, "is no kind of argument");
  refuse({"--arg", "in:x.bin", "--arg", "u8:300"}, "no value of that type");
  refuse({"--arg", "in:x.bin", "--arg", "bytes:x.bin@9=arg2"}, "does not fit");
  refuse({"--arg", "in:x.bin", "--arg", "bytes:x.bin@0=arg7"}, "arg7 is no buffer");
  ExpectRefusal(Run({"exec", "k.ptx", "absent"}), 2, "absent");
  ExpectRefusal(Run({"exec", "k.ptx"}), 2, "needs a PTX file and a kernel's name");
  ExpectRefusal(Run({"exec", "k.ptx", "axpy", "--block", "0"}), 2, "--block");
  ExpectRefusal(Run({"exec", "k.ptx", "axpy", "--check", "luck"}), 2, "no such checker");
  ExpectRefusal(Run({"exec", "k.ptx", "axpy", "--numerics", "v200"}), 2, "v200");
}

}  // namespace
}  // namespace voltcheck::tools
