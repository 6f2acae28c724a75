// One planted bug each, where the comment says BUG; with bug = 0 the same kernel is right. The
// tests look the comments up, so the lines may move.

#define ARGUMENTS int *out, const int *in, int *lock, int bug

__constant__ int table[8];

extern "C" {

__global__ void global_bounds(ARGUMENTS) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[bug ? i + 1000 : i] = i;  // BUG global_bounds
}

__global__ void misaligned(ARGUMENTS) {
  char* bytes = reinterpret_cast<char*>(out) + 4 * threadIdx.x;
  *reinterpret_cast<int*>(bytes + (bug ? 2 : 0)) = 1;  // BUG misaligned
}

__global__ void shared_bounds(ARGUMENTS) {
  __shared__ int s[64];
  s[threadIdx.x + (bug ? 40 : 0)] = 1;  // BUG shared_bounds
  __syncthreads();
  out[threadIdx.x] = s[threadIdx.x];
}

__global__ void const_bounds(ARGUMENTS) {
  out[threadIdx.x] = table[bug ? threadIdx.x : threadIdx.x % 8];  // BUG const_bounds
}

__global__ void local_bounds(ARGUMENTS) {
  int row[8];
  for (int k = 0; k < 8; ++k) {
    row[(k + threadIdx.x) % 8] = k;
  }
  out[threadIdx.x] = row[threadIdx.x % 8 + (bug ? 5 : 0)];  // BUG local_bounds
}

__global__ void unwritten_global(ARGUMENTS) {
  out[threadIdx.x] = in[threadIdx.x + (bug ? 4 : 0)];  // BUG unwritten_global
}

__global__ void unwritten_shared(ARGUMENTS) {
  __shared__ int s[32];
  if (!bug || threadIdx.x != 5) {
    s[threadIdx.x] = 1;
  }
  __syncthreads();
  out[threadIdx.x] = s[31 - threadIdx.x];  // BUG unwritten_shared
}

__global__ void unwritten_local(ARGUMENTS) {
  int row[8];
  for (int k = bug; k < 8; ++k) {
    row[(k + in[0]) % 8] = k;
  }
  out[threadIdx.x] = row[threadIdx.x % 8];  // BUG unwritten_local
}

__global__ void shared_race(ARGUMENTS) {
  __shared__ int s[64];
  s[threadIdx.x] = threadIdx.x;
  if (!bug) {
    __syncthreads();
  }
  out[threadIdx.x] = s[63 - threadIdx.x];  // BUG shared_race
}

__global__ void warp_race(ARGUMENTS) {
  __shared__ int s[32];
  s[threadIdx.x] = threadIdx.x;
  if (!bug) {
    __syncwarp();
  }
  out[threadIdx.x] = s[31 - threadIdx.x];  // BUG warp_race
}

__global__ void global_race(ARGUMENTS) {
  if (threadIdx.x == 0) {
    out[bug ? 7 : blockIdx.x] = blockIdx.x;  // BUG global_race
  }
}

// The last block adds up what the others left; the fence makes their stores visible first.
__global__ void missing_fence(ARGUMENTS) {
  if (threadIdx.x == 0) {
    out[blockIdx.x] = blockIdx.x;
    if (!bug) {
      __threadfence();
    }
    if (atomicAdd(lock, 1) == gridDim.x - 1) {
      __threadfence();
      int sum = 0;
      for (int b = 0; b < gridDim.x; ++b) {
        sum += out[b];  // BUG missing_fence
      }
      out[100] = sum;
      *lock = 0;
    }
  }
}

__global__ void overlapping_stores(ARGUMENTS) {
  out[bug ? threadIdx.x / 2 : threadIdx.x] = threadIdx.x;  // BUG overlapping_stores
}

__global__ void divergent_barrier(ARGUMENTS) {
  if (!bug || threadIdx.x % 32 < 16) {
    __syncthreads();  // BUG divergent_barrier
  }
  out[threadIdx.x] = 1;
}

__global__ void extra_threads(ARGUMENTS) {
  if (bug || threadIdx.x < 64) {
    asm volatile("bar.sync 1, 64;" ::: "memory");  // BUG extra_threads
  }
  out[threadIdx.x] = 1;
}

__global__ void two_barriers(ARGUMENTS) {
  if (bug && threadIdx.x < 32) {
    asm volatile("bar.sync 1, 64;" ::: "memory");  // BUG two_barriers
  } else {
    asm volatile("bar.sync 2, %0;" ::"r"(static_cast<int>(blockDim.x)) : "memory");
  }
}

__global__ void forgotten_signal(ARGUMENTS) {
  if (threadIdx.x == 0) {
    if (blockIdx.x == 0) {
      *static_cast<volatile int*>(lock) = bug ? -7 : 1;
    } else {
      while (*static_cast<volatile int*>(lock) < 1) {  // BUG forgotten_signal
      }
      if (atomicAdd(lock, 1) == gridDim.x - 1) {
        atomicExch(lock, 0);
      }
    }
  }
}

__global__ void livelock(ARGUMENTS) {
  if (threadIdx.x == 0) {
    while (bug && atomicXor(lock, 1) < 2) {  // BUG livelock
    }
  }
}

__global__ void dirty_lock(ARGUMENTS) {
  if (threadIdx.x == 0) {
    int held;
    do {
      asm volatile("atom.global.cas.b32 %0,[%1],0,1;" : "=r"(held) : "l"(lock));  // BUG dirty_lock
    } while (held != 0);
    __threadfence();
    const int turns = out[0] + 1;
    out[0] = turns;
    __threadfence();
    if (!bug || turns < gridDim.x) {  // the last one keeps it, whichever block that is
      atomicExch(lock, 0);
    }
  }
}

__global__ void strides(ARGUMENTS) {
  volatile __shared__ int s[32 * 33];
  s[threadIdx.x * (bug ? 32 : 33)] = 1;
  out[threadIdx.x * (bug ? 8 : 1)] = 1;
}

}  // extern "C"
