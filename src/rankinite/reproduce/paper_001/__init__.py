"""Paper 001, Model adaptation via model interpolation and boosting for web search ranking: Tables 3 to 12 and Figure 4."""
