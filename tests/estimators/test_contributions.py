"""The result object: tables, the columns that matter most, text, and a class that is absent."""

import numpy as np
import pytest

from surewood.estimators.contributions import Contributions, class_position, group_positions


def example(method="sampled"):
    values = np.zeros((2, 3, 2))
    values[0, :, 1] = [0.2, -0.3, 0.0]
    values[:, :, 0] = -values[:, :, 1]
    cells = [[1.5, "clerk", None], [2.5, None, 7]]
    columns = ["age", "job", "born"]
    return Contributions(
        values, np.array([0.3, 0.7]), values**2, columns, np.array(["no", "yes"]), cells, method
    )


def test_top_columns_of_the_predicted_class_come_with_value_sign_and_error():
    top = example().top(0)
    assert [(one["column"], one["value"], round(one["contribution"], 2)) for one in top] == [
        ("job", "clerk", -0.3),
        ("age", 1.5, 0.2),
    ]
    assert top[0]["standard_error"] == pytest.approx(0.09)
    assert [one["contribution"] for one in example().top(0, "no")] == [0.3, -0.2]
    assert example().top(1) == []
    assert len(example().top(0, limit=1)) == 1


def test_predictions_and_tables_by_class():
    found = example()
    np.testing.assert_allclose(found.predictions, [[0.4, 0.6], [0.3, 0.7]])
    assert found.of("yes").columns.tolist() == ["age", "job", "born"]
    assert len(found) == 2


def test_a_class_that_is_not_there_is_one_sentence():
    with pytest.raises(ValueError, match=r"^there is no class 'maybe'; the model's classes are no, yes\.$"):
        example().of("maybe")
    assert class_position(np.array([3, 5]), 5) == 1
    with pytest.raises(ValueError, match=r"are 0, 1, 2, 3, 4, 5, 6, 7, \.\.\.\.$"):
        class_position(np.arange(20), 30)


def test_the_text_names_columns_values_and_points():
    text = repr(example())
    assert "row 0: yes 60.0 %, mean 70.0 %; job = clerk: -30.0 points, age = 1.5: +20.0 points" in text
    assert text.startswith("Contributions of 3 columns to the probabilities of 2 classes, 2 rows, sampled")


def test_groups_name_columns_of_the_table_once():
    names, positions = group_positions(["a", "b", "c"], {"bc": ["b", "c"]})
    assert (names, positions) == (["a", "bc"], [[0], [1, 2]])
    assert group_positions(["a"], None) == (["a"], [[0]])
    with pytest.raises(ValueError, match="groups names a column 'd' that the table does not have"):
        group_positions(["a"], {"x": ["d"]})
    with pytest.raises(ValueError, match="groups names the column 'a' twice"):
        group_positions(["a"], {"x": ["a"], "y": ["a"]})


def test_because_names_the_rest_and_sums_up():
    because = example().because(0, limit=1)
    assert [one["column"] for one in because["columns"]] == ["job"]
    assert (because["label"], because["n_others"], because["method"]) == ("yes", 2, "sampled")
    total = because["expected"] + because["others"] + sum(one["contribution"] for one in because["columns"])
    assert total == pytest.approx(because["probability"])
    assert example().because(0, "no")["expected"] == pytest.approx(0.3)
    assert example().because(1)["columns"] == []
