"""The three papers: their protocols, published numbers, our records, and the tables made from them.

``python -m papers rcf --profile quick`` runs one; ``make papers`` writes the tables of the documentation.

* :mod:`papers.protocol`: profiles, units of work, seeds; what a paper has to provide;
* :mod:`papers.runner`: runs what is not done yet; :mod:`papers.records` keeps the results;
* :mod:`papers.comparison`: means, tests, ranks; :mod:`papers.output`: summaries as text and pages;
* :mod:`papers.pages`: tables in the documentation;
* :mod:`papers.datasets`, :mod:`papers.published_files`: the data;
* :mod:`papers.rcf`, :mod:`papers.cascades`, :mod:`papers.mddf`: the papers, with their records.
"""
