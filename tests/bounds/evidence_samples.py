"""Evidence as the tests of several packages state it."""

#: A tree for which the guarantee's conditions hold.
IN_FORCE = {"one_hot": True, "whole_sample": True, "unweighted": True, "affine_features": True}
