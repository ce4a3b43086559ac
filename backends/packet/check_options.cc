// Checks packet options that depend on each other, however they were made.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "backends/packet/options.h"
#include "trace/base/status_macros.h"

namespace chakra::packet {
namespace {

using FlowControl = PacketOptions::FlowControl;
using Recovery = PacketOptions::Recovery;
using Spread = PacketOptions::Spread;

std::string Print(const QueueLevel& level) {
  std::string text;
  if (level.bytes != 0 || level.picos == 0) text = absl::StrCat(static_cast<int64_t>(level.bytes), "B");
  if (level.picos != 0) absl::StrAppend(&text, text.empty() ? "" : " and ", level.picos / 1e6, "us");
  return text;
}

absl::Status CheckPackets(const PacketOptions& o) {
  if (o.ack > o.Wire()) {
    return BadOption("ack", absl::StrCat(o.ack, "B"),
                     absl::StrCat("1B to ", o.Wire(), "B (mtu + header); the nearest is ", o.Wire(), "B"));
  }
  const auto* window = std::get_if<FixedWindow::Config>(&o.transport);
  if (window != nullptr && o.ack_every > 1 && window->bytes > 0 &&
      window->bytes < o.ack_every * 1.0 * o.mtu) {
    return BadOption("ack_every", absl::StrCat(o.ack_every),
                     absl::StrCat("as many packets as the window of ", window->bytes, "B holds, at most ",
                                  std::max<uint64_t>(1, static_cast<uint64_t>(window->bytes) / o.mtu)));
  }
  return absl::OkStatus();
}

absl::Status CheckQueues(const PacketOptions& o) {
  const size_t others = static_cast<size_t>(o.classes) - 1;
  if (!o.weights.empty() && o.weights.size() != others) {
    return BadOption("weights", absl::StrJoin(o.weights, "x"),
                     absl::StrCat(others, " weights, one for each of the ", o.classes,
                                  " classes except the class of acknowledgements, as ",
                                  absl::StrJoin(std::vector<int>(others, 1), "x")));
  }
  if (o.queue > 0 && o.queue < o.Wire()) {
    return BadOption("queue", absl::StrCat(o.queue, "B"),
                     absl::StrCat("at least ", o.Wire(), "B, a full packet (mtu + header); or 0, no limit"));
  }
  if (o.buffer > 0 && o.buffer < o.Wire()) {
    return BadOption("buffer", absl::StrCat(o.buffer, "B"),
                     absl::StrCat("at least ", o.Wire(), "B, a full packet (mtu + header); or 0, no limit"));
  }
  if (o.reserved > 0 && o.buffer == 0) {
    return BadOption("reserved", absl::StrCat(o.reserved, "B"),
                     "it with a buffer, which contains it, as buffer=32MB");
  }
  if (o.buffer > 0 && (o.reserved > o.buffer || o.headroom > o.buffer - o.reserved)) {
    return BadOption("buffer", absl::StrCat(o.buffer, "B"),
                     absl::StrCat("at least ", o.reserved + o.headroom,
                                  "B, the reserved bytes and the headroom of one port and class"));
  }
  if (o.trim && o.flow_control != FlowControl::kNone) {
    return BadOption("trim", "yes", "no with flow_control, whose links lose no packet");
  }
  if (o.trim && o.queue == 0 && o.buffer == 0) {
    return BadOption("trim", "yes", "a limit with it, as queue=1MB: without a limit no packet is trimmed");
  }
  return absl::OkStatus();
}

absl::Status CheckPfc(const PacketOptions& o) {
  if (o.buffer == 0)
    return BadOption("flow_control", "pfc", "a buffer of switches to protect, as buffer=32MB");
  const uint64_t least = 2 * uint64_t{o.Wire()};
  if (o.headroom > 0 && o.headroom < least) {
    return BadOption(
        "headroom", absl::StrCat(o.headroom, "B"),
        absl::StrCat("at least ", least, "B, two full packets; or 0 for the value that the link needs"));
  }
  const double room = static_cast<double>(o.buffer - o.headroom);
  if (o.xoff.bytes > room) {
    return BadOption(
        "xoff", Print(o.xoff),
        absl::StrCat("at most ", o.buffer - o.headroom, "B, the buffer without the headroom of one port"));
  }
  if (!(o.xon_gap >= 0 && o.xon_gap <= room)) {
    return BadOption(
        "xon_gap", absl::StrCat(o.xon_gap, "B"),
        absl::StrCat("0B to ", o.buffer - o.headroom, "B, the buffer without the headroom of one port"));
  }
  if (o.xoff.bytes > 0 && o.xoff.picos == 0 && o.xon_gap > o.xoff.bytes) {
    return BadOption("xon_gap", absl::StrCat(o.xon_gap, "B"),
                     absl::StrCat("at most ", Print(o.xoff), ", the xoff"));
  }
  return absl::OkStatus();
}

absl::Status CheckFlowControl(const PacketOptions& o) {
  if (o.flow_control == FlowControl::kPfc) {
    RETURN_IF_ERROR(CheckPfc(o));
  } else {
    const char* const expected = "flow_control=pfc with it";
    if (o.headroom > 0) return BadOption("headroom", absl::StrCat(o.headroom, "B"), expected);
    if (o.xoff.bytes > 0 || o.xoff.picos > 0) return BadOption("xoff", Print(o.xoff), expected);
    if (o.xon_gap != 0) return BadOption("xon_gap", absl::StrCat(o.xon_gap, "B"), expected);
  }
  if (o.flow_control != FlowControl::kCredit) {
    return o.credit == 0 ? absl::OkStatus()
                         : BadOption("credit", absl::StrCat(o.credit, "B"), "flow_control=credit with it");
  }
  if (o.buffer > 0) {
    return BadOption(
        "buffer", absl::StrCat(o.buffer, "B"),
        "no buffer with flow_control=credit: each link has its own room at its end, which credit= sets");
  }
  if (o.credit > 0 && o.credit < o.Wire()) {
    return BadOption(
        "credit", absl::StrCat(o.credit, "B"),
        absl::StrCat("at least ", o.Wire(), "B, a full packet; or 0 for the value that the link needs"));
  }
  return absl::OkStatus();
}

absl::Status CheckMarks(const PacketOptions& o) {
  const TransportKind& kind = KindOf(o.transport);
  if (!o.ecn) {
    if (!kind.ecn) return absl::OkStatus();
    return BadOption("ecn", "no", absl::StrCat("yes: transport ", kind.name, " needs the marks of switches"));
  }
  if (o.ecn_high.bytes == 0 && o.ecn_high.picos == 0) {
    return BadOption("ecn_high", "0B", "more, as 400KB or 128us");
  }
  if (o.ecn_low.bytes > o.ecn_high.bytes || o.ecn_low.picos > o.ecn_high.picos) {
    return BadOption(
        "ecn_low", Print(o.ecn_low),
        absl::StrCat("at most ecn_high, ", Print(o.ecn_high), ", and both in bytes or both in time"));
  }
  if (o.queue > 0 && o.ecn_high.bytes > static_cast<double>(o.queue)) {
    return BadOption("ecn_high", Print(o.ecn_high), absl::StrCat("at most ", o.queue, "B, the queue"));
  }
  if (o.buffer > 0 && o.ecn_high.bytes > static_cast<double>(o.buffer)) {
    return BadOption("ecn_high", Print(o.ecn_high), absl::StrCat("at most ", o.buffer, "B, the buffer"));
  }
  return absl::OkStatus();
}

absl::Status CheckConnections(const PacketOptions& o) {
  const TransportKind& kind = KindOf(o.transport);
  if (o.spread == Spread::kTransport && !kind.sprays) {
    return BadOption(
        "spread", "transport",
        absl::StrCat("connection, packet or adaptive: transport ", kind.name, " does not choose paths"));
  }
  if (o.spread != Spread::kConnection && o.paths < 2) {
    return BadOption("paths", absl::StrCat(o.paths), "at least 2 to choose from; or spread=connection");
  }
  if (o.recovery == Recovery::kGoBackN && kind.sprays) {
    return BadOption("recovery", "go_back_n",
                     absl::StrCat("selective: packets of transport ", kind.name, " arrive in any order"));
  }
  const char* const any_order = o.spread == Spread::kPacket     ? "packet"
                                : o.spread == Spread::kAdaptive ? "adaptive"
                                                                : nullptr;
  if (o.recovery == Recovery::kGoBackN && any_order != nullptr) {
    return BadOption("recovery", "go_back_n",
                     absl::StrCat("selective with spread=", any_order, ": packets arrive in any order"));
  }
  if (any_order != nullptr && kind.telemetry) {
    return BadOption("spread", any_order,
                     absl::StrCat("connection: transport ", kind.name, " follows the ports of one path"));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckPacketOptions(const PacketOptions& options) {
  for (const auto check :
       {CheckPacketRanges, CheckPackets, CheckQueues, CheckFlowControl, CheckMarks, CheckConnections}) {
    RETURN_IF_ERROR(check(options));
  }
  return absl::OkStatus();
}

}  // namespace chakra::packet
