"""From a table to a model, a certificate and files, in Python."""

import dataclasses
import json

import numpy as np
import pytest

import surewood
from surewood import workflow
from surewood.tables import TablePlan, preparing
from surewood.workflow import columns
from surewood.workflow.columns import read_plan_file
from tests.workflow.conftest import SMALL


def test_fit_gives_model_certificate_and_paths(fitted, table):
    assert fitted.family == "mddf"
    assert fitted.choice is None
    assert fitted.certificate.best.status.name == "GUARANTEE"
    assert fitted.certificate.best.value > fitted.error
    assert fitted.facts["rows"] + fitted.facts["holdout_rows"] == 120
    assert fitted.facts["members"] == []  # a single classifier
    assert sorted(fitted.files) == ["card", "data", "model", "page", "plan"]
    again = surewood.load(fitted.files["model"])
    frame = workflow.labelled_table.read_rows(str(table)).frame
    assert again.predict(frame).tolist() == fitted.model.predict(frame).tolist()
    summary = json.loads(fitted.files["data"].read_text(encoding="utf-8"))
    assert summary["scores"]["error"] == pytest.approx(fitted.error)
    assert summary["run"]["command"] is None


def test_members_of_a_mixture_are_told(table):
    options = {"members": ["random_forest", "extra_trees"], "n_estimators": 2}
    found = workflow.fit(table, target="treu?", model="surewood", parameters=options, n_jobs=1)
    told = found.facts["members"]
    assert sorted(one["name"] for one in told) == ["extra_trees", "random_forest"]
    assert sum(one["weight"] for one in told) == pytest.approx(1.0)
    assert json.loads(json.dumps(told)) == told


def test_results_cannot_be_changed(fitted):
    with pytest.raises(dataclasses.FrozenInstanceError):
        fitted.family = "rcf"


def test_without_a_folder_nothing_is_written(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    found = workflow.fit("iris", model="mddf", parameters=SMALL, n_jobs=1, holdout=0)
    assert found.files == {}
    assert list(tmp_path.iterdir()) == []
    assert (found.error, found.facts["holdout"]) == (None, None)
    assert not any(entry.status.name == "GUARANTEE" for entry in found.certificate.entries)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"model": "svm"}, r"^model='svm' is unknown; choose among surewood, rcf, cascade, mddf, auto\.$"),
        ({"n_jobs": 0}, r"^n_jobs=0 is not possible; -1 means all cores\.$"),
        ({"model": "mddf", "parameters": {"n_estimator": 3}}, r"^parameters=n_estimator: mddf has no such"),
        (
            {"model": "auto", "parameters": {"n_estimator": 3}},
            r"^parameters=n_estimator: no family has such a parameter; did",
        ),
        (
            {"holdout": 2.0},
            r"^holdout=2\.0 is not a fraction of the rows; it must be at least 0 and less than 1\.$",
        ),
        ({"holdout": -0.1}, r"^holdout=-0\.1 is not a fraction of the rows"),
        ({"holdout": float("nan")}, r"^holdout=nan is not a fraction of the rows"),
        ({"holdout": True}, r"^holdout=True is not a fraction of the rows"),
        ({"holdout": "0.2"}, r"^holdout=0\.2 is not a fraction of the rows"),
        ({"holdout": 0.001}, r"^holdout=0\.001 of 150 rows is less than one row; take more, or 0\.$"),
        ({"out": __file__}, r"^out=.*test_fitting\.py is a file; name a folder\.$"),
        ({"cluster": "scheduler"}, r"^cluster=scheduler: the address of a Dask scheduler is"),
    ],
)
def test_what_cannot_be_done_is_one_sentence(arguments, sentence):
    with pytest.raises(workflow.WorkflowError, match=sentence):
        workflow.fit("iris", **arguments)


def test_the_default_folder_is_named_after_the_table():
    assert workflow.fitting.default_folder("x/churn.parquet").name == "surewood-churn"


@pytest.fixture(scope="module")
def shop(tmp_path_factory):
    """A table with an identifier, codes, thousands marks, weights, and a class of one row."""
    rng = np.random.default_rng(0)
    spent = rng.integers(500, 90_000, 80)
    lines = ["id,spent,zip,weight,rating,label"]
    for k, value in enumerate(spent):
        label = "rare" if k == 7 else "high " if value > 40_000 else "low"
        lines.append(f'C{k:03},"{value:,}",{10000 + k % 5},{1 + k % 3},{k % 4 + 0.5},{label}')
    path = tmp_path_factory.mktemp("shop") / "shop.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


