#include "replay/compare/table.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "trace/base/utf8.h"

namespace chakra {
namespace {

int64_t Saturate(__int128 n) {
  constexpr __int128 kLeast = std::numeric_limits<int64_t>::min(),
                     kMost = std::numeric_limits<int64_t>::max();
  return static_cast<int64_t>(std::clamp(n, kLeast, kMost));
}

bool Same(const Number& a, const Number& b) {
  if (a.is_real) return a.real == b.real || (std::isnan(a.real) && std::isnan(b.real));
  return a.whole == b.whole;
}

bool IsZero(const Number& n) { return n.is_real ? n.real == 0 : n.whole == 0; }

Number Zero(const Number& like) { return like.is_real ? Number(0.0) : Number(__int128{0}); }

// The distance of two numbers, for sorting and shares.
long double Distance(const Number& a, const Number& b) {
  if (Same(a, b)) return 0;
  if (a.is_real) return std::fabs(static_cast<long double>(b.real) - static_cast<long double>(a.real));
  const __int128 d = b.whole - a.whole;
  return static_cast<long double>(d < 0 ? -d : d);
}

// A row of A, of B, or of both.
struct Pair {
  std::string name;
  int nth = 1;  // number of the row among rows of its name, from 1
  const ComparedRow* a = nullptr;
  const ComparedRow* b = nullptr;
  long double distance = 0;
};

std::vector<Pair> PairRows(const ComparedTable& a, const ComparedTable& b) {
  std::vector<Pair> pairs;
  absl::flat_hash_map<std::pair<absl::string_view, int>, size_t> index;  // (name, how many times)
  const auto add = [&](const ComparedTable& table, const ComparedRow* Pair::*side) {
    absl::flat_hash_map<absl::string_view, int> seen;
    for (const ComparedRow& row : table.rows) {
      const int n = ++seen[row.name];
      const auto [it, fresh] = index.emplace(std::pair<absl::string_view, int>(row.name, n), pairs.size());
      if (fresh) pairs.push_back({n == 1 ? row.name : absl::StrCat(row.name, " #", n), n});
      pairs[it->second].*side = &row;
    }
  };
  add(a, &Pair::a);
  add(b, &Pair::b);
  return pairs;
}

Number At(const ComparedRow* row, const ComparedRow* other, size_t measure) {
  return row != nullptr ? row->numbers[measure] : Zero(other->numbers[measure]);
}

// The measure that sorts the changes: the first one that differs.
size_t FindBy(const ComparedTable& table, const std::vector<Pair>& pairs) {
  for (size_t i = 0; i < table.measures.size(); ++i) {
    for (const Pair& pair : pairs) {
      if (!Same(At(pair.a, pair.b, i), At(pair.b, pair.a, i))) return i;
    }
  }
  return 0;
}

// Returns false if the two are equal.
bool FillChange(const ComparedTable& table, const Pair& pair, size_t by, proto::Change* out) {
  bool differs = pair.a == nullptr || pair.b == nullptr;
  for (size_t i = 0; i < table.measures.size(); ++i) {
    const Number a = At(pair.a, pair.b, i), b = At(pair.b, pair.a, i);
    differs |= !Same(a, b);
    if (i == by || !IsZero(a) || !IsZero(b)) *out->add_measure() = ChangeOf(table.measures[i], a, b);
  }
  for (size_t i = 0; i < table.texts.size(); ++i) {
    const std::string a = pair.a != nullptr ? pair.a->texts[i] : "",
                      b = pair.b != nullptr ? pair.b->texts[i] : "";
    if (a == b) continue;
    differs = true;
    proto::TextChange* text = out->add_text();
    text->set_name(table.texts[i]);
    text->set_a(ToUtf8(a));
    text->set_b(ToUtf8(b));
  }
  out->set_name(ToUtf8(pair.name));
  if (pair.b == nullptr) out->set_only_in("a");
  if (pair.a == nullptr) out->set_only_in("b");
  return differs;
}

proto::MeasureChange TotalOf(const ComparedTable& a, const ComparedTable& b, size_t by) {
  const auto sum = [by](const ComparedTable& table) {
    __int128 whole = 0;
    double real = 0;
    bool is_real = false;
    for (const ComparedRow& row : table.rows) {
      whole += row.numbers[by].whole;
      real += row.numbers[by].real;
      is_real |= row.numbers[by].is_real;
    }
    return is_real ? Number(real) : Number(whole);
  };
  Number x = sum(a), y = sum(b);
  if (x.is_real != y.is_real) (x.is_real ? y : x) = Number(0.0);  // one table has no rows
  return ChangeOf(a.measures[by], x, y);
}

}  // namespace

proto::MeasureChange ChangeOf(const std::string& name, const Number& a, const Number& b) {
  proto::MeasureChange out;
  out.set_name(name);
  long double base = 0, difference = 0;
  if (a.is_real) {
    out.set_real_a(a.real);
    out.set_real_b(b.real);
    out.set_real_difference(Same(a, b) ? 0 : b.real - a.real);
    base = a.real;
    difference = out.real_difference();
  } else {
    out.set_a(Saturate(a.whole));
    out.set_b(Saturate(b.whole));
    out.set_difference(Saturate(b.whole - a.whole));
    base = static_cast<long double>(a.whole);
    difference = static_cast<long double>(b.whole - a.whole);
  }
  const double percent = difference == 0 ? 0 : static_cast<double>(100 * difference / std::fabs(base));
  if (std::isfinite(percent)) out.set_percent(percent);
  return out;
}

proto::Section DiffTables(const ComparedTable& a, const ComparedTable& b) {
  proto::Section section;
  section.set_name(a.name);
  section.set_rows_a(a.rows.size());
  section.set_rows_b(b.rows.size());
  section.set_cut_a(a.cut);
  section.set_cut_b(b.cut);
  std::vector<Pair> pairs = PairRows(a, b);
  const size_t by = FindBy(a, pairs);
  section.set_by(a.measures[by]);
  *section.mutable_total() = TotalOf(a, b, by);
  long double all = 0;
  for (Pair& pair : pairs) {
    pair.distance = Distance(At(pair.a, pair.b, by), At(pair.b, pair.a, by));
    if (std::isnan(pair.distance)) pair.distance = std::numeric_limits<long double>::infinity();
    all += pair.distance;
    section.set_only_a(section.only_a() + (pair.b == nullptr));
    section.set_only_b(section.only_b() + (pair.a == nullptr));
  }
  std::sort(pairs.begin(), pairs.end(), [](const Pair& x, const Pair& y) {
    if (x.distance != y.distance) return x.distance > y.distance;
    if (x.name.size() != y.name.size()) return x.name.size() < y.name.size();
    return x.name != y.name ? x.name < y.name : x.nth < y.nth;
  });
  for (const Pair& pair : pairs) {
    proto::Change change;
    if (!FillChange(a, pair, by, &change)) continue;
    if (all > 0 && std::isfinite(all)) {
      change.set_share_percent(static_cast<double>(100 * pair.distance / all));
    }
    *section.add_change() = std::move(change);
  }
  section.set_changed(static_cast<uint64_t>(section.change_size()));
  return section;
}

}  // namespace chakra
