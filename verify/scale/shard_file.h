#ifndef VOLTCHECK_VERIFY_SCALE_SHARD_FILE_H_
#define VOLTCHECK_VERIFY_SCALE_SHARD_FILE_H_

#include <hdf5.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "verify/journal/run_journal.h"
#include "verify/run_file.h"
#include "verify/scale/shards.h"

namespace voltcheck::verify {

/// Makes a run file the run file of one shard: the group `/shard` holds its number and, in
/// `/shard/records`, its journal as it stands, from which a merge restores every record with all
/// its bits. Throws h5::Failure.
void WriteShard(hid_t file, const Shard& shard, const std::string& journal);

/// The shards of one run, opened for a merge.
struct ShardSet {
  RunProvenance provenance;             ///< that of the whole run
  std::unique_ptr<RunJournal> records;  ///< holds every case of the run
};

/// Opens run files of shards. Throws Error (status 2) that names the file, the shard or the case
/// for: a file that is no shard's, shards of different runs (other cases, options, kernels,
/// fixtures, binary: the first difference is told), one that stands twice, one that is missing or
/// not finished, and a run of another voltcheck binary than this one, which could not read its
/// records.
ShardSet OpenShards(const std::vector<std::string>& paths);

}  // namespace voltcheck::verify

#endif  // VOLTCHECK_VERIFY_SCALE_SHARD_FILE_H_
