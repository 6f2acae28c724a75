// What the compiler and the assembler made of the device code.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>

#include "kernels/kernel_set.h"

namespace voltcheck::kernels {
namespace {

std::string ReadText(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

std::string StemOf(const ModuleImage& module) {
  return std::filesystem::path(module.name).stem().string();
}

/// The text of each entry, from its name to the next entry.
std::vector<std::pair<std::string, std::string>> EntryTexts(const std::string& ptx) {
  std::vector<std::pair<std::string, std::string>> entries;
  const std::string marker = ".visible .entry ";
  for (std::size_t at = ptx.find(marker); at != std::string::npos;) {
    const std::size_t next = ptx.find(marker, at + 1);
    const std::string text = ptx.substr(at + marker.size(), next - at);
    entries.emplace_back(text.substr(0, text.find('(')), text);
    at = next;
  }
  return entries;
}

TEST(DeviceCode, NothingSpillsRegisters) {
  int kernels = 0;
  for (const ModuleImage& module : BuiltInModules()) {
    const std::string report =
        ReadText(std::filesystem::path(VOLTCHECK_PTX_DIR) / (StemOf(module) + ".ptxas.txt"));
    ASSERT_FALSE(report.empty()) << module.name;
    const std::regex line(
        "Compiling entry function '(\\w+)'[^\\n]*\\n[^\\n]*\\n\\s*(\\d+) bytes stack "
        "frame, (\\d+) bytes spill stores, (\\d+) bytes spill loads");
    for (auto match = std::sregex_iterator(report.begin(), report.end(), line);
         match != std::sregex_iterator(); ++match) {
      EXPECT_EQ((*match)[2], "0") << (*match)[1] << " uses local memory";
      EXPECT_EQ((*match)[3], "0") << (*match)[1];
      EXPECT_EQ((*match)[4], "0") << (*match)[1];
      ++kernels;
    }
  }
  EXPECT_GE(kernels, 46);
}

TEST(DeviceCode, EveryGemmMultipliesOnTensorCoresWithFp32Accumulators) {
  for (const ModuleImage& module : BuiltInModules()) {
    for (const auto& [name, text] : EntryTexts(module.ptx)) {
      const bool gemm = name.rfind("grouped_gemm_", 0) == 0;
      EXPECT_EQ(text.find("mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32") != std::string::npos,
                gemm)
          << name;
    }
  }
}

// Contraction: an assembler may fuse mul and add that do not say how they round, and then the
// machine's bits are not those that the PTX means. Every multiplication here whose product is added
// to something is a written fma, and what is left says .rn. (expf's own two multiplications are not
// followed by an unrounded add.)
TEST(DeviceCode, LeavesTheAssemblerNothingToContract) {
  const std::regex half_multiply("\\bmul\\.f16(x2)?\\b");
  const std::regex half_add("\\badd\\.f16(x2)?\\b");
  for (const ModuleImage& module : BuiltInModules()) {
    EXPECT_FALSE(std::regex_search(module.ptx, half_multiply)) << module.name;
    EXPECT_FALSE(std::regex_search(module.ptx, half_add)) << module.name;
  }
}

TEST(DeviceCode, NoAtomicsOnData) {
  for (const ModuleImage& module : BuiltInModules()) {
    EXPECT_EQ(module.ptx.find("\tatom."), std::string::npos) << module.name;
    EXPECT_EQ(module.ptx.find("\tred."), std::string::npos) << module.name;
  }
}

TEST(DeviceCode, GemmsLoadWeightsAndActivationsSixteenBytesAtATime) {
  for (const ModuleImage& module : BuiltInModules()) {
    for (const auto& [name, text] : EntryTexts(module.ptx)) {
      if (name.rfind("grouped_gemm_", 0) == 0) {
        EXPECT_NE(text.find("ld.global.nc.v4.u32"), std::string::npos) << name;
        EXPECT_NE(text.find("ld.shared.v4.u32"), std::string::npos) << name;
        EXPECT_NE(text.find("st.shared.v4.u32"), std::string::npos) << name;
      }
    }
  }
}

}  // namespace
}  // namespace voltcheck::kernels
