"""Training: the checks."""

import math
from itertools import combinations

import numpy as np

from checks import Case, Exercise, Task, Wrong
from checks.drivers import train_on_stories
from checks.measures import trained_model

PAGE, DEEPER = "chapters/13_training.html", "chapters/13_training_deeper.html"
BETAS, EPS = (0.9, 0.95), 1e-8


# 13.1 ---------------------------------------------------------------------------------------


def learning_rate(step, steps, warmup, peak, floor):
    if step < warmup:
        return peak * (step + 1) / warmup
    return wave((step + 1 - warmup) / (steps - warmup), peak, floor)


def wave(done, peak, floor):
    """Half a cosine: the peak where nothing is done, the floor where all is."""
    return floor + (peak - floor) * (1 + math.cos(math.pi * done)) / 2


def rate_cases(rng):
    warmup, steps = rng.integers((2, 12), (10, 60)).tolist()
    rising, falling = int(rng.integers(warmup)), int(rng.integers(warmup, steps))
    asked = [(0, 9, 4), (2, 9, 4), (3, 9, 4), (4, 9, 4), (6, 9, 4), (8, 9, 4), (7, 11, 2),
             (0, 23, 7), (rising, steps, warmup), (falling, steps, warmup)]  # fmt: skip
    return [
        Case((step, steps, warmup, 0.63, 0.11), about=f"step {step} of {steps}, warm-up {warmup}")
        for step, steps, warmup in asked
    ]


def drawn_rate_cases(rng):
    """Both ends of the warm-up and of the run, where those who count from 1 differ."""
    warmup, steps = rng.integers((7, 15), (12, 60)).tolist()
    peak, floor = rng.uniform((0.4, 0.15), (0.9, 0.3)).round(2).tolist()  # it rises past the floor
    return [
        Case((step, steps, warmup, peak, floor), about=f"step {step} of {steps}, warm-up {warmup}")
        for step in (0, warmup - 1, warmup, warmup + 1, steps - 1)
    ]


def rate_with(*, rise=None, fall=None, last=0):
    """The schedule with its parts exchangeable; `last`: how many steps longer the warm-up is."""

    def answer(step, steps, warmup, peak, floor):
        if step < warmup + last:
            return peak * rise(step, warmup) if rise else peak * (step + 1) / warmup
        if fall:
            return fall(step, steps, warmup, peak, floor)
        return wave((step + 1 - warmup) / (steps - warmup), peak, floor)

    return answer


def late(step, steps, warmup, peak, floor):
    """A fall that counts the steps before this one."""
    return wave((step - warmup) / (steps - warmup), peak, floor)


def over_one_step_less(step, steps, warmup, peak, floor):
    """A fall that begins at the peak once more and has one step less."""
    return wave((step - warmup) / (steps - warmup - 1), peak, floor)


def falls(shape):
    """A fall of another shape, given the share done."""
    return rate_with(
        fall=lambda step, steps, warmup, peak, floor: shape(
            (step + 1 - warmup) / (steps - warmup), peak, floor
        )
    )


def counted(done):
    """A fall whose share of steps is counted in another way."""
    return rate_with(
        fall=lambda step, steps, warmup, peak, floor: wave(done(step, steps, warmup), peak, floor)
    )


def rate_from_floor(count=1):
    """A warm-up that starts from the floor; `count`: whether the step being made counts."""

    def answer(step, steps, warmup, peak, floor):
        if step < warmup:
            return floor + (peak - floor) * (step + count) / warmup
        return learning_rate(step, steps, warmup, peak, floor)

    return answer


def never_below_the_floor(step, steps, warmup, peak, floor):
    return max(floor, learning_rate(step, steps, warmup, peak, floor))


# 13.2 ---------------------------------------------------------------------------------------

NAMES = {
    "words.weight": (31, 7),
    "positions.weight": (11, 7),
    "layers.0.attention_norm.weight": (7,),
    "layers.0.attention_norm.bias": (7,),
    "layers.0.attention.query.weight": (7, 7),
    "layers.0.attention.query.bias": (7,),
    "layers.0.feed_forward.up.weight": (29, 7),
    "layers.0.feed_forward.up.bias": (29,),
    "norm.gain": (7,),
    "norm.shift": (7,),
}


def decay_groups(shapes):
    decayed = [name for name, shape in shapes.items() if len(shape) >= 2]
    return decayed, [name for name in shapes if name not in decayed]


