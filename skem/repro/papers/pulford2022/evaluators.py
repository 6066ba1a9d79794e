"""The registry of evaluators of Pulford (2022), and the claims that are verified analytically."""

from skem.repro.ledger.evaluators import Evaluators

VERIFIED = {
    "abstract.complexity_r2": "tests/test_metrics.py::test_operations_fall_with_the_square_of_the_blocks",
    "sec4.complexity_r2": "tests/test_metrics.py::test_operations_fall_with_the_square_of_the_blocks",
    "sec1.cubic_complexity": "tests/test_metrics.py::test_operations_fall_with_the_square_of_the_blocks",
    "sec2-2.skem_operations": "tests/test_metrics.py::test_operation_count",
    "sec2-2.skem_order": "tests/test_metrics.py::test_operation_count; with one factorisation per component it is M^2 per sample",
    "sec2-3.pskem_order": "tests/test_metrics.py::test_operation_count",
    "abstract.exact_if_independent": "tests/estimators/test_theory.py::test_a_product_of_mixtures_is_a_mixture",
    "sec4.exact_if_independent": "tests/estimators/test_theory.py::test_a_product_of_mixtures_is_a_mixture",
    "sec2-3.factorisation": "tests/engine/test_engine.py::test_blocks_multiply",
    "sec1.underflow_at_high_dim": "tests/estimators/test_theory.py::test_a_density_of_many_features_underflows; not an issue for logarithms",
    "sec2-2.normalisation": "tests/estimators/test_theory.py::test_weights_and_responsibilities_sum_to_one",
    "sec2-2.n_terms": "tests/estimators/test_theory.py::test_the_expectation_over_all_assignments",
    "sec2-2.q_function": "tests/estimators/test_theory.py::test_the_expectation_over_all_assignments",
    "appendix_a.n_terms_binary": "tests/estimators/test_theory.py::test_the_expectation_over_all_assignments",
    "appendix_a.categorical_q": "tests/estimators/test_theory.py::test_the_expectation_over_all_assignments",
    "sec2-2.m_step": "tests/estimators/test_theory.py::test_the_m_step_is_a_stationary_point",
    "sec2-2.same_as_titsias": "tests/estimators/test_prbf.py::test_lambda_one_is_skem",
    "sec2-2.pnn_special_case": "a remark about another paper's algorithm; the E-step it names is tests/engine/test_engine.py::test_passes_equal_the_reference",
    "sec2-2.mda_covariance": "tests/estimators/test_theory.py::test_the_covariance_of_mda_is_the_weighted_mean",
    "sec2-3.map_is_ml": "tests/estimators/test_estimators.py::test_class_prior_and_what_follows_from_it",
    "sec2-3.n_gaussians": "tests/estimators/test_theory.py::test_a_product_of_mixtures_is_a_mixture",
    "sec2-3.independent_iteration": "tests/engine/test_engine.py::test_each_block_starts_from_its_own_arrays",
    "appendix_b.direct_sum": "tests/estimators/test_theory.py::test_a_product_of_mixtures_is_a_mixture",
    "appendix_b.less_general": "tests/estimators/test_theory.py::test_a_product_of_mixtures_is_a_mixture",
}
"""Tests that verify claims analytically."""

EVALUATORS = Evaluators("pulford", verified=VERIFIED)
_THREADS = "tests/engine/test_engine.py::test_workers_and_seeds_leave_no_trace"
EVALUATORS.settles(
    "fails",
    {
        "sec3-3.skem_not_parallel": f"chunks of samples are independent: {_THREADS} has the same result from two threads"
    },
)
EVALUATORS.not_comparable(
    "times of compiled code on our machine, beside Matlab code on the machine of the paper",
    "table1.*.seconds_per_pass",
    "sec3-2.fashion_mnist.training_cost",
)
