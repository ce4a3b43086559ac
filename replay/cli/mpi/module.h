// What the program needs of MPI, as one table of functions. The module that has them is loaded under mpirun
// only, so that the program itself depends on no MPI library and runs where there is none.
#pragma once

#include <stdint.h>

extern "C" {

struct ChakraMpi {
  // 0, or an error of MPI. All calls are of the thread that called this.
  int (*init)(int* rank, int* size);
  // Bytes to another process; returns when they may be changed.
  int (*send)(int to, const void* bytes, uint64_t size);
  // Whether a message waits, without waiting for one: from whom, and how long it is.
  int (*poll)(int* from, uint64_t* size, int* waits);
  // Takes the message that poll() told of.
  int (*receive)(int from, void* bytes, uint64_t size);
  int (*finish)();
};

// The only symbol of the module.
const ChakraMpi* ChakraMpiModule();
}
