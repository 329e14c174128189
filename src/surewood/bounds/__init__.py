"""Every bound of theory.md as a function; docs/bounds.md lists equation, status and validity.

complexity          growth, VC dimensions, Massart, products of classes (§1)
rademacher          empirical Rademacher complexity: enumeration, Monte Carlo, closed forms
risk_bound          theorem, bound and its parts; the minimum over leaves in closed form
composite           Theorem 1 of composite trees and what it needs (§2)
composite_selection the criterion that selects degrees
real_leaves, real_bounds   leaves with real values (2.10), §3.3
cascade             Theorem 1 of cascades (§3)
cascade_selection   the criterion that selects a cascade, and its pruning bound
margin, margin_step, margin_theorem   margins, exact step size, the stated theorem (§4)
certificates        holdout, kl inverse, sample compression (§6)
pac_bayes           votes with out-of-bag points (§6.3)
statistics          tests and ranks (§7)
rates               limits per class and per group (§11.1)
betting             limits of bounded means (§11.3)
thresholds, prediction_sets   thresholds that keep a promise, prediction sets (§11.4, §11.5)
monitoring          evidence that accumulates after deployment (§11.6)
two_models, rows_needed, cross_fitting   §11.7, §11.8, §11.9
sample_facts        when in-sample bounds may be quoted [D-35], [D-38], [D-40]
ledger              one row per leaf
entry, guarantee    a number with its status word; the one door through which guarantees are issued
condition, evidence, leaf_evidence, point_evidence   what a model tells `surewood.certify`
"""

from .betting import betting_lower_limit, betting_upper_limit
from .cascade import (
    cascade_complexity,
    cascade_depths,
    cascade_ensemble_term,
    cascade_family_count,
    cascade_leaf,
    cascade_theorem,
)
from .cascade_selection import (
    cascade_completion_bound,
    cascade_criterion,
    cascade_criterion_counts,
    cascade_is_inert,
)
from .certificates import (
    binary_kl,
    binomial_tail_inverse,
    clopper_pearson,
    compression_bound,
    kl_inverse,
    kl_inverse_lower,
    svm_tree_log_codes,
)
from .complexity import (
    counting_rademacher,
    leaf_log_growth,
    log_growth,
    massart,
    path_rademacher,
    product_rademacher,
    split_log_growth,
    vc_dimension,
    vc_rademacher,
)
from .composite import (
    composite_complexity,
    composite_ensemble_term,
    composite_family_count,
    composite_theorem,
)
from .composite_selection import (
    composite_criterion,
    composite_criterion_counts,
    largest_active_gamma,
    select_degrees,
)
from .condition import Condition
from .cross_fitting import cross_fit_bound
from .entry import AT_LEAST, AT_MOST, Entry, Withheld
from .evidence import EstimateEvidence, Evidence, HeuristicEvidence, OffersEvidence
from .guarantee import Method, issue_guarantee
from .leaf_evidence import CascadeEvidence, ForestEvidence, TreeEvidence
from .ledger import LeafLedger, cascade_ledger, composite_ledger, path_in_words
from .margin import (
    effective_sample_size,
    margin_loss,
    margin_ratio,
    margin_weights,
    margins,
    scatter_ratio,
    summed_margins,
)
from .margin_step import effective_alphas, margin_of_sum_step, margin_step, simplex_step, step_objective
from .margin_theorem import (
    MarginTheorem,
    log_forest_count,
    log_mixture_count,
    log_tree_count,
    margin_gap,
    margin_theorem,
)
from .monitoring import ErrorEvidence, ShiftEvidence, error_sequence
from .pac_bayes import (
    OutOfBag,
    Posterior,
    Tandem,
    lambda_form,
    optimise_posterior,
    out_of_bag_errors,
    pac_bayes_bound,
    pac_bayes_lambda_bound,
    pac_bayes_tandem_bound,
    posterior_kl,
    tandem_losses,
)
from .point_evidence import CompressionEvidence, CrossFitEvidence, VoteEvidence
from .prediction_sets import marginal_rank, pac_rank, set_threshold
from .rademacher import (
    MonteCarlo,
    exact_rademacher,
    interval_rademacher,
    kernel_rademacher,
    linear_rademacher,
    monte_carlo_rademacher,
    sparse_linear_rademacher,
    threshold_rademacher,
)
from .rates import (
    GroupLimits,
    balanced_accuracy_limit,
    clopper_pearson_lower,
    error_limit,
    f1_limit,
    worst_group_limit,
)
from .real_bounds import real_cascade_bound, real_composite_bound
from .real_leaves import (
    RealLeaf,
    RealLeaves,
    real_leaf_term,
    real_leaf_terms,
    smallest_margins,
    switched_on_leaves,
)
from .risk_bound import LeafTheorem, RiskBound, active_leaves, l_term, leaf_terms
from .rows_needed import rows_needed
from .sample_facts import has_too_many_copies, is_unweighted, probe_points, rebuilt_alike
from .statistics import McNemar, TTest, average_ranks, corrected_paired_t_test, mcnemar_test, paired_t_test
from .status import Status
from .thresholds import first_threshold, fixed_sequence_choice, threshold_grid
from .two_models import ErrorDifference, error_difference

