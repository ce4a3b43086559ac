// Asks for a cache line before it is needed.
#pragma once

namespace chakra {

// For reading. GCC 12 drops calls of a function that only prefetches, since the function has no effect; the
// empty asm statement counts as an effect.
inline void Prefetch(const void* p) {
  __builtin_prefetch(p);
  asm volatile("");
}

// For writing. This core gets the line exclusively, so that the write need not ask another core for the line
// again.
inline void PrefetchToWrite(const void* p) {
#if defined(__x86_64__)
  // Where a compiler may not assume `prefetchw`, it makes the builtin a prefetch for reading. Processors
  // without `prefetchw` ignore it.
  asm volatile("prefetchw %0" : : "m"(*static_cast<const char*>(p)));
#else
  __builtin_prefetch(p, 1);
  asm volatile("");
#endif
}

}  // namespace chakra
