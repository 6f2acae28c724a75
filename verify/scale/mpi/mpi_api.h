#ifndef VOLTCHECK_VERIFY_SCALE_MPI_MPI_API_H_
#define VOLTCHECK_VERIFY_SCALE_MPI_MPI_API_H_

#include <stddef.h>

/// What Voltcheck uses of MPI, as a plugin that is opened at run time: the command itself is built
/// and runs without MPI. Every function but `poll` returns 0, or an MPI error code. One thread
/// calls them.
struct VoltcheckMpi {
  /// Starts MPI; `version` names the library.
  int (*init)(int* rank, int* size, const char** version);
  /// This process among those on its host.
  int (*local)(int* rank, int* size);
  /// Hands `bytes` bytes over for rank `to` and returns at once; the buffer may be reused.
  int (*send)(int to, const void* data, size_t bytes);
  /// The next message, if one has come: 1 and its sender and size, at most `room` bytes; 0 when
  /// none has. Larger ones are an error, -1.
  int (*poll)(int* from, void* data, size_t room, size_t* bytes);
  /// Element-wise sum over all ranks, in place, in the order that the library's all-reduce takes:
  /// of fp16 bits, each partial sum rounded to half, and of fp32.
  int (*sum_halves)(unsigned short* halves, size_t count);
  int (*sum_floats)(float* floats, size_t count);
  /// Everyone's `bytes` bytes, in the order of the ranks, on every rank.
  int (*gather)(const void* mine, size_t bytes, void* all);
  /// Ends MPI once all ranks call it.
  int (*finalize)(void);
  /// Ends all ranks with this status, those too that do not answer.
  void (*abort)(int status);
};

/// The plugin's one symbol is a function of this type and name.
#define VOLTCHECK_MPI_SYMBOL "voltcheck_mpi"
using VoltcheckMpiEntry = const VoltcheckMpi* (*)(void);

#endif  // VOLTCHECK_VERIFY_SCALE_MPI_MPI_API_H_
