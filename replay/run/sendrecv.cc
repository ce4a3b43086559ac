#include "replay/run/sendrecv.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "replay/engine/flow_log.h"
#include "replay/nccl/message_prices.h"
#include "replay/nccl/rates.h"
#include "trace/base/did_you_mean.h"
#include "trace/base/status_macros.h"

namespace chakra {
namespace {

using Kind = Peers::Kind;

constexpr char kPeersForms[] = "next, next:DISTANCE, pair:FROM,TO, exchange, exchange:A,B, incast or outcast";
const std::pair<const char*, Kind> kKinds[] = {{"next", Kind::kNext},
                                               {"pair", Kind::kPair},
                                               {"exchange", Kind::kExchange},
                                               {"incast", Kind::kIncast},
                                               {"outcast", Kind::kOutcast}};

absl::Status Unreadable(absl::string_view text, absl::string_view suggestion) {
  return absl::InvalidArgumentError(
      absl::StrCat("--peers \"", text, "\": expected ", kPeersForms, suggestion));
}

bool ParseRank(absl::string_view text, int* out) {
  return !text.empty() && std::all_of(text.begin(), text.end(), absl::ascii_isdigit) &&
         absl::SimpleAtoi(text, out);
}

// Parses the numbers after the colon.
bool ParseNumbers(absl::string_view text, Peers* out) {
  if (out->kind == Kind::kNext) return ParseRank(text, &out->distance);
  if (out->kind != Kind::kPair && out->kind != Kind::kExchange) return false;
  const std::vector<absl::string_view> two = absl::StrSplit(text, ',');
  return two.size() == 2 && ParseRank(two[0], &out->from) && ParseRank(two[1], &out->to);
}

absl::Status CheckPeers(const Peers& peers, int ranks) {
  const auto refuse = [&](const auto&... why) {
    return absl::InvalidArgumentError(
        absl::StrCat("--peers ", peers.Text(), " on ", ranks, ranks == 1 ? " rank: " : " ranks: ", why...));
  };
  if (peers.from >= 0) {
    if (std::max(peers.from, peers.to) >= ranks) {
      return refuse("there is no rank ", std::max(peers.from, peers.to), "; expected 0 to ", ranks - 1);
    }
    if (peers.from == peers.to) return refuse("a rank would send to itself; expected two ranks");
  } else if (peers.kind == Kind::kExchange && ranks % 2 != 0) {
    return refuse("the halves exchange; expected an even number of ranks");
  } else if (peers.kind == Kind::kNext && ranks > 1 && (peers.distance < 1 || peers.distance >= ranks)) {
    return refuse("the distance is ", peers.distance, "; expected 1 to ", ranks - 1);
  }
  return absl::OkStatus();
}

// Computes the MessageSetting of each message.
class Settings {
 public:
  Settings(const Machine& machine, const LibraryModel& library, const SendRecvCall& call)
      : machine_(machine), library_(library), ranks_(call.ranks) {
    std::vector<int> all(static_cast<size_t>(call.ranks)), busy;
    std::iota(all.begin(), all.end(), 0);
    for (const SentMessage& m : call.messages) {
      busy.insert(busy.end(), {m.src, m.dst});
      for (const bool sends : {true, false}) {
        ++of_kind_[{End(m, sends), IsNetwork(m)}];
        ++on_link_[{End(m, sends), LinkOf(m, sends)}];
      }
    }
    std::sort(busy.begin(), busy.end());
    busy.erase(std::unique(busy.begin(), busy.end()), busy.end());
    nodes_ = NodesOf(all);
    busy_nodes_ = NodesOf(busy);
  }

  MessageSetting Of(const SentMessage& m) const {
    MessageSetting setting{.ranks = ranks_, .nodes = nodes_, .busy_nodes = busy_nodes_};
    for (const bool sends : {true, false}) {
      setting.peers = std::max(setting.peers, of_kind_.at({End(m, sends), IsNetwork(m)}));
      setting.on_link = std::max(setting.on_link, on_link_.at({End(m, sends), LinkOf(m, sends)}));
    }
    // A ring has two directions, which share the messages.
    if (Level(m).kind == TopologyDimension::Kind::kRing) setting.on_link = (setting.on_link + 1) / 2;
    return setting;
  }

