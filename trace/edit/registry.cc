#include "trace/edit/operation.h"

namespace chakra::edit {

const std::vector<OperationEntry>& Operations() {
  using E = proto::Edit;
  static const auto* entries = new std::vector<OperationEntry>{
      {E::kDuration, "duration", MakeDuration},
      {E::kBytes, "bytes", MakeBytes},
      {E::kOperations, "operations", MakeWork},
      {E::kDelay, "delay", MakeDelay},
      {E::kDtype, "dtype", MakeDtype},
      {E::kRename, "rename", MakeRename},
      {E::kAttribute, "attribute", MakeAttribute},
      {E::kRemove, "remove", MakeRemove},
      {E::kInsert, "insert", MakeInsert},
      {E::kReplace, "replace", MakeReplace},
      {E::kFuse, "fuse", MakeFuse},
      {E::kSplit, "split", MakeSplit},
      {E::kMove, "move", MakeMove},
      {E::kAddDependency, "add_dependency", MakeAddDependency},
      {E::kDropDependency, "drop_dependency", MakeDropDependency},
      {E::kReorder, "reorder", MakeReorder},
      {E::kMergeCollectives, "merge_collectives", MakeMergeCollectives},
      {E::kSplitCollectives, "split_collectives", MakeSplitCollectives},
      {E::kChangeCollective, "change_collective", MakeChangeCollective},
      {E::kCompress, "compress", MakeCompress},
      {E::kStorage, "storage", MakeStorage},
      {E::kRemapGroups, "remap_groups", MakeRemapGroups},
      {E::kRemapRanks, "remap_ranks", MakeRemapRanks},
      {E::kDelayRank, "delay_rank", MakeDelayRank},
      {E::kRepeat, "repeat", MakeRepeat},
      {E::kRescale, "rescale", MakeRescale},
      {E::kDuplicate, "duplicate", MakeDuplicate},
  };
  return *entries;
}

}  // namespace chakra::edit
