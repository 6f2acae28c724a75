#include "kernels/runtime_shim/core/program_file.h"

#include <elf.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>
#include <span>

#include "fixtures/case/error.h"

namespace voltcheck::shim {
namespace {

/// Typed reads out of a file that may be damaged anywhere.
class Elf {
 public:
  Elf(std::string path, std::string bytes) : path_(std::move(path)), bytes_(std::move(bytes)) {
    if (bytes_.size() < sizeof(header_) || std::memcmp(bytes_.data(), ELFMAG, SELFMAG) != 0) {
      Refuse("is no ELF program");
    }
    std::memcpy(&header_, bytes_.data(), sizeof(header_));
    if (header_.e_ident[EI_CLASS] != ELFCLASS64 || header_.e_machine != EM_X86_64) {
      Refuse("is no 64-bit x86-64 program");
    }
  }

  std::vector<Elf64_Shdr> Sections() const {
    std::vector<Elf64_Shdr> sections(header_.e_shnum);
    for (std::size_t i = 0; i < sections.size(); ++i) {
      sections[i] = Get<Elf64_Shdr>(header_.e_shoff + i * sizeof(Elf64_Shdr));
    }
    return sections;
  }
  std::uint16_t names_section() const { return header_.e_shstrndx; }

  template <typename T>
  T Get(std::uint64_t offset) const {
    T value{};
    if (offset > bytes_.size() || bytes_.size() - offset < sizeof(T)) {
      Refuse("is a damaged ELF file");
    }
    std::memcpy(&value, bytes_.data() + offset, sizeof(T));
    return value;
  }
  std::string Text(std::uint64_t offset) const {
    if (offset >= bytes_.size()) {
      Refuse("is a damaged ELF file");
    }
    return bytes_.substr(offset, bytes_.find('\0', offset) - offset);
  }
  std::span<const std::byte> Contents(const Elf64_Shdr& section) const {
    if (section.sh_offset > bytes_.size() || section.sh_size > bytes_.size() - section.sh_offset) {
      Refuse("is a damaged ELF file");
    }
    return std::as_bytes(std::span(bytes_)).subspan(section.sh_offset, section.sh_size);
  }

 private:
  [[noreturn]] void Refuse(const char* what) const {
    throw BadInput(path_, what, "name a Linux x86-64 program built by nvcc");
  }
  std::string path_;
  std::string bytes_;
  Elf64_Ehdr header_{};
};

/// The section holds fat binaries one behind the other, with padding between.
void ReadImagesOf(const std::string& path, std::span<const std::byte> section,
                  std::vector<FatImage>& images) {
  for (std::size_t at = 0; at + 16 <= section.size();) {
    const std::uint64_t bytes = FatBinaryBytes(section.subspan(at));
    if (bytes == 0) {
      at += 8;
      continue;
    }
    const std::vector<FatImage> more = ReadFatBinary(path, section.subspan(at));
    images.insert(images.end(), more.begin(), more.end());
    at += bytes;
  }
}

}  // namespace

ProgramFile ReadProgramFile(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) {
    throw BadInput(path, "cannot be read", "name a program");
  }
  std::string bytes(std::istreambuf_iterator<char>(in), {});
  ProgramFile program;
  if (bytes.starts_with("#!")) {
    program.script = true;
    return program;
  }
  const Elf elf(path, std::move(bytes));
  const std::vector<Elf64_Shdr> sections = elf.Sections();
  for (const Elf64_Shdr& section : sections) {
    if (section.sh_type == SHT_DYNAMIC && section.sh_link < sections.size()) {
      const std::uint64_t strings = sections[section.sh_link].sh_offset;
      for (std::uint64_t at = 0; at + sizeof(Elf64_Dyn) <= section.sh_size;
           at += sizeof(Elf64_Dyn)) {
        const auto entry = elf.Get<Elf64_Dyn>(section.sh_offset + at);
        if (entry.d_tag == DT_NEEDED) {
          program.needed.push_back(elf.Text(strings + entry.d_un.d_val));
        }
      }
    }
    if (elf.names_section() < sections.size() && section.sh_type == SHT_PROGBITS &&
        elf.Text(sections[elf.names_section()].sh_offset + section.sh_name) == ".nv_fatbin") {
      ReadImagesOf(path, elf.Contents(section), program.images);
    }
  }
  program.has_device_code = !program.images.empty();
  const auto needs = [&program](const char* prefix) {
    return std::any_of(program.needed.begin(), program.needed.end(),
                       [prefix](const std::string& name) { return name.starts_with(prefix); });
  };
  program.uses_runtime = needs("libcudart.so");
  program.uses_driver = needs("libcuda.so");
  return program;
}

void RequireRunnable(const std::string& path, const ProgramFile& program) {
  if (!program.has_device_code) {
    return;
  }
  if (ChoosePtx(program.images) == nullptr) {
    throw BadInput(path, "holds " + DescribeImages(program.images) + ", not PTX for compute_70",
                   kRebuildForPtx);
  }
  if (!program.uses_runtime && !program.uses_driver) {
    throw BadInput(path, "has the CUDA runtime linked in statically",
                   "rebuild with nvcc --cudart shared (CMake: CMAKE_CUDA_RUNTIME_LIBRARY=Shared)");
  }
}

}  // namespace voltcheck::shim