def group_cases(rng):
    shapes = [tuple(rng.integers(2, 30, size=n).tolist()) for n in (0, 1, 2, 3, 2)]
    drawn = {f"parameter {n}": shapes[n] for n in rng.permutation(len(shapes)).tolist()}
    convolution = {"kernel": (5, 3, 3), "norm.weight": (5,), "last": (7, 5), "temperature": ()}
    thin = {"words": (11, 5), "to one number": (7, 1), "from one number": (1, 5), "bias": (1,)}
    return [
        Case((thin,), about="a column and a row"),
        Case((convolution,), about="a small network for pictures"),
        Case((NAMES,), about="a model of one layer"),
        Case((drawn,), about="parameters without telling names"),
    ]


def drawn_group_cases(rng):
    """A model of other sizes, with the names of layers or without any."""
    d, wide = rng.integers((4, 20), (15, 40)).tolist()
    model = {name: tuple({7: d, 29: wide}.get(size, size) for size in shape)
             for name, shape in NAMES.items()}  # fmt: skip
    names = list(model)
    mixed = {names[n]: model[names[n]] for n in rng.permutation(len(names)).tolist()}
    picture = {"kernel": (wide, 3, 3), "norm.weight": (wide,), "last": (d, wide), "heat": ()}
    column = {"words": (wide, d), "to one number": (d, 1), "from one number": (1, d), "bias": (1,)}
    abouts = "a model of one layer", "a small network for pictures", "a column and a row"
    return [
        Case((shapes,), about=about)
        for shapes, about in zip((mixed, picture, column), abouts, strict=True)
    ]


def groups_by(decays):
    def answer(shapes):
        decayed = [name for name, shape in shapes.items() if decays(name, shape)]
        return decayed, [name for name in shapes if name not in decayed]

    return answer


# 13.3 ---------------------------------------------------------------------------------------


def adamw(w, gradient, m, v, step, rate, decay, *, coupled=False, corrected="mv", shrink=None,
          last=False, betas=BETAS, shares=None, power=2, root=0.5, sign=1, count=0, inside=0,
          outside=EPS):  # fmt: skip
    if coupled:
        gradient = gradient + decay * w
    new = shares or [1 - beta for beta in betas]
    first_moment = betas[0] * m + new[0] * gradient
    second_moment = betas[1] * v + new[1] * abs(gradient) ** power
    by = [1 - beta ** (step + count) for beta in betas]
    m_hat = first_moment / by[0] if "m" in corrected else first_moment
    v_hat = second_moment / by[1] if "v" in corrected else second_moment
    factor = 1 - (rate * decay if shrink is None else shrink(rate, decay))
    moved = sign * rate * m_hat / ((v_hat + inside) ** root + outside)
    w = (w - moved) * factor if last else w * factor - moved
    return w, first_moment, second_moment


def adamw_with(**changes):
    return lambda *args: adamw(*args, **changes)


def old_and_new_exchanged(w, gradient, m, v, *rest):
    m, v = (old * (1 - beta) / beta for old, beta in zip((m, v), BETAS, strict=True))
    return adamw(w, gradient, m, v, *rest, shares=BETAS)


def old_means(w, gradient, m, v, step, rate, decay):
    """A step by the means as they were; the new ones are kept for the next."""
    new = adamw(w, gradient, m, v, step, rate, decay)
    m, v = m / (1 - BETAS[0] ** step), v / (1 - BETAS[1] ** step)
    return w * (1 - rate * decay) - rate * m / (v**0.5 + EPS), *new[1:]


def corrected_means_kept(w, gradient, m, v, step, rate, decay):
    w, m, v = adamw(w, gradient, m, v, step, rate, decay)
    return w, m / (1 - BETAS[0] ** step), v / (1 - BETAS[1] ** step)


def decay_in_the_quotient(w, gradient, m, v, step, rate, decay):
    w_new, m, v = adamw(w, gradient, m, v, step, rate, 0)
    return w_new - rate * decay * w / ((v / (1 - BETAS[1] ** step)) ** 0.5 + EPS), m, v


def nothing(rate, decay):
    return 0 * rate * decay


def adamw_cases(rng):
    def draw(step, *shape, size=1.0, about=""):
        w, gradient, m = rng.normal(size=(3, *shape)) * np.array([1, size, size]).reshape(
            -1, *[1] * len(shape)
        )
        v = rng.uniform(0.5, 2, size=shape) * size**2
        if step == 1:
            m, v = np.zeros(shape), np.zeros(shape)
        about = f"{shape} numbers, step {step}{about}"
        return Case((w, gradient, m, v, step, 0.1, 0.5), about=about)

    tiny = draw(3, 11, size=1e-8, about=", gradients as small as epsilon")
    return [draw(1, 3), draw(2, 5), draw(7, 2, 3), tiny]


