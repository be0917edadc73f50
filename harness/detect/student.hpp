// Student's t distribution with any positive, also fractional, number of degrees of freedom.
#pragma once

namespace fleetbench::detect {

// P(T > t). Accurate relative to its size far into the tail, where 1 - cdf would cancel.
double student_tail(double t, double degrees);

double student_density(double t, double degrees);

// The t for which P(T > t) = p, 0 < p < 0.5.
double student_quantile(double p, double degrees);

// Regularised incomplete beta function I_x(a, b): a, b > 0, 0 <= x <= 1.
double incomplete_beta(double a, double b, double x);

}  // namespace fleetbench::detect
