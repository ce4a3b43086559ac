#include "test/validation/choices.h"

#include <algorithm>
#include <map>
#include <memory>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "replay/plan/estimate.h"
#include "replay/plan/prices.h"
#include "test/validation/csv_line.h"
#include "trace/generate/resolve.h"
#include "trace/generate/workload.h"
#include "trace/io/file.h"

namespace chakra::validation {
namespace {

// Sizes of a step in both tables.
struct Sizes {
  int layers = 0, hidden = 0, heads = 0, tp = 0, pp = 0, dp = 0, micro_batch = 0;
};

absl::Status ReadSizes(const CsvLine& line, const char* micro_batch, Sizes* s) {
  const std::pair<const char*, int*> columns[] = {
      {"layers", &s->layers}, {"hidden", &s->hidden}, {"heads", &s->heads},          {"tp", &s->tp},
      {"pp", &s->pp},         {"dp", &s->dp},         {micro_batch, &s->micro_batch}};
  for (const auto& [name, value] : columns) {
    if (absl::Status e = line.Read(name, value); !e.ok()) return e;
  }
  return absl::OkStatus();
}

std::string SplitName(const Sizes& s) {
  return absl::StrCat("tp ", s.tp, ", pp ", s.pp, ", dp ", s.dp, ", micro-batch ", s.micro_batch);
}

// Megatron-DeepSpeed: fp16, full recomputation of a layer, no sequence parallelism.
absl::Status AddVTrain(const CsvLine& line, std::vector<MeasuredSplit>* rows) {
  Sizes s;
  int seq = 0, batch = 0, gpus = 0;
  std::string source;
  MeasuredSplit row;
  if (absl::Status e = ReadSizes(line, "micro_batch", &s); !e.ok()) return e;
  for (const auto& [name, value] :
       {std::pair<const char*, int*>{"seq_len", &seq}, {"global_batch", &batch}, {"gpus", &gpus}}) {
    if (absl::Status e = line.Read(name, value); !e.ok()) return e;
  }
  if (absl::Status e = line.Read("iteration_s", &row.measured_s); !e.ok()) return e;
  if (absl::Status e = line.Read("source", &source); !e.ok()) return e;
  row.dataset = absl::StrContains(source, "multi") ? "vTrain, several nodes" : "vTrain, one node";
  row.cluster = "dgx-a100";
  row.model =
      absl::StrCat("layers=", s.layers, ",hidden=", s.hidden, ",heads=", s.heads, ",ffn=", 4 * s.hidden,
                   ",gated=no,vocab=51200,tied=yes,norm=layer,bias=yes,positions=", seq);
  row.parallel = absl::StrCat("tp=", s.tp, ",pp=", s.pp, ",dp=", s.dp, ",sp=no");
  row.training = absl::StrCat("seq=", seq, ",micro_batch=", s.micro_batch, ",global_batch=", batch,
                              ",dtype=fp16,recompute=full,attention=math");
  row.group =
      absl::StrCat("GPT ", s.layers, " x ", s.hidden, ", ", gpus, " A100, batch ", batch, ", seq ", seq);
  row.split = SplitName(s);
  row.sequences = batch;
  rows->push_back(std::move(row));
  return absl::OkStatus();
}

absl::Status AddSimuMax(const CsvLine& line, std::vector<MeasuredSplit>* rows) {
  Sizes s;
  int kv_heads = 0, ffn = 0, vocab = 0, seq = 0, micro_batches = 0;
  double ms = 0;
  std::string model;
  if (absl::Status e = ReadSizes(line, "mbs", &s); !e.ok()) return e;
  for (const auto& [name, value] : {std::pair<const char*, int*>{"kv_heads", &kv_heads},
                                    {"ffn", &ffn},
                                    {"vocab", &vocab},
                                    {"seq", &seq},
                                    {"microbatches", &micro_batches}}) {
    if (absl::Status e = line.Read(name, value); !e.ok()) return e;
  }
  if (absl::Status e = line.Read("real_ms", &ms); !e.ok()) return e;
  if (absl::Status e = line.Read("model", &model); !e.ok()) return e;
  MeasuredSplit row;
  const int batch = s.micro_batch * micro_batches * s.dp;
  row.measured_s = ms / 1e3;
  row.dataset = "SimuMax, B200";
  row.cluster = "dgx-b200";
  row.model = absl::StrCat("layers=", s.layers, ",hidden=", s.hidden, ",heads=", s.heads,
                           ",kv_heads=", kv_heads, ",ffn=", ffn, ",vocab=", vocab);
  row.parallel = absl::StrCat("tp=", s.tp, ",pp=", s.pp, ",dp=", s.dp, ",zero=1,overlap_grad=no");
  row.training = absl::StrCat("seq=", seq, ",micro_batch=", s.micro_batch, ",global_batch=", batch);
  row.group =
      absl::StrCat(model, ", ", s.layers, " layers, 8 B200, ", micro_batches, " micro-batches, seq ", seq);
  row.split = SplitName(s);
  row.sequences = batch;
  rows->push_back(std::move(row));
  return absl::OkStatus();
}

absl::Status ReadSplitTable(const std::string& path,
                            absl::Status (*add)(const CsvLine&, std::vector<MeasuredSplit>*),
                            std::vector<MeasuredSplit>* rows) {
  const auto text = ReadFile(path);
  if (!text.ok()) return text.status();
  const absl::Status read = ForEachLine(*text, [&](const CsvLine& line) { return add(line, rows); });
  return read.ok() ? read : absl::Status(read.code(), absl::StrCat(path, ": ", read.message()));
}

// The splits of a group, the fastest first by one of the two times.
std::vector<const MeasuredSplit*> FastestFirst(std::vector<const MeasuredSplit*> rows,
                                               double (MeasuredSplit::*time)() const) {
  std::stable_sort(rows.begin(), rows.end(),
                   [&](const auto* a, const auto* b) { return (a->*time)() < (b->*time)(); });
  return rows;
}

Choice ChoiceOf(const std::vector<const MeasuredSplit*>& rows) {
  const auto measured = FastestFirst(rows, &MeasuredSplit::measured),
             predicted = FastestFirst(rows, &MeasuredSplit::predicted);
  Choice c;
  c.group = rows[0]->group;
  c.dataset = rows[0]->dataset;
  c.splits = rows.size();
  c.measured_best = measured[0]->split;
  c.predicted_best = predicted[0]->split;
  c.regret = predicted[0]->measured() / measured[0]->measured() - 1;
  c.three = true;
  for (size_t i = 0; i < measured.size(); ++i) {
    for (size_t j = i + 1; j < measured.size(); ++j) {
      if (measured[j]->measured() < (1 + kNoise) * measured[i]->measured()) continue;
      const bool right = measured[i]->predicted() < measured[j]->predicted();
      ++c.pairs;
      c.pairs_right += right ? 1 : 0;
      if (j < 3) c.three &= right;
    }
  }
  return c;
}

double PartOfAll(size_t part, size_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

}  // namespace

absl::StatusOr<std::vector<MeasuredSplit>> ReadSplits(const std::string& folder) {
  std::vector<MeasuredSplit> rows;
  if (absl::Status s = ReadSplitTable(folder + "/training_iterations_vtrain.csv", AddVTrain, &rows); !s.ok())
    return s;
  if (absl::Status s = ReadSplitTable(folder + "/training_simumax_b200.csv", AddSimuMax, &rows); !s.ok())
    return s;
  return rows;
}

absl::Status PredictSplits(std::vector<MeasuredSplit>* rows) {
  // A machine for each cluster and number of ranks, and an estimator for each step that differs in more than
  // its split.
  struct Machine {
    RunOptions run;
    std::unique_ptr<planning::Prices> prices;
  };
  std::map<std::pair<std::string, int64_t>, std::unique_ptr<Machine>> machines;
  for (MeasuredSplit& row : *rows) {
    generate::WorkloadOptions options;
    options.model = row.model;
    options.parallel = row.parallel;
    options.training = row.training;
    const auto workload = generate::ReadWorkload(options);
    if (!workload.ok()) return workload.status();
    const auto step = generate::ResolvePlan(*workload);
    if (!step.ok())
      return absl::Status(step.status().code(), absl::StrCat(row.group, ": ", step.status().message()));
    auto& machine = machines[{row.cluster, step->split.ranks()}];
    if (machine == nullptr) {
      machine = std::make_unique<Machine>();
      machine->run.cluster = row.cluster;
      auto prices = planning::Prices::Make(machine->run, static_cast<int>(step->split.ranks()));
      if (!prices.ok()) return prices.status();
      machine->prices = *std::move(prices);
    }
    planning::Estimator estimator(machine->prices.get());
    const auto time = estimator.TimeOf(*step, 0);
    if (!time.ok()) return time.status();
    row.predicted_s = *time * 1e-12;
  }
  return absl::OkStatus();
}

std::vector<Choice> ChoicesOf(const std::vector<MeasuredSplit>& rows) {
  std::map<std::pair<std::string, std::string>, std::vector<const MeasuredSplit*>> groups;
  for (const MeasuredSplit& row : rows) groups[{row.dataset, row.group}].push_back(&row);
  std::vector<Choice> out;
  for (const auto& [name, group] : groups) {
    if (group.size() >= 3) out.push_back(ChoiceOf(group));
  }
  return out;
}

std::vector<ChoiceSummary> SummarizeChoices(const std::vector<Choice>& choices) {
  std::map<std::string, ChoiceSummary> by_dataset;
  std::map<std::string, std::pair<size_t, size_t>> pairs;
  for (const Choice& c : choices) {
    ChoiceSummary& s = by_dataset[c.dataset];
    s.dataset = c.dataset;
    ++s.groups;
    s.splits += c.splits;
    s.best += c.regret < kNoise ? 1 : 0;
    s.three += c.three ? 1 : 0;
    s.regret += c.regret;
    s.worst = std::max(s.worst, c.regret);
    pairs[c.dataset].first += c.pairs;
    pairs[c.dataset].second += c.pairs_right;
  }
  std::vector<ChoiceSummary> out;
  for (auto& [name, s] : by_dataset) {
    s.regret /= static_cast<double>(s.groups);
    s.pairs_right = PartOfAll(pairs[name].second, pairs[name].first);
    out.push_back(s);
  }
  return out;
}

std::string ChoicesCsv(const std::vector<Choice>& choices) {
  std::string out =
      "dataset,group,splits,measured_best,predicted_best,regret,three_in_order,pairs,pairs_right\n";
  for (const Choice& c : choices) {
    absl::StrAppendFormat(&out, "\"%s\",\"%s\",%d,\"%s\",\"%s\",%.3f,%s,%d,%d\n", c.dataset, c.group,
                          c.splits, c.measured_best, c.predicted_best, c.regret, c.three ? "yes" : "no",
                          c.pairs, c.pairs_right);
  }
  return out;
}

std::string ChoicesMarkdown(const std::vector<Choice>& choices) {
  std::string out = absl::StrFormat(
      "Splits of one model on one cluster, the fastest first: `plan`'s closed form against measured steps. "
      "Nothing is fitted to "
      "these rows. Two times within %.0f %% count as equal. \"Best\": the split that is predicted the "
      "fastest is the measured "
      "fastest, or within that; \"loss\": how much longer it took than the fastest.\n\n"
      "| measured | groups | splits | best | three fastest in order | loss, mean | worst | pairs in order |\n"
      "|---|---|---|---|---|---|---|---|\n",
      100 * kNoise);
  for (const ChoiceSummary& s : SummarizeChoices(choices)) {
    absl::StrAppendFormat(&out, "| %s | %d | %d | %d | %d | %.1f %% | %.1f %% | %.1f %% |\n", s.dataset,
                          s.groups, s.splits, s.best, s.three, 100 * s.regret, 100 * s.worst,
                          100 * s.pairs_right);
  }
  out +=
      "\nGroups of several nodes, and of B200:\n\n| group | splits | measured fastest | predicted fastest | "
      "loss | three in order | pairs in order |\n|---|---|---|---|---|---|---|\n";
  for (const Choice& c : choices) {
    if (c.dataset == "vTrain, one node") continue;
    absl::StrAppendFormat(&out, "| %s | %d | %s | %s | %.1f %% | %s | %d of %d |\n", c.group, c.splits,
                          c.measured_best, c.predicted_best, 100 * c.regret, c.three ? "yes" : "no",
                          c.pairs_right, c.pairs);
  }
  return out;
}

}  // namespace chakra::validation