# 13.4 ---------------------------------------------------------------------------------------


def accumulate(gradients, tokens):
    total = sum(gradient * count for gradient, count in zip(gradients, tokens, strict=True))
    return total / sum(tokens)


def first_part_twice(gradients, tokens):
    total = gradients[0] * tokens[0]
    for gradient, count in zip(gradients, tokens, strict=True):
        total = total + gradient * count
    return total / sum(tokens)


def weighed(power):
    """Parts weighed by a power of their tokens."""
    return lambda gradients, tokens: accumulate(gradients, [count**power for count in tokens])


def divided_parts(count):
    """Each part divided by its tokens, and the sum by the count of something."""

    def answer(gradients, tokens):
        pairs = zip(gradients, tokens, strict=True)
        return sum(gradient / own for gradient, own in pairs) / count(tokens)

    return answer


def part_cases(rng):
    def draw(tokens, *shape):
        gradients = [rng.normal(size=shape) for _ in tokens]
        return Case((gradients, tokens), about=f"parts of {tokens} tokens, {shape} parameters")

    return [draw([4, 4, 4], 2), draw([5, 2], 3), draw([3, 11, 2, 7], 2, 5)]


# 13.5 ---------------------------------------------------------------------------------------


def norm_of(gradients):
    return math.sqrt(sum(float((gradient**2).sum()) for gradient in gradients))


def clip(gradients, longest, *, stretch=False, norm=None):
    norm = norm_of(gradients) if norm is None else norm
    factor = longest / norm if stretch else min(1.0, longest / norm)
    return [gradient * factor for gradient in gradients]


def mean(parts):
    return [sum(tensors) / len(parts) for tensors in zip(*parts, strict=True)]


def update(weights, parts, longest, rate, *, each=None, joined=mean, last=clip):
    """Prepare each part, join the parts, clip, step; every misconception changes one of these."""
    gradients = last(joined([each(part) if each else part for part in parts]), longest)
    return [w - rate * g for w, g in zip(weights, gradients, strict=True)]


def update_cases(rng):
    def draw(parts, shapes, length, about):
        weights = [rng.normal(size=shape) for shape in shapes]
        drawn = [[rng.normal(size=shape) for shape in shapes] for _ in range(parts)]
        longest = norm_of(mean(drawn)) * length
        return Case((weights, drawn, longest, 0.5), about=f"{parts} parts, {about}")

    def of_length(length, longest):
        """Numbers for which 1 and the square of `longest` lie on other sides of the length."""
        weights, drawn, _, rate = draw(2, [(2,), (3,)], 1, "").args
        factor = length / norm_of(mean(drawn))
        drawn = [[factor * gradient for gradient in part] for part in drawn]
        about = f"2 parts, a mean gradient of length {length}, and at most {longest} is allowed"
        return Case((weights, drawn, longest, rate), about=about)

    return [
        draw(2, [(3,), (2, 2)], 0.4, "a mean gradient that is too long"),
        draw(3, [(5,), (2, 3), (7,)], 0.6, "a mean gradient that is too long"),
        draw(2, [(2,), (3,)], 2.7, "a mean gradient that is short enough"),
        of_length(0.8, 0.5),
        of_length(3.0, 2.0),
        of_length(0.3, 0.5),
        draw(3, [(2,), (3,)], 2.7, "a mean gradient that is short enough"),
    ]


def clip_tensors(gradients, longest):
    return [clip([gradient], longest)[0] for gradient in gradients]


def update_parts_clipped(weights, parts, longest, rate):
    return update(weights, parts, longest, rate, each=lambda part: clip(part, longest))


def summed(parts):
    return [sum(tensors) for tensors in zip(*parts, strict=True)]


def over_arrays(parts):
    return [tensor / len(parts[0]) for tensor in summed(parts)]


def clip_sum(weights, parts, longest, rate):
    return update(weights, parts, longest, rate / len(parts), joined=summed)


def step_for_each(weights, parts, longest, rate):
    return update(weights, parts, longest, rate, each=lambda part: clip(part, longest),
                  joined=summed, last=lambda gradients, longest: gradients)  # fmt: skip


