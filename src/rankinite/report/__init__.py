"""Reports: results as plain data first, and then as one HTML file that needs no network.

- :func:`of_choice`: of :func:`rankinite.adapt.choose`; :func:`of_comparison`: of :func:`rankinite.compare`;
  :func:`of_training`: of a ranker that was trained; :func:`of_ensemble`: of an ensemble and its members;
  :func:`of_tuning`: of :func:`rankinite.tune`; :func:`of_cross_validation`: of :func:`rankinite.cross_validate`;
  :func:`of_explanation`: of ``ranker.explain``. Each gives a :class:`Report`, which is plain data.
- :func:`write`: a report as an HTML file, with its data as JSON beside it.
- :func:`write_summary`: half a page of it for those who decide, as Markdown or HTML; :func:`summary`: the same as plain data.
"""

from rankinite.report.builders import of_choice, of_comparison, of_training
from rankinite.report.cross_validations import of_cross_validation
from rankinite.report.document import Report
from rankinite.report.ensembles import of_ensemble
from rankinite.report.explanations import of_explanation
from rankinite.report.html import page, write
from rankinite.report.summary import Summary, summary, write_summary
from rankinite.report.tunings import of_tuning

__all__ = [
    "Report",
    "Summary",
    "of_choice",
    "of_comparison",
    "of_cross_validation",
    "of_ensemble",
    "of_explanation",
    "of_training",
    "of_tuning",
    "page",
    "summary",
    "write",
    "write_summary",
]
