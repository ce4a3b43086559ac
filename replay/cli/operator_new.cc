// The program's operator new and delete: those of the C library, except that large blocks come from a pool of
// pages after a command has called KeepPages(). Builds with a sanitizer use the sanitizer's operators
// instead.
#include <cstdint>
#include <cstdlib>
#include <new>

#include "trace/base/page_pool.h"

namespace {

constexpr uintptr_t kPage = 4096;

void* Allocate(size_t bytes) {
  chakra::PagePool* const pool = chakra::kept_pages.load(std::memory_order_acquire);
  if (pool != nullptr && bytes >= chakra::PagePool::kLeast) return pool->Take(bytes);
  return std::malloc(bytes == 0 ? 1 : bytes);
}

}  // namespace

void* operator new(size_t bytes) {
  while (true) {
    if (void* const block = Allocate(bytes)) return block;
    const std::new_handler handler = std::get_new_handler();
    if (handler == nullptr) throw std::bad_alloc();
    handler();
  }
}

void operator delete(void* block) noexcept {
  chakra::PagePool* const pool = chakra::kept_pages.load(std::memory_order_acquire);
  const bool on_page = reinterpret_cast<uintptr_t>(block) % kPage == 0;
  if (pool != nullptr && on_page && block != nullptr && pool->Give(block)) return;
  std::free(block);
}

void operator delete(void* block, size_t) noexcept { operator delete(block); }
