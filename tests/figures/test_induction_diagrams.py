"""The schematics of chapter 16 show what they say, in words too."""

from figures.diagrams.induction import hook_points, induction_circuit, patching


def test_the_circuit_writes_after_nine_into_the_vector_of_one_and_predicts_it():
    figure = induction_circuit()
    for word in ("after 7", "after 9", "after 1", "after 5", "key: after 9", "query: I am 9"):
        assert f">{word}<" in figure.svg
    assert "the vector of 1 holds: 1, after 9" in figure.alt
    assert figure.svg.count(">9<") == 2 + 2 + 1  # the tokens, and three of the vectors


def test_the_two_hooks_sit_at_key_and_at_out():
    figure = hook_points()
    for word in ("query", "key", "value", "out", "1", "2"):
        assert f">{word}<" in figure.svg
    assert "Hook 1 sits at the entrance of key, hook 2 at the entrance of out" in figure.alt


def test_the_patch_goes_from_the_clean_run_into_the_corrupted_one_and_leaves_its_answer_open():
    figure = patching()
    for word in ("clean run", "corrupted run", "put in", "a", "a?"):
        assert figure.svg.count(f">{word}<") == 1
    assert "of the clean run into the corrupted run" in figure.alt
