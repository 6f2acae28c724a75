#include "verify/scale/ranks.h"

#include <dlfcn.h>

#include <cstdlib>
#include <filesystem>
#include <vector>

#include "fixtures/case/error.h"
#include "verify/scale/mpi/mpi_api.h"

namespace voltcheck::verify {
namespace {

namespace fs = std::filesystem;

constexpr const char* kPlugin = "lib/voltcheck/libvoltcheck_mpi.so";
constexpr std::size_t kMostBytes = std::size_t{1} << 20;  // of a message

// The plugin: in an installation beside bin/, in a build below the folder of the binary's parent.
std::string PluginPath() {
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  const fs::path path = program.parent_path().parent_path() / kPlugin;
  return !error && fs::exists(path, error) ? path.string() : std::string();
}

void Check(int status, const char* what) {
  if (status != 0) {
    throw Error(ExitStatus::kUnavailable,
                std::string("MPI: ") + what + " failed with code " + std::to_string(status) +
                    "; see what mpirun says, then run again with --resume");
  }
}

class MpiRanks : public Ranks {
 public:
  explicit MpiRanks(const VoltcheckMpi& mpi) : mpi_(mpi), buffer_(kMostBytes) {
    const char* version = nullptr;
    Check(mpi_.init(&rank_, &size_, &version), "starting");
    library_ = version;
  }
  int rank() const override { return rank_; }
  int size() const override { return size_; }
  std::string library() const override { return library_; }

  Place OnHost() override {
    Place place;
    Check(mpi_.local(&place.rank, &place.size), "counting the ranks of a host");
    return place;
  }

  void Send(int to, std::string_view bytes) override {
    Check(mpi_.send(to, bytes.data(), bytes.size()), "sending");
  }

  std::optional<Message> Poll() override {
    int from = 0;
    std::size_t bytes = 0;
    const int found = mpi_.poll(&from, buffer_.data(), buffer_.size(), &bytes);
    Check(found < 0 ? found : 0, "receiving");
    if (found == 0) {
      return std::nullopt;
    }
    return Message{from, std::string(buffer_.data(), bytes)};
  }

  void SumHalves(std::span<std::uint16_t> halves) override {
    Check(mpi_.sum_halves(halves.data(), halves.size()), "the all-reduce");
  }
  void SumFloats(std::span<float> floats) override {
    Check(mpi_.sum_floats(floats.data(), floats.size()), "the all-reduce");
  }
  std::string Gather(std::string_view mine) override {
    std::string all(mine.size() * static_cast<std::size_t>(size_), '\0');
    Check(mpi_.gather(mine.data(), mine.size(), all.data()), "gathering");
    return all;
  }
  void Lose() override { lost_ = true; }
  void Finish(int status) override {
    if (lost_) {
      mpi_.abort(status);
    }
    mpi_.finalize();
  }

 private:
  const VoltcheckMpi& mpi_;
  std::vector<char> buffer_;
  std::string library_;
  int rank_ = 0;
  int size_ = 1;
  bool lost_ = false;
};

}  // namespace

bool StartedByMpi() {
  // Open MPI, PMIx launchers (srun --mpi=pmix), and MPICH's, in this order.
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMIX_RANK", "PMI_SIZE"}) {
    if (std::getenv(name) != nullptr) {
      return true;
    }
  }
  return false;
}

std::string MpiText() {
  return PluginPath().empty()
             ? "not in this build: install openmpi-bin and libopenmpi-dev and build again"
             : "built in";
}

std::unique_ptr<Ranks> OpenRanks() {
  const std::string path = PluginPath();
  if (path.empty()) {
    throw Error(ExitStatus::kUnavailable, "MPI: " + MpiText() + ", or start one process");
  }
  // The library's own plugins look for its symbols among the global ones.
  void* plugin = dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL);
  void* entry = plugin == nullptr ? nullptr : dlsym(plugin, VOLTCHECK_MPI_SYMBOL);
  if (entry == nullptr) {
    const char* reason = dlerror();
    throw Error(ExitStatus::kUnavailable, path + ": cannot be opened (" +
                                              (reason == nullptr ? "?" : reason) +
                                              "); install the MPI that it was built with");
  }
  return std::make_unique<MpiRanks>(*reinterpret_cast<VoltcheckMpiEntry>(entry)());
}

}  // namespace voltcheck::verify
