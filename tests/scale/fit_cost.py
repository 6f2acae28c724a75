"""Fits the weights of verify/scale/cost_model.cpp to measured cases.

usage: voltcheck_cost_table 400 > table.tsv; fit_cost.py table.tsv...

Prints the weights in nanoseconds and how far predictions are from measurements. Least squares on relative errors, weights
not negative.
"""

import sys

import numpy

rows = [line.split("\t") for name in sys.argv[1:] for line in open(name)]
terms = numpy.array([[float(x) for x in row[:8]] for row in rows])
seconds = numpy.array([float(row[8]) for row in rows])
scaled = terms / seconds[:, None]
active = list(range(terms.shape[1]))
while True:
    weights = numpy.zeros(terms.shape[1])
    weights[active] = numpy.linalg.lstsq(scaled[:, active], numpy.ones(len(rows)), rcond=None)[0]
    if (weights >= 0).all():
        break
    active.remove(int(numpy.argmin(weights * numpy.abs(scaled).max(axis=0))))
ratio = terms @ weights / seconds
print("weights in ns:", ", ".join(f"{w * 1e9:.3g}" for w in weights))
print(f"{len(rows)} cases, {seconds.sum():.1f} s; predicted / measured: median {numpy.median(ratio):.2f}, "
      f"5 % {numpy.quantile(ratio, 0.05):.2f}, 95 % {numpy.quantile(ratio, 0.95):.2f}, total {(terms @ weights).sum() / seconds.sum():.2f}")
