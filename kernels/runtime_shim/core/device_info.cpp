#include "kernels/runtime_shim/core/device_info.h"

#include <cstring>
#include <map>

namespace voltcheck::shim {
namespace {

/// By the number of cudaDeviceAttr, which is CUdevice_attribute's, too. Sizes of textures are 0:
/// there are none here. Flags that are 0 are listed because a wrong number must be refused.
const std::map<int, int>& Attributes() {
  static const std::map<int, int> attributes = [] {
    std::map<int, int> a;
    for (int i = 1; i <= 121; ++i) {
      a[i] = 0;
    }
    for (const int unknown : {92, 93, 94, 102, 103, 104, 105, 107, 110}) {
      a[unknown] = 0;
    }
    a[1] = 1024;         // threads of a block
    a[2] = 1024;         // x
    a[3] = 1024;         // y
    a[4] = 64;           // z
    a[5] = 2147483647;   // grid x
    a[6] = 65535;        // y
    a[7] = 65535;        // z
    a[8] = 49152;        // shared memory of a block
    a[9] = 65536;        // constant memory
    a[10] = 32;          // warp
    a[11] = 2147483647;  // pitch
    a[12] = 65536;       // registers of a block
    a[13] = 1530000;     // clock, kHz
    a[14] = 512;         // texture alignment
    a[15] = 1;           // copies overlap kernels
    a[19] = 1;           // maps host memory
    a[30] = 512;         // surface alignment
    a[31] = 1;           // concurrent kernels
    a[32] = 1;           // ECC
    a[36] = 877000;      // memory clock, kHz
    a[37] = 4096;        // bus width
    a[38] = 6291456;     // L2
    a[39] = 2048;        // threads of a multiprocessor
    a[40] = 6;           // copy engines
    a[41] = 1;           // unified addresses
    a[51] = 32;          // texture pitch alignment
    a[75] = 7;           // compute capability
    a[76] = 0;
    a[78] = 1;      // stream priorities
    a[79] = 1;      // L1 caches global memory
    a[80] = 1;      // and local memory
    a[81] = 98304;  // shared memory of a multiprocessor
    a[82] = 65536;  // registers of a multiprocessor
    a[83] = 1;      // managed memory
    a[87] = 2;      // single to double speed
    a[89] = 1;      // managed memory concurrently
    a[90] = 1;      // compute preemption
    a[91] = 1;      // registered memory by its host pointer
    a[95] = 1;      // cooperative launch
    a[97] = 98304;  // shared memory of a block by opt-in
    a[98] = 1;      // flushes remote writes
    a[99] = 1;      // host registration
    a[102] = 1;     // virtual memory management is reported by a V100; unused here
    a[106] = 32;    // blocks of a multiprocessor
    a[115] = 1;     // memory pools
    a[119] = 1;     // their handles: file descriptors
    return a;
  }();
  return attributes;
}

}  // namespace

bool DeviceAttribute(int attribute, const Settings& settings, int& value) {
  if (attribute == 16) {
    value = settings.multiprocessors;
    return true;
  }
  const auto found = Attributes().find(attribute);
  if (found != Attributes().end()) {
    value = found->second;
  }
  return found != Attributes().end();
}

void FillProperties(const Settings& settings, DeviceProperties11& p) {
  std::memset(&p, 0, sizeof(p));
  const auto get = [&settings](int attribute) {
    int value = 0;
    DeviceAttribute(attribute, settings, value);
    return value;
  };
  std::strncpy(p.name, kDeviceName, sizeof(p.name) - 1);
  std::memcpy(p.uuid, "voltcheck-sim-70", sizeof(p.uuid));
  p.global_bytes = settings.memory;
  p.shared_per_block = static_cast<std::size_t>(get(8));
  p.registers_per_block = get(12);
  p.warp_size = get(10);
  p.pitch = static_cast<std::size_t>(get(11));
  p.threads_per_block = get(1);
  for (int i = 0; i < 3; ++i) {
    p.threads_dim[i] = get(2 + i);
    p.grid_size[i] = get(5 + i);
  }
  p.clock_rate = get(13);
  p.const_bytes = static_cast<std::size_t>(get(9));
  p.major = get(75);
  p.minor = get(76);
  p.texture_alignment = static_cast<std::size_t>(get(14));
  p.texture_pitch_alignment = static_cast<std::size_t>(get(51));
  p.overlap = get(15);
  p.multiprocessors = get(16);
  p.maps_host = get(19);
  p.surface_alignment = static_cast<std::size_t>(get(30));
  p.concurrent_kernels = get(31);
  p.ecc = get(32);
  p.engines = get(40);
  p.unified_addressing = get(41);
  p.memory_clock = get(36);
  p.bus_width = get(37);
  p.l2_bytes = get(38);
  p.threads_per_multiprocessor = get(39);
  p.priorities = get(78);
  p.global_l1 = get(79);
  p.local_l1 = get(80);
  p.shared_per_multiprocessor = static_cast<std::size_t>(get(81));
  p.registers_per_multiprocessor = get(82);
  p.managed = get(83);
  p.double_ratio = get(87);
  p.concurrent_managed = get(89);
  p.preemption = get(90);
  p.registered_pointer = get(91);
  p.cooperative = get(95);
  p.cooperative_multi = get(96);
  p.shared_optin = static_cast<std::size_t>(get(97));
  p.blocks_per_multiprocessor = get(106);
}

void FillProperties(const Settings& settings, DeviceProperties12& p) {
  std::memset(&p, 0, sizeof(p));
  FillProperties(settings, p.base);
  p.host_register = 1;
  p.pools = 1;
  p.pool_handles = 1;
}

}  // namespace voltcheck::shim
