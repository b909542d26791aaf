"""Right answers to exercises 13 in different styles: every one of them must pass."""

import math

import numpy as np
import torch
from torch import nn

# The first optimiser of a process imports half of torch, which may take longer than a check may.
torch.optim.SGD([nn.Parameter(torch.zeros(1))])


def rate_as_a_whole_curve(step, steps, warmup, peak, floor):
    """The whole schedule as one array, of which one entry is returned."""
    up = np.linspace(0, peak, warmup + 1)[1:]
    t = np.linspace(0, 1, steps - warmup + 1)[1:]
    return np.concatenate([up, floor + (peak - floor) * (1 + np.cos(np.pi * t)) / 2])[step]


def rate_by_shares(step, steps, warmup, peak, floor):
    """cos² of half the angle is the share of the peak, and the floor gets the rest."""
    if step + 1 <= warmup:
        return (step + 1) / warmup * peak
    share = math.cos(math.pi / 2 * (step + 1 - warmup) / (steps - warmup)) ** 2
    return share * peak + (1 - share) * floor


def rate_by_sine(step, steps, warmup, peak, floor):
    done = step + 1
    if done < warmup:
        return peak * done / warmup
    middle, swing = (peak + floor) / 2, (peak - floor) / 2
    return middle + swing * math.sin(math.pi * (0.5 - (done - warmup) / (steps - warmup)))


def rate_in_torch(step, steps, warmup, peak, floor):
    if step < warmup:
        return torch.linspace(peak / warmup, peak, warmup, dtype=torch.float64)[step]
    t = torch.tensor((step + 1 - warmup) / (steps - warmup), dtype=torch.float64)
    return floor + (peak - floor) * 0.5 * (1 + torch.cos(torch.pi * t))


def rate_by_pytorchs_schedulers(step, steps, warmup, peak, floor):
    """Two schedulers of PyTorch in sequence, advanced to the wanted step."""
    optimizer = torch.optim.SGD([nn.Parameter(torch.zeros(1))], lr=peak)
    parts = [
        torch.optim.lr_scheduler.LinearLR(optimizer, 1 / warmup, 1, warmup - 1),
        torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, steps - warmup, floor),
    ]
    scheduler = torch.optim.lr_scheduler.SequentialLR(optimizer, parts, [warmup - 1])
    for _ in range(step):
        optimizer.step()
        scheduler.step()
    return optimizer.param_groups[0]["lr"]


def groups_by_loop(shapes):
    """One loop: a conditional expression chooses the list to append to."""
    decayed, kept = [], []
    for name, shape in shapes.items():
        (decayed if len(shape) > 1 else kept).append(name)
    return decayed, kept


def groups_from_tensors(shapes):
    tensors = {name: torch.empty(shape) for name, shape in shapes.items()}
    return (
        [name for name, tensor in tensors.items() if tensor.ndim >= 2],
        [name for name, tensor in tensors.items() if tensor.ndim < 2],
    )


def adamw_by_loop(w, gradient, m, v, step, rate, decay):
    """Number by number: each weight is updated without looking at the others."""
    out = np.zeros((3, *w.shape))
    for i in np.ndindex(w.shape):
        first = 0.9 * m[i] + 0.1 * gradient[i]
        second = 0.95 * v[i] + 0.05 * gradient[i] ** 2
        moved = (first / (1 - 0.9**step)) / (math.sqrt(second / (1 - 0.95**step)) + 1e-8)
        out[:, *i] = w[i] - rate * decay * w[i] - rate * moved, first, second
    return tuple(out)


def adamw_in_place_on_copies(w, gradient, m, v, step, rate, decay):
    """In place on copies: m moves 10% of the way to the gradient, v 5% to its square."""
    w, m, v = w.copy(), m.copy(), v.copy()
    m += 0.1 * (gradient - m)
    v += 0.05 * (gradient * gradient - v)
    w *= 1 - rate * decay
    w -= rate / (1 - 0.9**step) * m / (np.sqrt(v) / math.sqrt(1 - 0.95**step) + 1e-8)
    return w, m, v