 private:
  using Port = std::pair<int, bool>;  // a rank, and whether it sends

  static Port End(const SentMessage& m, bool sends) { return {sends ? m.src : m.dst, sends}; }
  const LibraryLevel& Level(const SentMessage& m) const {
    return library_.levels[static_cast<size_t>(machine_.Level(m.src, m.dst))];
  }
  bool IsNetwork(const SentMessage& m) const { return Level(m).link == LibraryLink::kNet; }
  int NodesOf(const std::vector<int>& ranks) const {
    return Rates(library_, ShapeOf(machine_, &library_, ranks)).nodes();
  }
  // The link at one end of a message: one for each level, and on a mesh one for each coordinate of the other
  // end.
  std::pair<int, int> LinkOf(const SentMessage& m, bool sends) const {
    const int level = machine_.Level(m.src, m.dst);
    const bool mesh = Level(m).kind == TopologyDimension::Kind::kFullyConnected;
    return {level, mesh ? machine_.Coordinate(sends ? m.dst : m.src, level) : -1};
  }

  const Machine& machine_;
  const LibraryModel& library_;
  int ranks_, nodes_ = 1, busy_nodes_ = 1;
  std::map<std::pair<Port, bool>, int> of_kind_;
  std::map<std::pair<Port, std::pair<int, int>>, int> on_link_;
};

std::vector<MessageCosts> CostsOfAll(const Machine& machine, const LibraryModel& library,
                                     const SendRecvCall& call) {
  const Settings settings(machine, library, call);
  MessagePrices prices(machine, &library);
  std::vector<MessageCosts> out;
  for (const SentMessage& m : call.messages)
    out.push_back(*prices.Of(m.src, m.dst, call.bytes, settings.Of(m), call.protocol));
  return out;
}

absl::Status WhyNoEnd(const Machine& machine, const SendRecvCall& call) {
  const std::string what = absl::StrCat(kSendRecv, " of ", call.bytes, " bytes on ", call.ranks, " ranks ");
  if (const std::string why = machine.WhyStuck(); !why.empty())
    return absl::FailedPreconditionError(absl::StrCat(what, "cannot finish: ", why));
  return absl::InvalidArgumentError(absl::StrCat(
      what, "would last longer than the longest simulated time, 106 days; is a bandwidth near zero?"));
}

struct LastEnd {
  Time at;
  size_t message = 0;
};

// Runs the messages. `costs`: of each message; empty: none.
absl::StatusOr<LastEnd> RunSends(Machine& machine, const SendRecvCall& call,
                                 const std::vector<MessageCosts>& costs, Time begin, FlowLog* log) {
  const auto starts = [&](size_t i) { return begin + (costs.empty() ? Time::Zero() : costs[i].begin); };
  std::vector<size_t> order(call.messages.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return starts(a) < starts(b); });
  const uint64_t first = log == nullptr ? 0 : log->flows();
  LastEnd last{begin};
  std::vector<FlowEnd> ends;
  size_t started = 0;
  for (size_t left = order.size(); left > 0;) {
    const Time own = started < order.size() ? starts(order[started]) : Time::Never();
    const Time next = std::min(own, machine.NextEvent(own));
    if (next == Time::Never()) return WhyNoEnd(machine, call);
    ends.clear();
    machine.AdvanceTo(next, &ends);
    for (const FlowEnd& e : ends) {
      if (e.kind != FlowEnd::kReceived) continue;
      --left;
      if (e.at > last.at) last = {e.at, static_cast<size_t>(e.tag)};
    }
    for (; started < order.size() && starts(order[started]) <= next; ++started) {
      const size_t i = order[started];
      Flow flow{.src = call.messages[i].src, .dst = call.messages[i].dst, .bytes = call.bytes, .tag = i};
      if (!costs.empty()) flow.delay = costs[i].latency;
      if (!costs.empty()) flow.limit = costs[i].limit;
      if (log != nullptr) log->Name({"send_recv", "", first + i});
      machine.Start(flow, next);
    }
  }
  if (last.at == Time::Never()) return WhyNoEnd(machine, call);
  return last;
}

std::string Explain(const SentMessage& m, const MessageCosts& costs) {
  const auto micros = [](Time t) { return static_cast<double>(t.picos()) * 1e-6; };
  return absl::StrFormat(
      "%sthe last message, %d to %d, begins at %.2f us, has %.2f us of latency and at most %.2f GB/s",
      costs.protocol ? absl::StrCat(Name(*costs.protocol), "; ") : "", m.src, m.dst, micros(costs.begin),
      micros(costs.latency), static_cast<double>(costs.limit.bytes_per_second()) * 1e-9);
}

}  // namespace

