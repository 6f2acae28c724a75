#ifndef VOLTCHECK_VERIFY_MUTATION_MUTANT_TABLE_H_
#define VOLTCHECK_VERIFY_MUTATION_MUTANT_TABLE_H_

#include <hdf5.h>

#include <string>

#include "verify/mutation/campaign.h"
#include "verify/run_file.h"

namespace voltcheck::mutation {

/// Writes a campaign as a run file: the cases that caught mutants in `/cases` as every run has
/// them, and `/mutants`, a table with one row a mutant, whose column `case` says which of them
/// caught it
/// (-1: none). docs/run-file.md lists the columns. Throws Error (status 2) when it cannot be
/// written.
void WriteCampaign(const std::string& path, const verify::RunProvenance& provenance,
                   const Campaign& campaign);

}  // namespace voltcheck::mutation

#endif  // VOLTCHECK_VERIFY_MUTATION_MUTANT_TABLE_H_