def adamw_in_torch(w, gradient, m, v, step, rate, decay):
    m, v = m.lerp(gradient, 0.1), v.lerp(gradient.square(), 0.05)
    moved = (m / (1 - 0.9**step)) / ((v / (1 - 0.95**step)).sqrt() + 1e-8)
    return w - rate * (decay * w + moved), m, v


def adamw_by_pytorchs_own(w, gradient, m, v, step, rate, decay):
    """PyTorch's optimizer, whose state is set to the given moments and step."""
    parameter = nn.Parameter(w.clone())
    optimizer = torch.optim.AdamW([parameter], lr=rate, betas=(0.9, 0.95), weight_decay=decay)
    known = {"step": torch.tensor(step - 1.0), "exp_avg": m.clone(), "exp_avg_sq": v.clone()}
    optimizer.state[parameter] = known
    parameter.grad = gradient.clone()
    optimizer.step()
    return parameter.detach(), known["exp_avg"], known["exp_avg_sq"]


def adamw_in_lists(w, gradient, m, v, step, rate, decay):
    m = [0.9 * a + 0.1 * g for a, g in zip(m, gradient, strict=True)]
    v = [0.95 * a + 0.05 * g**2 for a, g in zip(v, gradient, strict=True)]
    a, b = 1 - 0.9**step, 1 - 0.95**step
    new = [x * (1 - rate * decay) - rate * (p / a) / ((q / b) ** 0.5 + 1e-8)
           for x, p, q in zip(w, m, v, strict=True)]  # fmt: skip
    return np.array(new), np.array(m), np.array(v)


def accumulate_step_by_step(gradients, tokens):
    total = np.zeros_like(gradients[0])
    for gradient, count in zip(gradients, tokens, strict=True):
        total += gradient * (count / sum(tokens))
    return total


def accumulate_in_torch(gradients, tokens):
    shares = torch.tensor(tokens, dtype=gradients[0].dtype)
    return torch.einsum("p,p...->...", shares / shares.sum(), torch.stack(gradients))


def accumulate_token_by_token(gradients, tokens):
    """Repeat each part's mean once for each of its tokens; then a plain mean is right."""
    repeated = [g for g, n in zip(gradients, tokens, strict=True) for _ in range(n)]
    return np.mean(repeated, axis=0)


def update_in_place_on_copies(weights, parts, longest, rate):
    gradients = [np.zeros_like(w) for w in weights]
    for part in parts:
        for gradient, share in zip(gradients, part, strict=True):
            gradient += share / len(parts)
    norm = np.sqrt(sum(np.sum(gradient**2) for gradient in gradients))
    if norm > longest:
        gradients = [gradient / norm * longest for gradient in gradients]
    return [w - rate * gradient for w, gradient in zip(weights, gradients, strict=True)]


def update_as_one_vector(weights, parts, longest, rate):
    """All gradients in one vector: one mean and one norm, then cut apart again."""
    flat = np.mean([np.concatenate([g.ravel() for g in part]) for part in parts], axis=0)
    flat = flat * min(1, longest / np.linalg.norm(flat))
    ends = np.cumsum([w.size for w in weights])[:-1]
    return [w - rate * g.reshape(w.shape)
            for w, g in zip(weights, np.split(flat, ends), strict=True)]  # fmt: skip


def update_by_pytorchs_own(weights, parts, longest, rate):
    parameters = [nn.Parameter(w.clone()) for w in weights]
    for place, parameter in enumerate(parameters):
        parameter.grad = torch.stack([part[place] for part in parts]).mean(0)
    nn.utils.clip_grad_norm_(parameters, longest)
    torch.optim.SGD(parameters, lr=rate).step()
    return [parameter.detach() for parameter in parameters]


