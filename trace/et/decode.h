// Decodes the frames of one .et file straight into columns.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "trace/base/wire.h"
#include "trace/et/alike_ranks.h"
#include "trace/et/read_options.h"
#include "trace/model/attribute.h"
#include "trace/model/graph_builder.h"
#include "trace/model/trace.h"

namespace chakra {

inline constexpr int64_t kMaxPicos = std::numeric_limits<int64_t>::max();  // that Time holds

// The content of a METADATA node whose name contains "process_group:init".
struct GroupNode {
  uint64_t id = 0;
  std::string text;  // inputs.values
};

// Decodes file after file and keeps its memory between files, and some files: one that is like an earlier one
// is compared with that, not decoded (alike_ranks.h). Not thread-safe; several decoders may share a pool.
//
// Times come from start_time_micros and duration_micros, or from the finer attributes start_ns and
// duration_ns, which take precedence. Starts that do not fit in picoseconds (such as microseconds since the
// epoch) are counted from the first start in the file.
class Decoder {
 public:
  // `pool` must outlive the decoder.
  explicit Decoder(GraphPool* pool) : pool_(pool) {}

  // `content`: plain frames, neither compressed nor JSON. Errors name `file`,
  // rank, node id, field and the byte in `content`.
  absl::StatusOr<RankTrace> Decode(absl::string_view content, absl::string_view file, int rank,
                                   const ReadOptions& options);

  // The group nodes of the file that was decoded last.
  const std::vector<GroupNode>& group_nodes() const { return group_nodes_; }

 private:
  // The fields of one Node message.
  struct Node {
    uint64_t id = 0;
    bool has_id = false;
    NodeType type = NodeType::kInvalid;
    uint8_t flags = 0;
    absl::string_view name, values, shapes, types, code;
    double time_factor = 1;
    uint32_t name_hash = 0;  // valid when name is not empty
    uint64_t start_ns = 0;
    int64_t duration_ps = 0;
    bool fine_start = false, fine_duration = false;
    bool has_stream = false, has_tid = false, has_group = false;
    bool has_delays = false;
    const uint8_t* kinds_at = nullptr;  // null: no dep_kinds
    absl::string_view kinds;
    int32_t stream = 0, tid = 0;
    Comm comm;
    Time transfer = Time::Never();
    Peer peer;
    Work work;
  };

  void Reset(absl::string_view content, absl::string_view file, int rank, const ReadOptions& options);
  // Fills out_ with what `like` is with the values of `content`. False: they are out of range.
  bool TakeAlike(const DecodedRank& like, absl::string_view content);
  void KeepForOthers(absl::string_view content);
  // Those that return bool return false after an error, with status_ set.
  bool ReadFrames();
  bool ReadFrameLength(wire::Cursor* c, wire::Cursor* frame, bool* truncated);
  bool ReadFirst(wire::Cursor frame);
  bool ReadNode(wire::Cursor frame);
  bool ReadNodeField(const wire::Field& f, Node* node);
  bool ReadDeps(const wire::Field& f, std::vector<uint64_t>* deps, const Node& node);
  bool ReadInputs(const wire::Field& f, Node* node);
  bool ReadNodeAttribute(const wire::Field& f, Node* node);
  bool SetPlainNumber(AttributeKey key, const Attribute& a, Node* node);
  bool SetNumber(AttributeKey key, const Attribute& a, Node* node);
  void StoreNumber(AttributeKey key, __int128 v, const Attribute& a, Node* node);
  bool SetGroup(AttributeKey key, const Attribute& a, Node* node);
  // Notes where the value of a node's group or peer lies.
  void NoteVarying(VaryingValue::Kind kind, const Attribute& a);
  bool SetDelays(AttributeKey key, const Attribute& a, Node* node);
  bool SetReleases(const Attribute& a, Node* node);
  bool SetKinds(const Attribute& a, Node* node);
  bool AddDelayCauses(const Node& node);
  bool SetCommKind(const Attribute& a, Node* node);
  bool SetCode(const Attribute& a, Node* node);
  bool SetTimeFactor(const Attribute& a, Node* node);
  void AddNode(const Node& node, uint64_t offset);
  bool ResolveDeps(bool with_ctrl);
  absl::StatusOr<std::shared_ptr<const Graph>> FinishDeps();
  // What the dependencies of a row have in delays_, causes_ and unexplained_; null: nothing.
  struct RowDelays {
    const int64_t* delay = nullptr;
    const DelayCause* cause = nullptr;
    const int64_t* unexplained = nullptr;
    const int64_t* release = nullptr;
  };
  struct DelayedDep {
    uint32_t row = 0;
    Time delay;
    DelayCause cause = DelayCause::kOther;
    Time unexplained;
    int64_t release = kReleaseAtEnd;
  };
  bool FindDelays(uint32_t row, uint64_t deps, RowDelays* out);
  bool AddDeps(uint32_t row, const std::vector<uint64_t>& ids, uint64_t begin, uint64_t end, bool data,
               const RowDelays& delays, uint64_t first);
  void SortDeps(size_t begin);
  void TakeDelayedDeps();
  bool IndexIds();
  uint32_t FindRow(uint64_t id) const;
  bool ConvertStarts();
  bool CheckSchema(wire::Cursor frames);

