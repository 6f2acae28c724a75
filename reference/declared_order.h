#ifndef VOLTCHECK_REFERENCE_DECLARED_ORDER_H_
#define VOLTCHECK_REFERENCE_DECLARED_ORDER_H_

#include "fixtures/case/declared_order.h"
#include "fixtures/case/problem.h"
#include "reference/matrix.h"
#include "reference/routing.h"
#include "reference/stage.h"

namespace voltcheck::reference {

/// PredictGemm (order_model.h) for a kernel that adds in an order of its own. `order` is declared
/// and possible for K.
HalfMatrix PredictGemm(const Problem& problem, const Permutation& permutation, Gemm gemm,
                       const HalfMatrix& a, const DeclaredOrder& order, Numerics numerics);

}  // namespace voltcheck::reference

#endif  // VOLTCHECK_REFERENCE_DECLARED_ORDER_H_