def update_in_torch(weights, parts, longest, rate):
    mean = [torch.stack(list(tensors)).mean(0) for tensors in zip(*parts, strict=True)]
    norm = torch.stack([g.norm() for g in mean]).norm()
    return [w - rate * g * (longest / norm).clamp(max=1)
            for w, g in zip(weights, mean, strict=True)]  # fmt: skip


def update_with_a_shorter_rate(weights, parts, longest, rate):
    """The learning rate is reduced, not the gradients: the step is the same."""
    summed = [sum(tensors) for tensors in zip(*parts, strict=True)]
    norm = math.hypot(*(float(x) for g in summed for x in g.reshape(-1))) / len(parts)
    short = rate * min(1.0, longest / norm) / len(parts)
    return [w - short * g for w, g in zip(weights, summed, strict=True)]


def perplexity_as_a_product(losses, tokens):
    """A product of exponentials: each part contributes its share of the exponent."""
    return math.prod(math.exp(a * n / sum(tokens)) for a, n in zip(losses, tokens, strict=True))


def too_good_with_statistics(losses, surprisal):
    """In plain Python: the mean gap, and its variance with n - 1 in the denominator."""
    gaps = [sum(h - x for h, x in zip(*rows, strict=True)) / len(rows[0])
            for rows in zip(surprisal, losses, strict=True)]  # fmt: skip
    middle = sum(gaps) / len(gaps)
    variance = sum((gap - middle) ** 2 for gap in gaps) / (len(gaps) - 1)
    return middle / math.sqrt(variance / len(gaps))


def too_good_with_variances(losses, surprisal):
    gaps = np.mean(surprisal, 1) - np.mean(losses, 1)
    return gaps.mean() / np.sqrt(np.var(gaps, ddof=1) / gaps.size)


def too_good_in_torch(losses, surprisal):
    gaps = (surprisal - losses).mean(-1)
    return gaps.mean() / torch.std(torch.as_tensor(gaps)) * len(gaps) ** 0.5


def too_good_by_scipys_formula(losses, surprisal):
    """The biased standard deviation with √(n - 1) gives the same quotient."""
    gaps = (surprisal - losses).mean(-1)
    biased = np.sqrt((gaps**2).mean() - gaps.mean() ** 2)
    return gaps.mean() / biased * np.sqrt(len(gaps) - 1)


PARTS = ["weights", "first moments", "second moments", "step", "generator state"]


def groups_by_flag(shapes):
    """The same comprehension for both groups, with a flag for the wanted one."""
    return [
        [name for name, shape in shapes.items() if (len(shape) > 1) is is_decayed]
        for is_decayed in (True, False)
    ]


def accumulate_by_average(gradients, tokens):
    """`np.average` takes token counts as weights and divides by their sum."""
    return np.average(gradients, axis=0, weights=tokens)


def perplexity_in_bits(losses, tokens):
    """In bits: 2 to the power of the mean loss over ln 2."""
    return 2 ** ((losses @ tokens / tokens.sum()) / math.log(2))


def train_with_adamw(model, stories):
    """AdamW, and the mean of -log p at the labels in place of cross_entropy."""
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
    for _ in range(80):
        rows = stories[torch.randperm(len(stories))[:64]]
        log_p = model(rows[:, :-1]).log_softmax(-1)
        loss = -log_p.gather(-1, rows[:, 1:, None]).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return model


def train_by_epochs(model, stories):
    """Epochs: all stories in shuffled order, and then all of them again."""
    optimizer = torch.optim.Adam(model.parameters(), lr=0.008)
    loss_of = nn.CrossEntropyLoss()
    for _ in range(4):
        for rows in stories[torch.randperm(len(stories))].split(50):
            optimizer.zero_grad()
            loss_of(model(rows[:, :-1]).mT, rows[:, 1:]).backward()
            optimizer.step()
    return model