std::string Peers::Text() const {
  std::string out;
  for (const auto& [name, of] : kKinds) {
    if (of == kind) out = name;
  }
  if (kind == Kind::kNext && distance != 1) absl::StrAppend(&out, ":", distance);
  if (from >= 0) absl::StrAppend(&out, ":", from, ",", to);
  return out;
}

absl::StatusOr<Peers> ParsePeers(absl::string_view text) {
  const std::pair<absl::string_view, absl::string_view> parts = absl::StrSplit(text, absl::MaxSplits(':', 1));
  Peers peers;
  std::vector<std::string> names;
  bool found = false;
  for (const auto& [name, kind] : kKinds) {
    names.emplace_back(name);
    if (parts.first == name) found = true, peers.kind = kind;
  }
  if (!found) {
    const std::string near = NearestName(parts.first, names);
    return Unreadable(text, near.empty() ? "" : absl::StrCat("; did you mean '", near, "'?"));
  }
  const bool numbers = text.size() > parts.first.size();
  if (numbers ? !ParseNumbers(parts.second, &peers) : peers.kind == Kind::kPair) return Unreadable(text, "");
  return peers;
}

absl::StatusOr<std::vector<SentMessage>> MessagesOf(const Peers& peers, int ranks, int root) {
  RETURN_IF_ERROR(CheckPeers(peers, ranks));
  std::vector<SentMessage> out;
  if (peers.from >= 0) {
    out.push_back({peers.from, peers.to});
    if (peers.kind == Kind::kExchange) out.push_back({peers.to, peers.from});
    return out;
  }
  for (int r = 0; ranks > 1 && r < ranks; ++r) {
    switch (peers.kind) {
      case Kind::kNext:
        out.push_back({r, static_cast<int>((int64_t{r} + peers.distance) % ranks)});
        break;
      case Kind::kExchange:
        out.push_back({r, (r + ranks / 2) % ranks});
        break;
      case Kind::kIncast:
        if (r != root) out.push_back({r, root});
        break;
      case Kind::kOutcast:
        if (r != root) out.push_back({root, r});
        break;
      case Kind::kPair:
        break;  // above
    }
  }
  return out;
}

int MostOfOneRank(const std::vector<SentMessage>& messages, int ranks) {
  std::vector<int> sent(static_cast<size_t>(ranks)), received(sent);
  int most = 0;
  for (const SentMessage& m : messages) {
    most = std::max({most, ++sent[static_cast<size_t>(m.src)], ++received[static_cast<size_t>(m.dst)]});
  }
  return most;
}

absl::StatusOr<PricedMessages> PriceMessages(Machine& machine, const CollectiveCosts& costs,
                                             const SendRecvCall& call, Time* now, FlowLog* log) {
  PricedMessages out;
  if (call.messages.empty()) return out;
  std::vector<MessageCosts> of;
  if (costs.library != nullptr) of = CostsOfAll(machine, *costs.library, call);
  ASSIGN_OR_RETURN(const LastEnd last, RunSends(machine, call, of, *now, log));
  out.time = last.at - *now;
  *now = last.at;
  if (of.empty()) return out;
  out.protocol = of[last.message].protocol;
  out.channels = of[last.message].channels;
  out.why = Explain(call.messages[last.message], of[last.message]);
  return out;
}

}  // namespace chakra
