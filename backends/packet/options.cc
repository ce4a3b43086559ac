#include "backends/packet/options.h"

#include <iterator>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "trace/base/status_macros.h"
#include "trace/io/field_value.h"
#include "trace/io/settings.h"

namespace chakra::packet {
namespace {

using google::protobuf::FieldDescriptor;

constexpr int kSprayPaths = 64;  // entropy values of NSCC: ultraethernet/uet-htsim, htsim/sim/datacenter

// The member for the number in a field.
struct NumberField {
  int field;
  std::variant<uint32_t PacketOptions::*, uint64_t PacketOptions::*, int PacketOptions::*,
               double PacketOptions::*, Time PacketOptions::*>
      member;
};
const NumberField kNumbers[] = {
    {proto::PacketNetwork::kMtuBytesFieldNumber, &PacketOptions::mtu},
    {proto::PacketNetwork::kHeaderBytesFieldNumber, &PacketOptions::header},
    {proto::PacketNetwork::kAckBytesFieldNumber, &PacketOptions::ack},
    {proto::PacketNetwork::kAckEveryFieldNumber, &PacketOptions::ack_every},
    {proto::PacketNetwork::kSwitchLatencyNsFieldNumber, &PacketOptions::switch_latency},
    {proto::PacketNetwork::kClassesFieldNumber, &PacketOptions::classes},
    {proto::PacketNetwork::kQueueBytesFieldNumber, &PacketOptions::queue},
    {proto::PacketNetwork::kBufferBytesFieldNumber, &PacketOptions::buffer},
    {proto::PacketNetwork::kAlphaFieldNumber, &PacketOptions::alpha},
    {proto::PacketNetwork::kReservedBytesFieldNumber, &PacketOptions::reserved},
    {proto::PacketNetwork::kHeadroomBytesFieldNumber, &PacketOptions::headroom},
    {proto::PacketNetwork::kXonGapBytesFieldNumber, &PacketOptions::xon_gap},
    {proto::PacketNetwork::kCreditBytesFieldNumber, &PacketOptions::credit},
    {proto::PacketNetwork::kEcnProbabilityFieldNumber, &PacketOptions::ecn_probability},
    {proto::PacketNetwork::kTimeoutUsFieldNumber, &PacketOptions::timeout},
    {proto::PacketNetwork::kPathsFieldNumber, &PacketOptions::paths},
    {proto::PacketNetwork::kSeedFieldNumber, &PacketOptions::seed},
    {proto::PacketNetwork::kSeriesUsFieldNumber, &PacketOptions::series},
    {proto::PacketNetwork::kSkipToleranceFieldNumber, &PacketOptions::skip_tolerance},
};

const FieldDescriptor& Field(int number) {
  return *proto::PacketNetwork::descriptor()->FindFieldByNumber(number);
}

// Get() returns a member in the unit of its field; Put() sets it.
double Get(const PacketOptions& o, const NumberField& n) {
  return std::visit(
      [&](auto member) {
        if constexpr (std::is_same_v<decltype(member), Time PacketOptions::*>) {
          return static_cast<double>((o.*member).picos()) / UnitOf(Field(n.field)).scale;
        } else {
          return static_cast<double>(o.*member);
        }
      },
      n.member);
}

void Put(double v, const NumberField& n, PacketOptions* o) {
  std::visit(
      [&](auto member) {
        if constexpr (std::is_same_v<decltype(member), Time PacketOptions::*>) {
          o->*member = Time::FromNanos(v * (UnitOf(Field(n.field)).scale / 1e3));
        } else {
          o->*member = static_cast<std::remove_reference_t<decltype(o->*member)>>(v);
        }
      },
      n.member);
}

absl::Status OfPackets(const absl::Status& s) {
  return s.ok() ? s : absl::InvalidArgumentError(absl::StrCat("packet: ", s.message()));
}

// The default marks of switches for a transport: the published thresholds as times, so that they grow with
// the rate of the port.
struct Marking {
  absl::string_view transport;
  Time low, high;
  double probability;
};
constexpr Marking kMarkingOf[] = {
    // 100 and 400 KB for each 25 Gb/s, up to 0.2: alibaba-edu/High-Precision-Congestion-Control,
    // simulation/run.py ("dcqcn").
    {"dcqcn", Time::Micros(32), Time::Micros(128), 0.2},
    // 0.2 and 0.8 of the bandwidth-delay product, of 12 us: ultraethernet/uet-htsim,
    // htsim/sim/datacenter/main_uec.cpp.
    {"nscc", Time::Nanos(2400), Time::Nanos(9600), 1},
    // 30 KB for each 10 Gb/s: run.py as above ("dctcp"). Also for all other transports.
    {"dctcp", Time::Micros(24), Time::Micros(24), 1},
};

const Marking& MarkingOf(absl::string_view transport) {
  for (const Marking& m : kMarkingOf) {
    if (m.transport == transport) return m;
  }
  return kMarkingOf[std::size(kMarkingOf) - 1];
}

QueueLevel Lasting(Time t) { return {0, static_cast<double>(t.picos())}; }

// The level of two alternative fields: bytes, or microseconds of a port.
QueueLevel Level(bool in_bytes, uint64_t bytes, double micros) {
  return in_bytes ? QueueLevel{static_cast<double>(bytes), 0} : Lasting(Time::FromNanos(micros * 1e3));
}

absl::Status ReadTransport(const proto::PacketNetwork& m, PacketOptions* o) {
  if (m.transport().empty()) return absl::OkStatus();
  auto config = ParseTransport(m.transport());
  if (!config.ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat("packet: transport is \"", m.transport(), "\": ", config.status().message()));
  }
  o->transport = *std::move(config);
  return absl::OkStatus();
}

// Reads the fields whose default does not depend on the transport.
void ReadFields(const proto::PacketNetwork& m, PacketOptions* o) {
  for (const NumberField& n : kNumbers) {
    const FieldDescriptor& f = Field(n.field);
    if (m.GetReflection()->HasField(m, &f)) Put(SettingNumber(m, f), n, o);
  }
  o->weights.assign(m.weight().begin(), m.weight().end());
  o->cut_through = m.switching() == proto::PacketNetwork::CUT_THROUGH;
  o->flow_control = static_cast<PacketOptions::FlowControl>(m.flow_control());
  o->ecn_at_enqueue = m.ecn_at() == proto::PacketNetwork::ENQUEUE;
  o->skip = static_cast<PacketOptions::Skip>(m.skip());
  if (m.xoff_case() != proto::PacketNetwork::XOFF_NOT_SET)
    o->xoff = Level(m.has_xoff_bytes(), m.xoff_bytes(), m.xoff_us());
}

// Marks follow the transport if the user does not set them.
absl::Status ReadMarks(const proto::PacketNetwork& m, PacketOptions* o) {
  const TransportKind& kind = KindOf(o->transport);
  const bool low = m.ecn_low_case() != proto::PacketNetwork::ECN_LOW_NOT_SET,
             high = m.ecn_high_case() != proto::PacketNetwork::ECN_HIGH_NOT_SET;
  o->ecn = m.has_ecn() ? m.ecn() : low || high || kind.ecn;
  if (!o->ecn) {
    const auto level = [](bool in_bytes, uint64_t bytes, double micros) {
      return in_bytes ? absl::StrCat(bytes, "B") : absl::StrCat(micros, "us");
    };
    const std::tuple<const char*, bool, std::string> given[] = {
        {"ecn_low", low, level(m.has_ecn_low_bytes(), m.ecn_low_bytes(), m.ecn_low_us())},
        {"ecn_high", high, level(m.has_ecn_high_bytes(), m.ecn_high_bytes(), m.ecn_high_us())},
        {"ecn_probability", m.has_ecn_probability(), absl::StrCat(m.ecn_probability())},
        {"ecn_at", m.has_ecn_at(), o->ecn_at_enqueue ? "enqueue" : "dequeue"}};
    for (const auto& [key, is, value] : given) {
      if (is) return BadOption(key, value, "none, because switches do not mark packets; or ecn=yes");
    }
    return absl::OkStatus();
  }
  const Marking& marking = MarkingOf(kind.name);
  if (!m.has_ecn_probability()) o->ecn_probability = kind.ecn ? marking.probability : 1;
  if (low) o->ecn_low = Level(m.has_ecn_low_bytes(), m.ecn_low_bytes(), m.ecn_low_us());
  if (high) o->ecn_high = Level(m.has_ecn_high_bytes(), m.ecn_high_bytes(), m.ecn_high_us());
  if (low && !high) o->ecn_high = o->ecn_low;
  if (high && !low) o->ecn_low = o->ecn_high;
  if (low || high) return absl::OkStatus();
  if (!kind.ecn) {
    return BadOption("ecn", "yes",
                     absl::StrCat("thresholds with it, as ecn_low=32us,ecn_high=128us; transport ", kind.name,
                                  " has no thresholds"));
  }
  o->ecn_published = true;
  o->ecn_low = Lasting(marking.low);
  o->ecn_high = Lasting(marking.high);
  return absl::OkStatus();
}

// Paths, recovery and trimming follow the transport if the user does not set them.
void ReadConnections(const proto::PacketNetwork& m, PacketOptions* o) {
  const TransportKind& kind = KindOf(o->transport);
  using Spread = PacketOptions::Spread;
  using Recovery = PacketOptions::Recovery;
  const bool may_trim =
      o->flow_control == PacketOptions::FlowControl::kNone && (o->queue > 0 || o->buffer > 0);
  o->trim = m.has_trim() ? m.trim() : kind.trims && may_trim;
  o->spread = m.has_spread() ? static_cast<Spread>(m.spread())
              : kind.sprays  ? Spread::kTransport
                             : Spread::kConnection;
  if (!m.has_paths()) o->paths = o->spread == Spread::kConnection ? 1 : kSprayPaths;
  const bool any_order = kind.sprays || o->spread != Spread::kConnection;
  o->recovery = m.has_recovery() ? static_cast<Recovery>(m.recovery())
                : any_order      ? Recovery::kSelective
                                 : Recovery::kGoBackN;
}

}  // namespace

