// What a packet network is made of, beside its links.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "backends/fabric_options.h"
#include "backends/packet/transports/any_transport.h"
#include "proto/cluster.pb.h"
#include "trace/base/units.h"

namespace chakra::packet {

// A threshold on a queue: bytes, or the time that the port needs for them.
struct QueueLevel {
  double bytes = 0;
  double picos = 0;
  // At a port of `rate`, bytes a picosecond.
  double Of(double rate) const { return bytes + picos * rate; }
};

struct PacketOptions {
  static constexpr OptionSet kSet = {"packets, queues and transports (--packet, or `packet` of a cluster)",
                                     "are"};
  bool asked() const { return true; }  // whatever they are

  static constexpr int kMostClasses = 8;
  static constexpr uint32_t kControlClass = 0;  // of acknowledgements and what switches trimmed; strict

  // Packets
  uint32_t mtu = 4096;       // payload of a full packet; bytes
  uint32_t header = 64;      // what a packet of data adds to it on links; bytes
  uint32_t ack = 64;         // an acknowledgement on a link; bytes
  uint32_t ack_every = 1;    // packets that arrive in order for one acknowledgement
  bool cut_through = false;  // switches forward a packet when they have its header; false: the whole packet
  Time switch_latency;       // of each switch, beside the latency of its links

  // Queues of a port
  int classes = 2;                // of traffic, kControlClass included
  std::vector<uint32_t> weights;  // of classes 1, 2, ...: shares of a port where both wait; default 1 each
  uint64_t queue = 0;             // most bytes that wait in one queue; 0: no limit of its own
  bool trim = false;              // a packet without room loses its payload, not its header

  // Buffer of a switch, shared by its ports
  uint64_t buffer = 0;    // bytes; 0: without limit
  double alpha = 0.125;   // dynamic threshold: a queue takes up to alpha times what is free
  uint64_t reserved = 0;  // of it for each ingress port and class, bytes

  // Flow control of links
  enum class FlowControl { kNone, kPfc, kCredit };
  FlowControl flow_control = FlowControl::kNone;
  uint64_t headroom = 0;  // kPfc: for each ingress port and class; bytes; 0: what its link needs
  QueueLevel xoff;        // kPfc: pause at so much in an ingress queue; 0: the dynamic threshold
  double xon_gap = 0;     // kPfc: resume so many bytes below; 0: two full packets
  uint64_t credit = 0;    // kCredit: buffer of each port and class; bytes; 0: what its link needs

  // Marks (explicit congestion notification): none below `low`, all above
  // `high`, up to `probability` between them. Both equal: a step. Of data alone.
  bool ecn = false;
  QueueLevel ecn_low, ecn_high;
  bool ecn_published = false;  // those of the transport: on fast links they may be above small buffers
  double ecn_probability = 1;
  bool ecn_at_enqueue = false;  // by the queue that a packet meets; false: that it leaves behind

  // Connections
  TransportConfig transport;  // FixedWindow at first
  enum class Recovery { kGoBackN, kSelective };
  Recovery recovery = Recovery::kGoBackN;
  Time timeout = Time::Micros(500);  // without an acknowledgement: what is in flight is lost
  int paths = 1;                     // ways of a pair among which packets or connections choose
  // Who chooses: a hash, each packet in turn, the transport, or each switch by what waits in its ports, of
  // the ways that are left.
  enum class Spread { kConnection, kPacket, kTransport, kAdaptive };
  Spread spread = Spread::kConnection;
  uint64_t seed = 1;
  Time series;  // how often queues and rates are noted; 0: never

  // What is not simulated packet by packet: times in which rates are constant (skip/gliding_sim.h), and what
  // has happened before (skip/repeating_sim.h).
  enum class Skip { kOff, kSteady, kRepeats, kAll };
  Skip skip = Skip::kOff;
  double skip_tolerance = 0.005;  // rates that differ by so little are constant; [0.001, 0.1]
  bool SkipsSteady() const { return skip == Skip::kSteady || skip == Skip::kAll; }
  bool SkipsRepeats() const { return skip == Skip::kRepeats || skip == Skip::kAll; }

  uint32_t Wire() const { return mtu + header; }  // of a full packet
  // Nothing is lost for want of room: a headroom that the user gave may be too small.
  bool Lossless() const {
    if (trim || queue > 0) return false;
    return buffer == 0 || flow_control == FlowControl::kCredit ||
           (flow_control == FlowControl::kPfc && headroom == 0);
  }
};

// The options that a message means. What is absent follows the transport: marks, ways, recovery, trimming.
// Errors name the field, the value and what would be valid; what does not go together is refused too: a
// packet larger than a queue, a threshold above the buffer, a transport without its signals.
absl::StatusOr<PacketOptions> ReadPacketOptions(const proto::PacketNetwork& packet);
// The same of the short form: "transport=(dcqcn:g=0.004),flow_control=pfc,buffer=32MB,...".
absl::StatusOr<PacketOptions> ParsePacketOptions(absl::string_view text);
// The same checks for options made by hand.
absl::Status CheckPacketOptions(const PacketOptions& options);
// Their error: the option `key` is `value`, `expected` another one.
absl::Status BadOption(absl::string_view key, absl::string_view value, absl::string_view expected);
// The part of them that is each field's own range.
absl::Status CheckPacketRanges(const PacketOptions& options);

}  // namespace chakra::packet
