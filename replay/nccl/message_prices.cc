#include "replay/nccl/message_prices.h"

namespace chakra {

const MessageCosts* MessagePrices::Of(int src, int dst, uint64_t bytes, const MessageSetting& setting,
                                      std::optional<Protocol> protocol) {
  if (library_ == nullptr || bytes == 0 || src == dst) return nullptr;
  const int level = machine_.Level(src, dst);
  const bool wired = library_->levels[static_cast<size_t>(level)].wired > 0;
  const Key key{level, wired ? src : -1, wired ? dst : -1, bytes, setting, protocol};
  auto found = known_.find(key);
  if (found == known_.end()) {
    const MessageCosts costs = CostsOfMessage(*library_, machine_, src, dst, bytes, setting, protocol);
    found = known_.emplace(key, costs).first;
  }
  return &found->second;
}

const MessageCosts* MessagePrices::Of(int src, int dst, uint64_t bytes) {
  if (library_ == nullptr || src == dst) return nullptr;
  const auto level = static_cast<size_t>(machine_.Level(src, dst));
  const int nodes = library_->levels[level].link == LibraryLink::kNet ? 2 : 1;
  return Of(src, dst, bytes, {.ranks = 2, .nodes = nodes, .busy_nodes = nodes});
}

}  // namespace chakra
