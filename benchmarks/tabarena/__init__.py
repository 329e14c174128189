"""surewood in TabArena (https://tabarena.ai): the classes it asks for; README.md says how to submit."""
