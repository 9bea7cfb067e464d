"""What names of columns suggest, and what they do not."""

from __future__ import annotations

import pytest

from rankinite.data.io.column_names import holds_query_text, meaning_of, query_columns

MEANT = {
    "query": "query_uuid queryId QUERY-ID qid session_id search_id request_no srch_key impression_id group topic",
    "document": "doc_id docid docno product_id productId ASIN url sku item_no hotel_id page_hash",
    "id": "id user_id UserID userid row_id row rownum row_number index key device_uuid",
    "category": "brand_id category_id prop_country_id srch_destination_id",
    "position": "position rank pos display_position click_rank result_position hotel_position slot",
    "reaction": "click clicks clicked num_clicks click_bool is_clicked impressions impression_count purchased booking_bool",
}
FEATURES = (
    "bm25 doc_length document_length query_length url_length url_depth tf_idf pagerank page_rank bm25_rank product_rank "
    "sales_rank first_position ctr clicks_30d group_size search_count number_of_products num_product price rating paid valid "
    "hybrid grid bid number code no hash listing title is_new age 1 2 46 x1 f0 Column_3"
)


@pytest.mark.parametrize(("meaning", "name"), [(meaning, name) for meaning, names in MEANT.items() for name in names.split()])
def test_names_of_what_is_no_feature(meaning, name):
    assert meaning_of(name) == meaning


@pytest.mark.parametrize("name", [*FEATURES.split(), "", "_", "Länge"])
def test_names_of_features_say_nothing(name):
    assert meaning_of(name) is None


def test_the_likeliest_query_comes_first():
    columns = ["query_text", "group", "session_id", "title", "search_id", "query_length"]
    assert query_columns(columns, {"query_text", "title"}) == ["search_id", "group", "session_id", "query_text"]
    assert holds_query_text("Search Term")
    assert not holds_query_text("text")
