"""Regression trees: how features become codes, how trees are grown from these, and how rows walk down them.

Read in this order; a class and its loops stand in a pair of files, ``x.py`` and ``_x_kernels.py``:

- ``settings``: :class:`TreeSettings`, what trees should be like.
- ``bins``, ``_bin_kernels``: how a value becomes a code, of numbers and of categories, and how codes lie in memory.
- ``structure``: :class:`Trees`, any number of trees as flat arrays; which way a row goes at a node.
- ``growth``: :class:`Grower`, one tree after the other from codes, pushes and curvatures; adding them to scores. Its kernels,
  from the bottom up, import nothing but each other:

  - ``_state``: the records that all of them work on;
  - ``_split_kernels``: the gain of a cut, the best threshold, the best set of categories;
  - ``_row_kernels``: pushes as whole numbers, histograms, rows to the children, rows drawn;
  - ``_node_kernels``: a node's histogram and best cut, its value (the Newton step) and its children;
  - ``_growth_kernels``: leaf by leaf, or level by level; what a tree adds to the scores;
  - ``_member_growth_kernels``: the same where several members have some of the rows each.

- ``walk``, ``_walk_kernels``: rows down trees, which scoring, boosting and Trada share; categories as columns of numbers.
- ``contributions``, ``_contribution_kernels``: Shapley values of features.

Nothing here knows of queries, measures or models: ``learners`` gives pushes and curvatures, ``models`` holds the trees.
"""
