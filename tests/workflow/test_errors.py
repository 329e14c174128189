"""The error of the workflow."""

from surewood import workflow


def test_it_is_a_value_error():
    assert issubclass(workflow.WorkflowError, ValueError)
