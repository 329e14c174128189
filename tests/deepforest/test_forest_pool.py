from surewood.deepforest.forest_pool import forests_of, places_of, pool_of
from surewood.deepforest.members import AUTO_BLOCKS, parse_members
from surewood.deepforest.plan import MarginPlan


def test_the_pool_has_every_block_and_no_more():
    plans = [MarginPlan(members=parse_members(block, 4), schedule=(8,) * 4) for block in AUTO_BLOCKS]
    blocks = [forests_of(plan) for plan in plans]
    pool = pool_of(blocks)
    assert len(pool) == 8
    for block in blocks:
        places = places_of(block, pool)
        assert len(set(places)) == 4
        assert [pool[place] for place in places] == block