  uint64_t Offset(const uint8_t* p) const { return static_cast<uint64_t>(p - base_); }
  std::string Subject() const;
  bool Fail(const uint8_t* at, const Node* node, absl::string_view field, absl::string_view what);
  bool FailFile(uint64_t offset, absl::string_view what);
  void Note(absl::string_view kind, uint64_t node, absl::string_view detail);
  uint32_t GroupIndex(absl::string_view name);
  int32_t LaneOf(__int128 v);

  GraphPool* pool_;
  absl::Status status_;
  absl::string_view file_;
  int rank_ = 0;
  ReadOptions options_;
  const uint8_t* base_ = nullptr;
  const uint8_t* end_ = nullptr;

  GraphDraft g_;
  std::vector<Peer> peers_;
  RankTrace out_;
  std::shared_ptr<RawFrames> raw_;
  std::vector<uint64_t> offset_;  // where the frame of each row begins
  std::vector<uint64_t> start_ns_;
  std::vector<uint64_t> data_, ctrl_;              // dependencies as ids
  std::vector<uint64_t> data_begin_, ctrl_begin_;  // rows + 1
  // Of dep_delay_ns, dep_unexplained_ns and dep_release: the values of the rows that have some, one row after
  // the other; and these rows, with where their values begin.
  struct ValuesOfRows {
    std::vector<int64_t> values;
    std::vector<std::pair<uint32_t, uint64_t>> rows;
    size_t next = 0;  // of rows: not yet resolved
  };
  ValuesOfRows delays_, unexplained_, releases_;
  bool AnyDelays() const { return !delays_.rows.empty() || !releases_.rows.empty(); }
  std::vector<DelayCause> causes_;        // for each of delays_.values
  std::vector<DelayedDep> delayed_deps_;  // of the row that is being resolved, in files with delays
  AlikeRanks alike_;
  std::vector<VaryingValue> varying_;
  size_t varying_before_ = 0;     // of varying_: those of earlier nodes
  bool plain_attribute_ = false;  // the attribute that is being read has its value last
  bool all_noted_ = false;        // varying_ has every group
  std::vector<GroupNode> group_nodes_;
  absl::flat_hash_map<std::string, uint32_t> group_index_;
  absl::flat_hash_map<uint64_t, int32_t> big_lanes_;
  uint64_t first_id_ = 0;
  std::vector<uint32_t> dense_rows_;                     // by id - first_id_, if ids are compact
  absl::flat_hash_map<uint64_t, uint32_t> sparse_rows_;  // else
  bool dense_ = true;
};

}  // namespace chakra
