// The properties of a packet network other than its links.
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

// A threshold of a queue: bytes, or the time that the port needs to send them.
struct QueueLevel {
  double bytes = 0;
  double picos = 0;
  // The threshold in bytes at a port of `rate` bytes a picosecond.
  double Of(double rate) const { return bytes + picos * rate; }
};

struct PacketOptions {
  static constexpr OptionSet kSet = {"packets, queues and transports (--packet, or `packet` of a cluster)",
                                     "are"};
  bool asked() const { return true; }  // even if all values are defaults

  static constexpr int kMostClasses = 8;
  // Class of acknowledgements and trimmed packets; strict priority.
  static constexpr uint32_t kControlClass = 0;

  // Packets
  uint32_t mtu = 4096;     // payload of a full packet; bytes
  uint32_t header = 64;    // bytes on a link that a data packet has in addition to its payload
  uint32_t ack = 64;       // bytes of an acknowledgement on a link
  uint32_t ack_every = 1;  // packets in order for each acknowledgement
  // Switches forward a packet as soon as they have its header; false: the whole packet.
  bool cut_through = false;
  Time switch_latency;  // of each switch, in addition to the latency of its links

  // Queues of a port
  int classes = 2;  // traffic classes, including kControlClass
  // Shares of a port for classes 1, 2, ... when several classes wait; default 1 each.
  std::vector<uint32_t> weights;
  uint64_t queue = 0;  // maximum bytes in one queue; 0: no limit of its own
  bool trim = false;   // a packet without room loses its payload but keeps its header

  // Buffer of a switch, shared by its ports
  uint64_t buffer = 0;    // bytes; 0: without limit
  double alpha = 0.125;   // dynamic threshold: a queue may have up to alpha times the free bytes
  uint64_t reserved = 0;  // bytes of the buffer for each ingress port and class

  // Flow control of links
  enum class FlowControl { kNone, kPfc, kCredit };
  FlowControl flow_control = FlowControl::kNone;
  uint64_t headroom = 0;  // kPfc: bytes for each ingress port and class; 0: derived from its link
  QueueLevel xoff;        // kPfc: bytes in an ingress queue that cause a pause; 0: the dynamic threshold
  double xon_gap = 0;     // kPfc: resume this many bytes below xoff; 0: two full packets
  uint64_t credit = 0;    // kCredit: buffer in bytes of each port and class; 0: derived from its link

  // Marks (explicit congestion notification) of data packets: never below `low`, always above `high`, and in
  // between with a probability that grows up to `ecn_probability`. Equal levels: a step.
  bool ecn = false;
  QueueLevel ecn_low, ecn_high;
  // The levels are those published for the transport; on fast links they may exceed small buffers.
  bool ecn_published = false;
  double ecn_probability = 1;
  // Decided by the queue that a packet finds on arrival; false: that it leaves behind.
  bool ecn_at_enqueue = false;

  // Connections
  TransportConfig transport;  // default: FixedWindow
  enum class Recovery { kGoBackN, kSelective };
  Recovery recovery = Recovery::kGoBackN;
  // Without an acknowledgement for this time, all packets in flight count as lost.
  Time timeout = Time::Micros(500);
  int paths = 1;  // paths of each pair, among which packets or connections choose
  // How a path is chosen: by a hash for each connection; each packet takes the next one; by the transport; or
  // by each switch, which sends to the port with the least waiting bytes among the remaining paths.
  enum class Spread { kConnection, kPacket, kTransport, kAdaptive };
  Spread spread = Spread::kConnection;
  uint64_t seed = 1;
  Time series;  // interval at which queues and rates are recorded; 0: never

  // What is not simulated packet by packet: times of steady state (skip/steady_sim.h), and what has happened
  // before (skip/repeating_sim.h).
  enum class Skip { kOff, kSteady, kRepeats, kAll };
  Skip skip = Skip::kOff;
  double skip_tolerance = 0.005;  // rates that differ by less than this share count as constant; [0.001, 0.1]
  bool SkipsSteady() const { return skip == Skip::kSteady || skip == Skip::kAll; }
  bool SkipsRepeats() const { return skip == Skip::kRepeats || skip == Skip::kAll; }

  uint32_t Wire() const { return mtu + header; }  // bytes of a full packet on a link
  // No packet is lost for lack of room. False with a `headroom` from the user, because it may be too small.
  bool Lossless() const {
    if (trim || queue > 0) return false;
    return buffer == 0 || flow_control == FlowControl::kCredit ||
           (flow_control == FlowControl::kPfc && headroom == 0);
  }
};

// Converts the message to options. Absent fields follow the transport: marks, paths, recovery, trimming.
// Errors name the field, the value and a valid value. Options that contradict each other are refused too: a
// packet larger than a queue, a threshold above the buffer, a transport without the signals that it needs.
absl::StatusOr<PacketOptions> ReadPacketOptions(const proto::PacketNetwork& packet);
// The same for the short form: "transport=(dcqcn:g=0.004),flow_control=pfc,buffer=32MB,...".
absl::StatusOr<PacketOptions> ParsePacketOptions(absl::string_view text);
// The same checks for options that the caller has set.
absl::Status CheckPacketOptions(const PacketOptions& options);
// An error of these functions: the option `key` is `value`, but `expected` is needed.
absl::Status BadOption(absl::string_view key, absl::string_view value, absl::string_view expected);
// The part of CheckPacketOptions() that checks the range of each field.
absl::Status CheckPacketRanges(const PacketOptions& options);

}  // namespace chakra::packet
