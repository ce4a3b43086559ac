// Scripts of edits, in any format: an accepted script gives valid traces, and errors name the script.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "proto/et_def.pb.h"
#include "test/fuzz/fuzz_input.h"
#include "test/fuzz/fuzz_target.h"
#include "trace/edit/plan.h"
#include "trace/et/read_options.h"
#include "trace/et/writer.h"
#include "trace/import/reader.h"
#include "trace/io/proto_io.h"

namespace {

using ChakraProtoMsg::Node;

void Attr(Node* n, const char* name, int64_t v) {
  auto* a = n->add_attr();
  a->set_name(name);
  a->set_int64_val(v);
}

// Two ranks of a small capture: threads, streams, collectives of a group, a message, storage, a step.
std::string Frames(int rank) {
  std::string out;
  chakra::EtWriter writer(&out, chakra::Compression::kNone);
  ChakraProtoMsg::GlobalMetadata metadata;
  metadata.set_version("0.0.4");
  bool good = writer.AddMetadata(metadata).ok();
  using T = ChakraProtoMsg::NodeType;
  const T types[] = {T::METADATA_NODE, T::COMP_NODE,      T::COMP_NODE, T::COMP_NODE,      T::COMM_COLL_NODE,
                     T::COMP_NODE,     T::COMM_COLL_NODE, T::COMP_NODE, T::MEM_STORE_NODE, T::COMM_SEND_NODE};
  for (int i = 0; i < 10; ++i) {
    Node n;
    n.set_id(static_cast<uint64_t>(i));
    n.set_name(i == 1 ? "ProfilerStep#1" : absl::StrCat("node_", i));
    n.set_type(i == 9 && rank == 1 ? T::COMM_RECV_NODE : types[i]);
    n.set_start_time_micros(static_cast<uint64_t>(i));
    n.set_duration_micros(3);
    if (i > 0) n.add_data_deps(static_cast<uint64_t>(i) - 1);
    if (i > 3) n.add_ctrl_deps(static_cast<uint64_t>(i) / 2);
    auto* cpu = n.add_attr();
    cpu->set_name("is_cpu_op");
    cpu->set_bool_val(i < 3);
    if (i != 8) Attr(&n, i < 3 ? "tid" : "stream", i % 2);
    if (n.type() >= T::COMM_SEND_NODE) {
      Attr(&n, "comm_size", 1000);
      if (i < 9) Attr(&n, "comm_type", 0);
      auto* group = n.add_attr();
      group->set_name("pg_name");
      group->set_string_val(i < 9 ? "dp" : "");
      if (i == 9) Attr(&n, rank == 0 ? "comm_dst" : "comm_src", 1 - rank);
    } else if (i > 2) {
      Attr(&n, "num_ops", 100 * i);
      Attr(&n, "tensor_size", 64);
    }
    good = good && writer.AddNode(n).ok();
  }
  chakra::fuzz::Require(good && writer.Finish().ok(), "the trace can be written");
  return out;
}

const std::vector<chakra::RankTrace>& Traces() {
  static const auto* const traces = [] {
    auto* made = new std::vector<chakra::RankTrace>;
    for (int rank = 0; rank < 2; ++rank) {
      auto trace =
          chakra::DecodeTrace(Frames(rank), absl::StrCat("t.", rank, ".et"), rank, {.keep_raw = true});
      chakra::fuzz::Require(trace.ok(), "the trace can be read");
      made->push_back(*std::move(trace));
    }
    return made;
  }();
  return *traces;
}

// Limits the script, so that a run is short.
void Bound(chakra::proto::EditScript* script) {
  while (script->edit_size() > 6) script->mutable_edit()->RemoveLast();
  for (chakra::proto::Edit& e : *script->mutable_edit()) {
    if (e.has_repeat()) e.mutable_repeat()->set_times(std::min(e.repeat().times(), 4));
    if (e.has_split()) e.mutable_split()->set_parts(std::min(e.split().parts(), 4));
    if (e.has_split_collectives()) {
      auto* s = e.mutable_split_collectives();
      s->set_parts(std::min(s->parts(), 4));
      if (s->most_bytes() > 0) s->set_most_bytes(std::max<uint64_t>(s->most_bytes(), 500));
    }
    if (e.has_rescale()) e.mutable_rescale()->set_to(std::min(e.rescale().to(), 4));
  }
}

}  // namespace

FUZZ_TARGET(edit_fuzz, data, size) {
  using chakra::fuzz::Require;
  const absl::string_view text(reinterpret_cast<const char*>(data), size);
  chakra::proto::EditScript script;
  if (!chakra::ParseMessage(text, "script", &script).ok()) return 0;
  Bound(&script);
  const auto plan = chakra::edit::EditPlan::Make({{"script", script, std::string(text)}});
  if (!plan.ok()) {
    Require(absl::StartsWith(plan.status().message(), "script:"), "an error names the script");
    return 0;
  }
  chakra::edit::EditRun run(&*plan);
  if (const absl::Status begun = run.Begin({2, {{"dp", {0, 1}}}}); !begun.ok()) {
    Require(absl::StartsWith(begun.message(), "script:"), "an error names the script");
    return 0;
  }
  for (const chakra::RankTrace& trace : Traces()) {
    std::vector<chakra::Rewritten> made;
    if (!run.Rewrite(trace, &made).ok()) return 0;
    for (const chakra::Rewritten& one : made) {
      const auto again = chakra::DecodeTrace(one.frames, "edited", one.rank, {.strict = true});
      Require(again.ok() || absl::StrContains(again.status().message(), "no_nodes"),
              "what was edited can be read");
    }
  }
  (void)run.Finish();
  return 0;
}
