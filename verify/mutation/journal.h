#ifndef VOLTCHECK_VERIFY_MUTATION_JOURNAL_H_
#define VOLTCHECK_VERIFY_MUTATION_JOURNAL_H_

#include <fstream>
#include <map>
#include <string>

#include "verify/mutation/campaign.h"

namespace voltcheck::mutation {

/// What a campaign has found so far, one JSON line a mutant or block of honest cases, written as
/// soon as it is known: a campaign that was stopped, however, goes on where it was.
class Journal {
 public:
  /// Opens or makes `path`. `key` is what determines results (kernels, seed, options, version);
  /// a journal of another key throws Error (status 2), and so does one that is no journal. A last
  /// line that was cut off is left out, and written over.
  Journal(const std::string& path, const std::string& key);

  /// Mutants by id, and honest blocks by their first case, as the file had them when it was
  /// opened. Of the case that caught a mutant only descriptor, verdict and reason are kept.
  const std::map<std::string, MutantResult>& mutants() const { return mutants_; }
  const std::map<std::uint64_t, HonestFigures>& honest() const { return honest_; }

  /// Appends a line and hands it to the operating system. Throws Error (status 2) when that fails.
  void Append(const MutantResult& result);
  void Append(std::uint64_t first, const HonestFigures& figures);

 private:
  void Write(const std::string& line);

  std::string path_;
  std::ofstream out_;
  std::map<std::string, MutantResult> mutants_;
  std::map<std::uint64_t, HonestFigures> honest_;
};

}  // namespace voltcheck::mutation

#endif  // VOLTCHECK_VERIFY_MUTATION_JOURNAL_H_