def fit_shop(shop, **options):
    return workflow.fit(shop, "label", model="mddf", parameters=SMALL, n_jobs=1, **options)


def test_options_about_columns_weights_and_rare_classes(shop, tmp_path):
    columns = workflow.ColumnOptions(identifiers=("id",), categorical=("zip",))
    found = fit_shop(shop, columns=columns, weight="weight", class_weight="high=2,low=1", out=tmp_path)
    plan = found.model[0].plan_
    assert {column.name: column.kind for column in plan.columns} == {
        "id": "drop",
        "spent": "number",
        "zip": "category",
        "rating": "number",
    }
    assert plan["spent"].thousands == ","
    assert found.model[-1].class_weight == {"high": 2.0, "low": 1.0}
    assert found.facts["classes"] == ["high", "low"]
    assert "class 'rare' has one row, which was dropped (rare=keep keeps it)." in found.notes
    assert any(
        note.endswith("labels of 'label' had white space around them, which was removed.")
        for note in found.notes
    )
    predicted = workflow.predict(tmp_path, shop).frame
    assert predicted.columns.tolist() == ["line", "id", "prediction", "probability"]
    assert predicted.iloc[3].tolist()[:2] == [5, "C003"]


def test_columns_are_counted_alike_and_rows_named_by_their_lines(shop, tmp_path):
    columns = workflow.ColumnOptions(identifiers=("id",))
    found = fit_shop(shop, columns=columns, out=tmp_path)
    page = json.loads(found.files["data"].read_text(encoding="utf-8"))
    assert page["data"]["n_columns"] == found.facts["columns"] == len(found.model[0].plan_.used) == 4
    lines = shop.read_text().splitlines()
    for row in page["hardest"]["rows"]:
        line, name = row["row"].removeprefix("line ").split(", ")
        assert lines[int(line) - 1].startswith(name)


def test_an_edited_plan_is_obeyed(shop, tmp_path):
    fit_shop(shop, out=tmp_path)
    plan = workflow.plan_table(shop, "label")
    assert plan["zip"].kind == "number"
    text = (tmp_path / "plan.toml").read_text(encoding="utf-8")
    assert TablePlan.from_toml(text) == plan
    edited = text.replace('[columns."zip"]\nkind = "number"', '[columns."zip"]\nkind = "category"')
    (tmp_path / "edited.toml").write_text(edited, encoding="utf-8")
    given = workflow.ColumnOptions(plan=read_plan_file(tmp_path / "edited.toml"))
    zip_code = fit_shop(shop, columns=given).model[0].plan_["zip"]
    assert (zip_code.kind, zip_code.categories) == ("category", ("10000", "10001", "10002", "10003", "10004"))


@pytest.mark.parametrize("rare", ["merge", "keep"])
def test_a_class_of_one_row_does_not_stop_a_fit(shop, rare):
    found = fit_shop(shop, rare=rare)
    assert ("rare" in found.facts["classes"]) == (rare == "keep")


def test_the_model_of_another_table_is_not_overwritten(shop, tmp_path):
    out = tmp_path / "model"
    fit_shop(shop, out=out)
    fit_shop(shop, out=out)
    other = tmp_path / "other.csv"
    other.write_text(shop.read_text())
    with pytest.raises(workflow.WorkflowError) as refused:
        fit_shop(other, out=out)
    assert str(refused.value) == (
        f"out={out} holds the model of {shop}, target 'label'; name another folder, or give force=True to "
        "replace it."
    )
    with pytest.raises(ValueError, match="has no column 'lable'; did you mean 'label'"):
        workflow.fit(shop, "lable", model="mddf", out=out)
    fit_shop(other, out=out, force=True)
    assert workflow.open_model(out).facts["table"] == str(other)


def test_the_columns_are_planned_once(table, monkeypatch):
    calls = []
    for module in (columns, preparing):
        plan = module.plan
        monkeypatch.setattr(
            module,
            "plan",
            lambda *tables, _plan=plan, **options: (calls.append(1), _plan(*tables, **options))[1],
        )
    workflow.fit(table, target="treu?", model="mddf", parameters=SMALL, n_jobs=1)
    assert len(calls) == 1
