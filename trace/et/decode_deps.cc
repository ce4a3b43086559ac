// The last step of decoding: resolves ids to rows, and computes the columns that need rows.
#include <algorithm>
#include <functional>
#include <string>
#include <tuple>

#include "absl/strings/str_cat.h"
#include "trace/et/decode.h"

namespace chakra {
bool Decoder::IndexIds() {
  const auto n = static_cast<uint32_t>(g_.id.size());
  sparse_rows_.clear();
  dense_rows_.clear();
  if (n == 0) return true;
  const auto [min, max] = std::minmax_element(g_.id.begin(), g_.id.end());
  first_id_ = *min;
  dense_ = *max - first_id_ < uint64_t{8} * n + 1024;
  if (dense_) dense_rows_.assign(*max - first_id_ + 1, kNoRow);
  if (!dense_) sparse_rows_.reserve(n);
  for (uint32_t i = 0; i < n; ++i) {
    uint32_t other = i;
    if (dense_) {
      uint32_t& row = dense_rows_[g_.id[i] - first_id_];
      if (row != kNoRow) other = row;
      row = i;
    } else {
      other = sparse_rows_.try_emplace(g_.id[i], i).first->second;
    }
    if (other == i) continue;
    status_ = absl::InvalidArgumentError(absl::StrCat(
        Subject(), ", node ", g_.id[i], ", field id, byte ", offset_[i], ": the id belongs to the node \"",
        g_.name_of(other), "\" at byte ", offset_[other], ", expected each id once"));
    return false;
  }
  return true;
}

uint32_t Decoder::FindRow(uint64_t id) const {
  if (dense_) return id - first_id_ < dense_rows_.size() ? dense_rows_[id - first_id_] : kNoRow;
  const auto it = sparse_rows_.find(id);
  return it == sparse_rows_.end() ? kNoRow : it->second;
}

// `delays`: the delays of the row's dependencies; ids[begin] is dependency number `first` of the row.
bool Decoder::AddDeps(uint32_t row, const std::vector<uint64_t>& ids, uint64_t begin, uint64_t end, bool data,
                      const RowDelays& delays, uint64_t first) {
  for (uint64_t e = begin; e < end; ++e) {
    const uint32_t d = FindRow(ids[e]);
    if (d != kNoRow && d != row && !AnyDelays()) {
      g_.dep.push_back(d);
      continue;
    }
    if (d != kNoRow && d != row) {
      DelayedDep dep;
      const uint64_t i = first + e - begin;
      dep.row = d;
      if (delays.delay != nullptr) dep.delay = Time::Nanos(delays.delay[i]);
      if (delays.cause != nullptr) dep.cause = delays.cause[i];
      if (delays.unexplained != nullptr) dep.unexplained = Time::Nanos(delays.unexplained[i]);
      if (delays.release != nullptr) dep.release = delays.release[i];
      delayed_deps_.push_back(dep);
      continue;
    }
    const uint64_t id = g_.id[row];
    if (d == kNoRow) {
      Note(data ? "dangling_data_dep" : "dangling_ctrl_dep", id,
           absl::StrCat("node ", id, " at byte ", offset_[row], " waits for node ", ids[e],
                        ", which is not in the file; counted as finished"));
    } else if (!data) {
      Note("self_ctrl_dep", id,
           absl::StrCat("node ", id, " at byte ", offset_[row], " waits for itself; dropped"));
    } else {
      status_ = absl::InvalidArgumentError(
          absl::StrCat(Subject(), ", node ", id, " (\"", g_.name_of(row), "\"), field data_deps, byte ",
                       offset_[row], ": the node waits for itself, a cycle of 1 node; expected none"));
      return false;
    }
  }
  return true;
}

// Sorts g_.dep from position `begin` on and removes duplicates.
void Decoder::SortDeps(size_t begin) {
  const auto first = g_.dep.begin() + static_cast<ptrdiff_t>(begin);
  if (!std::is_sorted(first, g_.dep.end())) std::sort(first, g_.dep.end());
  g_.dep.erase(std::unique(first, g_.dep.end()), g_.dep.end());
}

// Moves delayed_deps_ to the columns, sorted by row and without duplicates. Of duplicates, keeps the one that
// releases last; if there are several, the one with the longest delay.
void Decoder::TakeDelayedDeps() {
  const auto key = [](const DelayedDep& d) {
    return std::make_tuple(d.row, -d.release, -d.delay.picos(), d.cause, d.unexplained);
  };
  if (delayed_deps_.size() > 1) {
    std::sort(delayed_deps_.begin(), delayed_deps_.end(),
              [&](const DelayedDep& a, const DelayedDep& b) { return key(a) < key(b); });
  }
  const size_t begin = g_.dep.size();
  for (const DelayedDep& d : delayed_deps_) {
    if (g_.dep.size() > begin && g_.dep.back() == d.row) continue;
    if (d.unexplained > Time::Zero())
      g_.dep_unexplained.push_back({static_cast<uint32_t>(g_.dep.size()), d.unexplained});
    g_.dep.push_back(d.row);
    g_.dep_delay.push_back(d.delay);
    g_.dep_cause.push_back(d.cause);
    if (!releases_.rows.empty()) g_.dep_release.push_back(d.release);
  }
  delayed_deps_.clear();
}

// Finds the delays of the `deps` dependencies of a row. Rows must be passed in ascending order.
bool Decoder::FindDelays(uint32_t row, uint64_t deps, RowDelays* out) {
  const auto fail = [&](const char* field, const std::string& what) {
    status_ = absl::InvalidArgumentError(absl::StrCat(Subject(), ", node ", g_.id[row], " (\"",
                                                      g_.name_of(row), "\"), field attribute ", field,
                                                      ", byte ", offset_[row], ": ", what));
    return false;
  };
  for (ValuesOfRows* of : {&delays_, &unexplained_, &releases_}) {
    if (of->next == of->rows.size() || of->rows[of->next].first != row) continue;
    const uint64_t at = of->rows[of->next++].second;
    const bool last = of->next == of->rows.size();
    const uint64_t given = (last ? of->values.size() : of->rows[of->next].second) - at;
    const char* field = of == &delays_        ? "dep_delay_ns"
                        : of == &unexplained_ ? "dep_unexplained_ns"
                                              : "dep_release";
    if (given != deps || (!last && of->rows[of->next].first == row)) {
      return fail(field,
                  absl::StrCat(given, of == &releases_ ? " entries" : " delays",
                               ", expected one for each of the ", deps, " dependencies, data_deps first"));
    }
    (of == &delays_        ? out->delay
     : of == &unexplained_ ? out->unexplained
                           : out->release) = of->values.data() + at;
    if (of == &delays_) out->cause = causes_.data() + at;
  }
  for (uint64_t i = 0; i < deps && out->unexplained != nullptr; ++i) {
    const int64_t delay = out->delay == nullptr ? 0 : out->delay[i];
    if (out->unexplained[i] <= delay) continue;
    return fail("dep_unexplained_ns", absl::StrCat(out->unexplained[i], " ns of entry ", i,
                                                   ", expected at most its dep_delay_ns, ", delay));
  }
  return true;
}

bool Decoder::ResolveDeps(bool with_ctrl) {
  const auto n = static_cast<uint32_t>(g_.id.size());
  if (data_.size() + ctrl_.size() >= kNoRow) return FailFile(0, "more than 2^32 - 2 dependencies");
  g_.dep.clear();
  g_.dep_delay.clear();
  g_.dep_cause.clear();
  g_.dep_unexplained.clear();
  g_.dep_release.clear();
  g_.dep_begin.assign(1, 0);
  delays_.next = unexplained_.next = releases_.next = 0;
  for (uint32_t i = 0; i < n; ++i) {
    const size_t begin = g_.dep.size();
    const uint64_t data = data_begin_[i + 1] - data_begin_[i], ctrl = ctrl_begin_[i + 1] - ctrl_begin_[i];
    RowDelays delays;
    if (!FindDelays(i, data + ctrl, &delays)) return false;
    if (!AddDeps(i, data_, data_begin_[i], data_begin_[i + 1], true, delays, 0)) return false;
    if (with_ctrl && !AddDeps(i, ctrl_, ctrl_begin_[i], ctrl_begin_[i + 1], false, delays, data))
      return false;
    if (AnyDelays()) TakeDelayedDeps();
    if (g_.dep.size() - begin > 1 && !AnyDelays()) SortDeps(begin);
    g_.dep_begin.push_back(static_cast<uint32_t>(g_.dep.size()));
  }
  return true;
}

bool Decoder::ConvertStarts() {
  uint64_t max = 0;
  for (const uint64_t s : start_ns_) max = std::max(max, s);
  if (max == 0) return true;
  constexpr uint64_t kMaxNanos = static_cast<uint64_t>(kMaxPicos) / 1000;
  uint64_t base = 0;
  if (max > kMaxNanos) {
    base = max;
    for (const uint64_t s : start_ns_) base = s > 0 ? std::min(base, s) : base;
  }
  for (size_t i = 0; i < start_ns_.size(); ++i) {
    const uint64_t ns = start_ns_[i] - std::min(base, start_ns_[i]);
    if (ns > kMaxNanos) {
      status_ = absl::InvalidArgumentError(
          absl::StrCat(Subject(), ", node ", g_.id[i], ", field start_time_micros, byte ", offset_[i], ": ",
                       ns / 1000, " us after the first node, expected at most ", kMaxNanos / 1000));
      return false;
    }
    g_.start.push_back(Time::Picos(static_cast<int64_t>(ns * 1000)));
  }
  return true;
}

// Some converters wrote ctrl_deps with the ids of another trace. In such files, nodes wait for themselves. If
// the control dependencies of such a file also make a cycle, they are meaningless: all are ignored, and only
// data dependencies count.
absl::StatusOr<std::shared_ptr<const Graph>> Decoder::FinishDeps() {
  absl::StatusOr<std::shared_ptr<const Graph>> graph = pool_->Intern(&g_, Subject(), offset_);
  std::vector<Repair>& repairs = out_.repairs;
  const auto is = [](absl::string_view kind) { return [kind](const Repair& r) { return r.kind == kind; }; };
  if (graph.ok() || std::none_of(repairs.begin(), repairs.end(), is("self_ctrl_dep"))) return graph;
  repairs.erase(std::remove_if(repairs.begin(), repairs.end(), is("dangling_data_dep")), repairs.end());
  if (!ResolveDeps(false)) return status_;
  absl::StatusOr<std::shared_ptr<const Graph>> data_only = pool_->Intern(&g_, Subject(), offset_);
  if (!data_only.ok()) return graph;
  const auto with_ctrl = std::adjacent_find(ctrl_begin_.begin(), ctrl_begin_.end(), std::not_equal_to<>());
  repairs.push_back(
      {"cyclic_ctrl_deps", out_.file, rank_, ctrl_.size(),
       g_.id[static_cast<size_t>(with_ctrl - ctrl_begin_.begin())],
       absl::StrCat("all control dependencies are ignored: some nodes wait for themselves, and ",
                    graph.status().message())});
  return data_only;
}

}  // namespace chakra
