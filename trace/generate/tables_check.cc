// Resolves a workload with a recommendation model into its step.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "trace/base/status_macros.h"
#include "trace/generate/check.h"
#include "trace/generate/hosts.h"
#include "trace/generate/not_yet.h"
#include "trace/generate/sizes.h"
#include "trace/generate/tables.h"
#include "trace/io/settings.h"

namespace chakra::generate {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

constexpr int64_t kMostTableRanks = 65536;  // maximum number of ranks in an all-to-all of vectors

absl::Status BadStep(absl::string_view what) { return absl::InvalidArgumentError(what); }

// Fields of --parallel and --training that apply to recommendation models.
constexpr const char* kOfTables[] = {
    "dp",           "overlap_grad",   "row_wise",    "copied",      "overlap_indices", "overlap_vectors",
    "dtype",        "micro_batch",    "optimizer",   "compiled",    "launch_us",       "host",
    "global_batch", "framework",      "cuda_graphs", "table_dtype", "call_us",         "batch_us",
    "step_us",      "table_optimizer"};
// Fields that apply only to recommendation models.
constexpr const char* kOfTablesAlone[] = {"row_wise",        "copied",      "overlap_indices",
                                          "overlap_vectors", "table_dtype", "table_optimizer"};

// A value that means the same as an absent field, and what to use instead of other values.
struct Neutral {
  const char* field;
  int64_t value;
  const char* instead;
};
constexpr Neutral kNeutral[] = {
    {"tp", 1, "parallel.dp shares the samples, parallel.row_wise the rows of tables"},
    {"cp", 1, "samples have no tokens; parallel.dp shares them"},
    {"pp", 1, "the step is one stage; parallel.dp shares the samples"},
    {"vpp", 1, "the step is one stage; parallel.dp shares the samples"},
    {"ep", 1, "parallel.dp shares tables as it shares samples"},
    {"etp", 1, "parallel.row_wise shares the rows of tables"},
    {"zero", 0, "tables are shared already, and the MLPs are small"},
    {"sp", 0, "parallel.dp shares the samples"},
    {"overlap_tensor", 0, "parallel.overlap_vectors"},
    {"overlap_param", 0, "the MLPs' weights are on each rank"},
    {"overlap_expert", 0, "parallel.overlap_vectors"},
    {"recompute", 0, "activations are a small part of memory"},
    {"dropout", 0, "the model has none"},
    {"lora", 0, "all weights are trained"},
};

template <size_t kCount>
bool IsAmong(const std::string& name, const char* const (&names)[kCount]) {
  return std::any_of(std::begin(names), std::end(names), [&](const char* n) { return name == n; });
}

std::string ValueOf(const Message& m, const FieldDescriptor& f) {
  if (f.cpp_type() == FieldDescriptor::CPPTYPE_STRING)
    return absl::StrCat("\"", m.GetReflection()->GetString(m, &f), "\"");
  if (f.cpp_type() == FieldDescriptor::CPPTYPE_ENUM)
    return absl::AsciiStrToLower(m.GetReflection()->GetEnum(m, &f)->name());
  if (f.cpp_type() == FieldDescriptor::CPPTYPE_BOOL) return m.GetReflection()->GetBool(m, &f) ? "yes" : "no";
  return absl::StrCat(SettingNumber(m, f));
}

int64_t NumberOfValue(const Message& m, const FieldDescriptor& f) {
  if (f.cpp_type() == FieldDescriptor::CPPTYPE_ENUM) return m.GetReflection()->GetEnumValue(m, &f);
  if (f.cpp_type() == FieldDescriptor::CPPTYPE_BOOL) return m.GetReflection()->GetBool(m, &f) ? 1 : 0;
  return f.cpp_type() == FieldDescriptor::CPPTYPE_STRING ? -1 : static_cast<int64_t>(SettingNumber(m, f));
}

// Checks that no field for transformers is set, except to a value that means the same as absent.
absl::Status CheckFields(const Message& m, absl::string_view place) {
  std::vector<const FieldDescriptor*> fields;
  m.GetReflection()->ListFields(m, &fields);
  for (const FieldDescriptor* f : fields) {
    if (IsAmong(f->name(), kOfTables)) continue;
    const std::string text = absl::StrCat(place, f->name(), " is ", ValueOf(m, *f));
    const auto* neutral = std::find_if(std::begin(kNeutral), std::end(kNeutral),
                                       [&](const Neutral& n) { return f->name() == n.field; });
    if (neutral == std::end(kNeutral))
      return BadStep(
          absl::StrCat(text, ", but is for transformers; expected no such setting with model.tables"));
    if (NumberOfValue(m, *f) == neutral->value) continue;
    const std::string off = f->cpp_type() == FieldDescriptor::CPPTYPE_BOOL   ? "no"
                            : f->cpp_type() == FieldDescriptor::CPPTYPE_ENUM ? "none"
                                                                             : absl::StrCat(neutral->value);
    return BadStep(absl::StrCat(text, "; with model.tables expected ", off, ": ", neutral->instead,
                                "; the nearest is ", off));
  }
  return absl::OkStatus();
}

absl::Status CheckTypes(const proto::Training& t) {
  if (t.dtype() != proto::Training::BF16 && t.dtype() != proto::Training::FP32) {
    return BadStep(absl::StrCat("training.dtype is ",
                                absl::AsciiStrToLower(proto::Training::Dtype_Name(t.dtype())),
                                "; with model.tables expected bf16 or fp32; the nearest is bf16"));
  }
  if (t.table_dtype() == proto::Training::FP8 || t.table_dtype() == proto::Training::NVFP4)
    return BadStep(absl::StrCat("training.table_dtype is ",
                                absl::AsciiStrToLower(proto::Training::Dtype_Name(t.table_dtype())),
                                "; expected fp32, fp16 or bf16; the nearest is fp16"));
  if (t.has_framework() && t.framework() != proto::Training::DDP) {
    return BadStep(absl::StrCat("training.framework is ",
                                absl::AsciiStrToLower(proto::Training::Framework_Name(t.framework())),
                                "; with model.tables expected ddp, which runs the MLPs; the nearest is ddp"));
  }
  return absl::OkStatus();
}

absl::Status TakeBatch(const proto::Training& t, int64_t ranks, TrainingPlan* out) {
  if (!t.has_global_batch())
    return BadStep("training.global_batch is missing; expected the samples of a step, as global_batch=65536");
  if (t.global_batch() % ranks != 0) {
    return BadStep(absl::StrCat("training.global_batch is ", t.global_batch(),
                                "; expected a multiple of parallel.dp, ", ranks,
                                NearestMultiple(t.global_batch(), ranks)));
  }
  out->seq = 1;
  out->global_batch = t.global_batch();
  out->micro_batch = t.global_batch() / ranks;
  if (!t.has_micro_batch() || t.micro_batch() == out->micro_batch) return absl::OkStatus();
  return BadStep(absl::StrCat("training.micro_batch is ", t.micro_batch(),
                              "; with model.tables expected the samples of a rank, global_batch / dp, ",
                              out->micro_batch, "; the nearest is ", out->micro_batch));
}

// All counts of a step must fit into 64-bit integers.
absl::Status CheckTableSize(const StepPlan& p) {
  double rows = 0, pooling = 0;
  for (const Table& table : p.tables.tables) {
    rows += static_cast<double>(table.rows);
    pooling += static_cast<double>(table.pooling);
  }
  const double samples = static_cast<double>(p.training.global_batch),
               dim = static_cast<double>(p.tables.dim);
  const double tables = rows * dim * 8;
  const double moved = samples * (pooling + static_cast<double>(p.tables.vectors())) * dim * 16;
  const double operations = samples * TrainingFlopsPerSample(p.tables);
  if (tables < 1e18 && moved < 1e18 && operations < 1e18 &&
      samples * static_cast<double>(p.tables.pairs()) < 1e17)
    return absl::OkStatus();
  return BadStep(absl::StrCat("training.global_batch is ", p.training.global_batch, " and model.table_rows ",
                              rows, " in all: a step has ", operations, " operations and moves ", moved,
                              " bytes of rows, and tables have ", tables,
                              "; expected less than 1e18 of each"));
}

}  // namespace

