#include "backends/topology/inputs/explicit_graph.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "backends/topology/inputs/assembly.h"
#include "backends/topology/inputs/slice.h"
#include "trace/base/did_you_mean.h"
#include "trace/base/status_macros.h"
#include "trace/io/proto_io.h"

namespace chakra {
namespace {

using proto::LinkSet;
using proto::VertexSet;

bool ToKind(VertexSet::Kind kind, VertexKind* out) {
  switch (kind) {
    case VertexSet::SWITCH:
      *out = VertexKind::kSwitch;
      return true;
    case VertexSet::DEVICE:
      *out = VertexKind::kDevice;
      return true;
    case VertexSet::NIC:
      *out = VertexKind::kNic;
      return true;
    case VertexSet::NVSWITCH:
      *out = VertexKind::kNvSwitch;
      return true;
    case VertexSet::PCIE_SWITCH:
      *out = VertexKind::kPcieSwitch;
      return true;
    case VertexSet::HOST:
      *out = VertexKind::kHost;
      return true;
    default:
      return false;
  }
}

class Maker {
 public:
  Maker(const proto::ExplicitGraph& graph, const std::string& file)
      : graph_(graph), file_(file), assembly_(file) {}

  absl::StatusOr<ReadNetwork> Make() {
    for (int i = 0; i < graph_.vertices_size(); ++i) {
      RETURN_IF_ERROR(AddVertices(i));
    }
    if (devices_ == 0) return BadNetwork(file_, "no devices; expected vertices of kind DEVICE");
    for (int i = 0; i < graph_.links_size(); ++i) {
      RETURN_IF_ERROR(AddLinks(i));
    }
    assembly_.set_devices_forward(graph_.devices_forward());
    const auto cut = assembly_.FindCutOff(graph_.devices_forward());
    auto out = assembly_.Finish(graph_.name(), {});
    if (out.ok() && cut) {
      const NetworkGraph& g = out->network.graph;
      out->notes.push_back(absl::StrCat(g.VertexName(cut->second), " cannot be reached from ",
                                        g.VertexName(cut->first), " within this graph"));
    }
    return out;
  }

 private:
  struct Set {
    uint32_t first;
    uint32_t count;
  };
  struct End {
    std::vector<uint32_t> vertices;
    std::string set;
  };

  absl::Status Bad(absl::string_view where, absl::string_view field, absl::string_view value,
                   absl::string_view expected) const {
    return absl::InvalidArgumentError(
        absl::StrCat(file_, ": ", where, ": ", field, " is ", value, "; expected ", expected));
  }

  absl::Status AddVertices(int i);
  absl::Status AddLinks(int i);
  absl::StatusOr<End> FindEnd(const std::string& where, absl::string_view field, const std::string& text);
  absl::StatusOr<LinkClass> ClassOf(const LinkSet& l, const std::string& where,
                                    const std::string& name) const;
  absl::Status Join(const LinkSet& l, const std::string& where, const End& from, const End& to,
                    uint16_t link_class);

