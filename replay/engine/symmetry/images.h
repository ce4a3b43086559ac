// A symmetric relation between numbers, such as those of links.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "backends/apart.h"

namespace chakra {

// One-to-one maps of numbers below `count` to counterparts, in several copies. No number is a counterpart in
// two copies.
class Images {
 public:
  static constexpr uint32_t kNone = 0xffffffff;

  explicit Images(size_t count, size_t copies = 1) : to_(count * copies, kNone), from_(count, kNone) {}

  // Makes `image` the counterpart of `a` in `copy`. Returns false if this contradicts an earlier call.
  bool Map(size_t copy, uint32_t a, uint32_t image) {
    uint32_t &to = to_[copy * from_.size() + a], &from = from_[image];
    if (to == kNone && from == kNone) {
      to = image;
      from = a;
    }
    return to == image && from == a;
  }
  // Makes each of two different numbers the counterpart of the other.
  bool Pair(uint32_t a, uint32_t b) { return a != b && Map(0, a, b) && Map(0, b, a); }
  // Records that `a` is the counterpart of no number. Returns false if it is the counterpart of one.
  bool Keep(uint32_t a) {
    if (from_[a] == kNone) from_[a] = kKept;
    return from_[a] == kKept;
  }
  uint32_t Of(uint32_t a) const { return to_[a]; }

 private:
  static constexpr uint32_t kKept = kNone - 1;
  std::vector<uint32_t> to_;    // by copy and number
  std::vector<uint32_t> from_;  // by counterpart
};

// Whether the links of two paths may be counterparts of each other, one by one.
inline bool SameClasses(const std::vector<Hop>& path, const std::vector<Hop>& image) {
  if (path.size() != image.size()) return false;
  for (size_t h = 0; h < path.size(); ++h) {
    if (path[h].link_class != image[h].link_class) return false;
  }
  return true;
}

}  // namespace chakra
