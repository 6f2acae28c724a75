#include "verify/scale/nccl_sum.h"

#include <dlfcn.h>

#include <array>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <vector>

#include "fixtures/case/error.h"
#include "kernels/cuda/driver_api.h"

namespace voltcheck::verify {
namespace {

constexpr const char* kLibrary = "libnccl.so.2";

// The part of NCCL's binary interface that is used here: types and numbers as NVIDIA's manual of
// the library has them, the same in all releases of version 2.
struct NcclId {
  std::array<char, 128> bytes{};
};
using NcclComm = struct NcclCommRecord*;
using NcclResult = int;
constexpr NcclResult kNcclSuccess = 0;
constexpr int kNcclFloat16 = 6;
constexpr int kNcclFloat32 = 7;
constexpr int kNcclSum = 0;

struct NcclApi {
  NcclResult (*GetVersion)(int* version);
  NcclResult (*GetUniqueId)(NcclId* id);
  NcclResult (*CommInitRank)(NcclComm* comm, int ranks, NcclId id, int rank);
  NcclResult (*AllReduce)(const void* send, void* receive, std::size_t count, int type,
                          int operation, NcclComm comm, cuda::CuStream stream);
  NcclResult (*CommDestroy)(NcclComm comm);
  const char* (*GetErrorString)(NcclResult result);
};

Error Unavailable(const std::string& what, const std::string& why) {
  return Error(ExitStatus::kUnavailable,
               what + " failed (" + why + "); run it with NCCL_DEBUG=INFO to see more");
}

// The library stays open for as long as the process lives.
NcclApi LoadNccl() {
  void* library = dlopen(kLibrary, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    throw Error(ExitStatus::kUnavailable, std::string(kLibrary) + " is not installed");
  }
  NcclApi api{};
  const auto find = [&](const char* name, auto& slot) {
    slot = reinterpret_cast<std::remove_reference_t<decltype(slot)>>(dlsym(library, name));
    if (slot == nullptr) {
      throw Error(ExitStatus::kUnavailable, std::string(kLibrary) + " has no " + name);
    }
  };
  find("ncclGetVersion", api.GetVersion);
  find("ncclGetUniqueId", api.GetUniqueId);
  find("ncclCommInitRank", api.CommInitRank);
  find("ncclAllReduce", api.AllReduce);
  find("ncclCommDestroy", api.CommDestroy);
  find("ncclGetErrorString", api.GetErrorString);
  return api;
}

// 22705 is 2.27.5; before 2.9 it was 2804 for 2.8.4.
std::string VersionText(int version) {
  const int unit = version >= 10'000 ? 10'000 : 1'000;
  return "NCCL " + std::to_string(version / unit) + "." + std::to_string(version % unit / 100) +
         "." + std::to_string(version % 100);
}

// A GPU's primary context, which NCCL finds as the current one, and a stream.
class Gpu {
 public:
  explicit Gpu(int ordinal) : api_(cuda::LoadDriverApi("libcuda.so.1")) {
    Require(api_.Init(0), "starting the NVIDIA driver");
    Require(api_.DeviceGet(&device_, ordinal), "GPU " + std::to_string(ordinal));
    Require(api_.PrimaryContextRetain(&context_, device_), "the GPU's context");
    Require(api_.ContextSetCurrent(context_), "the GPU's context");
    Require(api_.StreamCreate(&stream_, cuda::kStreamNonBlocking), "a stream on the GPU");
  }
  Gpu(const Gpu&) = delete;
  Gpu& operator=(const Gpu&) = delete;
  ~Gpu() {
    if (stream_ != nullptr) {
      api_.StreamDestroy(stream_);
    }
    if (context_ != nullptr) {
      api_.PrimaryContextRelease(device_);
    }
  }

  const cuda::DriverApi& api() const { return api_; }
  cuda::CuStream stream() const { return stream_; }
  void Require(cuda::CuResult result, const std::string& what) const {
    if (result != cuda::kSuccess) {
      const char* text = nullptr;
      api_.GetErrorString(result, &text);
      throw Unavailable(what, text == nullptr ? "?" : text);
    }
  }

