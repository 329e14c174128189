"""Property tests are about values, not about how busy the machine is: no deadline an example."""

from hypothesis import settings

settings.register_profile("surewood", deadline=None)
settings.load_profile("surewood")