absl::Status BadOption(absl::string_view key, absl::string_view value, absl::string_view expected) {
  return absl::InvalidArgumentError(absl::StrCat("packet: ", key, " is ", value, "; expected ", expected));
}

absl::Status CheckPacketRanges(const PacketOptions& o) {
  for (const NumberField& n : kNumbers) {
    if (absl::Status s = CheckSetting(Field(n.field), Get(o, n)); !s.ok()) return OfPackets(s);
  }
  for (const uint32_t w : o.weights) {
    if (absl::Status s = CheckSetting(Field(proto::PacketNetwork::kWeightFieldNumber), w); !s.ok())
      return OfPackets(s);
  }
  const std::tuple<int, int, const QueueLevel&> levels[] = {
      {proto::PacketNetwork::kXoffBytesFieldNumber, proto::PacketNetwork::kXoffUsFieldNumber, o.xoff},
      {proto::PacketNetwork::kEcnLowBytesFieldNumber, proto::PacketNetwork::kEcnLowUsFieldNumber, o.ecn_low},
      {proto::PacketNetwork::kEcnHighBytesFieldNumber, proto::PacketNetwork::kEcnHighUsFieldNumber,
       o.ecn_high}};
  for (const auto& [bytes, micros, level] : levels) {
    if (absl::Status s = CheckSetting(Field(bytes), level.bytes); !s.ok()) return OfPackets(s);
    if (absl::Status s = CheckSetting(Field(micros), level.picos / 1e6); !s.ok()) return OfPackets(s);
  }
  return absl::OkStatus();
}

absl::StatusOr<PacketOptions> ReadPacketOptions(const proto::PacketNetwork& packet) {
  proto::PacketNetwork m = packet;
  if (absl::Status s = ExpandShortForm(&m); !s.ok()) return OfPackets(s);
  RETURN_IF_ERROR(CheckSettings(m, "packet."));
  PacketOptions o;
  ReadFields(m, &o);
  RETURN_IF_ERROR(ReadTransport(m, &o));
  if (m.has_alpha() && o.buffer == 0) {
    return BadOption("alpha", absl::StrCat(o.alpha),
                     "it with a buffer, as buffer=32MB: alpha is a multiple of the free part");
  }
  RETURN_IF_ERROR(ReadMarks(m, &o));
  ReadConnections(m, &o);
  RETURN_IF_ERROR(CheckPacketOptions(o));
  return o;
}

absl::StatusOr<PacketOptions> ParsePacketOptions(absl::string_view text) {
  proto::PacketNetwork m;
  RETURN_IF_ERROR(ReadSettings(text, "packet", &m));
  return ReadPacketOptions(m);
}

}  // namespace chakra::packet
