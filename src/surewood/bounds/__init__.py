"""Every bound of theory.md as a function; docs/bounds.md lists equation, status and validity.

complexity       growth, VC dimensions, Massart, products of classes, Rademacher complexities (§1)
risk_bound       theorem, bound and its parts; the minimum over leaves in closed form
composite        Theorem 1 of composite trees and the criterion that selects degrees (§2)
cascade          Theorem 1 of cascades and the criterion that selects one (§3)
real_leaves      leaves with real values (2.10), §3.3
margin           margins, exact step size, the stated theorem (§4)
holdout          rates per class and per group, two models, rows needed (6.1), §11.1, §11.7, §11.8
betting          limits of bounded means, AUC, calibration error (§11.3)
thresholds       thresholds with a guarantee, prediction sets (§11.4, §11.5)
monitoring       evidence that accumulates after deployment (§11.6)
without_holdout  kl inverse, votes with out-of-bag points, cross-fitting, sample compression (§6.2-6.4, §11.9)
statistics       tests and ranks (§7)
statements       a number with its status word; the one function that issues guarantees (§6.6)
evidence         what a model tells `surewood.certify` about itself
ledger           one row per leaf
"""

from .betting import auc_limit, betting_lower_limit, betting_upper_limit, calibration_limit
from .cascade import (
    cascade_completion_bound,
    cascade_complexity,
    cascade_criterion,
    cascade_ensemble_term,
    cascade_family_count,
    cascade_leaf,
    cascade_theorem,
)
from .complexity import (
    interval_rademacher,
    kernel_rademacher,
    leaf_log_growth,
    log_growth,
    massart,
    monte_carlo_rademacher,
    path_rademacher,
    product_rademacher,
    split_log_growth,
    threshold_rademacher,
    vc_dimension,
)
from .composite import (
    composite_complexity,
    composite_criterion,
    composite_criterion_counts,
    composite_ensemble_term,
    composite_family_count,
    composite_theorem,
    select_degrees,
)
from .holdout import (
    clopper_pearson,
    clopper_pearson_lower,
    error_difference,
    mcc_limit,
    rows_needed,
)
from .ledger import LeafLedger, composite_ledger
from .margin import (
    drawn_vote_tail,
    effective_sample_size,
    empirical_bernstein,
    log_forest_count,
    log_mixture_count,
    margin_gap,
    margin_loss,
    margin_of_sum_step,
    margin_ratio,
    margin_step,
    margin_theorem,
    margin_weights,
    margins,
    scatter_ratio,
)
from .monitoring import error_sequence
from .real_leaves import real_cascade_bound, real_composite_bound
from .risk_bound import RiskBound, l_term
from .statements import Condition, Entry, Method, Status, Withheld, issue_guarantee
from .statistics import average_ranks, corrected_paired_t_test, mcnemar_test, paired_t_test
from .thresholds import fixed_sequence_choice, set_threshold
from .without_holdout import (
    binary_kl,
    compression_bound,
    cross_fit_bound,
    kl_inverse,
    pac_bayes_bound,
    pac_bayes_tandem_bound,
)

__all__ = [
    "Condition",
    "Entry",
    "LeafLedger",
    "Method",
    "RiskBound",
    "Status",
    "Withheld",
    "auc_limit",
    "average_ranks",
    "betting_lower_limit",
    "betting_upper_limit",
    "binary_kl",
    "calibration_limit",
    "cascade_completion_bound",
    "cascade_complexity",
    "cascade_criterion",
    "cascade_ensemble_term",
    "cascade_family_count",
    "cascade_leaf",
    "cascade_theorem",
    "clopper_pearson",
    "clopper_pearson_lower",
    "composite_complexity",
    "composite_criterion",
    "composite_criterion_counts",
    "composite_ensemble_term",
    "composite_family_count",
    "composite_ledger",
    "composite_theorem",
    "compression_bound",
    "corrected_paired_t_test",
    "cross_fit_bound",
    "drawn_vote_tail",
    "effective_sample_size",
    "empirical_bernstein",
    "error_difference",
    "error_sequence",
    "fixed_sequence_choice",
    "interval_rademacher",
    "issue_guarantee",
    "kernel_rademacher",
    "kl_inverse",
    "l_term",
    "leaf_log_growth",
    "log_forest_count",
    "log_growth",
    "log_mixture_count",
    "margin_gap",
    "margin_loss",
    "margin_of_sum_step",
    "margin_ratio",
    "margin_step",
    "margin_theorem",
    "margin_weights",
    "margins",
    "massart",
    "mcc_limit",
    "mcnemar_test",
    "monte_carlo_rademacher",
    "pac_bayes_bound",
    "pac_bayes_tandem_bound",
    "paired_t_test",
    "path_rademacher",
    "product_rademacher",
    "real_cascade_bound",
    "real_composite_bound",
    "rows_needed",
    "scatter_ratio",
    "select_degrees",
    "set_threshold",
    "split_log_growth",
    "threshold_rademacher",
    "vc_dimension",
]

#: Types of this package that a model file may hold.
SAVED_TYPES = (
    "surewood.bounds.evidence.EstimateEvidence",
    "surewood.bounds.evidence.VoteEvidence",
    "surewood.bounds.without_holdout.OutOfBag",
    "surewood.bounds.without_holdout.Tandem",
)
