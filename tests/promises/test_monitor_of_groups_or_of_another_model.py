"""§11.6: certificates about groups, few rows of many values, a model fitted again: no alarm rests on them."""

import numpy as np
import pandas as pd
import pytest
from sklearn.neighbors import KNeighborsClassifier

from surewood import workflow
from surewood.bounds import betting_upper_limit
from surewood.certify import certify
from surewood.monitor import Monitor, MonitorStateError
from surewood.workflow import WorkflowError
from tests.promises.population import draw, memorising_forest
from tests.promises.tables import fit, frame, write

GROUPS = "rows of one group are not independent"


def test_rows_of_one_group_are_not_watched_as_independent_rows():
    model = memorising_forest(*draw(300, 0))
    X, y = draw(300, 1)
    certificate = certify(model, X, y, groups=np.arange(300) // 5)
    with pytest.raises(ValueError, match=GROUPS):
        Monitor(certificate, model=model)


def test_what_is_refused_would_give_false_alarms():
    """Every group is right or wrong as a whole; allowed are alpha and the delta of the certificate."""
    rng = np.random.default_rng(0)
    rows, one_each = np.zeros((2, 100), dtype=bool)
    for draws in range(100):
        limit = betting_upper_limit((rng.random(60) < 0.2).astype(float), delta=0.05)
        wrong = rng.random(300) < 0.2
        rows[draws] = Monitor(limit).add(errors=np.repeat(wrong, 10)).error_alarm
        one_each[draws] = Monitor(limit).add(errors=wrong).error_alarm
    assert rows.mean() > 0.2
    assert one_each.mean() < 0.1


def test_the_monitor_command_asks_for_one_row_per_group(tmp_path):
    table = frame(300, 0).assign(patient=np.arange(300) // 5)
    fit(write(table, tmp_path / "visits.csv"), groups="patient", out=tmp_path / "visits")
    new = write(frame(60, 1), tmp_path / "new.csv")
    with pytest.raises(WorkflowError, match=f"{GROUPS}.*Then give limit=0"):
        workflow.monitor(tmp_path / "visits", new)
    found = workflow.monitor(tmp_path / "visits", new, limit=0.01)
    assert any(GROUPS in note for note in found.notes)
    assert found.verdict == "ALARM: the error is above the limit of 1 %."


def whole_numbers(n, seed):
    """Incomes: integers, of which a few rows have a few."""
    X, y = draw(n, seed)
    return pd.DataFrame(np.round(1e4 * X).astype(int), columns=list("abcd")), y


@pytest.mark.parametrize("first", [1, 20])
def test_a_few_rows_of_integers_are_no_discrete_table(first):
    """Counted as discrete, every row of the growing file would count again each month."""
    model = memorising_forest(*whole_numbers(300, 0))
    X, y = whole_numbers(60, 1)
    monitor = Monitor(0.4, model=model)
    for end in (first, first + 10, 60):
        look = monitor.update(X[:end], y[:end])
        assert look.n_labelled == end
    assert monitor.state.copies == "exclude"


def test_a_first_batch_that_tells_nothing_about_another_library_is_not_guessed_at():
    X, y = whole_numbers(60, 1)
    model = KNeighborsClassifier(1).fit(*whole_numbers(300, 0))
    with pytest.raises(ValueError, match="too few rows to tell whether equal rows are different rows"):
        Monitor(0.4, model=model).update(X[:10], y[:10])
    assert Monitor(0.4, model=model, copies="exclude").update(X[:10], y[:10]).n_labelled == 10


def test_one_row_at_a_time_of_a_discrete_table():
    rng = np.random.default_rng(3)
    X, y = rng.integers(0, 2, (400, 3)), rng.integers(0, 2, 400)
    monitor = Monitor(0.6, model=memorising_forest(X[:300], y[:300]))
    for row in range(300, 303):
        monitor.update(X[row : row + 1], y[row : row + 1])
    assert monitor.state.copies == "natural"


def test_a_model_that_was_fitted_again(tmp_path):
    model = memorising_forest(*draw(300, 0))
    monitor = Monitor(0.4, model=model)
    monitor.update(*draw(60, 1))
    state = monitor.save(tmp_path / "state.json")
    model.fit(*draw(30, 5))
    with pytest.raises(ValueError, match="the model was changed or fitted again since the monitor began"):
        monitor.update(*draw(60, 2))
    with pytest.raises(MonitorStateError, match="is the state of another model"):
        Monitor.load(state, model=model)
    assert Monitor.load(state, model=memorising_forest(*draw(300, 0))).update(*draw(60, 2)).n_labelled == 120


def test_another_model_in_its_place():
    monitor = Monitor(0.4, model=memorising_forest(*draw(300, 0)))
    monitor.update(*draw(60, 1))
    monitor.model = memorising_forest(*draw(300, 4))
    with pytest.raises(ValueError, match="the model was changed or fitted again since the monitor began"):
        monitor.update(*draw(60, 2))
