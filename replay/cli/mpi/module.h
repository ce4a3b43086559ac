// The functions of MPI that the program needs, as one table. The module with these functions is loaded only
// under mpirun, so the program itself depends on no MPI library and runs without one.
#pragma once

#include <stdint.h>

extern "C" {

struct ChakraMpi {
  // Returns 0, or an error of MPI. All other functions must be called on the thread that called init().
  int (*init)(int* rank, int* size);
  // Sends bytes to another process. Returns when the caller may change them.
  int (*send)(int to, const void* bytes, uint64_t size);
  // Reports whether a message has arrived, its sender and its size, without waiting.
  int (*poll)(int* from, uint64_t* size, int* waits);
  // Receives the message that poll() reported.
  int (*receive)(int from, void* bytes, uint64_t size);
  int (*finish)();
};

// The only symbol of the module.
const ChakraMpi* ChakraMpiModule();
}
