// A second, slow and simple replay, as a reference for the engine. It has no event queue, no chains and no
// counters: at each instant it examines everything again. The fabric is a full mesh without contention;
// recorded communication uses no fabric.
#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "replay/collectives/registry.h"
#include "replay/engine/lane_policy.h"
#include "replay/engine/options.h"
#include "replay/engine/spans.h"
#include "replay/nccl/collective_costs.h"
#include "trace/model/trace.h"

namespace chakra {

struct Wire {
  Time latency;
  Bandwidth bandwidth;
};

class Interpreter {
 public:
  Interpreter(const TraceSet& traces, const EngineOptions& options, Wire wire)
      : traces_(traces), options_(options), wire_(wire) {}

  // When each node began and ended; nullopt if the run cannot finish.
  std::optional<NodeSpans> Run() {
    for (const RankTrace& t : traces_.ranks) AddRank(t);
    for (const RankTrace& t : traces_.ranks) {
      for (uint32_t row = 0; row < t.graph->size(); ++row) {
        if (IsRecorded(t.rank, row)) ++expected_[Rendezvous(t.rank, row)];
      }
    }
    Time now;
    while (true) {
      uint64_t before = 0;
      do {
        before = changes_;
        Settle(now);
        StartAll(now);
      } while (changes_ != before);
      const Time next = Next(now);
      if (next == Time::Never()) break;
      now = next;
    }
    NodeSpans spans;
    for (const auto& rank : nodes_) {
      spans.emplace_back();
      for (const Node& node : rank) {
        if (node.state != kDone) return std::nullopt;
        spans.back().push_back({node.begin, node.end});
      }
    }
    return spans;
  }

 private:
  enum State { kWaiting, kRunning, kDone };
  struct Node {
    State state = kWaiting;
    Time begin, end;
    bool knows_end = false;
    std::string strict;  // name of its strict lane; "" none
    std::string queue;   // of its queued lane
    std::string group;   // collectives
    int position = -1;   // in the group, or among the sends or receives of its key
  };
  struct Transfer {
    Time sent, received;
    std::string key;  // who waits for it
    bool taken = false;
  };
  struct Part {  // one member's part of one collective
    size_t step = 0;
    int split = 0;
    Time ready;  // may not go on before
    bool paid = false;
    bool over = false;
  };

  Time TransferOf(uint64_t bytes) const { return TransferTime(bytes, wire_.bandwidth); }

  void AddRank(const RankTrace& t) {
    const Graph& g = *t.graph;
    std::vector<Node> nodes(g.size());
    order_.push_back(NaiveOrder(g));
    std::map<std::string, int> count;
    for (uint32_t row : order_.back()) {
      Node& n = nodes[row];
      const bool recorded = options_.lanes == LanePolicy::kRecorded,
                 single = options_.lanes == LanePolicy::kSingle;
      const NodeType type = g.type[row];
      if (type == NodeType::kCollective) n.group = t.group_names[t.peers[g.payload[row]].group];
      if (type == NodeType::kCollective) n.position = count["coll " + n.group]++;
      if (type == NodeType::kSend || type == NodeType::kRecv) n.position = count[Key(t, row)]++;
      if (recorded && !g.lane.empty() && g.lane[row] != kNoLane) {
        n.strict = (g.is_cpu(row) ? "cpu" : "gpu") + std::to_string(g.lane[row]);
      } else if (recorded && type == NodeType::kCollective) {
        n.strict = "coll " + n.group;
      } else if (recorded && type == NodeType::kSend) {
        n.strict = "send " + std::to_string(t.peers[g.payload[row]].dst);
      } else if (recorded || single) {
        if (type == NodeType::kComp) n.queue = g.is_cpu(row) ? "host" : "compute";
        if (type == NodeType::kMemLoad || type == NodeType::kMemStore) n.queue = single ? "comm" : "storage";
        if (single && (type == NodeType::kCollective || type == NodeType::kSend)) n.queue = "comm";
      }
    }
    nodes_.push_back(std::move(nodes));
    prefer_.push_back(order_.back());
    if (options_.lanes == LanePolicy::kSingle) {
      std::sort(prefer_.back().begin(), prefer_.back().end(),
                [&](uint32_t x, uint32_t y) { return g.id[x] < g.id[y]; });
    }
  }

