// Large blocks of memory whose pages stay with the process when they are freed, for the blocks that come
// next, whatever their sizes: a rank after the other is linked in arrays of other lengths each time. A heap
// would keep holes that nothing fits; giving pages back costs the kernel's clearing them again.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <mutex>
#include <new>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"

namespace chakra {

// Thread-safe. Blocks begin on a page, and hold what was in their pages before.
class PagePool {
 public:
  static constexpr size_t kLeast = 1 << 20;  // bytes of a block that is worth a place here

  // A block of at least `bytes`: of free pages, moved together by the kernel where no free block is long
  // enough, and of new pages where there are not enough. Null: there is no memory.
  void* Take(size_t bytes);
  // Frees a block. False: it is none of this pool's.
  bool Give(void* block);
  // Bytes that were taken from the kernel so far.
  size_t mapped() const { return mapped_; }

 private:
  // The pool's own lists must not come from the pool.
  template <typename T>
  struct OfTheHeap {
    using value_type = T;
    OfTheHeap() = default;
    template <typename U>
    OfTheHeap(const OfTheHeap<U>&) {}  // NOLINT: as allocators are
    T* allocate(size_t n) {
      if (void* p = std::malloc(n * sizeof(T))) return static_cast<T*>(p);
      throw std::bad_alloc();
    }
    void deallocate(T* p, size_t) { std::free(p); }
    friend bool operator==(const OfTheHeap&, const OfTheHeap&) { return true; }
  };
  template <typename T>
  using List = std::vector<T, OfTheHeap<T>>;

  struct Block {
    char* begin = nullptr;
    size_t bytes = 0;
    List<size_t> parts;  // bytes of what the kernel moves at once, the first last
  };
  void MoveFront(size_t bytes, Block* from, Block* to);
  size_t FillFromFree(Block* to);
  void Trim();

  std::mutex mutex_;
  List<Block> free_;
  absl::flat_hash_map<void*, Block, absl::flat_hash_map<void*, Block>::hasher, std::equal_to<>,
                      OfTheHeap<std::pair<void* const, Block>>>
      taken_;
  size_t free_parts_ = 0;
  std::atomic<size_t> mapped_ = 0;
};

// The pool that the program's operator new takes large blocks from; null: none. Only the program has such an
// operator (replay/cli/operator_new.cc): libraries and tests take memory as ever.
inline std::atomic<PagePool*> kept_pages{nullptr};
// From now on there is one.
void KeepPages();

}  // namespace chakra
