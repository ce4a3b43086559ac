#include "trace/import/nsys/host_rows.h"

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "trace/base/status_macros.h"
#include "trace/import/nsys/operator_text.h"

namespace chakra::nsys {
namespace {

using pytorch::CommCall;
using pytorch::CommOp;
using pytorch::Event;
using pytorch::EventKind;
using pytorch::kNone;
using pytorch::OpExtra;

constexpr absl::string_view kNvtx = "NVTX_EVENTS";

std::vector<SqliteCondition> Touching(const Window& window) {
  if (window.whole()) return {};
  return {{.column = "start", .max = window.end - 1}, {.column = "end", .min = window.begin}};
}

bool IsDriver(absl::string_view call) {
  return absl::StartsWith(call, "cu") && !absl::StartsWith(call, "cuda");
}

// NCCL reports bytes for the count that its API takes: of a reduce-scatter or scatter, the bytes that a rank
// receives; of an all-to-all, the bytes for each peer; else the bytes that a rank sends (src/collectives.cc).
void SetSizes(const NcclPayload& payload, CommCall* call) {
  if (call->op == CommOp::kReduceScatter || call->op == CommOp::kScatter) {
    call->out_bytes = payload.bytes;
  } else {
    call->in_bytes = payload.bytes;  // all-to-all: ListGroups() multiplies by the number of members
  }
  call->root = call->p2p ? payload.peer : payload.root;
}

class NvtxReader {
 public:
  NvtxReader(const SqliteReader& db, const Strings& strings, const NcclSchemas& schemas, Processes* processes,
             StepRanges* steps)
      : db_(db), strings_(strings), schemas_(schemas), processes_(processes), steps_(steps) {}

  absl::Status Read(const Window& window);

 private:
  enum Column { kStart, kEnd, kType, kText, kTextId, kTid, kEndTid, kBinary };
  void Range(const SqliteScan& row, Process* process);
  bool Operator(absl::string_view text, Process* process, Event* event);

