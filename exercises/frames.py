"""The two changes of a block and its two norms, in the right order and in wrong ones.

A frame takes the stream, attention, the feed-forward network and the two norms, all as functions.
"""


def pre_norm(x, attention, feed_forward, norm_1, norm_2):
    after_attention = x + attention(norm_1(x))
    return after_attention + feed_forward(norm_2(after_attention))


def post_norm(x, attention, feed_forward, norm_1, norm_2):
    x = norm_1(x + attention(x))
    return norm_2(x + feed_forward(x))


def pre_then_post(x, attention, feed_forward, norm_1, norm_2):
    x = x + attention(norm_1(x))
    return norm_2(x + feed_forward(x))


def post_then_pre(x, attention, feed_forward, norm_1, norm_2):
    x = norm_1(x + attention(x))
    return x + feed_forward(norm_2(x))


def norm_the_stream(first, second):
    """The stream passes through these norms, and goes on from there."""

    def answer(x, attention, feed_forward, norm_1, norm_2):
        read = norm_1(x)
        x = (read if first else x) + attention(read)
        read = norm_2(x)
        return (read if second else x) + feed_forward(read)

    return answer


def norm_the_change(x, attention, feed_forward, norm_1, norm_2):
    x = x + norm_1(attention(x))
    return x + norm_2(feed_forward(x))


def norm_on_both_sides(x, attention, feed_forward, norm_1, norm_2):
    x = x + norm_1(attention(norm_1(x)))
    return x + norm_2(feed_forward(norm_2(x)))


def norm_at_the_end(x, attention, feed_forward, norm_1, norm_2):
    return norm_2(pre_norm(x, attention, feed_forward, norm_1, norm_2))


def with_norms(choose):
    """Pre-norm with other norms than its own, or none."""

    def answer(x, attention, feed_forward, norm_1, norm_2):
        return pre_norm(x, attention, feed_forward, *choose(norm_1, norm_2, lambda x: x))

    return answer


def think_first(x, attention, feed_forward, norm_1, norm_2):
    x = x + feed_forward(norm_2(x))
    return x + attention(norm_1(x))


def think_first_in_order(x, attention, feed_forward, norm_1, norm_2):
    x = x + feed_forward(norm_1(x))
    return x + attention(norm_2(x))


def side_by_side(x, attention, feed_forward, norm_1, norm_2):
    return x + attention(norm_1(x)) + feed_forward(norm_2(x))


def first_change_lost(x, attention, feed_forward, norm_1, norm_2):
    return x + feed_forward(norm_2(x + attention(norm_1(x))))


def change_read(x, attention, feed_forward, norm_1, norm_2):
    change = attention(norm_1(x))
    return x + change + feed_forward(norm_2(change))


def times_kept(first, second):
    """The stream is added 0, 1 or 2 times to each change."""

    def answer(x, attention, feed_forward, norm_1, norm_2):
        x = first * x + attention(norm_1(x))
        return second * x + feed_forward(norm_2(x))

    return answer


FRAMES = [
    ("M50", post_norm),
    ("M50", pre_then_post),
    ("M50", post_then_pre),
    ("M240", norm_the_stream(True, True)),
    ("M240", norm_the_stream(True, False)),
    ("M240", norm_the_stream(False, True)),
    ("M186", norm_at_the_end),
    ("M241", norm_the_change),
    ("M241", norm_on_both_sides),
    ("M185", with_norms(lambda first, second, none: (none, none))),
    ("M185", with_norms(lambda first, second, none: (first, none))),
    ("M185", with_norms(lambda first, second, none: (none, second))),
    ("M244", with_norms(lambda first, second, none: (second, first))),
    ("M244", with_norms(lambda first, second, none: (first, first))),
    ("M242", think_first),
    ("M242", think_first_in_order),
    ("M243", side_by_side),
    ("M229", first_change_lost),
    ("M187", change_read),
    ("M34", times_kept(0, 0)),
    ("M1317", times_kept(0, 1)),
    ("M1151", times_kept(1, 0)),
    ("M35", times_kept(2, 2)),
    ("M35", times_kept(2, 1)),
    ("M35", times_kept(1, 2)),
]
"""Each wrong frame, with the misconception behind it."""
