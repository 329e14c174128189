"""Evidence as the tests of several packages state it."""

#: A tree for which the guarantee's conditions hold.
IN_FORCE = {"one_hot": True, "whole_sample": True, "unweighted": True, "affine_features": True}


def tree_fields(**change):
    """Fields of a tree of two leaves for which the guarantee's conditions hold."""
    fields = {
        "correct": [50, 40],
        "errors": [5, 5],
        "depth": [1, 1],
        "degree": [1, 2],
        "n_classes": 3,
        "n_features": 4,
        "n_split_features": 4,
        "max_features": 2,
        "n_degrees": 3,
        "max_depth": 2,
    }
    return fields | IN_FORCE | change
