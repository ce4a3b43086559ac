// What a transport (congestion control) sees and steers, packet by packet.
//
// A transport is a class of its own file, and a line in any_transport.h. It holds
// the state of one connection; what all connections share is its Config.
//
//   class Example {
//    public:
//     struct Config { ... };                  // the published constants, with their source
//     static TransportKind Kind();            // name, source, parameters, what it needs
//     static absl::StatusOr<Config> Read(const Parameters& parameters);
//     Example(const Config& config, const PathFacts& path, Control* control);
//     void OnAck(const Ack& ack, Control* control);
//     void OnLoss(const Loss& loss, Control* control);
//     void OnTimer(Time now, Control* control);     // Control::timer was due
//     uint32_t PickPath(Time now, uint32_t paths);  // of the next packet, [0, paths)
//   };
//
// No call allocates. All are deterministic.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "backends/topology/spec.h"
#include "trace/base/units.h"

namespace chakra::packet {

// Of one hop of a data packet, written as it left a port (in-band telemetry).
struct HopRecord {
  int64_t at = 0;       // ps
  uint64_t sent = 0;    // bytes that the port has sent, this packet included
  uint64_t queued = 0;  // bytes that wait behind it in the port
  double rate = 0;      // of the port; bytes a picosecond
};

// In-band telemetry of a packet, in the order of its hops.
struct Telemetry {
  static constexpr int kMostHops = 10;
  int hops = 0;
  HopRecord hop[kMostHops];
};

// What a connection knows of its path before the first packet.
struct PathFacts {
  double rate = 0;      // of its narrowest link; bytes a picosecond
  double nic_rate = 0;  // of its first link
  Time base_rtt;        // of a full packet there and its acknowledgement back, nothing else on the way
  uint32_t mtu = 0;     // payload of a full packet; bytes
  uint32_t wire = 0;    // bytes of a full packet on a link
  int hops = 0;         // links there
  uint64_t seed = 1;    // its own, for what is random
  double Bdp() const { return rate * static_cast<double>(base_rtt.picos()); }  // bytes
};

// What a transport steers. The connection sends while less than `window` is in
// flight, and no faster than `pace`. One packet may always be in flight.
struct Control {
  static constexpr double kNone = std::numeric_limits<double>::infinity();
  double window = kNone;       // payload bytes
  double pace = kNone;         // bytes on the wire a picosecond
  Time timer = Time::Never();  // OnTimer() is called then
};

struct Ack {
  Time now;
  Time rtt;                // of the data packet, from its leaving the card to this acknowledgement
  uint64_t packet = 0;     // number of the data packet, from 0
  uint64_t next = 0;       // number of the next new packet to send
  uint64_t acked = 0;      // payload bytes that it acknowledges first
  uint64_t in_flight = 0;  // payload bytes, without those
  uint32_t path = 0;       // that the data packet took, as PickPath() chose
  bool marked = false;     // the data packet met congestion (ECN)
  bool cnp = false;        // notification (TransportKind::cnp_gap)
  const Telemetry* telemetry = nullptr;  // TransportKind::telemetry
};

struct Loss {
  enum Kind : uint8_t {
    kTrimmed,     // a switch cut the payload off, and the receiver said so
    kOutOfOrder,  // the receiver asks for an earlier packet, or later ones arrived
    kTimeout,
  };
  Time now;
  Kind kind = kTimeout;
  uint64_t packet = 0;     // the first that is lost
  uint64_t next = 0;       // as in Ack
  uint64_t bytes = 0;      // payload that is lost and no longer in flight
  uint64_t in_flight = 0;  // without those
  uint32_t path = 0;       // of it, where known
};

struct TransportKind {
  absl::string_view name;     // "dcqcn"
  absl::string_view summary;  // one line
  absl::string_view source;   // where its rules and constants are published
  std::vector<Parameter> parameters;
  bool ecn = false;        // useless without marks: switches must set them
  bool telemetry = false;  // packets carry Telemetry
  bool sprays = false;     // chooses a path for each packet; packets arrive in any order
  bool trims = false;      // expects trimming switches, or loses much
  // With `skip`, how far jobs ended from where they end without it, at most of what was tried where flows
  // meet on uplinks; share of their time. There differences grow: it is measured, no bound. 0: nothing was
  // measured.
  double skip_error = 0;
  Time cnp_gap;  // > 0: the receiver answers marks with notifications, at most one in this time
};

}  // namespace chakra::packet
