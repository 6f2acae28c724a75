// The MPI plugin, libvoltcheck_mpi.so: mpi_api.h over the MPI library of the build.
#define OMPI_SKIP_MPICXX  // the C++ bindings that MPI gave up do not compile without warnings
#include <mpi.h>

#include <algorithm>
#include <cstring>
#include <list>
#include <string>
#include <vector>

#include "reference/arith/half.h"
#include "verify/scale/mpi/mpi_api.h"

namespace {

constexpr int kTag = 1;

// Messages under way: MPI reads the buffer until the request is complete.
struct Outgoing {
  std::vector<char> bytes;
  MPI_Request request = MPI_REQUEST_NULL;
};
std::list<Outgoing>& UnderWay() {
  static std::list<Outgoing> messages;
  return messages;
}

void DropComplete() {
  UnderWay().remove_if([](Outgoing& message) {
    int complete = 0;
    MPI_Test(&message.request, &complete, MPI_STATUS_IGNORE);
    return complete != 0;
  });
}

int Init(int* rank, int* size, const char** version) {
  int provided = 0;
  const int status = MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided);
  if (status != MPI_SUCCESS) {
    return status;
  }
  // A rank that has died must not take the others along where the launcher lets them live.
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_rank(MPI_COMM_WORLD, rank);
  MPI_Comm_size(MPI_COMM_WORLD, size);
  static char text[MPI_MAX_LIBRARY_VERSION_STRING];
  int length = 0;
  MPI_Get_library_version(text, &length);
  text[std::strcspn(text, ",\n")] = '\0';
  *version = text;
  return MPI_SUCCESS;
}

int Local(int* rank, int* size) {
  MPI_Comm host = MPI_COMM_NULL;
  const int status =
      MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host);
  if (status != MPI_SUCCESS) {
    return status;
  }
  MPI_Comm_rank(host, rank);
  MPI_Comm_size(host, size);
  return MPI_Comm_free(&host);
}

int Send(int to, const void* data, size_t bytes) {
  DropComplete();
  Outgoing& message = UnderWay().emplace_back();
  const auto* first = static_cast<const char*>(data);
  message.bytes.assign(first, first + bytes);
  return MPI_Isend(message.bytes.data(), static_cast<int>(bytes), MPI_BYTE, to, kTag,
                   MPI_COMM_WORLD, &message.request);
}

int Poll(int* from, void* data, size_t room, size_t* bytes) {
  DropComplete();
  int found = 0;
  MPI_Status status;
  if (MPI_Iprobe(MPI_ANY_SOURCE, kTag, MPI_COMM_WORLD, &found, &status) != MPI_SUCCESS ||
      found == 0) {
    return 0;
  }
  int count = 0;
  MPI_Get_count(&status, MPI_BYTE, &count);
  if (static_cast<size_t>(count) > room) {
    return -1;
  }
  *from = status.MPI_SOURCE;
  *bytes = static_cast<size_t>(count);
  const int received =
      MPI_Recv(data, count, MPI_BYTE, status.MPI_SOURCE, kTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  return received == MPI_SUCCESS ? 1 : 0;
}

// Half precision has no type in MPI.
void AddHalves(void* in, void* inout, int* count, MPI_Datatype* /*type*/) {
  const auto* a = static_cast<const unsigned short*>(in);
  auto* b = static_cast<unsigned short*>(inout);
  for (int i = 0; i < *count; ++i) {
    b[i] = voltcheck::arith::HalfAdd(a[i], b[i]);
  }
}

int SumHalves(unsigned short* halves, size_t count) {
  MPI_Op add = MPI_OP_NULL;
  MPI_Op_create(AddHalves, 1, &add);
  const int status = MPI_Allreduce(MPI_IN_PLACE, halves, static_cast<int>(count),
                                   MPI_UNSIGNED_SHORT, add, MPI_COMM_WORLD);
  MPI_Op_free(&add);
  return status;
}

int SumFloats(float* floats, size_t count) {
  return MPI_Allreduce(MPI_IN_PLACE, floats, static_cast<int>(count), MPI_FLOAT, MPI_SUM,
                       MPI_COMM_WORLD);
}

int Gather(const void* mine, size_t bytes, void* all) {
  return MPI_Allgather(mine, static_cast<int>(bytes), MPI_BYTE, all, static_cast<int>(bytes),
                       MPI_BYTE, MPI_COMM_WORLD);
}

int Finalize() {
  for (Outgoing& message : UnderWay()) {
    MPI_Wait(&message.request, MPI_STATUS_IGNORE);
  }
  UnderWay().clear();
  return MPI_Finalize();
}

void Abort(int status) { MPI_Abort(MPI_COMM_WORLD, status); }

}  // namespace

extern "C" const VoltcheckMpi* voltcheck_mpi() {
  static const VoltcheckMpi kApi{Init,      Local,  Send,     Poll, SumHalves,
                                 SumFloats, Gather, Finalize, Abort};
  return &kApi;
}