  const SqliteReader& db_;
  const Strings& strings_;
  const NcclSchemas& schemas_;
  Processes* processes_;
  StepRanges* steps_;
};

// PushPop and StartEnd ranges, of NVTX itself (59, 60) and of text files (70, 71).
SqliteCondition Ranges() { return {.column = "eventType", .any_of = {59, 60, 70, 71}}; }
bool StartEnd(int64_t type) { return type == 60 || type == 71; }

// Adds a range that is an operator. Returns false for other ranges.
bool NvtxReader::Operator(absl::string_view text, Process* process, Event* event) {
  OperatorText op;
  if (!ReadOperatorText(text, &op)) return false;
  event->kind = EventKind::kCpuOp;
  event->name = process->trace.strings.Intern(op.name);
  ++process->operators;
  if (!op.shapes.empty()) ++process->shaped;
  OpExtra extra;
  extra.seq = op.seq < 0 ? kNone : op.seq;
  extra.shapes = process->trace.strings.Intern(op.shapes);
  if (op.seq < 0 && op.shapes.empty()) {
    process->Add(*event);
  } else {
    process->Add(*event, extra);
  }
  return true;
}

void NvtxReader::Range(const SqliteScan& row, Process* process) {
  const int64_t start = row.IntOr(kStart, INT64_MIN);
  int64_t end = 0, text_id = 0;
  if (!row.Int(kEnd, &end) || end < start) {  // versions without NULL write 0 or -1
    ++process->open_ranges;
    return;
  }
  absl::string_view text = row.Text(kText);
  if (text.empty() && row.Int(kTextId, &text_id)) strings_.Find(text_id, &text);
  const int64_t tid = row.IntOr(kTid, 0);
  const bool free = StartEnd(row.IntOr(kType, 0));
  // StartEnd ranges need not nest, so they are used only as steps.
  if (free && (row.IntOr(kEndTid, tid) != tid || !steps_->MayBe(text))) {
    ++process->free_ranges;
    return;
  }
  Event event;
  if (!process->Times(start, end, &event)) return;
  event.lane = process->Thread(tid);
  if (Operator(text, process, &event)) return;
  event.kind = EventKind::kAnnotation;
  event.name = process->trace.strings.Intern(text.empty() ? "[NVTX range]" : text);
  if (IsNcclCall(text)) {
    OpExtra extra;
    extra.comm = AddNcclCall(text, row.Text(kBinary), schemas_, process);
    if (extra.comm != kNoRow) return process->Add(event, extra);
  } else if (free || steps_->MayBe(text)) {
    steps_->Add(process->id, {tid, event.ts, event.ts + event.dur, process->rows()}, text);
  }
  process->Add(event);
}

absl::Status NvtxReader::Read(const Window& window) {
  if (!db_.Has(kNvtx)) return db_.CheckPlain(kNvtx);
  std::vector<SqliteCondition> where = Touching(window);
  where.push_back(Ranges());
  ASSIGN_OR_RETURN(SqliteScan rows, db_.Read(kNvtx,
                                             {"!start", "!end", "!eventType", "text", "textId", "!globalTid",
                                              "endGlobalTid", "binaryData"},
                                             where));
  for (;;) {
    ASSIGN_OR_RETURN(const bool more, rows.Next());
    if (!more) return absl::OkStatus();
    if (Process* process = processes_->Find(ProcessOf(rows.IntOr(kTid, 0))); process != nullptr)
      Range(rows, process);
  }
}

}  // namespace

bool IsNcclCall(absl::string_view text) {
  return absl::StartsWith(text, "nccl") && text.size() > 4 &&
         absl::ascii_isupper(static_cast<unsigned char>(text[4]));
}

uint32_t AddNcclCall(absl::string_view text, absl::string_view data, const NcclSchemas& schemas,
                     Process* process) {
  NcclPayload payload;
  const bool told = !data.empty() && schemas.Decode(data, text, &payload);
  if (told) {
    ++process->payloads;
  } else if (!data.empty()) {
    ++process->unknown_payloads;
  }
  if (payload.ranks > 0 && payload.rank >= 0 && payload.rank < payload.ranks)
    process->members.push_back({payload.member_of, payload.ranks, payload.rank, payload.device});
  CommCall call;
  call.op = pytorch::ParseCommOp(text.substr(4));
  if (!pytorch::MovesData(call.op)) return kNoRow;
  ++process->nccl_ranges;
  call.name = std::string(text);
  call.library = "NCCL";
  call.p2p = call.op == CommOp::kSend || call.op == CommOp::kRecv;
  if (told) {
    call.group = absl::StrCat("nccl ", absl::Hex(payload.comm));
    SetSizes(payload, &call);
  }
  return process->Call(std::move(call), told ? payload.comm : 0);
}

absl::Status ReadApiRows(const SqliteReader& db, const Window& window, Processes* processes) {
  constexpr absl::string_view kTable = "CUPTI_ACTIVITY_KIND_RUNTIME";
  if (!db.Has(kTable)) return db.CheckPlain(kTable);
  ASSIGN_OR_RETURN(
      SqliteScan rows,
      db.Read(kTable, {"!start", "!end", "!globalTid", "!correlationId", "!nameId"}, Touching(window)));
  for (;;) {
    ASSIGN_OR_RETURN(const bool more, rows.Next());
    if (!more) return absl::OkStatus();
    const int64_t tid = rows.IntOr(2, 0), start = rows.IntOr(0, INT64_MIN),
                  correlation = rows.IntOr(3, kNone);
    Process& process = processes->Of(ProcessOf(tid));
    Event event;
    if (!process.Times(start, rows.IntOr(1, start), &event)) continue;
    event.name = process.CallName(rows.IntOr(4, kNone));
    event.kind = IsDriver(process.trace.strings.Get(event.name)) ? EventKind::kDriver : EventKind::kRuntime;
    event.correlation = correlation >= 0 ? correlation : kNone;
    event.lane = process.Thread(tid);
    if (!window.whole()) process.launched.insert(event.correlation);
    process.Add(event);
  }
}

absl::Status ReadMpiRows(const SqliteReader& db, const Window& window, Processes* processes,
                         uint64_t* calls) {
  for (const absl::string_view table :
       {"MPI_P2P_EVENTS", "MPI_COLLECTIVES_EVENTS", "MPI_START_WAIT_EVENTS"}) {
    RETURN_IF_ERROR(db.CheckPlain(table));
    if (!db.Has(table)) continue;
    ASSIGN_OR_RETURN(SqliteScan rows,
                     db.Read(table, {"!start", "!end", "!globalTid", "!textId"}, Touching(window)));
    for (;;) {
      ASSIGN_OR_RETURN(const bool more, rows.Next());
      if (!more) break;
      const int64_t tid = rows.IntOr(2, 0), start = rows.IntOr(0, INT64_MIN);
      Process* process = processes->Find(ProcessOf(tid));
      Event event;
      if (process == nullptr || !process->Times(start, rows.IntOr(1, start), &event)) continue;
      event.kind = EventKind::kCpuOp;
      event.name = process->Name(rows.IntOr(3, kNone), "call of MPI");
      event.lane = process->Thread(tid);
      process->Add(event);
      ++*calls;
    }
  }
  return absl::OkStatus();
}

absl::Status ReadNvtxRows(const SqliteReader& db, const Window& window, const Strings& strings,
                          const NcclSchemas& schemas, Processes* processes, StepRanges* steps) {
  return NvtxReader(db, strings, schemas, processes, steps).Read(window);
}

absl::Status ReadStepRows(const SqliteReader& db, const Strings& strings, const Session& session,
                          StepRanges* steps) {
  if (!db.Has(kNvtx)) return db.CheckPlain(kNvtx);
  ASSIGN_OR_RETURN(
      SqliteScan rows,
      db.Read(kNvtx, {"!start", "!end", "!eventType", "text", "textId", "!globalTid", "endGlobalTid"},
              {Ranges()}));
  for (;;) {
    ASSIGN_OR_RETURN(const bool more, rows.Next());
    if (!more) return absl::OkStatus();
    int64_t start = 0, end = 0, text_id = 0;
    const int64_t tid = rows.IntOr(5, 0);
    if (!rows.Int(0, &start) || !rows.Int(1, &end)) continue;
    if (start < session.first || end > session.last || end < start) continue;
    if (StartEnd(rows.IntOr(2, 0)) && rows.IntOr(6, tid) != tid) continue;
    absl::string_view text = rows.Text(3);
    OperatorText op;
    if (text.empty() && rows.Int(4, &text_id)) strings.Find(text_id, &text);
    if (!steps->MayBe(text) || IsNcclCall(text) || ReadOperatorText(text, &op)) continue;
    steps->Add(ProcessOf(tid), {tid, start, end, kNoRow}, text);
  }
}

absl::Status ReadMembers(const SqliteReader& db, const Strings& strings, const NcclSchemas& schemas,
                         Processes* processes) {
  if (!db.Has(kNvtx, "binaryData")) return absl::OkStatus();
  ASSIGN_OR_RETURN(SqliteScan rows, db.Read(kNvtx, {"text", "textId", "!globalTid", "!binaryData"},
                                            {{.column = "binaryData", .any_value = true}}));
  for (;;) {
    ASSIGN_OR_RETURN(const bool more, rows.Next());
    if (!more) return absl::OkStatus();
    absl::string_view text = rows.Text(0);
    int64_t text_id = 0;
    if (text.empty() && rows.Int(1, &text_id)) strings.Find(text_id, &text);
    NcclPayload payload;
    Process* process = processes->Find(ProcessOf(rows.IntOr(2, 0)));
    if (process == nullptr || !absl::StartsWith(text, "ncclComm") ||
        !schemas.Decode(rows.Text(3), text, &payload))
      continue;
    if (payload.ranks > 0 && payload.rank >= 0 && payload.rank < payload.ranks)
      process->members.push_back({payload.member_of, payload.ranks, payload.rank, payload.device});
  }
}

absl::Status ReadThreadNames(const SqliteReader& db, const Strings& strings, Processes* processes) {
  constexpr absl::string_view kTable = "ThreadNames";
  if (!db.Has(kTable)) return db.CheckPlain(kTable);
  ASSIGN_OR_RETURN(SqliteScan rows, db.Read(kTable, {"!globalTid", "!nameId"}));
  for (;;) {
    ASSIGN_OR_RETURN(const bool more, rows.Next());
    if (!more) return absl::OkStatus();
    absl::string_view name;
    const int64_t tid = rows.IntOr(0, 0);
    Process* process = processes->Find(ProcessOf(tid));
    uint32_t thread = 0;
    if (process == nullptr || !process->FindThread(tid, &thread) || !strings.Find(rows.IntOr(1, -1), &name))
      continue;
    process->trace.threads[thread].name = std::string(name);
  }
}

}  // namespace chakra::nsys
