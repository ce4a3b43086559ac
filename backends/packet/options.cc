#include "backends/packet/options.h"

#include <iterator>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"

namespace chakra::packet {
namespace {

constexpr int kSprayPaths = 64;  // entropy values of NSCC: ultraethernet/uet-htsim, htsim/sim/datacenter
constexpr uint64_t kMostBytes = 1000000000000;
constexpr const char* kSwitchings[] = {"store_and_forward", "cut_through"};
constexpr const char* kFlowControls[] = {"none", "pfc", "credit"};
constexpr const char* kMarkings[] = {"dequeue", "enqueue"};
constexpr const char* kRecoveries[] = {"go_back_n", "selective"};
constexpr const char* kSpreads[] = {"connection", "packet", "transport", "adaptive"};
constexpr const char* kSkips[] = {"off", "steady", "repeats", "all"};

// Where switches mark for a transport when nobody says so: the published
// thresholds as times, so that they grow with the rate of the port.
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
    // 30 KB for each 10 Gb/s: run.py as above ("dctcp"). Of any other transport too.
    {"dctcp", Time::Micros(24), Time::Micros(24), 1},
};

const Marking& MarkingOf(absl::string_view transport) {
  for (const Marking& m : kMarkingOf) {
    if (m.transport == transport) return m;
  }
  return kMarkingOf[std::size(kMarkingOf) - 1];
}

QueueLevel Lasting(Time t) { return {0, static_cast<double>(t.picos())}; }

// The values of a text, the first error kept.
class Reader {
 public:
  explicit Reader(const Parameters& p) : p_(p) {}

  template <typename T>
  void Bytes(const char* key, T* out) {
    Take(p_.Bytes(key, 0, kMostBytes), out);
  }
  void Uint32(const char* key, uint32_t* out) {
    uint64_t v = 0;
    Take(p_.Bytes(key, 0, kMostBytes), &v);
    if (v > UINT32_MAX) return Fail(p_.Bad(key, "the bytes of a packet, at most 65000B"));
    *out = static_cast<uint32_t>(v);
  }
  void Count(const char* key, int least, int most, auto* out) { Take(p_.Count(key, least, most), out); }
  void Number(const char* key, double most, double* out) { Take(p_.Number(key, 0, most), out); }
  void Duration(const char* key, Time* out) { Take(p_.Latency(key), out); }
  void Flag(const char* key, bool* out) { Take(p_.Flag(key), out); }
  // The place of a word in its list.
  template <typename T, size_t n>
  void Word(const char* key, const char* const (&words)[n], T* out) {
    const auto word = p_.Choice(key, {std::begin(words), std::end(words)});
    if (!word.ok()) return Fail(word.status());
    for (size_t i = 0; i < n; ++i) {
      if (*word == words[i]) *out = static_cast<T>(i);
    }
  }
  void Weights(const char* key, std::vector<uint32_t>* out) {
    if (p_.Empty(key)) return;
    const auto sizes = p_.Sizes(key, 1, 1, PacketOptions::kMostClasses - 1);
    if (!sizes.ok()) return Fail(sizes.status());
    out->assign(sizes->begin(), sizes->end());
  }
  void Level(const char* key, QueueLevel* out) {
    if (p_.Empty(key)) return;
    const std::string& text = p_.Text(key);
    if (const auto time = ParseTime(text); time.ok()) {
      *out = Lasting(*time);
      return;
    }
    const auto bytes = ParseBytes(text);
    if (!bytes.ok() || !absl::ascii_isalpha(static_cast<unsigned char>(text.back()))) {
      return Fail(p_.Bad(key,
                         "a size in bytes (not bits) or the time that a port needs for it, with its unit, as "
                         "400KB or 32us; at most 1000GB or 1s"));
    }
    *out = {static_cast<double>(*bytes), 0};
  }
  void Transport(const char* key, TransportConfig* out) {
    absl::string_view text = p_.Text(key);
    if (absl::ConsumePrefix(&text, "(") && !absl::ConsumeSuffix(&text, ")")) {
      return Fail(p_.Bad(key, "a \")\" at its end, as (window:bdp=2)"));
    }
    auto config = ParseTransport(text);
    if (!config.ok()) {
      return Fail(absl::InvalidArgumentError(
          absl::StrCat("packet: ", key, " is \"", text, "\": ", config.status().message())));
    }
    *out = *std::move(config);
  }
  void Fail(const absl::Status& status) {
    if (status_.ok()) status_ = status;
  }
  const absl::Status& status() const { return status_; }

