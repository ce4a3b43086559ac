// Asks for a cache line before it is needed.
#pragma once

namespace chakra {

// To read. GCC takes a function that does nothing but prefetch for one without effect and leaves out the
// calls of it (seen with GCC 12); the empty statement is an effect.
inline void Prefetch(const void* p) {
  __builtin_prefetch(p);
  asm volatile("");
}

// To write, too: a line that another core wrote comes for good, not to be asked for once more.
inline void PrefetchToWrite(const void* p) {
#if defined(__x86_64__)
  // Compilers take the builtin for a read where they may not assume this instruction; processors without it
  // do nothing.
  asm volatile("prefetchw %0" : : "m"(*static_cast<const char*>(p)));
#else
  __builtin_prefetch(p, 1);
  asm volatile("");
#endif
}

}  // namespace chakra