__all__ = [
    "AT_LEAST",
    "AT_MOST",
    "CascadeEvidence",
    "CompressionEvidence",
    "Condition",
    "CrossFitEvidence",
    "Entry",
    "ErrorDifference",
    "ErrorEvidence",
    "EstimateEvidence",
    "Evidence",
    "ForestEvidence",
    "GroupLimits",
    "HeuristicEvidence",
    "LeafLedger",
    "LeafTheorem",
    "MarginTheorem",
    "McNemar",
    "Method",
    "MonteCarlo",
    "OffersEvidence",
    "OutOfBag",
    "Posterior",
    "RealLeaf",
    "RealLeaves",
    "RiskBound",
    "ShiftEvidence",
    "Status",
    "TTest",
    "Tandem",
    "TreeEvidence",
    "VoteEvidence",
    "Withheld",
    "active_leaves",
    "average_ranks",
    "balanced_accuracy_limit",
    "betting_lower_limit",
    "betting_upper_limit",
    "binary_kl",
    "binomial_tail_inverse",
    "cascade_completion_bound",
    "cascade_complexity",
    "cascade_criterion",
    "cascade_criterion_counts",
    "cascade_depths",
    "cascade_ensemble_term",
    "cascade_family_count",
    "cascade_is_inert",
    "cascade_leaf",
    "cascade_ledger",
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
    "counting_rademacher",
    "cross_fit_bound",
    "effective_alphas",
    "effective_sample_size",
    "error_difference",
    "error_limit",
    "error_sequence",
    "exact_rademacher",
    "f1_limit",
    "first_threshold",
    "fixed_sequence_choice",
    "has_too_many_copies",
    "interval_rademacher",
    "is_unweighted",
    "issue_guarantee",
    "kernel_rademacher",
    "kl_inverse",
    "kl_inverse_lower",
    "l_term",
    "lambda_form",
    "largest_active_gamma",
    "leaf_log_growth",
    "leaf_terms",
    "linear_rademacher",
    "log_forest_count",
    "log_growth",
    "log_mixture_count",
    "log_tree_count",
    "margin_gap",
    "margin_loss",
    "margin_of_sum_step",
    "margin_ratio",
    "margin_step",
    "margin_theorem",
    "margin_weights",
    "marginal_rank",
    "margins",
    "massart",
    "mcnemar_test",
    "monte_carlo_rademacher",
    "optimise_posterior",
    "out_of_bag_errors",
    "pac_bayes_bound",
    "pac_bayes_lambda_bound",
    "pac_bayes_tandem_bound",
    "pac_rank",
    "paired_t_test",
    "path_in_words",
    "path_rademacher",
    "posterior_kl",
    "probe_points",
    "product_rademacher",
    "real_cascade_bound",
    "real_composite_bound",
    "real_leaf_term",
    "real_leaf_terms",
    "rebuilt_alike",
    "rows_needed",
    "scatter_ratio",
    "select_degrees",
    "set_threshold",
    "simplex_step",
    "smallest_margins",
    "sparse_linear_rademacher",
    "split_log_growth",
    "step_objective",
    "summed_margins",
    "svm_tree_log_codes",
    "switched_on_leaves",
    "tandem_losses",
    "threshold_grid",
    "threshold_rademacher",
    "vc_dimension",
    "vc_rademacher",
    "worst_group_limit",
]

#: Types of this package that a model file may hold.
SAVED_TYPES = (
    "surewood.bounds.pac_bayes.OutOfBag",
    "surewood.bounds.pac_bayes.Tandem",
    "surewood.bounds.point_evidence.VoteEvidence",
)