def by_square(gradients, longest):
    """The sum of the squares, without its root, for the norm."""
    return clip(gradients, longest, norm=norm_of(gradients) ** 2)


def scaled(factor):
    """Another factor, from the gradients and the longest norm."""

    def last(gradients, longest):
        return [gradient * factor(gradients, longest) for gradient in gradients]

    return lambda *args: update(*args, last=last)


def shorter(norm):
    return lambda gradients, longest: min(1, longest / norm(gradients))


OTHER_NORMS = [
    lambda gradients: max(float(abs(gradient).max()) for gradient in gradients),
    lambda gradients: sum(float(abs(gradient).sum()) for gradient in gradients),
    lambda gradients: sum(norm_of([gradient]) for gradient in gradients) / len(gradients),
    lambda gradients: max(norm_of([gradient]) for gradient in gradients),
    lambda gradients: norm_of(gradients[-1:]),
]


def clip_step(weights, parts, longest, rate):
    return update(weights, parts, longest / rate, rate)


def clip_rows(gradients, longest):
    norms = [np.linalg.norm(gradient, axis=-1, keepdims=True) for gradient in gradients]
    return [gradient * np.minimum(1, longest / norm)
            for gradient, norm in zip(gradients, norms, strict=True)]  # fmt: skip


def size_of(gradients):
    return sum(math.prod(gradient.shape) for gradient in gradients)


# 13.6 ---------------------------------------------------------------------------------------


def perplexity(losses, tokens):
    return np.exp((losses * tokens).sum() / tokens.sum())


def power_of(power):
    return lambda losses, tokens: power(np.log(perplexity(losses, tokens)))


OTHER_POWERS = [
    lambda loss: loss,
    lambda loss: np.exp(-loss),
    lambda loss: 2**loss,
    lambda loss: 10**loss,
    lambda loss: np.exp(loss / math.log(2)),
]


def loss_cases(rng):
    def draw(tokens):
        return Case(
            (rng.uniform(0.3, 2.5, size=len(tokens)), np.array(tokens, dtype=float)),
            about=f"batches of {tokens} tokens",
        )

    return [draw([5, 5]), draw([7, 2]), draw([3, 11, 5])]


# 13.7 ---------------------------------------------------------------------------------------


def too_good(losses, surprisal, *, count=None):
    gaps = (surprisal - losses).mean(-1)
    return gaps.mean() / (gaps.std(ddof=1) / np.sqrt(count or len(gaps)))


def leak_cases(rng):
    def draw(stories, n, leak):
        surprisal = rng.choice([0.0, 0.7, 1.6], size=(stories, n))
        # Some stories are harder for the model than others, in all their tokens.
        extra = rng.exponential(0.1, size=(stories, n)) + rng.exponential(0.2, size=(stories, 1))
        losses = surprisal * leak + extra
        kind = "an honest model" if leak == 1 else "a leak"
        return Case((losses, surprisal), about=f"{stories} stories of {n} tokens, {kind}")

    return [draw(5, 3, 1), draw(7, 5, 0.2), draw(11, 2, 1)]


def gaps_over(error):
    """The mean gap, divided by another error of it."""
    return lambda losses, surprisal: (
        (surprisal - losses).mean() / error((surprisal - losses).mean(-1))
    )


def tokens_as_stories(losses, surprisal):
    return too_good(losses.reshape(-1, 1), surprisal.reshape(-1, 1))


def columns_as_stories(losses, surprisal, count=None):
    return too_good(losses.T, surprisal.T, count=count)


def tokens_counted(ddof, count):
    """The spread of all tokens, over the root of their number, or of that of stories or columns."""

    def answer(losses, surprisal):
        gaps = surprisal - losses
        return gaps.mean() / (gaps.std(ddof=ddof) / np.sqrt(count(gaps)))

    return answer


def width(table):
    return table.shape[1]


def over_spread_of(table, losses, surprisal):
    error = table.mean(-1).std(ddof=1) / np.sqrt(len(table))
    return (surprisal - losses).mean() / error


def unpaired(losses, surprisal):
    """A test for two separate groups of stories."""
    spread = sum(table.mean(-1).var(ddof=1) for table in (losses, surprisal))
    return (surprisal - losses).mean() / np.sqrt(spread / len(losses))


# 13.8 ---------------------------------------------------------------------------------------

