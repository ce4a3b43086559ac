#include "replay/engine/recorded/recorded_rendezvous.h"

#include <new>
#include <string>
#include <type_traits>

#include "replay/collectives/accounting.h"
#include "trace/base/parallel.h"
#include "trace/base/stop.h"

namespace chakra {
namespace {

// A call is split into parts if the average number of members per part is at least this.
constexpr size_t kMembersOfPart = 4;

}  // namespace

bool RecordedRendezvousTable::AddParts(uint32_t at, RecordedRendezvous* m) {
  for (const std::vector<RecordedRendezvous>& of_thread : parts_) m->Add(of_thread[at]);
  m->left.store(0, std::memory_order_release);
  return true;
}

RecordedRendezvous::Spread RecordedRendezvousTable::SpreadOf(const std::vector<uint32_t>& members,
                                                             uint32_t made) {
  size_t all = 0, threads = 0;
  for (const uint32_t n : members) {
    all += n;
    threads += n > 0 ? 1 : 0;
  }
  if (threads <= 1) return RecordedRendezvous::kOne;
  return all == made && all >= kMembersOfPart * members.size() ? RecordedRendezvous::kParted
                                                               : RecordedRendezvous::kLocked;
}

// Allocates all rendezvous on `threads` threads and calls `fill` for each.
void RecordedRendezvousTable::Make(uint32_t threads,
                                   const std::function<void(uint32_t, RecordedRendezvous*)>& fill) {
  constexpr size_t kAtOnce = 1 << 16;
  static_assert(std::is_trivially_destructible_v<RecordedRendezvous>);
  const size_t all = matching_.calls.size() + matching_.messages.size();
  auto* const all_rendezvous =
      static_cast<RecordedRendezvous*>(::operator new(all * sizeof(RecordedRendezvous)));
  all_rendezvous_.reset(all_rendezvous);
  const StopScope to_the_end(nullptr);
  ForEach((all + kAtOnce - 1) / kAtOnce, static_cast<int>(threads), [&] {
    return [&](size_t task) {
      for (size_t i = task * kAtOnce; i < std::min(all, (task + 1) * kAtOnce); ++i)
        fill(static_cast<uint32_t>(i), new (all_rendezvous + i) RecordedRendezvous);
      return absl::OkStatus();
    };
  }).IgnoreError();
}

void RecordedRendezvousTable::NumberParts(uint32_t threads,
                                          const std::vector<std::vector<uint32_t>>& members) {
  uint32_t parted = 0;
  for (uint32_t i = 0; threads > 1 && i < calls_; ++i) {
    if (all_rendezvous_[i].spread == RecordedRendezvous::kParted) all_rendezvous_[i].last_rank = parted++;
  }
  for (uint32_t t = 0; t < threads; ++t) parts_.emplace_back(parted);
  for (uint32_t i = 0; parted > 0 && i < calls_; ++i) {
    RecordedRendezvous& m = all_rendezvous_[i];
    if (m.spread != RecordedRendezvous::kParted) continue;
    m.left = 1;
    for (uint32_t t = 0; t < threads; ++t) {
      const uint32_t of = members[matching_.calls[i].group][t];
      parts_[t][m.last_rank].left = of;
      m.left += of > 0 ? 1 : 0;
    }
  }
}

void RecordedRendezvousTable::Prepare(uint32_t threads, const std::function<uint32_t(uint32_t)>& thread_of) {
  std::vector<std::vector<uint32_t>> members;  // by group and thread
  for (const GroupInfo& group : matching_.groups) {
    std::vector<uint32_t>& of = members.emplace_back(threads);
    for (const int rank : group.members) ++of[thread_of(static_cast<uint32_t>(rank))];
  }
  Make(threads, [&](uint32_t i, RecordedRendezvous* m) {
    if (i < calls_) {
      const CollectiveCall& call = matching_.calls[i];
      m->spread = SpreadOf(members[call.group], call.made);
      m->left = call.made;
      return;
    }
    const MatchedMessage& message = matching_.messages[i - calls_];
    m->left = 2;
    if (thread_of(static_cast<uint32_t>(message.src)) != thread_of(static_cast<uint32_t>(message.dst)))
      m->spread = RecordedRendezvous::kLocked;
  });
  NumberParts(threads, members);
  eager_end_.resize(matching_.messages.size());
}

void RecordedRendezvousTable::Report(Metrics* metrics) const {
  ReportCalls(metrics);
  ReportMessages(metrics);
}

void RecordedRendezvousTable::ReportCalls(Metrics* metrics) const {
  std::vector<CollectiveMetrics*> totals(matching_.groups.size() * kCollectiveTypes);
  for (uint32_t i = 0; i < calls_; ++i) {
    const CollectiveCall& call = matching_.calls[i];
    const GroupInfo& group = matching_.groups[call.group];
    const RecordedRendezvous& m = all_rendezvous_[i];
    CollectiveMetrics*& total = totals[call.group * kCollectiveTypes + static_cast<size_t>(call.type)];
    if (total == nullptr) {
      total = &metrics->collectives[{std::string(Name(call.type)), group.name}];
      total->ranks = group.size;
      total->algorithm = "recorded";
    }
    ++total->count;
    total->bytes += BufferBytes(call.type, call.bytes, group.size);
    total->time += Time::Picos(m.longest);
    total->wait += Time::Picos(m.last - m.first);
    metrics->ranks[m.last_rank].kept_waiting +=
        Time::Picos(static_cast<int64_t>(uint64_t{call.made} * static_cast<uint64_t>(m.last) - m.sum));
  }
}

void RecordedRendezvousTable::ReportMessages(Metrics* metrics) const {
  if (matching_.messages.empty()) return;
  CollectiveMetrics& total = metrics->collectives[{"send_recv", ""}];
  total.ranks = 2;
  total.algorithm = "recorded";
  for (size_t i = 0; i < matching_.messages.size(); ++i) {
    const RecordedRendezvous& m = all_rendezvous_[calls_ + i];
    const int64_t end = std::max(eager_end_[i], m.longest < 0 ? 0 : m.last + m.longest);
    ++total.count;
    total.bytes += matching_.messages[i].bytes;
    total.time += Time::Picos(end - m.last);
    total.wait += Time::Picos(m.last - m.first);
  }
}

}  // namespace chakra
