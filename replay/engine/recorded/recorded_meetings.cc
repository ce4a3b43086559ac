#include "replay/engine/recorded/recorded_meetings.h"

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

bool RecordedMeetings::AddParts(uint32_t at, RecordedMeeting* m) {
  for (const std::vector<RecordedMeeting>& of_thread : parts_) m->Add(of_thread[at]);
  m->left.store(0, std::memory_order_release);
  return true;
}

RecordedMeeting::Spread RecordedMeetings::SpreadOf(const std::vector<uint32_t>& members, uint32_t made) {
  size_t all = 0, threads = 0;
  for (const uint32_t n : members) {
    all += n;
    threads += n > 0 ? 1 : 0;
  }
  if (threads <= 1) return RecordedMeeting::kOne;
  return all == made && all >= kMembersOfPart * members.size() ? RecordedMeeting::kParted
                                                               : RecordedMeeting::kLocked;
}

// Allocates all rendezvous on `threads` threads and calls `fill` for each.
void RecordedMeetings::Make(uint32_t threads, const std::function<void(uint32_t, RecordedMeeting*)>& fill) {
  constexpr size_t kAtOnce = 1 << 16;
  static_assert(std::is_trivially_destructible_v<RecordedMeeting>);
  const size_t all = matching_.calls.size() + matching_.messages.size();
  auto* const meetings = static_cast<RecordedMeeting*>(::operator new(all * sizeof(RecordedMeeting)));
  meetings_.reset(meetings);
  const StopScope to_the_end(nullptr);
  ForEach((all + kAtOnce - 1) / kAtOnce, static_cast<int>(threads), [&] {
    return [&](size_t task) {
      for (size_t i = task * kAtOnce; i < std::min(all, (task + 1) * kAtOnce); ++i)
        fill(static_cast<uint32_t>(i), new (meetings + i) RecordedMeeting);
      return absl::OkStatus();
    };
  }).IgnoreError();
}

void RecordedMeetings::NumberParts(uint32_t threads, const std::vector<std::vector<uint32_t>>& members) {
  uint32_t parted = 0;
  for (uint32_t i = 0; threads > 1 && i < calls_; ++i) {
    if (meetings_[i].spread == RecordedMeeting::kParted) meetings_[i].last_rank = parted++;
  }
  for (uint32_t t = 0; t < threads; ++t) parts_.emplace_back(parted);
  for (uint32_t i = 0; parted > 0 && i < calls_; ++i) {
    RecordedMeeting& m = meetings_[i];
    if (m.spread != RecordedMeeting::kParted) continue;
    m.left = 1;
    for (uint32_t t = 0; t < threads; ++t) {
      const uint32_t of = members[matching_.calls[i].group][t];
      parts_[t][m.last_rank].left = of;
      m.left += of > 0 ? 1 : 0;
    }
  }
}

void RecordedMeetings::Prepare(uint32_t threads, const std::function<uint32_t(uint32_t)>& thread_of) {
  std::vector<std::vector<uint32_t>> members;  // by group and thread
  for (const GroupInfo& group : matching_.groups) {
    std::vector<uint32_t>& of = members.emplace_back(threads);
    for (const int rank : group.members) ++of[thread_of(static_cast<uint32_t>(rank))];
  }
  Make(threads, [&](uint32_t i, RecordedMeeting* m) {
    if (i < calls_) {
      const CollectiveCall& call = matching_.calls[i];
      m->spread = SpreadOf(members[call.group], call.made);
      m->left = call.made;
      return;
    }
    const MatchedMessage& message = matching_.messages[i - calls_];
    m->left = 2;
    if (thread_of(static_cast<uint32_t>(message.src)) != thread_of(static_cast<uint32_t>(message.dst)))
      m->spread = RecordedMeeting::kLocked;
  });
  NumberParts(threads, members);
  eager_end_.resize(matching_.messages.size());
}

void RecordedMeetings::Report(Metrics* metrics) const {
  ReportCalls(metrics);
  ReportMessages(metrics);
}

void RecordedMeetings::ReportCalls(Metrics* metrics) const {
  std::vector<CollectiveMetrics*> totals(matching_.groups.size() * kCollectiveTypes);
  for (uint32_t i = 0; i < calls_; ++i) {
    const CollectiveCall& call = matching_.calls[i];
    const GroupInfo& group = matching_.groups[call.group];
    const RecordedMeeting& m = meetings_[i];
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

void RecordedMeetings::ReportMessages(Metrics* metrics) const {
  if (matching_.messages.empty()) return;
  CollectiveMetrics& total = metrics->collectives[{"send_recv", ""}];
  total.ranks = 2;
  total.algorithm = "recorded";
  for (size_t i = 0; i < matching_.messages.size(); ++i) {
    const RecordedMeeting& m = meetings_[calls_ + i];
    const int64_t end = std::max(eager_end_[i], m.longest < 0 ? 0 : m.last + m.longest);
    ++total.count;
    total.bytes += matching_.messages[i].bytes;
    total.time += Time::Picos(end - m.last);
    total.wait += Time::Picos(m.last - m.first);
  }
}

}  // namespace chakra
