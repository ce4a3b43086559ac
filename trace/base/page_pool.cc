#include "trace/base/page_pool.h"

#include <sys/mman.h>

#include <algorithm>

namespace chakra {
namespace {

constexpr size_t kGrain = 256 << 10;  // all blocks and parts are multiples of this, in bytes
// A process may have about 65,000 mappings, and each part may be a mapping of its own.
constexpr size_t kMostParts = 8192;

// Maps new pages. Returns null if memory runs out.
char* MapNew(size_t bytes, char* at = nullptr, int fixed = 0) {
  void* const begin = mmap(at, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | fixed, -1, 0);
  return begin == MAP_FAILED ? nullptr : static_cast<char*>(begin);
}

}  // namespace

// Cuts `bytes` off the front of the free block `from` and makes them the next part of `to`, without moving
// them.
void PagePool::MoveFront(size_t bytes, Block* from, Block* to) {
  to->parts.push_back(bytes);
  from->begin += bytes;
  from->bytes -= bytes;
  from->parts.back() -= bytes;
  if (from->parts.back() > 0) return;
  from->parts.pop_back();
  --free_parts_;
}

// Moves free pages to the front of `to`, those of the longest free blocks first. Returns the number of bytes
// moved. If there is no memory for the rest, sets `to->begin` to null.
size_t PagePool::FillFromFree(Block* to) {
  size_t filled = 0;
  while (filled < to->bytes && !free_.empty()) {
    const auto from = std::max_element(free_.begin(), free_.end(),
                                       [](const Block& a, const Block& b) { return a.bytes < b.bytes; });
    while (filled < to->bytes && from->bytes > 0) {
      const size_t part = std::min(from->parts.back(), to->bytes - filled);
      if (mremap(from->begin, part, part, MREMAP_MAYMOVE | MREMAP_FIXED, to->begin + filled) == MAP_FAILED) {
        // The process has too many mappings. The kernel may have unmapped the target already, so map new
        // pages for the rest.
        if (MapNew(to->bytes - filled, to->begin + filled, MAP_FIXED) == nullptr) to->begin = nullptr;
        return filled;
      }
      MoveFront(part, &*from, to);
      filled += part;
    }
    if (from->bytes == 0) free_.erase(from);
  }
  return filled;
}

void* PagePool::Take(size_t bytes) {
  if (bytes > SIZE_MAX - kGrain) return nullptr;
  Block block;
  const size_t needed = (bytes + kGrain - 1) / kGrain * kGrain;
  const std::lock_guard<std::mutex> lock(mutex_);
  auto best = free_.end();
  for (auto f = free_.begin(); f != free_.end(); ++f) {
    if (f->bytes >= needed && (best == free_.end() || f->bytes < best->bytes)) best = f;
  }
  if (best != free_.end()) {
    block.begin = best->begin;
    while (block.bytes < needed) {
      const size_t part = std::min(best->parts.back(), needed - block.bytes);
      MoveFront(part, &*best, &block);
      block.bytes += part;
    }
    if (best->bytes == 0) free_.erase(best);
  } else {
    block.begin = MapNew(needed);
    if (block.begin == nullptr) return nullptr;
    block.bytes = needed;
    const size_t filled = FillFromFree(&block);
    if (block.begin == nullptr) return nullptr;
    if (filled < needed) block.parts.push_back(needed - filled);
    mapped_ += needed - filled;
  }
  std::reverse(block.parts.begin(), block.parts.end());
  void* const begin = block.begin;
  taken_.emplace(begin, std::move(block));
  return begin;
}

// Returns free blocks to the kernel, those with the most parts first, until few enough parts are left.
void PagePool::Trim() {
  while (free_parts_ > kMostParts) {
    const auto most = std::max_element(free_.begin(), free_.end(), [](const Block& a, const Block& b) {
      return a.parts.size() < b.parts.size();
    });
    free_parts_ -= most->parts.size();
    munmap(most->begin, most->bytes);
    free_.erase(most);
  }
}

bool PagePool::Give(void* block) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = taken_.find(block);
  if (found == taken_.end()) return false;
  free_parts_ += found->second.parts.size();
  free_.push_back(std::move(found->second));
  taken_.erase(found);
  Trim();
  return true;
}

void KeepPages() {
  static PagePool* const pool = new PagePool;  // lives until the process ends
  kept_pages = pool;
}

}  // namespace chakra
