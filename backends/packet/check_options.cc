// What packet options must hold, however they were made.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "backends/packet/options.h"

namespace chakra::packet {
namespace {

using FlowControl = PacketOptions::FlowControl;
using Recovery = PacketOptions::Recovery;
using Spread = PacketOptions::Spread;

absl::Status Bad(absl::string_view key, absl::string_view value, absl::string_view expected) {
  return absl::InvalidArgumentError(absl::StrCat("packet: ", key, " is ", value, "; expected ", expected));
}

absl::Status CheckRange(absl::string_view key, uint64_t v, uint64_t least, uint64_t most,
                        absl::string_view unit) {
  if (v >= least && v <= most) return absl::OkStatus();
  return Bad(
      key, absl::StrCat(v, unit),
      absl::StrCat(least, unit, " to ", most, unit, "; the nearest is ", v < least ? least : most, unit));
}

absl::Status CheckTime(absl::string_view key, Time v, Time least, absl::string_view range) {
  if (v >= least && v <= Time::Micros(1000000)) return absl::OkStatus();
  return Bad(key, absl::StrCat(v.picos(), "ps"), range);
}

std::string Print(const QueueLevel& level) {
  std::string text;
  if (level.bytes != 0 || level.picos == 0) text = absl::StrCat(static_cast<int64_t>(level.bytes), "B");
  if (level.picos != 0) absl::StrAppend(&text, text.empty() ? "" : " and ", level.picos / 1e6, "us");
  return text;
}

absl::Status CheckLevel(absl::string_view key, const QueueLevel& level) {
  const auto fine = [](double v) { return v >= 0 && v <= 1e12; };
  if (fine(level.bytes) && fine(level.picos)) return absl::OkStatus();
  return Bad(key, absl::StrCat(level.bytes, " bytes and ", level.picos, " ps"), "0 to 1000GB, or 0s to 1s");
}

absl::Status CheckPackets(const PacketOptions& o) {
  if (absl::Status s = CheckRange("mtu", o.mtu, 64, 65000, "B"); !s.ok()) return s;
  if (absl::Status s = CheckRange("header", o.header, 0, 1000, "B"); !s.ok()) return s;
  if (o.ack < 1 || o.ack > o.Wire()) {
    return Bad(
        "ack", absl::StrCat(o.ack, "B"),
        absl::StrCat("1B to ", o.Wire(), "B (mtu + header); the nearest is ", o.ack < 1 ? 1 : o.Wire(), "B"));
  }
  if (absl::Status s = CheckRange("ack_every", o.ack_every, 1, 256, ""); !s.ok()) return s;
  const auto* window = std::get_if<FixedWindow::Config>(&o.transport);
  if (window != nullptr && o.ack_every > 1 && window->bytes > 0 &&
      window->bytes < o.ack_every * 1.0 * o.mtu) {
    return Bad("ack_every", absl::StrCat(o.ack_every),
               absl::StrCat("as many packets as the window of ", window->bytes, "B holds, at most ",
                            std::max<uint64_t>(1, static_cast<uint64_t>(window->bytes) / o.mtu)));
  }
  return CheckTime("switch_latency", o.switch_latency, Time::Zero(), "0s to 1s");
}

absl::Status CheckQueues(const PacketOptions& o) {
  if (o.classes < 2 || o.classes > PacketOptions::kMostClasses) {
    return Bad("classes", absl::StrCat(o.classes),
               absl::StrCat("2 to ", PacketOptions::kMostClasses, ", with the one of acknowledgements"));
  }
  const size_t others = static_cast<size_t>(o.classes) - 1;
  if (!o.weights.empty() && o.weights.size() != others) {
    return Bad("weights", absl::StrJoin(o.weights, "x"),
               absl::StrCat(others, " of them, one for each of the ", o.classes,
                            " classes but that of acknowledgements, as ",
                            absl::StrJoin(std::vector<int>(others, 1), "x")));
  }
  for (const uint32_t w : o.weights) {
    if (absl::Status s = CheckRange("weights", w, 1, 10000, ""); !s.ok()) return s;
  }
  if (o.queue > 0 && o.queue < o.Wire()) {
    return Bad("queue", absl::StrCat(o.queue, "B"),
               absl::StrCat("at least ", o.Wire(), "B, a full packet (mtu + header); or 0, no limit"));
  }
  if (o.buffer > 0 && o.buffer < o.Wire()) {
    return Bad("buffer", absl::StrCat(o.buffer, "B"),
               absl::StrCat("at least ", o.Wire(), "B, a full packet (mtu + header); or 0, no limit"));
  }
  if (!(o.alpha > 0 && o.alpha <= 1000))
    return Bad("alpha", absl::StrCat(o.alpha), "> 0 and <= 1000, as 0.125");
  if (o.reserved > 0 && o.buffer == 0) {
    return Bad("reserved", absl::StrCat(o.reserved, "B"), "a buffer that it is a part of, as buffer=32MB");
  }
  if (o.buffer > 0 && (o.reserved > o.buffer || o.headroom > o.buffer - o.reserved)) {
    return Bad("buffer", absl::StrCat(o.buffer, "B"),
               absl::StrCat("at least ", o.reserved + o.headroom,
                            "B, what is reserved and the headroom of one port and class"));
  }
  if (o.trim && o.flow_control != FlowControl::kNone) {
    return Bad("trim", "yes", "no beside flow_control: its links lose nothing that could be trimmed");
  }
  if (o.trim && o.queue == 0 && o.buffer == 0) {
    return Bad("trim", "yes", "a limit beside it, as queue=1MB: without one nothing is trimmed");
  }
  return absl::OkStatus();
}

absl::Status CheckPfc(const PacketOptions& o) {
  if (o.buffer == 0) return Bad("flow_control", "pfc", "a buffer of switches to protect, as buffer=32MB");
  const uint64_t least = 2 * uint64_t{o.Wire()};
  if (o.headroom > 0 && o.headroom < least) {
    return Bad("headroom", absl::StrCat(o.headroom, "B"),
               absl::StrCat("at least ", least, "B, two full packets; or 0, what the link needs"));
  }
  const double room = static_cast<double>(o.buffer - o.headroom);
  if (o.xoff.bytes > room) {
    return Bad(
        "xoff", Print(o.xoff),
        absl::StrCat("at most ", o.buffer - o.headroom, "B, the buffer without the headroom of one port"));
  }
  if (!(o.xon_gap >= 0 && o.xon_gap <= room)) {
    return Bad(
        "xon_gap", absl::StrCat(o.xon_gap, "B"),
        absl::StrCat("0B to ", o.buffer - o.headroom, "B, the buffer without the headroom of one port"));
  }
  if (o.xoff.bytes > 0 && o.xoff.picos == 0 && o.xon_gap > o.xoff.bytes) {
    return Bad("xon_gap", absl::StrCat(o.xon_gap, "B"),
               absl::StrCat("at most ", Print(o.xoff), ", the xoff"));
  }
  return absl::OkStatus();
}

absl::Status CheckFlowControl(const PacketOptions& o) {
  if (absl::Status s = CheckLevel("xoff", o.xoff); !s.ok()) return s;
  if (o.flow_control == FlowControl::kPfc) {
    if (absl::Status s = CheckPfc(o); !s.ok()) return s;
  } else {
    const char* const expected = "flow_control=pfc beside it";
    if (o.headroom > 0) return Bad("headroom", absl::StrCat(o.headroom, "B"), expected);
    if (o.xoff.bytes > 0 || o.xoff.picos > 0) return Bad("xoff", Print(o.xoff), expected);
    if (o.xon_gap != 0) return Bad("xon_gap", absl::StrCat(o.xon_gap, "B"), expected);
  }
  if (o.flow_control != FlowControl::kCredit) {
    return o.credit == 0 ? absl::OkStatus()
                         : Bad("credit", absl::StrCat(o.credit, "B"), "flow_control=credit beside it");
  }
  if (o.buffer > 0) {
    return Bad("buffer", absl::StrCat(o.buffer, "B"),
               "no buffer beside flow_control=credit: each link has room of its own at its end, credit=");
  }
  if (o.credit > 0 && o.credit < o.Wire()) {
    return Bad("credit", absl::StrCat(o.credit, "B"),
               absl::StrCat("at least ", o.Wire(), "B, a full packet; or 0, what the link needs"));
  }
  return absl::OkStatus();
}

absl::Status CheckMarks(const PacketOptions& o) {
  const TransportKind& kind = KindOf(o.transport);
  if (!o.ecn) {
    if (!kind.ecn) return absl::OkStatus();
    return Bad("ecn", "no", absl::StrCat("yes: transport ", kind.name, " needs the marks of switches"));
  }
  if (absl::Status s = CheckLevel("ecn_low", o.ecn_low); !s.ok()) return s;
  if (absl::Status s = CheckLevel("ecn_high", o.ecn_high); !s.ok()) return s;
  if (o.ecn_high.bytes == 0 && o.ecn_high.picos == 0) {
    return Bad("ecn_high", "0B", "more, as 400KB or 128us");
  }
  if (o.ecn_low.bytes > o.ecn_high.bytes || o.ecn_low.picos > o.ecn_high.picos) {
    return Bad("ecn_low", Print(o.ecn_low),
               absl::StrCat("at most ecn_high, ", Print(o.ecn_high), ", and both in bytes or both in time"));
  }
  if (o.queue > 0 && o.ecn_high.bytes > static_cast<double>(o.queue)) {
    return Bad("ecn_high", Print(o.ecn_high), absl::StrCat("at most ", o.queue, "B, the queue"));
  }
  if (o.buffer > 0 && o.ecn_high.bytes > static_cast<double>(o.buffer)) {
    return Bad("ecn_high", Print(o.ecn_high), absl::StrCat("at most ", o.buffer, "B, the buffer"));
  }
  if (!(o.ecn_probability > 0 && o.ecn_probability <= 1)) {
    return Bad("ecn_probability", absl::StrCat(o.ecn_probability), "> 0 and <= 1");
  }
  return absl::OkStatus();
}

absl::Status CheckConnections(const PacketOptions& o) {
  const TransportKind& kind = KindOf(o.transport);
  if (o.paths < 1 || o.paths > 256) {
    return Bad("paths", absl::StrCat(o.paths),
               absl::StrCat("1 to 256; the nearest is ", o.paths < 1 ? 1 : 256));
  }
  if (o.spread == Spread::kTransport && !kind.sprays) {
    return Bad(
        "spread", "transport",
        absl::StrCat("connection, packet or adaptive: transport ", kind.name, " does not choose ways"));
  }
  if (o.spread != Spread::kConnection && o.paths < 2) {
    return Bad("paths", absl::StrCat(o.paths), "at least 2 to choose from; or spread=connection");
  }
  if (o.recovery == Recovery::kGoBackN && kind.sprays) {
    return Bad("recovery", "go_back_n",
               absl::StrCat("selective: packets of transport ", kind.name, " arrive in any order"));
  }
  const char* const any_order = o.spread == Spread::kPacket     ? "packet"
                                : o.spread == Spread::kAdaptive ? "adaptive"
                                                                : nullptr;
  if (o.recovery == Recovery::kGoBackN && any_order != nullptr) {
    return Bad("recovery", "go_back_n",
               absl::StrCat("selective beside spread=", any_order, ": packets arrive in any order"));
  }
  if (any_order != nullptr && kind.telemetry) {
    return Bad("spread", any_order,
               absl::StrCat("connection: transport ", kind.name, " follows the ports of one way"));
  }
  if (absl::Status s = CheckTime("timeout", o.timeout, Time::Micros(1), "1us to 1s"); !s.ok()) return s;
  if (!(o.skip_tolerance >= 0.001 && o.skip_tolerance <= 0.1)) {
    return Bad("skip_tolerance", absl::StrCat(o.skip_tolerance), "0.001 to 0.1");
  }
  if (o.series == Time::Zero()) return absl::OkStatus();
  return CheckTime("series", o.series, Time::Nanos(100), "100ns to 1s, or 0ns for none");
}

}  // namespace

absl::Status CheckPacketOptions(const PacketOptions& options) {
  for (const auto check : {CheckPackets, CheckQueues, CheckFlowControl, CheckMarks, CheckConnections}) {
    if (absl::Status s = check(options); !s.ok()) return s;
  }
  return absl::OkStatus();
}

}  // namespace chakra::packet
