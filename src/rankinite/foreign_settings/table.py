"""Table: the settings of other libraries, each with its name here."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from rankinite.foreign_settings import remedies

LIBRARIES = ("LightGBM", "XGBoost", "CatBoost", "others")
"""The columns of the table; the last are names of scikit-learn and RankLib, and such that people type."""


@dataclass(frozen=True, kw_only=True)
class ForeignSetting:
    """What other libraries call one thing."""

    ours: tuple[str, ...] = ()
    """Its names here, of which the first counts that a verb or a learner has; none where there is no such setting."""
    lightgbm: str = ""
    """Its names in LightGBM, with spaces between them; so for the others."""
    xgboost: str = ""
    catboost: str = ""
    others: str = ""
    note: str = ""
    """What to know besides, as a sentence; all there is to say where there is no such setting."""
    remedy: Callable[[str, str], str] = remedies.same
    """What to do, from our name and the value."""
    python: str | Callable[[str], str] = ""
    """What to do in Python, perhaps from the value, where it is no setting of a learner."""

    @property
    def by_library(self) -> tuple[tuple[str, ...], ...]:
        """Its names in each of ``LIBRARIES``."""
        return tuple(tuple(names.split()) for names in (self.lightgbm, self.xgboost, self.catboost, self.others))


FOREIGN_SETTINGS = (
    ForeignSetting(
        ours=("rate",),
        lightgbm="learning_rate shrinkage_rate",
        xgboost="learning_rate eta",
        catboost="learning_rate",
        others="learning_rate learning_rate_init shrinkage lr",
    ),
    ForeignSetting(
        ours=("trees", "rounds", "epochs"),
        lightgbm="n_estimators num_iterations num_trees num_boost_round num_rounds",
        xgboost="n_estimators num_boost_round",
        catboost="iterations n_estimators num_trees",
        others="n_estimators max_iter n_trees num_round tree_count",
    ),
    ForeignSetting(
        ours=("leaves",),
        lightgbm="num_leaves max_leaves",
        xgboost="max_leaves",
        catboost="max_leaves num_leaves",
        others="max_leaf_nodes n_leaves",
        note="Symmetric trees, LambdaMART's default, have as many leaves as the largest power of two that fits.",
    ),
    ForeignSetting(
        ours=("depth",),
        lightgbm="max_depth",
        xgboost="max_depth",
        catboost="max_depth",
        others="max_depth",
        remedy=remedies.depth,
    ),
    ForeignSetting(
        ours=("patience",),
        lightgbm="early_stopping_rounds early_stopping_round",
        xgboost="early_stopping_rounds",
        catboost="early_stopping_rounds od_wait",
        others="n_iter_no_change",
        note="It counts where there are validation data.",
    ),
    ForeignSetting(
        ours=("min_rows",),
        lightgbm="min_data_in_leaf min_child_samples",
        catboost="min_data_in_leaf min_child_samples",
        others="min_samples_leaf min_data",
    ),
    ForeignSetting(
        ours=("min_curvature",),
        lightgbm="min_sum_hessian_in_leaf min_child_weight",
        xgboost="min_child_weight",
        note="Curvatures may be on another scale here; try several values.",
    ),
    ForeignSetting(
        ours=("l2",),
        lightgbm="lambda_l2 reg_lambda lambda",
        xgboost="reg_lambda lambda",
        catboost="l2_leaf_reg reg_lambda",
        others="l2_regularization weight_decay",
    ),
    ForeignSetting(
        lightgbm="lambda_l1 reg_alpha",
        xgboost="reg_alpha alpha",
        others="l1",
        note="There is no L1 penalty here; `l2`, `min_rows` and `min_curvature` hold leaves back.",
    ),
    ForeignSetting(
        lightgbm="min_gain_to_split min_split_gain",
        xgboost="gamma min_split_loss",
        others="min_impurity_decrease",
        note="No least gain is asked of a split here; `min_rows` and `min_curvature` hold splits back.",
    ),
    ForeignSetting(ours=("feature_share",), lightgbm="feature_fraction colsample_bytree", xgboost="colsample_bytree"),
    ForeignSetting(
        ours=("node_feature_share",),
        lightgbm="feature_fraction_bynode colsample_bynode",
        xgboost="colsample_bynode colsample_bylevel",
        catboost="rsm colsample_bylevel",
        others="max_features",
    ),
    ForeignSetting(
        ours=("row_share",),
        lightgbm="bagging_fraction subsample",
        xgboost="subsample",
        catboost="subsample",
        others="subsample",
    ),
    ForeignSetting(
        lightgbm="bagging_freq subsample_freq",
        note="Rows are drawn anew for every tree here: `row_share` says how many.",
    ),
    ForeignSetting(
        ours=("query_share",),
        lightgbm="bagging_by_query",
        remedy=remedies.no_value,
        note="The share of the queries that is drawn for each tree.",
    ),
    ForeignSetting(ours=("bins",), lightgbm="max_bin", xgboost="max_bin", catboost="border_count max_bin", others="max_bins"),
    ForeignSetting(ours=("category_smooth",), lightgbm="cat_smooth"),
    ForeignSetting(ours=("category_rows",), lightgbm="min_data_per_group"),
    ForeignSetting(ours=("bin_sample",), lightgbm="bin_construct_sample_cnt subsample_for_bin"),
    ForeignSetting(ours=("shape",), xgboost="grow_policy", catboost="grow_policy", remedy=remedies.shape),
    ForeignSetting(ours=("thresholds",), lightgbm="extra_trees", remedy=remedies.random_thresholds),
    ForeignSetting(
        ours=("monotone",),
        lightgbm="monotone_constraints",
        xgboost="monotone_constraints",
        catboost="monotone_constraints",
        others="monotonic_cst",
        remedy=remedies.signs,
    ),
    ForeignSetting(
        ours=("learner",),
        lightgbm="objective application",
        xgboost="objective",
        catboost="loss_function",
        others="ranker",
        remedy=remedies.goal,
        python=remedies.goal_in_python,
    ),
    ForeignSetting(
        ours=("measure",),
        lightgbm="metric",
        xgboost="eval_metric",
        catboost="eval_metric custom_metric",
        others="metrics scoring",
        note="It is trained for and watched; `watch` names another one to watch.",
    ),
    ForeignSetting(
        ours=("measure",),
        lightgbm="eval_at ndcg_eval_at",
        remedy=remedies.nothing,
        note="Cutoffs are part of a measure's name: give `measure='ndcg@10'`.",
    ),
    ForeignSetting(
        ours=("measure",),
        lightgbm="label_gain",
        remedy=remedies.gains,
        note="Gains are part of a measure's name: one per grade, from grade 0 on, with `/` between them.",
    ),
    ForeignSetting(
        ours=("truncation",),
        lightgbm="lambdarank_truncation_level",
        xgboost="lambdarank_num_pair_per_sample",
        others="max_position",
        remedy=remedies.no_value,
        note="LambdaMART already looks no further than `reach` times the measure's cutoff.",
    ),
    ForeignSetting(
        ours=("normalise",),
        lightgbm="lambdarank_norm",
        xgboost="lambdarank_normalization",
        others="normalize",
        remedy=remedies.flag,
    ),
    ForeignSetting(ours=("sigma",), lightgbm="sigmoid"),
    ForeignSetting(ours=("debias",), xgboost="lambdarank_unbiased", others="unbiased", remedy=remedies.pairwise),
    ForeignSetting(
        ours=("seed",),
        lightgbm="random_state random_seed bagging_seed feature_fraction_seed",
        xgboost="random_state",
        catboost="random_seed random_state",
        others="random_state",
    ),
    ForeignSetting(
        ours=("threads",),
        lightgbm="num_threads n_jobs nthread num_thread",
        xgboost="n_jobs nthread",
        catboost="thread_count",
        others="n_jobs jobs",
        remedy=remedies.threads,
        python="Train inside `with rk.threads(4)`; otherwise all cores are used",
    ),
    ForeignSetting(
        ours=("category",),
        lightgbm="categorical_feature categorical_features cat_feature",
        xgboost="enable_categorical",
        catboost="cat_features",
        others="categorical_features",
        remedy=remedies.no_value,
        note="It names features of whole numbers that are categories; columns of text are categories anyway.",
        python="Name categories when the data are read: rk.read(path, categories=['brand'])",
    ),
    ForeignSetting(
        ours=("base",),
        lightgbm="init_model input_model",
        xgboost="xgb_model",
        others="model_in",
        catboost="init_model",
        python="Give the ranker to fit: learner.fit(train, base=ranker)",
    ),
    ForeignSetting(
        ours=("valid",),
        lightgbm="valid_data valid_sets eval_set",
        xgboost="eval_set evals",
        catboost="eval_set",
        others="validation validation_data validate",
        python="Give the validation data to fit: learner.fit(train, valid)",
    ),
    ForeignSetting(
        ours=("out",),
        lightgbm="output_model",
        others="output save model_out model_file output_file",
        python="Save the ranker when it is trained: ranker.save('web.rankinite')",
    ),
    ForeignSetting(
        ours=("grades",),
        lightgbm="label_column label",
        others="labels label_col target_column relevance",
        python="Name the column of grades when the data are read: rk.read(path, grades='label')",
    ),
    ForeignSetting(
        ours=("qid",),
        lightgbm="group_column query_column",
        catboost="group_id",
        others="query_id qid_column query_col group_col",
        python="Name the column of queries when the data are read: rk.read(path, qid='query')",
    ),
    ForeignSetting(
        ours=("ignore",),
        lightgbm="ignore_column ignore_feature",
        catboost="ignored_features",
        others="drop drop_columns",
        python="Name columns to leave out when the data are read: rk.read(path, ignore=['url'])",
    ),
    ForeignSetting(
        lightgbm="verbosity",
        xgboost="verbosity",
        catboost="logging_level silent",
        note="Training prints nothing in Python, and progress at the command line, where --quiet and --verbose change that.",
    ),
    ForeignSetting(
        lightgbm="boosting boosting_type",
        xgboost="booster",
        catboost="boosting_type",
        note="There is one kind of boosting here, gradient boosted trees; there is no DART and no GOSS.",
    ),
    ForeignSetting(
        lightgbm="device device_type",
        xgboost="device tree_method",
        catboost="task_type devices",
        note="Trees are trained on the processor, by histograms; there is nothing to choose.",
    ),
    ForeignSetting(ours=("folds",), lightgbm="nfold", xgboost="nfold", catboost="fold_count", others="cv n_splits"),
    ForeignSetting(ours=("trials",), others="n_trials n_iter"),
    ForeignSetting(ours=("hidden",), others="hidden_layer_sizes hidden_units layers"),
    ForeignSetting(ours=("optimiser",), others="optimizer solver"),
    ForeignSetting(ours=("epochs",), others="num_epochs n_epochs epoch"),
)
BY_NAME = {name: one for one in FOREIGN_SETTINGS for names in one.by_library for name in names}
"""Foreign name → what it is."""
