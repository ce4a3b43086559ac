// Prefetches a cache line before it is needed.
#pragma once

namespace chakra {

// Prefetches for reading. GCC 12 drops calls of a function that only prefetches, because the function has no
// effect; the empty asm statement counts as an effect.
inline void Prefetch(const void* p) {
  __builtin_prefetch(p);
  asm volatile("");
}

// Prefetches for writing. This core gets exclusive access to the line, so that the later write need not ask
// other cores.
inline void PrefetchToWrite(const void* p) {
#if defined(__x86_64__)
  // If the compiler may not assume that the processor has `prefetchw`, it makes the builtin a prefetch for
  // reading. Processors without `prefetchw` ignore the instruction.
  asm volatile("prefetchw %0" : : "m"(*static_cast<const char*>(p)));
#else
  __builtin_prefetch(p, 1);
  asm volatile("");
#endif
}

}  // namespace chakra
