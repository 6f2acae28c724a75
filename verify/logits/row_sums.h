#ifndef VOLTCHECK_VERIFY_LOGITS_ROW_SUMS_H_
#define VOLTCHECK_VERIFY_LOGITS_ROW_SUMS_H_

#include "verify/logits/chunk.h"

namespace voltcheck::logits {

/// The sums over a row that KL takes. With p = softmax(base), d = (other - base) - shift for any
/// shift, s = E_p[exp(d) - 1]: KL = E_p[exp(d) - 1 - d] - (s - log(1 + s)), and other's log-sum-exp
/// is base's plus shift + log(1 + s).
class RowSums {
 public:
  /// What the next chunk is to be summed relative to.
  const ChunkScale& scale() const { return scale_; }
  /// Powers of two near exp of the largest logits so far: an exact change.
  void Rescale(int base_exponent, int other_exponent);
  /// The sums as if `shift` had been subtracted from all differences.
  void Shift(float shift);
  /// A chunk that was summed relative to scale().
  void Add(const ChunkFigures& chunk, Reach reach);

  double Kl() const;
  /// Of log-sum-exp, other less base.
  double LogSumChange() const;
  /// Sums of Reach::kFar are rounded to 2^-24 of the exponentials themselves: false where KL is so
  /// small that this is more than 2^-19 of it.
  bool KlIsSharp() const;
  /// False where shifts lay so far from the mean difference that almost all that was summed of
  /// e (exp(d) - 1 - d) is taken away again.
  bool ShiftIsClose() const;
  /// The mean of other - base under p.
  float MeanDifference() const;

 private:
  double Moved() const { return (moved_ + curved_) / weight_; }  // s

  ChunkScale scale_;
  double weight_ = 0;  // of e = exp(base) / 2^base_exponent
  double moved_ = 0;   // of e d
  double curved_ = 0;  // of e (exp(d) - 1 - d)
  double spent_ = 0;   // of the same, each chunk relative to the shift that it was summed with
  double far_ = 0;     // of e and e exp(d), of chunks with Reach::kFar
};

/// The power of two to sum exp(x) relative to.
int ExponentOf(float x);

}  // namespace voltcheck::logits

#endif  // VOLTCHECK_VERIFY_LOGITS_ROW_SUMS_H_
