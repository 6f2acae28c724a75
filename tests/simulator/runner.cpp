#include "runner.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

namespace voltcheck::simulator::testing {

std::string EntryText(const std::string& params, const std::string& body,
                      const std::string& before) {
  return ".version 7.8\n.target sm_70\n.address_size 64\n" + before + "\n.visible .entry k(" +
         params +
         ")\n{\n"
         ".reg .pred %p<64>;\n.reg .b16 %rs<64>;\n.reg .b32 %r<64>;\n.reg .f32 %f<64>;\n"
         ".reg .b64 %rd<64>;\n.reg .f64 %fd<64>;\n" +
         body + "\nret;\n}\n";
}

std::string WriterText(const std::string& body, const std::string& before) {
  return EntryText(
      ".param .u64 out",
      "ld.param.u64 %rd2, [out];\nmov.u32 %r1, %tid.x;\nmov.u32 %r2, %ctaid.x;\n"
      "mov.u32 %r3, %ntid.x;\nmad.lo.s32 %r4, %r2, %r3, %r1;\nmul.wide.u32 %rd3, %r4, 4;\n"
      "add.s64 %rd1, %rd2, %rd3;\n" +
          body,
      before);
}

Runner::Runner(const Options& options) : device_(MakeSimulator(options)) {}

kernels::KernelHandle Runner::Load(const std::string& ptx, const std::string& name,
                                   const std::string& file) {
  return device_->FindKernel(device_->LoadModule({file, ptx, {}}), name);
}

kernels::DeviceAddress Runner::Buffer(std::size_t bytes, const std::string& name) {
  return device_->Allocate(bytes, name);
}

std::string Runner::Findings() {
  std::string text;
  for (const kernels::Finding& f : device_->TakeFindings()) {
    text += f.checker + " line " + std::to_string(f.line) + " block " + std::to_string(f.block.x) +
            " thread " + std::to_string(f.thread.x) + ": " + f.message + "\n";
  }
  return text;
}

std::vector<std::uint32_t> RunWriter(const std::string& body, std::uint32_t threads,
                                     std::uint64_t schedule, const std::string& before) {
  Options options;
  options.schedule = schedule;
  Runner runner(options);
  const kernels::KernelHandle kernel = runner.Load(WriterText(body, before));
  const kernels::DeviceAddress out = runner.Buffer(threads * 4);
  runner.device().Fill(out, std::byte{0}, threads * 4);
  runner.Run(kernel, {1, 1, 1}, {threads, 1, 1}, 0, out);
  EXPECT_EQ(runner.Findings(), "");
  return runner.Download<std::uint32_t>(out, threads);
}

std::string CompiledPtx(const std::string& name) {
  std::ifstream file(std::string(VOLTCHECK_TEST_PTX_DIR) + "/" + name + ".ptx");
  EXPECT_TRUE(file.good()) << name;
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

}  // namespace voltcheck::simulator::testing
