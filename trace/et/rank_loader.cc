#include "trace/et/rank_loader.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "trace/base/parallel.h"
#include "trace/base/status_macros.h"

namespace chakra {

namespace {

absl::Status Decode(absl::string_view frames, absl::string_view file, int rank, const ReadOptions& options,
                    Decoder* decoder, Loaded* out) {
  ASSIGN_OR_RETURN(out->trace, decoder->Decode(frames, file, rank, options));
  out->group_nodes = decoder->group_nodes();
  return absl::OkStatus();
}

Worker::Before* BeforeOf(Worker* worker) {
  if (worker->before == nullptr) worker->before = std::make_unique<Worker::Before>();
  return worker->before.get();
}

// Passes `read`, which must have its frames, through the rewriter, and decodes the results.
absl::Status Rewrite(RankTrace read, const ReadOptions& options, Worker* worker, Loaded* out) {
  out->rewritten = true;
  out->trace.file = read.file;
  out->trace.rank = read.rank;
  const std::string file = read.file;
  const std::vector<Repair> repairs = read.repairs;
  std::vector<Rewritten> made;
  RETURN_IF_ERROR(options.rewriter->Rewrite(std::move(read), &made));
  ReadOptions again = options;
  again.strict = false;  // faults that remain were reported when `read` was decoded
  for (const Rewritten& one : made) {
    Loaded& to = out->became.emplace_back();
    RETURN_IF_ERROR(Decode(one.frames, file, one.rank, again, &worker->decoder, &to));
    to.trace.repairs = repairs;
    for (Repair& r : to.trace.repairs) r.rank = one.rank;
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status DecodeFrames(absl::string_view frames, absl::string_view file, int rank,
                          const ReadOptions& options, Worker* worker, Loaded* out) {
  if (options.rewriter == nullptr) return Decode(frames, file, rank, options, &worker->decoder, out);
  ReadOptions with_frames = options;
  with_frames.keep_raw = true;
  Loaded read;
  RETURN_IF_ERROR(Decode(frames, file, rank, with_frames, &BeforeOf(worker)->decoder, &read));
  return Rewrite(std::move(read.trace), options, worker, out);
}

absl::Status FinishColumns(RankDraft* draft, Keep keep, absl::string_view file, int rank,
                           const ReadOptions& options, Worker* worker, Loaded* out) {
  RankTrace& trace = out->trace;
  trace.rank = rank;
  trace.file = std::string(file);
  if (options.rewriter != nullptr && options.rewriter->WritesAsMade()) {
    out->rewritten = true;
    return options.rewriter->WriteAsMade(trace, [&](EtWriter* writer) {
      RETURN_IF_ERROR(WriteFrames(*draft, writer));
      return writer->Finish();
    });
  }
  if (WantsFrames(options)) trace.raw = FramesOf(*draft);
  const bool last = options.rewriter == nullptr;
  GraphPool* pool = last ? worker->pool : &BeforeOf(worker)->pool;
  ASSIGN_OR_RETURN(trace.graph, pool->Intern(&draft->graph, absl::StrCat(file, ": rank ", rank),
                                             /*offsets=*/{}, last ? keep : Keep::kPlain));
  trace.peers = pool->columns().Share(draft->peers);
  trace.group_names = draft->group_names;
  trace.metadata = draft->metadata;
  return last ? absl::OkStatus() : Rewrite(std::exchange(trace, RankTrace()), options, worker, out);
}

absl::Status Flatten(std::vector<Loaded>* loaded) {
  std::vector<Loaded> out;
  bool any = false;
  for (Loaded& l : *loaded) {
    any = any || l.rewritten;
    for (Loaded& one : l.became) out.push_back(std::move(one));
  }
  if (!any) return absl::OkStatus();
  std::sort(out.begin(), out.end(),
            [](const Loaded& a, const Loaded& b) { return a.trace.rank < b.trace.rank; });
  for (size_t i = 0; i < out.size(); ++i) {
    if (out[i].trace.rank == static_cast<int>(i)) continue;
    return absl::InternalError(absl::StrCat("rewritten ranks: ", out[i].trace.rank, " at place ", i));
  }
  *loaded = std::move(out);
  return absl::OkStatus();
}

absl::StatusOr<std::vector<RankTrace>> LoadRanks(
    size_t ranks, const ReadOptions& options, GraphPool* pool,
    const std::function<absl::Status(size_t rank, Worker* worker, Loaded* out)>& load) {
  std::vector<Loaded> loaded(ranks);
  RETURN_IF_ERROR(ForEach(ranks, options.threads, [&] {
    return
        [&, worker = std::make_unique<Worker>(pool)](size_t i) { return load(i, worker.get(), &loaded[i]); };
  }));
  RETURN_IF_ERROR(Flatten(&loaded));
  std::vector<RankTrace> out;
  out.reserve(loaded.size());
  for (Loaded& l : loaded) out.push_back(std::move(l.trace));
  return out;
}

absl::StatusOr<std::vector<RankTrace>> LoadWritten(
    size_t ranks, const ReadOptions& options, const std::string& file,
    const std::function<absl::Status(size_t rank, EtWriter* writer)>& write) {
  GraphPool pool;
  return LoadRanks(ranks, options, &pool, [&](size_t i, Worker* worker, Loaded* out) {
    std::string frames;
    EtWriter writer(&frames, Compression::kNone);
    RETURN_IF_ERROR(write(i, &writer));
    RETURN_IF_ERROR(writer.Finish());
    return DecodeFrames(frames, file, static_cast<int>(i), options, worker, out);
  });
}

}  // namespace chakra