 private:
  cuda::DriverApi api_;
  cuda::CuDevice device_ = 0;
  cuda::CuContext context_ = nullptr;
  cuda::CuStream stream_ = nullptr;
};

class Sum : public NcclSum {
 public:
  Sum(const NcclApi& api, std::unique_ptr<Gpu> gpu) : api_(api), gpu_(std::move(gpu)) {}
  Sum(const Sum&) = delete;
  Sum& operator=(const Sum&) = delete;
  ~Sum() override {
    if (comm_ != nullptr) {
      api_.CommDestroy(comm_);
    }
  }

  void Join(int ranks, const NcclId& id, int rank) {
    Require(api_.CommInitRank(&comm_, ranks, id, rank), "NCCL: joining the ranks");
  }

  std::string name() const override {
    int version = 0;
    api_.GetVersion(&version);
    return VersionText(version);
  }
  void SumHalves(std::span<std::uint16_t> halves) override {
    Reduce(halves.data(), halves.size(), sizeof(halves[0]), kNcclFloat16);
  }
  void SumFloats(std::span<float> floats) override {
    Reduce(floats.data(), floats.size(), sizeof(floats[0]), kNcclFloat32);
  }

 private:
  void Require(NcclResult result, const char* what) const {
    if (result != kNcclSuccess) {
      throw Unavailable(what, api_.GetErrorString(result));
    }
  }

  void Reduce(void* values, std::size_t count, std::size_t size, int type) {
    const cuda::DriverApi& driver = gpu_->api();
    cuda::CuDevicePointer buffer = 0;
    gpu_->Require(driver.MemoryAllocate(&buffer, count * size), "memory on the GPU");
    gpu_->Require(driver.CopyToDevice(buffer, values, count * size), "a copy to the GPU");
    void* at = reinterpret_cast<void*>(buffer);
    Require(api_.AllReduce(at, at, count, type, kNcclSum, comm_, gpu_->stream()),
            "NCCL: the all-reduce");
    gpu_->Require(driver.StreamSynchronize(gpu_->stream()), "NCCL: the all-reduce");
    gpu_->Require(driver.CopyFromDevice(values, buffer, count * size), "a copy from the GPU");
    gpu_->Require(driver.MemoryFree(buffer), "memory on the GPU");
  }

  NcclApi api_;
  std::unique_ptr<Gpu> gpu_;
  NcclComm comm_ = nullptr;
};

// What the ranks tell each other before they join, and after.
struct Ready {
  NcclId id;  // rank 0's counts
  std::array<char, 200> why_not{};
  void Refuse(const std::string& why) {
    std::snprintf(why_not.data(), why_not.size(), "%s", why.c_str());
  }
};

// Everyone's; why_not is the first reason of any rank.
std::vector<Ready> Exchange(Ranks& ranks, const Ready& mine, std::string& why_not) {
  const std::string bytes = ranks.Gather({reinterpret_cast<const char*>(&mine), sizeof(mine)});
  std::vector<Ready> all(static_cast<std::size_t>(ranks.size()));
  std::memcpy(all.data(), bytes.data(), bytes.size());
  for (std::size_t rank = 0; rank < all.size() && why_not.empty(); ++rank) {
    if (all[rank].why_not[0] != '\0') {
      why_not = "rank " + std::to_string(rank) + ": " + all[rank].why_not.data();
    }
  }
  return all;
}

}  // namespace

std::unique_ptr<NcclSum> OpenNccl(Ranks& ranks, int gpu, std::string& why_not) {
  Ready mine;
  std::unique_ptr<Sum> sum;
  try {
    if (gpu < 0) {
      throw Error(ExitStatus::kUnavailable, "has no GPU of its own");
    }
    const NcclApi api = LoadNccl();
    sum = std::make_unique<Sum>(api, std::make_unique<Gpu>(gpu));
    if (ranks.rank() == 0) {
      if (const NcclResult result = api.GetUniqueId(&mine.id); result != kNcclSuccess) {
        throw Unavailable("NCCL: starting", api.GetErrorString(result));
      }
    }
  } catch (const Error& error) {
    mine.Refuse(error.what());
  }
  const std::vector<Ready> all = Exchange(ranks, mine, why_not);
  if (!why_not.empty()) {
    return nullptr;
  }
  try {
    sum->Join(ranks.size(), all[0].id, ranks.rank());
  } catch (const Error& error) {
    mine.Refuse(error.what());
  }
  Exchange(ranks, mine, why_not);
  if (!why_not.empty()) {
    return nullptr;
  }
  return sum;
}

}  // namespace voltcheck::verify
