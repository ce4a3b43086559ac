#include <algorithm>
#include <utility>

#include "backends/topology/builders/galois.h"
#include "backends/topology/builders/global_links.h"
#include "trace/base/status_macros.h"

namespace chakra {
namespace {

constexpr int kLeastQ = 3, kMostQ = 256;
static_assert(kMostQ <= GaloisField::kMaxSize);

// The delta in q = 4w + delta, for a prime power q >= 3.
int Delta(int q) { return q % 4 == 3 ? -1 : q % 4; }
int Degree(int q) { return (3 * q - Delta(q)) / 2; }
int HostsOf(int q, int p) { return p > 0 ? p : (Degree(q) + 1) / 2; }
int64_t Room(int q, int p) { return int64_t{2} * q * q * HostsOf(q, p); }

bool Valid(int q) { return q >= kLeastQ && q <= kMostQ && GaloisField::IsPrimePower(q); }

int Smallest(int devices, int p) {
  int q = kLeastQ;
  while (q < kMostQ && (!Valid(q) || Room(q, p) < devices)) ++q;
  return q;
}

absl::StatusOr<int> SizeOf(const Parameters& p, int devices, int hosts) {
  if (p.Empty("q")) return devices == 0 ? 5 : Smallest(devices, hosts);
  const auto q = p.Count("q", kLeastQ, kMostQ);
  if (!q.ok() || Valid(*q)) return q;
  int below = *q, above = *q;
  while (!Valid(below)) --below;
  while (!Valid(above)) ++above;
  return p.Bad("q", absl::StrCat("a power of a prime; the nearest are ", below, " and ", above));
}

// The differences between linked routers of one column, for the first half and for the second half (McKay,
// Miller and Siran), as powers of a primitive element.
struct Generators {
  std::vector<bool> first, second;  // by element
};

Generators GeneratorsOf(const GaloisField& field) {
  const int q = field.size();
  Generators g{std::vector<bool>(static_cast<size_t>(q)), std::vector<bool>(static_cast<size_t>(q))};
  const auto take = [&](std::vector<bool>* set, int from, int to) {
    for (int k = from; k <= to; k += 2) (*set)[static_cast<size_t>(field.Power(k))] = true;
  };
  if (Delta(q) == -1) {
    const int w = (q + 1) / 4;
    take(&g.first, 0, 2 * w - 2);
    take(&g.first, 2 * w - 1, 4 * w - 3);
    take(&g.second, 1, 2 * w - 1);
    take(&g.second, 2 * w, 4 * w - 2);
  } else {
    take(&g.first, 0, q - 2);
    take(&g.second, 1, q - 1);
  }
  return g;
}

// Routes have at most two links: one direct link, or two over any common neighbour. Arcs are numbered in the
// order in which AddRouterLinks() and BuildSlimFly() add links.
class SlimFlyGuide : public Guide {
 public:
  SlimFlyGuide(GaloisField field, Generators generators, int hosts, int devices)
      : field_(std::move(field)),
        q_(field_.size()),
        generators_(std::move(generators)),
        hosts_(hosts),
        devices_(devices) {
    for (int half = 0; half < 2; ++half) {
      for (int y = 0; y < q_; ++y) {
        for (int z = 0; z < q_; ++z) {
          if (Differ(half, y, z)) beside_.push_back(z);
        }
      }
    }
  }

  void Next(uint32_t at_vertex, uint32_t to_vertex, std::vector<uint32_t>* arcs) const override {
    const auto at = static_cast<int>(at_vertex), to = static_cast<int>(to_vertex);
    if (at == to) return;
    if (at < devices_) {
      arcs->push_back(at_vertex);  // its only arc
      return;
    }
    const int here = at - devices_, there = to < devices_ ? to / hosts_ : to - devices_;
    const int begin = devices_ + HostsBefore(here) + here * Degree(q_);
    if (here == there) {
      arcs->push_back(static_cast<uint32_t>(begin + to - here * hosts_));
      return;
    }
    const uint32_t first = static_cast<uint32_t>(begin + HostsBefore(here + 1) - HostsBefore(here));
    const bool direct = Adjacent(here, there);
    for (int i = 0; i < Degree(q_); ++i) {
      const int neighbour = Neighbour(here, i);
      if (direct ? neighbour == there : Adjacent(neighbour, there)) {
        arcs->push_back(first + static_cast<uint32_t>(i));
      }
    }
  }