  static std::vector<uint32_t> NaiveOrder(const Graph& g) {
    std::vector<uint32_t> order;
    std::set<uint32_t> placed;
    while (order.size() < g.size()) {
      uint32_t best = kNoRow;
      for (uint32_t row = 0; row < g.size(); ++row) {
        if (placed.count(row)) continue;
        bool ready = true;
        for (uint32_t i = g.dep_begin[row]; i < g.dep_begin[row + 1]; ++i)
          ready = ready && placed.count(g.dep[i]);
        if (!ready) continue;
        const auto key = [&](uint32_t r) {
          return std::make_pair(g.start.empty() ? Time::Zero() : g.start[r], g.id[r]);
        };
        if (best == kNoRow || key(row) < key(best)) best = row;
      }
      order.push_back(best);
      placed.insert(best);
    }
    return order;
  }

  static std::string Key(const RankTrace& t, uint32_t row) {
    const Graph& g = *t.graph;
    const Peer& p = t.peers[g.payload[row]];
    const bool send = g.type[row] == NodeType::kSend;
    return (send ? "s " : "r ") + std::to_string(send ? t.rank : p.src) + ">" +
           std::to_string(send ? p.dst : t.rank) + "#" + std::to_string(p.tag);
  }
  std::string MessageName(int rank, uint32_t row) const {
    return Key(traces_.ranks[rank], row).substr(2) + "/" + std::to_string(nodes_[rank][row].position);
  }
  std::string CallName(const Node& n) const { return n.group + "/" + std::to_string(n.position); }
  std::vector<int> Members(const std::string& group) const {
    if (!group.empty()) return traces_.groups.at(group);
    std::vector<int> all;
    for (size_t r = 0; r < traces_.ranks.size(); ++r) all.push_back(static_cast<int>(r));
    return all;
  }

  // Communication that takes its recorded time from the last arrival on.
  bool IsRecorded(int rank, uint32_t row) const {
    const NodeType type = traces_.ranks[rank].graph->type[row];
    return options_.recorded_comm &&
           (type == NodeType::kSend || type == NodeType::kRecv || type == NodeType::kCollective);
  }
  // The name of the node's rendezvous.
  std::string Rendezvous(int rank, uint32_t row) const {
    const bool call = traces_.ranks[rank].graph->type[row] == NodeType::kCollective;
    return call ? "call " + CallName(nodes_[rank][row]) : "message " + MessageName(rank, row);
  }
  void Meet(int rank, uint32_t row, Time now) {
    const std::string name = Rendezvous(rank, row);
    auto& here = here_[name];
    here.push_back({rank, row});
    nodes_[rank][row].knows_end = false;
    if (static_cast<int>(here.size()) < expected_[name]) return;
    for (const auto& [r, its_row] : here) {
      const Graph& g = *traces_.ranks[r].graph;
      const Time transfer = g.transfer_of(g.payload[its_row]);
      nodes_[r][its_row].end = now + (transfer == Time::Never() ? g.duration[its_row] : transfer);
      nodes_[r][its_row].knows_end = true;
    }
  }

  static Time DelayOf(const Graph& g, uint32_t dep) {
    return g.dep_delay.empty() ? Time::Zero() : g.dep_delay[dep];
  }

  bool MayStart(int rank, uint32_t row, Time now) const {
    const Graph& g = *traces_.ranks[rank].graph;
    const Node& n = nodes_[rank][row];
    for (uint32_t i = g.dep_begin[row]; i < g.dep_begin[row + 1]; ++i) {
      const Node& dep = nodes_[rank][g.dep[i]];
      if (dep.state != kDone || dep.end + DelayOf(g, i) > now) return false;
    }
    for (uint32_t before : order_[rank]) {
      if (before == row) break;
      const Node& b = nodes_[rank][before];
      if (!n.strict.empty() && b.strict == n.strict && b.state != kDone) return false;
    }
    for (const Node& other : nodes_[rank]) {
      if (!n.queue.empty() && other.queue == n.queue && other.state == kRunning) return false;
    }
    return true;
  }

