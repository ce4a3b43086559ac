// The options that a run gives to its fabric.
#pragma once

#include <any>
#include <list>
#include <utility>
#include <vector>

#include "backends/link_use.h"
#include "backends/topology/routing/router.h"

namespace chakra {

// Describes a set of options that only some fabrics have. The set is a struct with a `static constexpr
// OptionSet kSet` and a `bool asked() const`, in the folder of the fabric that defines it. A fabric that does
// not take the set refuses a run that asks for it: "fabric packet: messages chosen for packets are for
// mixed".
struct OptionSet {
  const char* what;       // "messages chosen for packets"
  const char* are;        // "is" or "are"
  const char* also = "";  // follows the names of the fabrics
};

class FabricOptions {
 public:
  RoutingOptions routing;  // of paths through networks
  int threads = 1;         // that may run the fabric, 1 to 4096; results do not depend on them
  // For fabrics that follow links (FabricKind::follows_links):
  std::vector<LinkChange> changes;  // links that go down, come back, have less bandwidth, or lose packets
  bool link_series = false;         // FabricReport::Links() also reports the use of links over time

  // Returns the set `T`, to be changed; adds it with its defaults if there is none. The address stays valid.
  template <typename T>
  T& Ask() {
    if (T* set = Find<T>()) return *set;
    sets_.push_back(
        {&T::kSet, T(), [](const std::any& set) { return std::any_cast<const T&>(set).asked(); }});
    return *std::any_cast<T>(&sets_.back().value);
  }
  template <typename T>
  void Set(T set) {
    Ask<T>() = std::move(set);
  }
  template <typename T>
  void Drop() {
    sets_.remove_if([](const Held& held) { return held.set == &T::kSet; });
  }
  // Returns a copy of the set, or its defaults if nobody has asked for it.
  template <typename T>
  T Get() const {
    const T* set = const_cast<FabricOptions*>(this)->Find<T>();
    return set != nullptr ? *set : T();
  }
  std::vector<const OptionSet*> asked() const {
    std::vector<const OptionSet*> asked;
    for (const Held& held : sets_) {
      if (held.asked(held.value)) asked.push_back(held.set);
    }
    return asked;
  }

 private:
  struct Held {
    const OptionSet* set;  // identifies the type
    std::any value;
    bool (*asked)(const std::any& set);
  };
  template <typename T>
  T* Find() {
    for (Held& held : sets_) {
      if (held.set == &T::kSet) return std::any_cast<T>(&held.value);
    }
    return nullptr;
  }

  std::list<Held> sets_;  // in the order of the first Ask() or Set()
};

}  // namespace chakra
