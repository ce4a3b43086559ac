#include "backends/fluid/link_log.h"

#include <algorithm>

namespace chakra {

void LinkLog::Widen() {
  bucket_ = bucket_ + bucket_;
  for (Link& l : links_) {
    for (size_t i = 0; i < l.bytes.size(); i += 2) {
      l.bytes[i / 2] = l.bytes[i] + (i + 1 < l.bytes.size() ? l.bytes[i + 1] : 0);
    }
    l.bytes.resize((l.bytes.size() + 1) / 2);
  }
}

// Adds the bytes since the last change.
void LinkLog::Take(Link* link, Time now) {
  const Time from = link->since;
  link->since = now;
  if (link->rate == 0 || now <= from) return;
  while (now.picos() / bucket_.picos() >= static_cast<int64_t>(kBuckets)) Widen();
  const auto first = static_cast<size_t>(from.picos() / bucket_.picos());
  const auto last = static_cast<size_t>(now.picos() / bucket_.picos());
  if (link->bytes.size() <= last) link->bytes.resize(last + 1, 0);
  for (size_t i = first; i <= last; ++i) {
    const Time begin = std::max(from, bucket_ * static_cast<int64_t>(i));
    const Time end = std::min(now, bucket_ * static_cast<int64_t>(i + 1));
    link->bytes[i] += link->rate * static_cast<double>((end - begin).picos());
  }
}

void LinkLog::Finish(Time now) {
  for (Link& l : links_) Take(&l, now);
}

const std::vector<double>& LinkLog::Series(uint32_t link) const {
  static const std::vector<double>* const kNothing = new std::vector<double>();
  return link < links_.size() ? links_[link].bytes : *kNothing;
}

}  // namespace chakra