CHECKPOINT = {"weights", "first moments", "second moments", "step", "generator state"}
IN_A_CHECKPOINT = {  # what it means that a word is on the wrong side
    "M279": ("weights", "first moments", "second moments"),
    "M964": ("step",),
    "M965": ("generator state",),
    "M966": ("gradients", "activations"),
    "M967": ("learning rate", "losses so far"),
}
LEFT_OUT = [
    Wrong(number, CHECKPOINT ^ set(some))
    for number, words in IN_A_CHECKPOINT.items()
    for count in (1, 2, 3)
    for some in combinations(words, count)
]
MISSPELLED = {"first moments": "first moment", "second moments": "second moment",
              "weights": "weight", "step": "steps", "generator state": "generator"}  # fmt: skip
SPELLED_OTHERWISE = [
    Wrong("M1316", {MISSPELLED[word] if word in some else word for word in CHECKPOINT})
    for some in (*zip(MISSPELLED), tuple(MISSPELLED)[:2], tuple(MISSPELLED)[:3])
]


# 13.9 ---------------------------------------------------------------------------------------


def train(model, stories, *, steps=80, rate=0.01, batch=64, few=None, shift=1, sign=1,
          clears=True, moves=True):  # fmt: skip
    """The loop; its parts are exchangeable: each misconception is one line."""
    import torch
    from torch.nn.functional import cross_entropy

    optimizer = torch.optim.Adam(model.parameters(), lr=rate)
    for _ in range(steps):
        rows = stories[torch.randint(few or len(stories), (batch,))]
        labels = rows[:, shift : shift + 10]
        loss = cross_entropy(model(rows[:, :-1]).flatten(0, 1), labels.flatten())
        if clears:
            optimizer.zero_grad()
        (sign * loss).backward()
        if moves:
            optimizer.step()
    return model


def training_cases(rng):
    return [Case((1000, int(rng.integers(1000))), about="1,000 stories, and 500 freshly drawn")]


def trained_with(**changes):
    return lambda model, stories: train(model, stories, **changes)


