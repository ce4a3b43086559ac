// `loggps`: the LogGOPS model of message passing. It has no topology; messages keep processors and NICs busy.
//
// Hoefler, Schneider, Lumsdaine: "LogGOPSim - Simulating Large-Scale Applications in the LogGOPS Model" (LSAP
// 2010). A message of s bytes, with n = max(s, 1) - 1:
//   send      the sender's CPU is busy for o + n O, its NIC for g + n G; the first byte arrives after o + L
//   arrival   when the receiver's CPU and NIC are free: CPU busy for o + max(n O, n G), NIC for g + n G
//   s > S     rendezvous: the send ends only when the message meets its receive
//
// Replay() runs programs of computation, sends and receives by these rules (replay/engine/loggops/log_gps.h).
// The fabric itself only prices one message without contention: latency 2 o + L, transfer max(n G, n O).
#pragma once

#include <algorithm>
#include <cstdint>

#include "backends/analytical/path_cost.h"
#include "backends/endpoint_prices.h"
#include "backends/fabric.h"
#include "backends/fabric_options.h"
#include "trace/base/heap4.h"
#include "trace/base/units.h"

namespace chakra {

// The defaults are those of LogGOPSim.
struct LogGpsOptions {
  static constexpr OptionSet kSet = {"LogGPS parameters", "are"};
  bool asked() const { return given; }

  bool given = false;
  Time latency = Time::Nanos(2500);   // L
  Time overhead = Time::Nanos(1500);  // o
  Time gap = Time::Nanos(1000);       // g, between two messages of a NIC
  double gap_per_byte_ns = 6;         // G
  double overhead_per_byte_ns = 0;    // O
  uint64_t rendezvous_bytes = 65535;  // S: larger messages wait for their receives

  // n times G or O, rounded to the nearest picosecond.
  static Time PerByte(double ns, uint64_t bytes);
  Time Gap(uint64_t bytes) const { return PerByte(gap_per_byte_ns, bytes); }
  Time Overhead(uint64_t bytes) const { return PerByte(overhead_per_byte_ns, bytes); }
};

class LogGpsFabric final : public Fabric, public PathPrices, public EndpointPrices {
 public:
  explicit LogGpsFabric(const LogGpsOptions& options) : options_(options) {}
  FlowId Start(const Flow& flow, Time now) override;
  Time NextEvent() override { return ends_.empty() ? Time::Never() : ends_.top().at; }
  void AdvanceTo(Time t, std::vector<FlowEnd>* ended) override;
  bool contention_free() const override { return true; }
  FlowCost Cost(int src, int dst, uint64_t bytes) const override;

  Busy Sending(uint64_t bytes) const override {
    return {options_.overhead + options_.Overhead(bytes), options_.gap + options_.Gap(bytes)};
  }
  Busy Receiving(uint64_t bytes) const override {
    return {options_.overhead + std::max(options_.Overhead(bytes), options_.Gap(bytes)),
            options_.gap + options_.Gap(bytes)};
  }
  Time FirstByte() const override { return options_.overhead + options_.latency; }
  bool MeetsReceive(uint64_t bytes) const override { return bytes > options_.rendezvous_bytes; }

 private:
  struct End {
    Time at;
    uint64_t order;
    uint64_t tag;
    FlowEnd::Kind kind;
    bool Before(const End& o) const { return at != o.at ? at < o.at : order < o.order; }
  };
  LogGpsOptions options_;
  Heap4<End> ends_;
  uint64_t order_ = 0;
};

}  // namespace chakra