absl::Status CheckWithoutTables(const proto::Workload& w) {
  const auto refuse = [](const Message& m, absl::string_view place, auto is_of_tables) {
    std::vector<const FieldDescriptor*> fields;
    m.GetReflection()->ListFields(m, &fields);
    for (const FieldDescriptor* f : fields) {
      if (is_of_tables(f->name()) && NumberOfValue(m, *f) != 0)
        return BadStep(
            absl::StrCat(place, f->name(), " is for tables; expected model.tables or model.table_rows too"));
    }
    return absl::OkStatus();
  };
  const auto of_tables = [](const std::string& name) { return IsAmong(name, kOfTablesAlone); };
  const auto of_model = [](const std::string& name) {
    for (const char* n :
         {"table_dim", "pooling", "dense_features", "bottom", "top", "cross_layers", "cross_rank"}) {
      if (name == n) return true;
    }
    return false;
  };
  RETURN_IF_ERROR(refuse(w.model(), "model.", of_model));
  RETURN_IF_ERROR(refuse(w.parallel(), "parallel.", of_tables));
  return refuse(w.training(), "training.", of_tables);
}

absl::StatusOr<StepPlan> ResolveTableStep(const proto::Workload& w) {
  const proto::Parallel& p = w.parallel();
  const proto::Training& t = w.training();
  ASSIGN_OR_RETURN(TableModel model, ResolveTables(w.model()));
  RETURN_IF_ERROR(CheckFields(p, "parallel."));
  RETURN_IF_ERROR(CheckFields(t, "training."));
  RETURN_IF_ERROR(CheckTypes(t));
  StepPlan plan;
  plan.tables = std::move(model);
  plan.model.name = w.model().preset().empty() ? "model" : w.model().preset();
  plan.name = w.name().empty() ? plan.model.name : w.name();
  plan.split.dp = p.has_dp() ? p.dp() : 1;
  if (plan.split.dp > kMostTableRanks) {
    return BadStep(absl::StrCat("parallel.dp is ", plan.split.dp, "; with model.tables expected at most ",
                                kMostTableRanks, "; the nearest is ", kMostTableRanks));
  }
  plan.split.overlap_grad = !p.has_overlap_grad() || p.overlap_grad();
  TrainingPlan& out = plan.training;
  RETURN_IF_ERROR(TakeBatch(t, plan.split.dp, &out));
  out.dtype = t.dtype();
  out.optimizer = t.has_optimizer() ? t.optimizer() : proto::Training::ADAGRAD;
  if (out.by_matrix())
    return NotYet("training.optimizer=muon or soap with model.tables", "adagrad, adam, adamw, sgd");
  out.framework = proto::Training::DDP;
  out.compiled = t.compiled();
  out.fused_loss = false;
  out.table_optimizer = t.has_table_optimizer() ? t.table_optimizer() : proto::Training::TABLE_ADAGRAD;
  out.table_dtype = t.has_table_dtype() ? t.table_dtype() : proto::Training::FP32;
  ASSIGN_OR_RETURN(const proto::HostTimes host, HostOf(t));
  out.host = HostCostsOf(t, host);
  RETURN_IF_ERROR(CheckTableSize(plan));
  ASSIGN_OR_RETURN(plan.table_plan, PlaceTables(plan.tables, w, plan.split.dp));
  plan.split.roles = plan.table_plan.role_of_rank;
  plan.split.role_count = static_cast<int64_t>(plan.table_plan.roles.size());
  plan.pieces = {{0, 0, true, true}};
  return plan;
}

}  // namespace chakra::generate
