"""The schematic of chapter 13: its numbers are those of torch's backward pass."""

import torch

from figures.diagrams.backward_pass import DERIVATIVES, FACTORS, OPERATIONS, VALUES, backward_pass


def test_the_numbers_are_those_of_a_backward_pass():
    w = torch.zeros(1, requires_grad=True)
    z = 2 * w
    z.retain_grad()
    loss = -torch.cat([z, torch.zeros(1)]).log_softmax(0)[0]
    loss.backward()
    assert VALUES[-1].endswith(f"{loss.item():.2f}")
    for drawn, number in zip(DERIVATIVES, (w.grad, z.grad, 1), strict=True):
        assert float(drawn.split(" = ")[1].replace("\N{MINUS SIGN}", "-")) == float(number)


def test_the_drawing_shows_every_value_and_every_derivative():
    svg = backward_pass().svg
    for text in (*VALUES, *OPERATIONS, *DERIVATIVES, *FACTORS):
        assert f">{text}<" in svg