 private:
  template <typename T, typename U>
  void Take(const absl::StatusOr<T>& value, U* out) {
    if (!value.ok()) return Fail(value.status());
    *out = static_cast<U>(*value);
  }
  const Parameters& p_;
  absl::Status status_;
};

// Marks follow the transport where the user leaves them open.
void ReadMarks(const Parameters& p, Reader* read, PacketOptions* o) {
  const TransportKind& kind = KindOf(o->transport);
  const bool low = p.Given("ecn_low"), high = p.Given("ecn_high");
  o->ecn = low || high || kind.ecn;
  if (p.Given("ecn")) read->Flag("ecn", &o->ecn);
  if (!o->ecn) {
    for (const char* key : {"ecn_low", "ecn_high", "ecn_probability", "ecn_at"}) {
      if (p.Given(key)) read->Fail(p.Bad(key, "none while switches do not mark; or ecn=yes"));
    }
    return;
  }
  const Marking& marking = MarkingOf(kind.name);
  o->ecn_probability = kind.ecn ? marking.probability : 1;
  if (p.Given("ecn_probability")) read->Number("ecn_probability", 1, &o->ecn_probability);
  read->Word("ecn_at", kMarkings, &o->ecn_at_enqueue);
  if (low) read->Level("ecn_low", &o->ecn_low);
  if (high) read->Level("ecn_high", &o->ecn_high);
  if (low && !high) o->ecn_high = o->ecn_low;
  if (high && !low) o->ecn_low = o->ecn_high;
  if (low || high) return;
  if (!kind.ecn) {
    return read->Fail(p.Bad(p.Given("ecn") ? "ecn" : "ecn_probability",
                            "thresholds beside it, as ecn_low=32us,ecn_high=128us; transport " +
                                std::string(kind.name) + " has none of its own"));
  }
  o->ecn_published = true;
  o->ecn_low = Lasting(marking.low);
  o->ecn_high = Lasting(marking.high);
}

// So do ways, recovery and trimming.
void ReadConnections(const Parameters& p, Reader* read, PacketOptions* o) {
  const TransportKind& kind = KindOf(o->transport);
  using Spread = PacketOptions::Spread;
  o->trim =
      kind.trims && o->flow_control == PacketOptions::FlowControl::kNone && (o->queue > 0 || o->buffer > 0);
  if (p.Given("trim")) read->Flag("trim", &o->trim);
  o->spread = kind.sprays ? Spread::kTransport : Spread::kConnection;
  if (p.Given("spread")) read->Word("spread", kSpreads, &o->spread);
  o->paths = o->spread == Spread::kConnection ? 1 : kSprayPaths;
  if (p.Given("paths")) read->Count("paths", 1, 256, &o->paths);
  const bool any_order = kind.sprays || o->spread != Spread::kConnection;
  o->recovery = any_order ? PacketOptions::Recovery::kSelective : PacketOptions::Recovery::kGoBackN;
  if (p.Given("recovery")) read->Word("recovery", kRecoveries, &o->recovery);
  read->Duration("timeout", &o->timeout);
  read->Count("seed", 1, INT32_MAX, &o->seed);
  read->Duration("series", &o->series);
  read->Word("skip", kSkips, &o->skip);
  read->Number("skip_tolerance", 1, &o->skip_tolerance);
}

}  // namespace

