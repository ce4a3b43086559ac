// A pool of large memory blocks. The pages of a freed block stay with the process and are used for later
// blocks, whatever their sizes. The program links one rank after another, each with arrays of other lengths:
// a heap would keep holes that no array fits, and if pages were returned to the kernel, it would have to zero
// them again.
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

// Thread-safe. Blocks begin at a page boundary. They are not zeroed: they hold whatever their pages held
// before.
class PagePool {
 public:
  static constexpr size_t kLeast = 1 << 20;  // minimum size of a block that the pool should serve, in bytes

  // Returns a block of at least `bytes`. If no free block is long enough, the kernel moves free pages
  // together, and new pages are added if there are too few. Returns null if memory runs out.
  void* Take(size_t bytes);
  // Frees a block. Returns false if the block is not from this pool.
  bool Give(void* block);
  // Bytes obtained from the kernel so far.
  size_t mapped() const { return mapped_; }

 private:
  // Allocator for the pool's own lists, which must not use the pool.
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
    List<size_t> parts;  // bytes of the pieces that the kernel can move as a whole, the first piece last
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

// The pool that the program's operator new uses for large blocks; null: none. Only the program has such an
// operator (replay/cli/operator_new.cc); libraries and tests use the normal allocator.
inline std::atomic<PagePool*> kept_pages{nullptr};
// Creates that pool. From now on, operator new uses it.
void KeepPages();

}  // namespace chakra
