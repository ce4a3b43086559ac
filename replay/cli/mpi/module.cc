#include "replay/cli/mpi/module.h"

#include <limits.h>
#define OMPI_SKIP_MPICXX 1  // only the C interface
#include <mpi.h>

namespace {

constexpr int kTag = 1;

int Init(int* rank, int* size) {
  int level = 0;
  // Other threads run points; only this thread calls MPI.
  if (const int error = MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &level); error != MPI_SUCCESS)
    return error;
  if (const int error = MPI_Comm_rank(MPI_COMM_WORLD, rank); error != MPI_SUCCESS) return error;
  return MPI_Comm_size(MPI_COMM_WORLD, size);
}

int Send(int to, const void* bytes, uint64_t size) {
  if (size > INT_MAX) return MPI_ERR_COUNT;
  return MPI_Send(bytes, static_cast<int>(size), MPI_BYTE, to, kTag, MPI_COMM_WORLD);
}

int Poll(int* from, uint64_t* size, int* waits) {
  MPI_Status status;
  if (const int error = MPI_Iprobe(MPI_ANY_SOURCE, kTag, MPI_COMM_WORLD, waits, &status);
      error != MPI_SUCCESS)
    return error;
  if (*waits == 0) return MPI_SUCCESS;
  int count = 0;
  *from = status.MPI_SOURCE;
  const int error = MPI_Get_count(&status, MPI_BYTE, &count);
  *size = static_cast<uint64_t>(count);
  return error;
}

int Receive(int from, void* bytes, uint64_t size) {
  return MPI_Recv(bytes, static_cast<int>(size), MPI_BYTE, from, kTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

int Finish() { return MPI_Finalize(); }

constexpr ChakraMpi kModule = {Init, Send, Poll, Receive, Finish};

}  // namespace

extern "C" const ChakraMpi* ChakraMpiModule() { return &kModule; }