  const proto::ExplicitGraph& graph_;
  const std::string& file_;
  NetworkAssembly assembly_;
  std::map<std::string, Set> sets_;
  uint64_t vertices_ = 0, devices_ = 0, links_ = 0, selected_ = 0;
};

absl::Status Maker::AddVertices(int i) {
  const VertexSet& v = graph_.vertices(i);
  const std::string where =
      v.name().empty() ? absl::StrCat("vertices[", i, "]") : absl::StrCat("vertices \"", v.name(), "\"");
  const bool good = !v.name().empty() && std::all_of(v.name().begin(), v.name().end(), [](char c) {
    return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '-' || c == '.';
  });
  if (!good)
    return Bad(where, "name", absl::StrCat("\"", v.name(), "\""), "letters, digits, '_', '-' and '.'");
  if (sets_.count(v.name()) > 0) return Bad(where, "name", "there twice", "a name for each set");
  VertexKind kind;
  if (!ToKind(v.kind(), &kind)) {
    return Bad(where, "kind", absl::StrCat(static_cast<int>(v.kind())),
               "DEVICE, SWITCH, NIC, NVSWITCH, PCIE_SWITCH or HOST");
  }
  const uint64_t count = v.count() == 0 ? 1 : static_cast<uint64_t>(std::max(v.count(), -1));
  if (v.count() < 0 || vertices_ + count > kMaxReadVertices) {
    return Bad(
        where, "count", absl::StrCat(v.count()),
        absl::StrCat("1 to ", kMaxReadVertices - vertices_, " (", kMaxReadVertices, " vertices in all)"));
  }
  if (kind == VertexKind::kDevice && devices_ != vertices_) {
    return Bad(where, "kind", "DEVICE after other sets", "the devices first");
  }
  if (v.has_tier() && (v.tier() < 0 || v.tier() > 100)) {
    return Bad(where, "tier", absl::StrCat(v.tier()), "0 to 100");
  }
  uint64_t product = 1;
  for (const int32_t size : v.shape()) {
    if (size < 1) return Bad(where, "shape", absl::StrCat("with a size of ", size), "sizes >= 1");
    product = std::min<uint64_t>(product * static_cast<uint64_t>(size), kMaxReadVertices + 1);
  }
  if (v.shape_size() > 0 && product != count) {
    return Bad(where, "shape", absl::StrCat("one of ", product, " vertices"),
               absl::StrCat(count, ", its count"));
  }
  vertices_ += count;
  if (kind == VertexKind::kDevice) devices_ += count;
  const uint32_t first = assembly_.AddVertices(v.name(), kind, static_cast<uint32_t>(count),
                                               v.has_tier() ? v.tier() : kTierByDistance,
                                               std::vector<int>(v.shape().begin(), v.shape().end()));
  sets_[v.name()] = {first, static_cast<uint32_t>(count)};
  return absl::OkStatus();
}

absl::StatusOr<Maker::End> Maker::FindEnd(const std::string& where, absl::string_view field,
                                          const std::string& text) {
  const auto bad = [&](absl::string_view what) {
    return absl::InvalidArgumentError(absl::StrCat(file_, ": ", where, ": ", field, ": ", what));
  };
  const auto slice = ParseSlice(text);
  if (!slice.ok()) return bad(slice.status().message());
  const auto it = sets_.find(slice->name);
  if (it == sets_.end()) {
    std::vector<std::string> names;
    for (const VertexSet& v : graph_.vertices()) names.push_back(v.name());
    return bad(absl::StrCat("there are no vertices \"", slice->name, "\"", SuggestName(slice->name, names)));
  }
  const auto within = Within(*slice, it->second.count);
  if (!within.ok()) return bad(within.status().message());
  End end;
  end.set = slice->name;
  selected_ += within->size(it->second.count);
  if (selected_ > uint64_t{1} << 27) return bad("the links select more vertices than supported");
  for (uint64_t v = within->begin; v < within->end; v += within->step) {
    end.vertices.push_back(it->second.first + static_cast<uint32_t>(v));
  }
  return end;
}

absl::StatusOr<LinkClass> Maker::ClassOf(const LinkSet& l, const std::string& where,
                                         const std::string& name) const {
  const double bits = l.bandwidth_gbits_per_s(), bytes = l.bandwidth_gbytes_per_s();
  if ((bits != 0) == (bytes != 0)) {
    return Bad(where, "bandwidth", bits == 0 ? "not given" : "given twice",
               "one of bandwidth_gbits_per_s and bandwidth_gbytes_per_s");
  }
  const double rate = bits != 0 ? bits * 1e9 / 8 : bytes * 1e9;
  if (!(rate >= 1 && rate <= 1e15)) {
    return Bad(where, bits != 0 ? "bandwidth_gbits_per_s" : "bandwidth_gbytes_per_s",
               absl::StrCat(bits != 0 ? bits : bytes),
               bits != 0 ? "above 0, at most 8e6 Gb/s" : "above 0, at most 1e6 GB/s");
  }
  if (!(l.latency_ns() >= 0 && l.latency_ns() <= 1e9)) {
    return Bad(where, "latency_ns", absl::StrCat(l.latency_ns()), "0 to 1e9");
  }
  return LinkClass{name, Bandwidth::BytesPerSecond(static_cast<int64_t>(std::round(rate))),
                   Time::FromNanos(l.latency_ns())};
}

absl::Status Maker::AddLinks(int i) {
  const LinkSet& l = graph_.links(i);
  const std::string where = absl::StrCat("links[", i, "]");
  ASSIGN_OR_RETURN(const auto from, FindEnd(where, "from", l.from()));
  ASSIGN_OR_RETURN(const auto to, FindEnd(where, "to", l.to()));
  ASSIGN_OR_RETURN(const auto link,
                   ClassOf(l, where, l.name().empty() ? absl::StrCat(from.set, "-", to.set) : l.name()));
  if (l.parallel() < 0) return Bad(where, "parallel", absl::StrCat(l.parallel()), ">= 1");
  if (!(l.loss_rate() >= 0 && l.loss_rate() < 1)) {
    return Bad(where, "loss_rate", absl::StrCat(l.loss_rate()), "0 to below 1");
  }
  return Join(l, where, from, to, assembly_.AddClass(link));
}

absl::Status Maker::Join(const LinkSet& l, const std::string& where, const End& from, const End& to,
                         uint16_t link_class) {
  const std::vector<uint32_t>&a = from.vertices, &b = to.vertices;
  const uint64_t n = a.size(), m = b.size();
  const auto parallel = static_cast<uint64_t>(std::max(l.parallel(), 1));
  const bool same = a == b;
  const std::string sizes = absl::StrCat("between ", n, " and ", m, " vertices");
  if (!same && from.set == to.set) {
    std::vector<uint32_t> common;
    std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(common));
    if (!common.empty())
      return Bad(where, "to", "overlapping with from", "the same slice, or a slice without common vertices");
  }
  LinkSet::Scheme scheme = l.scheme();
  if (scheme == LinkSet::SCHEME_UNSPECIFIED) {
    if (n != 1 || m != 1) {
      return Bad(where, "scheme", absl::StrCat("not given ", sizes), "ONE_TO_ONE, ALL_PAIRS, BLOCKS or RING");
    }
    scheme = LinkSet::ONE_TO_ONE;
  }
  const bool ring = scheme == LinkSet::RING;
  if (ring != same && (ring || scheme != LinkSet::ALL_PAIRS)) {
    return Bad(where, "scheme",
               absl::StrCat(LinkSet::Scheme_Name(scheme), same ? " of one set" : " between two sets"),
               same ? "ALL_PAIRS or RING" : "ONE_TO_ONE, ALL_PAIRS or BLOCKS");
  }
  if (same && n < 2) return Bad(where, "to", "the same vertex as from", "two or more vertices to join");
  if (scheme == LinkSet::ONE_TO_ONE && n != m) {
    return Bad(where, "scheme", absl::StrCat("ONE_TO_ONE ", sizes),
               absl::StrCat(std::min(n, m), " on both sides"));
  }
  const bool blocks = scheme == LinkSet::BLOCKS;
  if (blocks && std::max(n, m) % std::min(n, m) != 0) {
    return Bad(where, "scheme", absl::StrCat("BLOCKS ", sizes), "one a multiple of the other");
  }
  const uint64_t pairs = scheme == LinkSet::ALL_PAIRS ? (same ? n * (n - 1) / 2 : n * m) : std::max(n, m);
  if (parallel > kMaxReadLinks || links_ + pairs * parallel > kMaxReadLinks) {
    return Bad(where, "links", absl::StrCat(pairs, " x ", parallel),
               absl::StrCat("at most ", kMaxReadLinks, " in all"));
  }
  links_ += pairs * parallel;
  const auto add = [&](uint32_t x, uint32_t y) {
    for (uint64_t k = 0; k < parallel; ++k) assembly_.AddLink(x, y, link_class, l.loss_rate());
  };
  if (scheme == LinkSet::ALL_PAIRS) {
    for (size_t i = 0; i < n; ++i) {
      for (size_t j = same ? i + 1 : 0; j < m; ++j) add(a[i], b[j]);
    }
  } else if (ring) {
    for (size_t i = 0; i < n - (n == 2 ? 1 : 0); ++i) add(a[i], a[(i + 1) % n]);
  } else {
    const size_t most = std::max(n, m);
    for (size_t i = 0; i < most; ++i) add(a[i * n / most], b[i * m / most]);
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<ReadNetwork> BuildExplicitGraph(const proto::ExplicitGraph& graph, const std::string& file) {
  return Maker(graph, file).Make();
}

absl::StatusOr<ReadNetwork> ReadExplicitGraph(absl::string_view text, const std::string& file) {
  proto::ExplicitGraph graph;
  RETURN_IF_ERROR(ParseMessage(text, file, &graph));
  return BuildExplicitGraph(graph, file);
}

}  // namespace chakra