 private:
  int HostsBefore(int router) const {
    return static_cast<int>(std::min(int64_t{router} * hosts_, int64_t{devices_}));
  }
  bool Differ(int half, int y, int z) const {
    const std::vector<bool>& differences = half == 0 ? generators_.first : generators_.second;
    return differences[static_cast<size_t>(field_.Subtract(z, y))];
  }
  bool Adjacent(int a, int b) const {
    if (a > b) std::swap(a, b);
    const int half_a = a / (q_ * q_), half_b = b / (q_ * q_);
    const int x = a / q_ % q_, y = a % q_, m = b / q_ % q_, c = b % q_;
    if (half_a == half_b) return x == m && Differ(half_a, y, c);
    return y == field_.Add(field_.Multiply(m, x), c);
  }
  // The i-th neighbour in the order of arcs: first those of the column, then those of the other half.
  int Neighbour(int router, int i) const {
    const int half = router / (q_ * q_), x = router / q_ % q_, y = router % q_;
    const int local = Degree(q_) - q_;
    if (i < local) return router - y + beside_[static_cast<size_t>((half * q_ + y) * local + i)];
    const int other = i - local, product = field_.Multiply(x, other);
    if (half == 1) return other * q_ + field_.Add(product, y);
    return (q_ + other) * q_ + field_.Subtract(y, product);
  }

  GaloisField field_;
  int q_;
  Generators generators_;
  int hosts_, devices_;
  std::vector<int> beside_;  // by half and y: the linked routers of the column
};

// Router (half, x, y) has the number half * q * q + x * q + y. Links: within a column (half, x, *) by the
// generators; (0, x, y) with (1, m, c) if y = m * x + c.
void AddRouterLinks(const GaloisField& field, const Generators& generators, uint32_t first, uint16_t local,
                    uint16_t global, GraphBuilder* b) {
  const int q = field.size();
  const auto router = [&](int half, int x, int y) {
    return first + static_cast<uint32_t>((half * q + x) * q + y);
  };
  for (int half = 0; half < 2; ++half) {
    const std::vector<bool>& differences = half == 0 ? generators.first : generators.second;
    for (int x = 0; x < q; ++x) {
      for (int y = 0; y < q; ++y) {
        for (int z = y + 1; z < q; ++z) {
          if (differences[static_cast<size_t>(field.Subtract(z, y))]) {
            b->AddLink(router(half, x, y), router(half, x, z), local);
          }
        }
      }
    }
  }
  for (int x = 0; x < q; ++x) {
    for (int m = 0; m < q; ++m) {
      const int product = field.Multiply(m, x);
      for (int c = 0; c < q; ++c) b->AddLink(router(0, x, field.Add(product, c)), router(1, m, c), global);
    }
  }
}

std::string NearestSlimFly(int devices, int p) {
  if (Room(kMostQ, p) < devices) p = 0;
  const int q = Smallest(devices, p);
  return absl::StrCat("q=", q, ",p=", HostsOf(q, p), " with room for ", Room(q, p));
}

absl::StatusOr<Network> BuildSlimFly(const Parameters& p, int devices) {
  int given = 0;
  if (!p.Empty("p")) {
    ASSIGN_OR_RETURN(given, p.Count("p", 1, 4096));
  }
  ASSIGN_OR_RETURN(const auto q, SizeOf(p, devices, given));
  const int hosts = HostsOf(q, given);
  ASSIGN_OR_RETURN(const auto n, DevicesOf(p, devices, Room(q, given), NearestSlimFly(devices, given)));
  ASSIGN_OR_RETURN(const auto classes, LinkClassesOf(p));
  const int routers = 2 * q * q;
  const auto field = GaloisField::Make(q);
  if (!field.has_value()) return p.Bad("q", "a power of a prime");

  GraphBuilder b;
  b.AddVertices("device", VertexKind::kDevice, static_cast<uint32_t>(n));
  const uint32_t first =
      b.AddVertices("router", VertexKind::kSwitch, static_cast<uint32_t>(routers), 1, {q, q, 2});
  const uint16_t host = b.AddClass(classes.host);
  for (int d = 0; d < n; ++d)
    b.AddLink(static_cast<uint32_t>(d), first + static_cast<uint32_t>(d / hosts), host);
  const Generators generators = GeneratorsOf(*field);
  AddRouterLinks(*field, generators, first, b.AddClass(classes.local), b.AddClass(classes.global), &b);
  return Finish(&b, std::make_shared<SlimFlyGuide>(*field, generators, hosts, n),
                absl::StrCat("q = ", q, ", ", routers, " routers of degree ", Degree(q), ", p = ", hosts));
}

}  // namespace

NetworkKind SlimFlyNetwork() {
  std::vector<Parameter> parameters = {
      {"q", "",
       "a power of a prime, 3 to 256: 2*q*q routers; default: the smallest with room, 5 when it is not known "
       "for how many"},
      {"p", "", "devices of a router, 1 to 4096; default: half the links to other routers, rounded up"}};
  DeclareLinkClasses(&parameters);
  return {"slim_fly", "Any two routers at most two links apart, with close to the fewest links that allow it",
          "Besta, Hoefler: Slim Fly: A Cost Effective Low-Diameter Network Topology, SC 2014",
          std::move(parameters), BuildSlimFly};
}

}  // namespace chakra