def train_by_gradient_descent(model, stories):
    """No optimizer: each parameter is moved by hand, against its gradient."""
    for _ in range(120):
        rows = stories[torch.randint(len(stories), (64,))]
        logits = model(rows[:, :-1]).flatten(0, 1)
        loss = nn.functional.cross_entropy(logits, rows[:, 1:].flatten())
        parameters = list(model.parameters())
        gradients = torch.autograd.grad(loss, parameters)
        with torch.no_grad():
            for parameter, gradient in zip(parameters, gradients, strict=True):
                parameter -= 0.5 * gradient
    return model


def train_in_two_parts(model, stories):
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for _ in range(80):
        model.zero_grad()
        for rows in stories[torch.randint(len(stories), (64,))].chunk(2):
            logits = model(rows[:, :-1])
            (nn.functional.cross_entropy(logits.mT, rows[:, 1:]) / 2).backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
    return model


def train_until_it_is_known(model, stories):
    optimizer = torch.optim.NAdam(model.parameters(), lr=0.01)
    held_out, known = stories[:100], stories[100:]
    for step in range(400):
        rows = known[torch.randint(len(known), (64,))]
        loss = nn.functional.cross_entropy(model(rows[:, :-1]).mT, rows[:, 1:])
        parameters = list(model.parameters())
        for parameter, gradient in zip(
            parameters, torch.autograd.grad(loss, parameters), strict=True
        ):
            parameter.grad = gradient
        optimizer.step()
        if step % 20 == 0:
            with torch.no_grad():
                logits = model(held_out[:, :-1])
            if nn.functional.cross_entropy(logits.mT, held_out[:, 1:]) < 0.38:
                break
    return model


RIGHT = {
    "13.1": [
        rate_as_a_whole_curve,
        rate_by_shares,
        rate_by_sine,
        rate_in_torch,
        rate_by_pytorchs_schedulers,
    ],
    "13.2": [
        groups_by_loop,
        groups_from_tensors,
        lambda shapes: (
            [name for name in shapes if len(shapes[name]) > 1],
            [name for name in shapes if len(shapes[name]) < 2],
        ),
        groups_by_flag,
        lambda shapes: (
            list(filter(lambda name: len(shapes[name]) >= 2, shapes)),
            list(filter(lambda name: len(shapes[name]) <= 1, shapes)),
        ),
    ],
    "13.3": [
        adamw_by_loop,
        adamw_in_place_on_copies,
        adamw_in_torch,
        adamw_by_pytorchs_own,
        adamw_in_lists,
    ],
    "13.4": [
        accumulate_step_by_step,
        accumulate_in_torch,
        accumulate_token_by_token,
        accumulate_by_average,
        lambda gradients, tokens: np.tensordot(tokens, np.stack(gradients), 1) / np.sum(tokens),
    ],
    "13.5": [
        update_in_place_on_copies,
        update_as_one_vector,
        update_by_pytorchs_own,
        update_in_torch,
        update_with_a_shorter_rate,
    ],
    "13.6": [
        perplexity_as_a_product,
        lambda losses, tokens: np.exp(np.average(losses, weights=tokens)),
        lambda losses, tokens: math.exp(
            sum(a * n for a, n in zip(losses, tokens, strict=True)) / sum(tokens)
        ),
        lambda losses, tokens: torch.exp(losses @ tokens / tokens.sum()),
        perplexity_in_bits,
    ],
    "13.7": [
        too_good_with_statistics,
        too_good_with_variances,
        too_good_in_torch,
        too_good_by_scipys_formula,
        lambda losses, surprisal: (surprisal - losses).mean(-1).mean()
        / ((surprisal - losses).mean(-1).std(ddof=1) / math.sqrt(len(losses))),
    ],
    "13.8": [
        set(PARTS),
        {"generator state", "step", "second moments", "first moments", "weights"},
        frozenset(PARTS),
        {*PARTS, "step"},
        set(PARTS[:3]) | set(PARTS[3:]),
    ],
    "13.9": [
        train_with_adamw,
        train_by_epochs,
        train_by_gradient_descent,
        train_in_two_parts,
        train_until_it_is_known,
    ],
}  # fmt: skip