EXERCISE = Exercise(
    chapter="13",
    title="Training",
    tasks=[
        Task(
            id="13.1", name="learning_rate", title="Warm up, then come down", difficulty=2,
            importance=4, minutes=10, reference=learning_rate, cases=rate_cases,
            graded_cases=drawn_rate_cases,
            read=f"{DEEPER}#how-far-to-step",
            wrong=[
                Wrong("M264", rate_with(rise=lambda k, n: k / n, fall=late)),
                Wrong("M264", rate_with(rise=lambda k, n: k / n)),
                Wrong("M264+M265", lambda k, all, n, p, low: (
                    p * k / n if k < n else low + wave((k + 1 - n) / (all - n), p, 0))),
                Wrong("M264", rate_with(rise=lambda k, n: (k + 1) / (n + 1))),
                Wrong("M264", rate_with(rise=lambda k, n: k / (n - 1))),
                Wrong("M264", rate_with(rise=lambda k, n: k / n, fall=over_one_step_less)),
                Wrong("M264", rate_with(fall=late)),
                Wrong("M264", counted(lambda k, all, n: (k - n) / (all - n - 1))),
                Wrong("M264", rate_with(last=1)),
                Wrong("M264", rate_with(last=1, fall=late)),
                Wrong("M264", rate_with(last=1, fall=over_one_step_less)),
                Wrong("M332", rate_from_floor()),
                Wrong("M332", rate_from_floor(count=0)),
                Wrong("M332", never_below_the_floor),
                Wrong("M265", falls(lambda done, p, low: wave(done, p, 0))),
                Wrong("M265", falls(lambda done, p, low: max(low, wave(done, p, 0)))),
                Wrong("M265", falls(lambda done, p, low: wave(done, p, low * p))),
                Wrong("M265", falls(lambda done, p, low: low + wave(done, p, 0))),
                Wrong("M265", falls(lambda done, p, low: low + 2 * wave(done, p - low, 0))),
                Wrong("M265", falls(lambda done, p, low: p + (low - p) * done)),
                Wrong("M265", falls(
                    lambda done, p, low: low + (p - low) * math.cos(math.pi * done / 2))),
                Wrong("M265", falls(
                    lambda done, p, low: low + (p - low) * math.cos(math.pi * done))),
                Wrong("M265", falls(lambda done, p, low: p)),
                Wrong("M265", falls(lambda done, p, low: wave(1 - done, p, low))),
                Wrong("M265", falls(lambda done, p, low: wave(2 * done, p, low))),
                Wrong("M265", falls(lambda done, p, low: wave(done / math.pi, p, low))),
                Wrong("M1314", falls(lambda done, p, low: wave(done * 180 / math.pi, p, low))),
                Wrong("M265+M1314", falls(
                    lambda done, p, low: low + wave(done * 180 / math.pi, p, 0))),
                Wrong("M265", falls(lambda done, p, low: p * (low / p) ** done)),
                Wrong("M265", falls(lambda done, p, low: p * max(low, wave(done, 1, 0)))),
                Wrong("M266", counted(lambda k, all, n: (k + 1) / all)),
                Wrong("M266", counted(lambda k, all, n: k / all)),
                Wrong("M266", counted(lambda k, all, n: k / (all - 1))),
                Wrong("M266", counted(lambda k, all, n: (k + 1 - n) / all)),
                Wrong("M266", lambda k, all, n, p, low: wave((k + 1) / all, p, low)),
                Wrong("M266", lambda k, all, n, p, low: (
                    min(1, (k + 1) / n) * wave((k + 1) / all, p, low))),
            ],
        ),
        Task(
            id="13.2", name="decay_groups", title="What shrinks and what does not", difficulty=2,
            importance=4, minutes=5, reference=decay_groups, cases=group_cases,
            graded_cases=drawn_group_cases,
            read=f"{DEEPER}#how-far-to-step",
            wrong=[
                Wrong("M267", groups_by(lambda name, shape: True)),
                Wrong("M267", groups_by(lambda name, shape: not name.endswith("bias"))),
                Wrong("M267", groups_by(lambda name, shape: len(shape) > 0)),
                Wrong("M268", groups_by(lambda name, shape: name.endswith("weight"))),
                Wrong("M268", groups_by(
                    lambda name, shape: not (name.endswith("bias") or "norm" in name))),
                Wrong("M268", groups_by(lambda name, shape: "norm" not in name)),
                Wrong("M268", groups_by(lambda name, shape: len(shape) != 1)),
                Wrong("M268", groups_by(lambda name, shape: len(shape) == 2)),
                Wrong("M268", groups_by(lambda name, shape: len(shape) > 2)),
                Wrong("M268", groups_by(lambda name, shape: math.prod(shape) > 7)),
                Wrong("M268", groups_by(lambda name, shape: math.prod(shape[:-1]) > 1)),
                Wrong("M268", groups_by(lambda name, shape: min(shape) > 1)),
                Wrong("M268", groups_by(lambda name, shape: (
                    len(shape) >= 2 and not name.startswith(("words", "positions"))))),
            ],
        ),
        Task(
            id="13.3", name="adamw", title="One step of AdamW", difficulty=4, importance=4,
            minutes=20, reference=adamw, cases=adamw_cases,
            read=f"{DEEPER}#a-step-of-adamw-by-hand",
            wrong=[
                Wrong("M269", adamw_with(coupled=True, shrink=nothing)),
                Wrong("M269", adamw_with(coupled=True)),
                Wrong("M269", adamw_with(shrink=nothing)),
                Wrong("M963", adamw_with(shrink=lambda rate, decay: decay)),
                Wrong("M269", adamw_with(last=True)),
                Wrong("M1057", old_and_new_exchanged),
                Wrong("M270", adamw_with(corrected="")),
                Wrong("M270", adamw_with(corrected="m")),
                Wrong("M270", adamw_with(corrected="v")),
                Wrong("M269+M270", adamw_with(coupled=True, shrink=nothing, corrected="")),
                Wrong("M269", adamw_with(shrink=lambda rate, decay: -rate * decay)),
                Wrong("M269", decay_in_the_quotient),
                Wrong("M270", adamw_with(count=1)),
                Wrong("M270", adamw_with(count=-1)),
                Wrong("M270", corrected_means_kept),
                Wrong("M370", adamw_with(betas=BETAS[::-1])),
                Wrong("M370", adamw_with(betas=(0.9, 0.999))),
                Wrong("M370", adamw_with(shares=(1, 1))),
                Wrong("M370", adamw_with(betas=(0.1, 0.05))),
                Wrong("M370", adamw_with(power=1)),
                Wrong("M370", adamw_with(root=1)),
                Wrong("M370", adamw_with(inside=EPS, outside=0)),
                Wrong("M370", adamw_with(outside=0)),
                Wrong("M370", old_means),
                Wrong("M371", adamw_with(sign=-1)),
            ],
        ),
        Task(
            id="13.4", name="accumulate", title="A large batch in parts", difficulty=3,
            importance=5, minutes=10, reference=accumulate, cases=part_cases,
            read=f"{DEEPER}#several-processes",
            wrong=[
                Wrong("M271", lambda gradients, tokens: sum(gradients)),
                Wrong("M271", lambda gradients, tokens: sum(
                    g * n for g, n in zip(gradients, tokens, strict=True))),
                Wrong("M1089", first_part_twice),
                Wrong("M272", lambda gradients, tokens: sum(gradients) / len(gradients)),
                Wrong("M272", lambda gradients, tokens: sum(gradients) / sum(tokens)),
                Wrong("M271", lambda gradients, tokens: (
                    accumulate(gradients, tokens) * sum(tokens) / len(tokens))),
                Wrong("M271", lambda gradients, tokens: (
                    accumulate(gradients, tokens) * sum(tokens) / max(tokens))),
                *(Wrong("M272", weighed(power)) for power in (-1, 0.5, 2)),
                *(Wrong("M272", divided_parts(count)) for count in (sum, len)),
                Wrong("M272", lambda gradients, tokens: (
                    divided_parts(len)(gradients, tokens) * sum(tokens))),
            ],
        ),
        Task(
            id="13.5", name="update", title="Accumulate, clip, step", difficulty=4, importance=4,
            minutes=15, reference=update, cases=update_cases, read=f"{DEEPER}#how-far-to-step",
            wrong=[
                Wrong("M274", update_parts_clipped),
                Wrong("M274", lambda weights, parts, longest, rate: update(
                    weights, parts, longest, rate, each=lambda part: clip(part, longest),
                    last=lambda gradients, longest: gradients)),
                Wrong("M274", clip_sum),
                Wrong("M271+M274", step_for_each),
                Wrong("M273", lambda *args: update(*args, last=clip_tensors)),
                Wrong("M273", lambda *args: update(*args, last=lambda gradients, longest: [
                    gradient.clip(-longest, longest) for gradient in gradients])),
                Wrong("M275", scaled(lambda g, longest: longest / norm_of(g))),
                Wrong("M275", scaled(lambda g, longest: 1)),
                Wrong("M275", scaled(lambda g, longest: (
                    1 / norm_of(g) if norm_of(g) > longest else 1))),
                Wrong("M275", scaled(lambda g, longest: min(1, 1 / norm_of(g)) * longest)),
                Wrong("M275", scaled(lambda g, longest: min(1, norm_of(g) / longest))),
                Wrong("M275", scaled(lambda g, longest: max(1, longest / norm_of(g)))),
                Wrong("M275", scaled(lambda g, longest: min(1, longest / norm_of(g) ** 2))),
                Wrong("M275", scaled(lambda g, longest: min(
                    1, longest / sum(norm_of([gradient]) for gradient in g)))),
                Wrong("M275", scaled(lambda g, longest: min(
                    1, longest / norm_of(g) * math.sqrt(size_of(g))))),
                *(Wrong("M275", scaled(shorter(norm))) for norm in OTHER_NORMS),
                Wrong("M275", clip_step),
                Wrong("M273", lambda *args: update(*args, last=clip_rows)),
                Wrong("M271", lambda *args: update(*args, joined=summed)),
                Wrong("M271", lambda *args: update(*args, joined=over_arrays)),
                Wrong("M271+M275", lambda *args: update(*args, joined=summed, last=by_square)),
                Wrong("M275+M371", lambda weights, parts, longest, rate: update(
                    weights, parts, longest, -rate, last=by_square)),
                Wrong("M371", lambda weights, parts, longest, rate: update(
                    weights, parts, longest, -rate)),
                Wrong("M371", lambda weights, parts, longest, rate: update(
                    weights, parts, longest, 1)),
                Wrong("M371", lambda weights, parts, longest, rate: clip(mean(parts), longest)),
                Wrong("M371", lambda weights, parts, longest, rate: clip(
                    [w - rate * g for w, g in zip(weights, mean(parts), strict=True)], longest)),
            ],
        ),
        Task(
            id="13.6", name="perplexity", title="Perplexity", difficulty=2, importance=4, minutes=5,
            reference=perplexity, cases=loss_cases, read=f"{PAGE}#four-predictors-to-compare-with",
            wrong=[
                Wrong("M276", lambda losses, tokens: np.exp(losses).mean()),
                Wrong("M276", lambda losses, tokens: (
                    np.exp(losses) * tokens).sum() / tokens.sum()),
                Wrong("M276", lambda losses, tokens: (
                    tokens.sum() / (tokens * np.exp(-losses)).sum())),
                Wrong("M272", lambda losses, tokens: np.exp(losses.mean())),
                Wrong("M272", lambda losses, tokens: perplexity(losses, 1 / tokens)),
                *(Wrong("M372", power_of(power)) for power in OTHER_POWERS),
                Wrong("M1321", lambda losses, tokens: np.exp((losses * tokens).sum())),
                Wrong("M1321", lambda losses, tokens: np.exp(losses.sum())),
                Wrong("M1088", lambda losses, tokens: np.exp(losses.sum() / tokens.sum())),
                Wrong("M1321", lambda losses, tokens: np.exp((losses / tokens).sum())),
                Wrong("M1321", lambda losses, tokens: np.exp((losses * tokens).mean())),
            ],
        ),
        Task(
            id="13.7", name="too_good", title="A loss that is too good", difficulty=4,
            importance=5, minutes=15, reference=too_good, cases=leak_cases,
            read=f"{DEEPER}#a-loss-that-is-too-good",
            wrong=[
                Wrong("M277", tokens_as_stories),
                Wrong("M277", columns_as_stories),
                Wrong("M277", lambda losses, surprisal: columns_as_stories(
                    losses, surprisal, count=len(losses))),
                *(Wrong("M277", tokens_counted(*how)) for how in (
                    (0, np.size), (0, len), (1, len), (0, width), (1, width))),
                *(Wrong("M277", lambda losses, surprisal, count=count: too_good(
                    losses, surprisal, count=count(losses))) for count in (np.size, width)),
                Wrong("M373", lambda losses, surprisal: too_good(surprisal, losses)),
                Wrong("M373", lambda losses, surprisal: abs(too_good(losses, surprisal))),
                Wrong("M373", lambda losses, surprisal: too_good(-abs(surprisal - losses), 0)),
                Wrong("M278", lambda losses, surprisal: over_spread_of(losses, losses, surprisal)),
                Wrong("M278", lambda losses, surprisal: over_spread_of(
                    surprisal, losses, surprisal)),
                Wrong("M278", unpaired),
                *(Wrong("M1322", gaps_over(lambda gaps, less=less: np.sqrt(
                    (gaps**2).sum() / (len(gaps) - less) / len(gaps)))) for less in (0, 1)),
                Wrong("M278", gaps_over(lambda gaps: 1)),
                Wrong("M278", gaps_over(lambda gaps: gaps.std(ddof=1))),
                Wrong("M278", gaps_over(lambda gaps: gaps.std())),
                Wrong("M278", gaps_over(lambda gaps: np.sqrt(
                    (gaps**2).mean() - gaps.mean() ** 2) / np.sqrt(len(gaps)))),
                Wrong("M278", gaps_over(lambda gaps: gaps.std(ddof=1) / len(gaps))),
                Wrong("M278", gaps_over(lambda gaps: gaps.var(ddof=1))),
                Wrong("M278", gaps_over(lambda gaps: gaps.var(ddof=1) / len(gaps))),
                Wrong("M278", gaps_over(lambda gaps: gaps.var(ddof=1) / np.sqrt(len(gaps)))),
            ],
        ),
        Task(
            id="13.8", name="checkpoint", title="What a checkpoint must hold", difficulty=2,
            importance=4, minutes=5, reference=CHECKPOINT, read=f"{DEEPER}#stop-and-resume",
            wrong=[*LEFT_OUT, *SPELLED_OTHERWISE],
        ),
        Task(
            id="13.9", name="train", title="Train a model to the lower bound", difficulty=4,
            importance=5, minutes=25, reference=train, cases=training_cases,
            call=train_on_stories, measure=trained_model, arrays=("torch",), slow=True,
            read=f"{PAGE}#the-program",
            wrong=[
                Wrong("M780", trained_with(moves=False, steps=5)),
                Wrong("M781", trained_with(clears=False, steps=40)),
                Wrong("M782", trained_with(shift=0, steps=40)),
                *(Wrong("M1401", trained_with(few=few)) for few in (8, 64)),
                Wrong("M1405", trained_with(steps=5)),
                Wrong("M1405", trained_with(rate=1e-4)),
                Wrong("M1404", trained_with(sign=-1, steps=30)),
            ],
        ),
    ],
)  # fmt: skip