  void StartAll(Time now) {
    bool again = true;
    while (again) {
      again = false;
      for (size_t r = 0; r < nodes_.size(); ++r) {
        for (uint32_t row : prefer_[r]) {
          if (nodes_[r][row].state != kWaiting || !MayStart(static_cast<int>(r), row, now)) continue;
          StartNode(static_cast<int>(r), row, now);
          again = true;
        }
      }
    }
  }

  void StartNode(int rank, uint32_t row, Time now) {
    const Graph& g = *traces_.ranks[rank].graph;
    Node& n = nodes_[rank][row];
    ++changes_;
    n.state = kRunning;
    n.begin = now;
    n.knows_end = true;
    if (IsRecorded(rank, row)) return Meet(rank, row, now);
    switch (g.type[row]) {
      case NodeType::kComp:
        n.end = now + g.duration[row];
        break;
      case NodeType::kMemLoad:
      case NodeType::kMemStore:
        n.end = now + options_.memory.latency +
                TransferTime(g.work[g.payload[row]].tensor_bytes, options_.memory.bandwidth);
        break;
      case NodeType::kSend: {
        const Time sent = now + TransferOf(g.comm[g.payload[row]].bytes);
        n.end = sent;
        arrives_[MessageName(rank, row)] = sent + wire_.latency;
        break;
      }
      case NodeType::kRecv:
        n.knows_end = false;
        break;
      case NodeType::kCollective:
        n.knows_end = false;
        parts_[{CallName(n), rank}].ready = now;
        break;
      default:
        n.end = now;
    }
  }

  // Ends all nodes that end at `now`, and moves collectives as far as possible.
  void Settle(Time now) {
    bool again = true;
    while (again) {
      again = false;
      for (size_t r = 0; r < nodes_.size(); ++r) {
        for (uint32_t row = 0; row < nodes_[r].size(); ++row) {
          Node& n = nodes_[r][row];
          if (n.state != kRunning) continue;
          const Graph& g = *traces_.ranks[r].graph;
          if (IsRecorded(static_cast<int>(r), row)) {
            if (!n.knows_end || n.end > now) continue;
          } else if (g.type[row] == NodeType::kRecv) {
            const auto it = arrives_.find(MessageName(static_cast<int>(r), row));
            if (it == arrives_.end() || it->second > now) continue;
            n.end = now;
          } else if (g.type[row] == NodeType::kCollective) {
            if (MovePart(static_cast<int>(r), row, now)) {
              ++changes_;
              again = true;
            }
            if (!parts_[{CallName(n), static_cast<int>(r)}].over) continue;
            n.end = now;
          } else if (n.end > now) {
            continue;
          }
          n.state = kDone;
          ++changes_;
          again = true;
        }
      }
    }
  }

