#ifndef VOLTCHECK_KERNELS_RUNTIME_SHIM_CORE_DEVICE_INFO_H_
#define VOLTCHECK_KERNELS_RUNTIME_SHIM_CORE_DEVICE_INFO_H_

#include <cstddef>
#include <cstdint>

#include "kernels/runtime_shim/core/settings.h"

namespace voltcheck::shim {

inline constexpr const char* kDeviceName = "Tesla V100-SXM2-16GB";
inline constexpr int kDriverVersion = 12000;

/// What cudaDeviceGetAttribute and cuDeviceGetAttribute answer: a V100's figures. False for a
/// number that neither knows.
bool DeviceAttribute(int attribute, const Settings& settings, int& value);

/// cudaDeviceProp as CUDA 11.8 lays it out.
struct DeviceProperties11 {
  char name[256];
  unsigned char uuid[16];
  char luid[8];
  unsigned luid_node_mask;
  std::size_t global_bytes;
  std::size_t shared_per_block;
  int registers_per_block;
  int warp_size;
  std::size_t pitch;
  int threads_per_block;
  int threads_dim[3];
  int grid_size[3];
  int clock_rate;
  std::size_t const_bytes;
  int major;
  int minor;
  std::size_t texture_alignment;
  std::size_t texture_pitch_alignment;
  int overlap;
  int multiprocessors;
  int timeout;
  int integrated;
  int maps_host;
  int compute_mode;
  int textures[40];  ///< sizes of textures and surfaces: none, there are no textures
  std::size_t surface_alignment;
  int concurrent_kernels;
  int ecc;
  int pci_bus;
  int pci_device;
  int pci_domain;
  int tcc;
  int engines;
  int unified_addressing;
  int memory_clock;
  int bus_width;
  int l2_bytes;
  int persisting_l2;
  int threads_per_multiprocessor;
  int priorities;
  int global_l1;
  int local_l1;
  std::size_t shared_per_multiprocessor;
  int registers_per_multiprocessor;
  int managed;
  int multi_gpu_board;
  int board_group;
  int host_atomics;
  int double_ratio;
  int pageable;
  int concurrent_managed;
  int preemption;
  int registered_pointer;
  int cooperative;
  int cooperative_multi;
  std::size_t shared_optin;
  int pageable_tables;
  int direct_managed;
  int blocks_per_multiprocessor;
  int policy_window;
  std::size_t reserved_shared;
};

/// cudaDeviceProp as CUDA 12 lays it out (cudaGetDeviceProperties_v2).
struct DeviceProperties12 {
  DeviceProperties11 base;
  int host_register;
  int sparse_arrays;
  int host_register_read_only;
  int timeline;
  int pools;
  int rdma;
  unsigned rdma_flush;
  int rdma_order;
  unsigned pool_handles;
  int deferred_arrays;
  int ipc_events;
  int clusters;
  int function_pointers;
  int reserved[63];
};
static_assert(sizeof(DeviceProperties11) == 728 && sizeof(DeviceProperties12) == 1032);

void FillProperties(const Settings& settings, DeviceProperties11& properties);
void FillProperties(const Settings& settings, DeviceProperties12& properties);

}  // namespace voltcheck::shim

#endif  // VOLTCHECK_KERNELS_RUNTIME_SHIM_CORE_DEVICE_INFO_H_
