// What a run asks of its fabric.
#pragma once

#include <any>
#include <list>
#include <utility>
#include <vector>

#include "backends/link_use.h"
#include "backends/topology/routing/router.h"

namespace chakra {

// Options of some fabrics only: a struct with a `static constexpr OptionSet kSet` and a `bool asked() const`,
// in the folder of the fabric that defines them. Fabrics that do not take a set refuse it where it is asked
// for: "fabric packet: messages chosen for packets are for mixed".
struct OptionSet {
  const char* what;       // "messages chosen for packets"
  const char* are;        // "is" or "are"
  const char* also = "";  // behind the names of the fabrics
};

class FabricOptions {
 public:
  RoutingOptions routing;  // through networks
  int threads = 1;         // that may run the fabric, 1 to 4096; they change no result
  // Of fabrics that follow links (FabricKind::follows_links):
  std::vector<LinkChange> changes;  // links that go down, come back, have less bandwidth, or lose packets
  bool link_series = false;         // FabricReport::Links() tells what was taken over time

  // The set `T`, to be changed. Stays where it is.
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
  // The defaults where nobody asked for the set.
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
    const OptionSet* set;  // names the type
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

  std::list<Held> sets_;  // in the order in which they were asked for
};

}  // namespace chakra
