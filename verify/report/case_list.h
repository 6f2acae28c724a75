#ifndef VOLTCHECK_VERIFY_REPORT_CASE_LIST_H_
#define VOLTCHECK_VERIFY_REPORT_CASE_LIST_H_

#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "verify/report/case_figures.h"

namespace voltcheck::report {

/// Where the cases of a list come from.
class CaseSource {
 public:
  CaseSource() = default;
  virtual ~CaseSource() = default;
  CaseSource(const CaseSource&) = delete;
  CaseSource& operator=(const CaseSource&) = delete;
  /// Cases [first, first + count), all of which are there.
  virtual std::vector<CaseFigures> Read(std::size_t first, std::size_t count) const = 0;
};

/// What is kept of every case, so that lists can be ordered and counted without reading them.
struct CaseKey {
  double use = 0;  ///< CaseFigures::WorstUse
  std::uint64_t number = 0;
  verify::Verdict verdict = verify::Verdict::kUntested;
  bool has_nan = false;
};
CaseKey KeyOf(const CaseFigures& c);

/// The cases of a run, in the order of the file: in memory, or a few pages at a time read from
/// their source again whenever they are asked for. Not for several threads at once.
class CaseList {
 public:
  static constexpr std::size_t kPage = 2048;  ///< cases that are read together

  CaseList() = default;
  CaseList(std::shared_ptr<const CaseSource> source, std::vector<CaseKey> keys)
      : source_(std::move(source)), keys_(std::move(keys)) {}

  std::size_t size() const { return keys_.size(); }
  bool empty() const { return keys_.empty(); }
  const CaseKey& key(std::size_t i) const { return keys_[i]; }
  /// Until three pages more have been asked for, or for as long as the list where it was pinned or
  /// is in memory.
  const CaseFigures& operator[](std::size_t i) const;
  /// Reads these cases in the order of the file and keeps them: for lists that are walked through
  /// in another order.
  void Pin(std::span<const std::size_t> cases) const;
  /// Lets them go again.
  void Unpin() const { pinned_.clear(); }
  /// Reads all cases into memory.
  void Load();

  /// These load the list first.
  void Append(CaseFigures c);
  void Replace(std::size_t i, CaseFigures c);

  class Iterator {
   public:
    Iterator(const CaseList& list, std::size_t at) : list_(&list), at_(at) {}
    const CaseFigures& operator*() const { return (*list_)[at_]; }
    Iterator& operator++() {
      ++at_;
      return *this;
    }
    bool operator==(const Iterator& other) const { return at_ == other.at_; }

   private:
    const CaseList* list_;
    std::size_t at_;
  };
  Iterator begin() const { return {*this, 0}; }
  Iterator end() const { return {*this, size()}; }

 private:
  using Page = std::pair<std::size_t, std::vector<CaseFigures>>;  // number and cases
  const std::vector<CaseFigures>& PageOf(std::size_t i) const;

  std::shared_ptr<const CaseSource> source_;  ///< null: all of them are in `loaded_`
  std::vector<CaseKey> keys_;
  std::vector<CaseFigures> loaded_;
  mutable std::list<Page> pages_;  ///< latest first
  mutable std::map<std::size_t, CaseFigures> pinned_;
};

/// Indices of the cases, gravest verdict first, then largest budget use, then as they ran.
std::vector<std::size_t> WorstFirst(const CaseList& cases);

}  // namespace voltcheck::report

#endif  // VOLTCHECK_VERIFY_REPORT_CASE_LIST_H_
