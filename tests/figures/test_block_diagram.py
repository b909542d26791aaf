"""The schematic of chapter 11 puts the norms where each order has them."""

from figures.diagrams.block import two_orders


def test_both_orders_have_two_norms_two_additions_and_both_sublayers():
    svg = two_orders().svg
    assert svg.count(">norm<") == 4
    assert svg.count(">+<") == 4
    assert svg.count(">attention<") == 2
    assert svg.count(">feed-forward<") == 2


def test_the_words_say_where_the_norms_stand():
    figure = two_orders()
    assert "through a norm and attention" in figure.alt
    assert "two norms stand on the residual stream itself" in figure.alt
