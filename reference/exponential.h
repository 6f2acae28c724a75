#ifndef VOLTCHECK_REFERENCE_EXPONENTIAL_H_
#define VOLTCHECK_REFERENCE_EXPONENTIAL_H_

namespace voltcheck::reference {

/// exp(x) within 1 ulp, the same bits on every machine; std::exp chooses its code by processor.
/// Overflow gives Inf, results below 2^-1021 give 0, NaN gives NaN.
double Exp(double x);

/// The natural logarithm of a positive finite x within 2 ulp (near 1, within 2^-52 of its
/// argument's distance from 1), the same bits on every machine. x <= 0 gives -Inf, Inf gives Inf,
/// NaN NaN.
double Log(double x);

}  // namespace voltcheck::reference

#endif  // VOLTCHECK_REFERENCE_EXPONENTIAL_H_
