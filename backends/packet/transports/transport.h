// The interface of a transport (congestion control): what it sees and controls, packet by packet.
//
// A transport is a class in a file of its own, and a line in any_transport.h. It holds the state of one
// connection; its Config is common to all connections.
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

// One hop of a data packet, recorded when it left a port (in-band telemetry).
struct HopRecord {
  int64_t at = 0;       // ps
  uint64_t sent = 0;    // bytes that the port has sent, including this packet
  uint64_t queued = 0;  // bytes that wait in the port after this packet
  double rate = 0;      // rate of the port; bytes a picosecond
};

// In-band telemetry of a packet, in the order of its hops.
struct Telemetry {
  static constexpr int kMostHops = 10;
  int hops = 0;
  HopRecord hop[kMostHops];
};

// The facts that a connection knows about its path before the first packet.
struct PathFacts {
  double rate = 0;      // of the narrowest link; bytes a picosecond
  double nic_rate = 0;  // of the first link
  Time base_rtt;        // of a full packet and its acknowledgement on an idle network
  uint32_t mtu = 0;     // payload of a full packet; bytes
  uint32_t wire = 0;    // bytes of a full packet on a link
  int hops = 0;         // links from source to destination
  uint64_t seed = 1;    // for the random choices of this connection
  double Bdp() const { return rate * static_cast<double>(base_rtt.picos()); }  // bytes
};

// The values that a transport controls. The connection sends while less than `window` is in flight, and no
// faster than `pace`. One packet may always be in flight.
struct Control {
  static constexpr double kNone = std::numeric_limits<double>::infinity();
  double window = kNone;       // payload bytes
  double pace = kNone;         // bytes on the wire a picosecond
  Time timer = Time::Never();  // time of the next OnTimer()
};

struct Ack {
  Time now;
  Time rtt;                // from the data packet leaving the NIC to this acknowledgement
  uint64_t packet = 0;     // number of the data packet, from 0
  uint64_t next = 0;       // number of the next new packet to send
  uint64_t acked = 0;      // payload bytes that this acknowledgement is the first to acknowledge
  uint64_t in_flight = 0;  // payload bytes, without `acked`
  uint32_t path = 0;       // the path of the data packet, as PickPath() chose
  bool marked = false;     // the data packet was marked for congestion (ECN)
  bool cnp = false;        // a notification of marks (TransportKind::cnp_gap)
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
  uint64_t packet = 0;     // the first lost packet
  uint64_t next = 0;       // as in Ack
  uint64_t bytes = 0;      // payload bytes that are lost and no longer in flight
  uint64_t in_flight = 0;  // payload bytes, without `bytes`
  uint32_t path = 0;       // of the lost packet, if known
};

struct TransportKind {
  absl::string_view name;     // "dcqcn"
  absl::string_view summary;  // one line
  absl::string_view source;   // publication of its rules and constants
  std::vector<Parameter> parameters;
  bool ecn = false;        // needs marks: switches must set them
  bool telemetry = false;  // packets carry Telemetry
  bool sprays = false;     // chooses a path for each packet; packets arrive in any order
  bool trims = false;      // expects switches that trim; otherwise it loses many packets
  // With `skip`: how far the ends of jobs were off, as a share of their time. The maximum of measured cases
  // in which flows share uplinks, where differences grow; it is no bound. 0: not measured.
  double skip_error = 0;
  Time cnp_gap;  // > 0: the receiver answers marks with notifications, at most one in this time
};

}  // namespace chakra::packet
