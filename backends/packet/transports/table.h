// The parameters of a transport: one line each, with name, member of Config, range and description.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "backends/topology/spec.h"

namespace chakra::packet {

// A default in the form in which a user would write it.
std::string PrintRate(double bytes_per_pico);
std::string PrintPicos(int64_t picos);

// A parameter that the user does not give keeps the value of Config{}, or the value from a published set of
// constants. Such sets (Word()) must come before the parameters that they change.
template <typename Config>
class TransportTable {
 public:
  // A timer that is always due would stop the simulated time.
  static constexpr Time kLeastSpan = Time::Nanos(100);

  // `by_set`: the defaults are those of the set "paper".
  explicit TransportTable(bool by_set = false) : by_set_(by_set) {}

  TransportTable& Number(const char* key, double Config::*to, double least, double most, const char* doc) {
    return Add(key, absl::StrCat(Config().*to), doc, absl::StrCat(least, " to ", most),
               [=](const Parameters& p, Config* c) { return Take(p.Number(key, least, most), to, c); });
  }
  TransportTable& Count(const char* key, int Config::*to, int least, int most, const char* doc) {
    return Add(key, absl::StrCat(Config().*to), doc, absl::StrCat(least, " to ", most),
               [=](const Parameters& p, Config* c) { return Take(p.Count(key, least, most), to, c); });
  }
  TransportTable& Flag(const char* key, bool Config::*to, const char* doc) {
    return Add(key, Config().*to ? "yes" : "no", doc, "yes or no",
               [=](const Parameters& p, Config* c) { return Take(p.Flag(key), to, c); });
  }
  TransportTable& Bytes(const char* key, double Config::*to, uint64_t least, uint64_t most, const char* doc) {
    return Add(key, absl::StrCat(static_cast<uint64_t>(Config().*to)), doc,
               absl::StrCat(least, "B to ", most, "B"),
               [=](const Parameters& p, Config* c) { return Take(p.Bytes(key, least, most), to, c); });
  }
  // A rate; stored in bytes a picosecond.
  TransportTable& Rate(const char* key, double Config::*to, const char* doc) {
    return Add(key, Config().*to == 0 ? "" : PrintRate(Config().*to), doc, "a rate, as 100Mb/s",
               [=](const Parameters& p, Config* c) {
                 const auto rate = p.Rate(key);
                 if (rate.ok()) c->*to = static_cast<double>(rate->bytes_per_second()) * 1e-12;
                 return rate.status();
               });
  }
  // The time of a timer; stored in picoseconds.
  TransportTable& Span(const char* key, int64_t Config::*to, const char* doc) {
    return Add(key, Config().*to == 0 ? "" : PrintPicos(Config().*to), doc, "100ns to 1s",
               [=](const Parameters& p, Config* c) {
                 const auto span = p.Latency(key);
                 if (!span.ok()) return span.status();
                 if (*span < kLeastSpan) return p.Bad(key, "at least 100ns, the nearest");
                 c->*to = span->picos();
                 return absl::OkStatus();
               });
  }
  // A time without a default; `doc` says what is used instead.
  TransportTable& Duration(const char* key, std::optional<Time> Config::*to, const char* doc) {
    return Add(key, "", doc, "a time, as 20us", [=](const Parameters& p, Config* c) {
      const auto time = p.Latency(key);
      if (time.ok()) c->*to = *time;
      return time.status();
    });
  }
  // The first word is the default. `set` receives the index of the word.
  TransportTable& Word(const char* key, std::vector<std::string> words,
                       std::function<void(size_t, Config*)> set, const char* doc) {
    return Add(
        key, words[0], doc, absl::StrJoin(words, ", "),
        [=](const Parameters& p, Config* c) {
          const auto word = p.Choice(key, words);
          for (size_t i = 0; word.ok() && i < words.size(); ++i) {
            if (words[i] == *word) set(i, c);
          }
          return word.status();
        },
        false);
  }

  const std::vector<Parameter>& declared() const { return declared_; }
  // Reads the parameters in the order of the table. Errors: the first bad value.
  absl::Status Read(const Parameters& p, Config* config) const {
    for (size_t i = 0; i < declared_.size(); ++i) {
      if (!p.Given(declared_[i].key)) continue;
      if (absl::Status s = readers_[i](p, config); !s.ok()) return s;
    }
    return absl::OkStatus();
  }

 private:
  using Reader = std::function<absl::Status(const Parameters&, Config*)>;

  template <typename From, typename To>
  static absl::Status Take(const absl::StatusOr<From>& from, To Config::*to, Config* c) {
    if (from.ok()) c->*to = static_cast<To>(*from);
    return from.status();
  }
  TransportTable& Add(const char* key, std::string fallback, const char* doc, const std::string& range,
                      Reader reader, bool of_set = true) {
    of_set = of_set && by_set_;
    declared_.push_back(
        {key, of_set ? "" : fallback,
         absl::StrCat(doc, "; ", range,
                      !of_set            ? ""
                      : fallback.empty() ? "; from the set"
                                         : absl::StrCat("; from the set (paper: ", fallback, ")"))});
    readers_.push_back(std::move(reader));
    return *this;
  }

  const bool by_set_;
  std::vector<Parameter> declared_;
  std::vector<Reader> readers_;
};

}  // namespace chakra::packet