  // One step of one member; true if it moved.
  bool MovePart(int rank, uint32_t row, Time now) {
    const Graph& g = *traces_.ranks[rank].graph;
    const Node& n = nodes_[rank][row];
    const std::string call = CallName(n);
    Part& part = parts_[{call, rank}];
    if (part.over || part.ready > now) return false;
    const std::vector<int> members = Members(n.group);
    const int size = static_cast<int>(members.size());
    const int me = static_cast<int>(std::find(members.begin(), members.end(), rank) - members.begin());
    const Comm& comm = g.comm[g.payload[row]];
    const bool empty = comm.bytes == 0 && static_cast<CollectiveType>(comm.type) != CollectiveType::kBarrier;
    if (size == 1 || empty) {
      part.over = true;
      return true;
    }
    const Plan& plan = PlanOf(static_cast<CollectiveType>(comm.type), size);
    const Program& program = plan.program(me);
    const CollectiveCosts& costs = options_.collectives;
    const auto cut = [&](int s) {
      return comm.bytes * static_cast<uint64_t>(s) / static_cast<uint64_t>(costs.splits);
    };
    const uint64_t bytes = cut(part.split + 1) - cut(part.split);
    const bool ends = part.step == program.steps.size();
    const bool sends = !ends && (program.steps[part.step].op == StepOp::kSend ||
                                 program.steps[part.step].op == StepOp::kSendWait);
    const bool shares = sends && SharesStep(part.step == 0 ? nullptr : &program.steps[part.step - 1]);
    if ((ends || sends) && !part.paid && !shares && costs.step_overhead > Time::Zero()) {
      part.paid = true;
      part.ready = now + costs.step_overhead;
      return true;
    }
    if (ends) {
      part.paid = false;
      part.step = 0;
      part.over = ++part.split == costs.splits;
      return true;
    }
    const Step& step = program.steps[part.step];
    const int peer = plan.rotational ? (me + step.peer) % size : step.peer;
    const int chunk = ChunkOf(plan, me, step.chunk);
    const uint64_t moved = ChunkBytes(plan, bytes, chunk, step.count);
    if (sends) {
      part.paid = false;
      const Time sent = now + TransferOf(moved);
      flows_[{call, peer, step.connection}].push_back({sent, sent + wire_.latency, "", false});
      if (step.op == StepOp::kSendWait) part.ready = sent;
      ++part.step;
      return true;
    }
    for (Transfer& f : flows_[{call, me, step.connection}]) {
      if (f.taken || f.received > now) continue;
      f.taken = true;
      ++part.step;
      const uint64_t added = step.op == StepOp::kRecvReduce       ? moved
                             : step.op == StepOp::kRecvReduceHalf ? moved / 2
                                                                  : 0;
      if (added > 0 && costs.reduce_bandwidth.bytes_per_second() > 0) {
        part.ready = now + TransferTime(3 * added, costs.reduce_bandwidth);
      }
      return true;
    }
    return false;
  }

  const Plan& PlanOf(CollectiveType type, int members) {
    auto it = plans_.find({type, members});
    if (it == plans_.end())
      it =
          plans_.emplace(std::make_pair(type, members), *BuildPlan({.type = type, .members = members})).first;
    return it->second;
  }

  Time Next(Time now) const {
    Time next = Time::Never();
    const auto consider = [&](Time t) {
      if (t > now && t < next) next = t;
    };
    for (size_t r = 0; r < nodes_.size(); ++r) {
      const Graph& g = *traces_.ranks[r].graph;
      for (uint32_t row = 0; row < g.size(); ++row) {
        const Node& n = nodes_[r][row];
        if (n.state == kRunning && n.knows_end) consider(n.end);
        for (uint32_t i = g.dep_begin[row]; i < g.dep_begin[row + 1]; ++i) {
          if (nodes_[r][g.dep[i]].state == kDone) consider(nodes_[r][g.dep[i]].end + DelayOf(g, i));
        }
      }
    }
    for (const auto& [name, at] : arrives_) consider(at);
    for (const auto& [key, part] : parts_) consider(part.ready);
    for (const auto& [key, list] : flows_) {
      for (const Transfer& f : list) consider(f.received);
    }
    return next;
  }

  const TraceSet& traces_;
  const EngineOptions& options_;
  Wire wire_;
  uint64_t changes_ = 0;
  std::vector<std::vector<Node>> nodes_;
  std::vector<std::vector<uint32_t>> order_, prefer_;
  std::map<std::string, int> expected_;  // recorded communication: the ranks of each rendezvous
  std::map<std::string, std::vector<std::pair<int, uint32_t>>> here_;  // who is there: rank, row
  std::map<std::string, Time> arrives_;                                // by message
  std::map<std::pair<std::string, int>, Part> parts_;                  // (call, rank)
  std::map<std::tuple<std::string, int, uint16_t>, std::vector<Transfer>>
      flows_;  // (call, member, connection)
  std::map<std::pair<CollectiveType, int>, Plan> plans_;
};

}  // namespace chakra