const std::vector<Parameter>& PacketParameters() {
  static const auto* const kParameters = new std::vector<Parameter>{
      {"mtu", "4096", "payload of a full packet; 64B to 65000B"},
      {"header", "64", "what a packet of data adds to it on links; 0B to 1000B"},
      {"ack", "64", "an acknowledgement on a link; 1B to mtu + header"},
      {"ack_every", "1", "packets that arrive in order for one acknowledgement; 1 to 256"},
      {"switching", "store_and_forward", "of switches: store_and_forward or cut_through"},
      {"switch_latency", "0ns", "of each switch, beside the latency of its links; at most 1s"},
      {"classes", "2", "of traffic, with the strict one of acknowledgements; 2 to 8"},
      {"weights", "", "of the other classes where they share a port, as 1x3; default: 1 each"},
      {"queue", "0", "most bytes that wait in one queue of a port; 0: no limit of its own"},
      {"trim", "",
       "yes: a packet without room loses its payload alone; default: as the transport expects, "
       "where queues have a limit and links may lose"},
      {"buffer", "0", "of a switch, shared by its ports; 0: without limit"},
      {"alpha", "0.125", "a queue takes up to this times what is free of the buffer; > 0, at most 1000"},
      {"reserved", "0", "of the buffer for each ingress port and class"},
      {"flow_control", "none", "of links: none, pfc or credit"},
      {"headroom", "0", "pfc: for each ingress port and class; 0: what its link needs"},
      {"xoff", "",
       "pfc: pause at so much in an ingress queue, bytes or time; default: the dynamic threshold"},
      {"xon_gap", "0", "pfc: resume so far below; 0: two full packets"},
      {"credit", "0", "credit: buffer of each port and class; 0: what its link needs"},
      {"ecn", "",
       "yes: switches mark packets; default: where thresholds are given or the transport needs it"},
      {"ecn_low", "", "no marks below, bytes or time of a port; default: as published for the transport"},
      {"ecn_high", "", "marks on all above, bytes or time of a port; default: as ecn_low, or as published"},
      {"ecn_probability", "", "of a mark just below ecn_high; (0, 1]; default: as published, or 1"},
      {"ecn_at", "dequeue", "enqueue: by the queue that a packet meets; dequeue: that it leaves behind"},
      {"transport", "window", "NAME or (NAME:key=value,...): congestion control of connections"},
      {"recovery", "", "go_back_n or selective; default: go_back_n where packets stay in order"},
      {"timeout", "500us", "without an acknowledgement; 1us to 1s"},
      {"paths", "", "ways of a pair to choose from; 1 to 256; default: 1 for spread=connection, else 64"},
      {"spread", "",
       "who chooses a way: connection (a hash), packet (each in turn), transport, or adaptive (each switch, "
       "by "
       "what waits in its ports); default: "
       "transport where it can, else connection"},
      {"seed", "1", "of hashes, marks and losses; 1 to 2147483647"},
      {"series", "0ns", "how often queues and rates are noted; 100ns to 1s; 0ns: never"},
      {"skip", "off",
       "what is not simulated packet by packet: steady (times of constant rates), repeats (what has "
       "happened before), all or off"},
      {"skip_tolerance", "0.005", "steady: rates that differ by so little are constant; 0.001 to 0.1"},
  };
  return *kParameters;
}

absl::StatusOr<NetworkSpec> ParsePacketSpec(absl::string_view text) {
  text = absl::StripAsciiWhitespace(text);
  if (text.empty()) return NetworkSpec{"packet", {}};
  const std::string whole = absl::StrCat("packet:", text);
  absl::StatusOr<NetworkSpec> spec = ParseNetworkSpec(whole);
  if (!spec.ok()) {
    absl::string_view what = spec.status().message();
    absl::ConsumePrefix(&what, absl::StrCat("network \"", whole, "\": "));
    return absl::InvalidArgumentError(absl::StrCat("packet: ", what));
  }
  return spec;
}

absl::StatusOr<PacketOptions> ReadPacketOptions(NetworkSpec spec) {
  spec.name = "packet";
  const auto made = Parameters::Make(std::move(spec), PacketParameters());
  if (!made.ok()) return made.status();
  const Parameters& p = *made;
  Reader read(p);
  PacketOptions o;
  read.Uint32("mtu", &o.mtu);
  read.Uint32("header", &o.header);
  read.Uint32("ack", &o.ack);
  read.Count("ack_every", 1, 256, &o.ack_every);
  read.Word("switching", kSwitchings, &o.cut_through);
  read.Duration("switch_latency", &o.switch_latency);
  read.Count("classes", 2, PacketOptions::kMostClasses, &o.classes);
  read.Weights("weights", &o.weights);
  read.Bytes("queue", &o.queue);
  read.Bytes("buffer", &o.buffer);
  read.Number("alpha", 1000, &o.alpha);
  read.Bytes("reserved", &o.reserved);
  read.Word("flow_control", kFlowControls, &o.flow_control);
  read.Bytes("headroom", &o.headroom);
  read.Level("xoff", &o.xoff);
  read.Bytes("xon_gap", &o.xon_gap);
  read.Bytes("credit", &o.credit);
  read.Transport("transport", &o.transport);
  if (!read.status().ok()) return read.status();
  if (p.Given("alpha") && o.buffer == 0) {
    return p.Bad("alpha", "a buffer beside it, as buffer=32MB, whose free part it is a multiple of");
  }
  ReadMarks(p, &read, &o);
  ReadConnections(p, &read, &o);
  if (!read.status().ok()) return read.status();
  if (absl::Status s = CheckPacketOptions(o); !s.ok()) return s;
  return o;
}

absl::StatusOr<PacketOptions> ParsePacketOptions(absl::string_view text) {
  absl::StatusOr<NetworkSpec> spec = ParsePacketSpec(text);
  if (!spec.ok()) return spec.status();
  return ReadPacketOptions(*std::move(spec));
}

}  // namespace chakra::packet
