#ifndef VOLTCHECK_REFERENCE_EXPONENTIAL_H_
#define VOLTCHECK_REFERENCE_EXPONENTIAL_H_

namespace voltcheck::reference {

/// exp(x) within 1 ulp, the same bits on every machine; std::exp chooses its code by processor.
/// Overflow gives Inf, results below 2^-1021 give 0, NaN gives NaN.
double Exp(double x);

}  // namespace voltcheck::reference

#endif  // VOLTCHECK_REFERENCE_EXPONENTIAL_H_
