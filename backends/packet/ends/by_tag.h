// Connections by the tag of their messages.
#pragma once

#include <cstdint>

#include "absl/container/flat_hash_set.h"
#include "absl/hash/hash.h"
#include "backends/packet/network/packet.h"

namespace chakra::packet {

// Finds the connection of each tag; a tag has at most one. Needs only 5 bytes each, because there may be a
// million: the tag is stored in the connection. A connection must be removed before it gets another tag.
template <typename Sim>
class ConnectionsByTag {
 public:
  // `sim` has the connections and must outlive this object.
  explicit ConnectionsByTag(const Sim* sim) : set_(0, HashOf{{sim}}, Same{{sim}}) {}

  // Returns kNoIndex if there is none.
  uint32_t Find(uint64_t tag) const {
    const auto it = set_.find(Tag{tag});
    return it == set_.end() ? kNoIndex : *it;
  }
  // Replaces the connection of this tag.
  void Put(uint32_t connection, uint64_t tag) {
    set_.erase(Tag{tag});
    set_.insert(connection);
  }
  void Erase(uint64_t tag) { set_.erase(Tag{tag}); }

 private:
  enum class Tag : uint64_t {};
  struct TagOf {
    const Sim* sim;
    uint64_t operator()(uint32_t connection) const { return sim->connection(connection).tag; }
    uint64_t operator()(Tag tag) const { return static_cast<uint64_t>(tag); }
  };
  struct HashOf {
    using is_transparent = void;
    TagOf tag_of;
    template <typename T>
    size_t operator()(T x) const {
      return absl::Hash<uint64_t>()(tag_of(x));
    }
  };
  struct Same {
    using is_transparent = void;
    TagOf tag_of;
    template <typename A, typename B>
    bool operator()(A a, B b) const {
      return tag_of(a) == tag_of(b);
    }
  };

  absl::flat_hash_set<uint32_t, HashOf, Same> set_;
};

}  // namespace chakra::packet
