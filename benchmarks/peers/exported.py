"""The engines that read an exported graph: ONNX Runtime and OpenVINO, in float32."""

from pathlib import Path

import torch
from torch import Tensor

from benchmarks.peers import Forward, Generate, Weights
from benchmarks.peers.joint_gpt import JointGPT, Step


def names(step: Step) -> list[str]:
    """What the exported step calls its keys and values."""
    return [f"{kind}{i}" for i in range(len(step.gpt.h)) for kind in ("key", "value")]


def onnx_session(weights: Weights, name: str):
    """The exported model in ONNX Runtime: "all" reads a batch, "step" goes on from a past."""
    import onnx  # noqa: F401 - torch's export needs it, and says so late
    import onnxruntime

    def convert(path: Path) -> None:
        gpt = JointGPT.from_transformers(weights.transformers)
        options = {"dynamo": False, "opset_version": 18}
        if name == "all":
            torch.onnx.export(
                gpt, (torch.zeros(2, 3, dtype=torch.long),), str(path), input_names=["ids"],
                output_names=["logits"], dynamic_axes={"ids": {0: "batch", 1: "n"}}, **options,
            )  # fmt: skip
            return
        step = Step(gpt)
        kept = names(step)
        axes = {each: {2: "past"} for each in kept} | {f"new_{each}": {2: "n"} for each in kept}
        torch.onnx.export(
            step, (torch.zeros(1, 2, dtype=torch.long), *step.empty(3)), str(path),
            input_names=["ids", *kept], output_names=["logits", *(f"new_{each}" for each in kept)],
            dynamic_axes=axes | {"ids": {1: "n"}}, **options,
        )  # fmt: skip

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.inter_op_num_threads = weights.threads, 1
    path = weights.converted(f"{name}.onnx", convert)
    return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


def onnx_runtime_forward(weights: Weights) -> Forward:
    """All logits of a batch."""
    session = onnx_session(weights, "all")
    return lambda ids: torch.from_numpy(session.run(None, {"ids": ids.numpy()})[0])


def onnx_runtime_generate(weights: Weights) -> Generate:
    """A greedy loop; the keys and values stay with the engine from call to call."""
    from onnxruntime import OrtValue

    session, step = onnx_session(weights, "step"), Step(JointGPT.like(weights.transformers))
    kept = names(step)

    def written(ids: Tensor, count: int) -> Tensor:
        past, new = [OrtValue.ortvalue_from_numpy(each.numpy()) for each in step.empty()], ids
        for _ in range(count):
            binding = session.io_binding()
            binding.bind_cpu_input("ids", new.numpy())
            for name, value in zip(kept, past, strict=True):
                binding.bind_ortvalue_input(name, value)
            for output in session.get_outputs():
                binding.bind_output(output.name)
            session.run_with_iobinding(binding)
            logits, *past = binding.get_outputs()
            new = torch.from_numpy(logits.numpy())[:, -1:].argmax(-1)
            ids = torch.cat([ids, new], dim=1)
        return ids

    return written


def openvino_compiled(model, threads: int):
    """Compile a model for the CPU, in float32 throughout."""
    import openvino

    return openvino.Core().compile_model(model, "CPU", {
        "INFERENCE_NUM_THREADS": threads, "PERFORMANCE_HINT": "LATENCY",
        "INFERENCE_PRECISION_HINT": "f32", "KV_CACHE_PRECISION": "f32",
    })  # fmt: skip


def openvino_forward(weights: Weights) -> Forward:
    """All logits of a batch."""
    import openvino

    gpt = JointGPT.from_transformers(weights.transformers)
    model = openvino.convert_model(gpt, example_input=torch.zeros(2, 3, dtype=torch.long))
    compiled = openvino_compiled(model, weights.threads)
    return lambda ids: torch.from_numpy(compiled(ids.numpy())[0])


def openvino_generate(weights: Weights) -> Generate:
    """A greedy loop; the keys and values are the state of the engine."""
    import openvino
    from openvino.passes import MakeStateful, Manager

    step = Step(JointGPT.from_transformers(weights.transformers))
    example = (torch.zeros(1, 2, dtype=torch.long), *step.empty(3))
    model = openvino.convert_model(step, example_input=example)
    pairs = {f"past_{name}": f"new_{name}" for name in names(step)}
    for port, name in zip(model.inputs, ["ids", *pairs], strict=True):
        port.get_tensor().set_names({name})
    for port, name in zip(model.outputs, ["logits", *pairs.values()], strict=True):
        port.get_tensor().set_names({name})
    shape = [1, step.gpt.h[0].heads, -1, example[1].shape[-1]]
    model.reshape({0: [1, -1]} | dict.fromkeys(range(1, len(pairs) + 1), shape))
    manager = Manager()
    manager.register_pass(MakeStateful(pairs))
    manager.run_passes(model)
    request = openvino_compiled(model, weights.threads).create_infer_request()

    def written(ids: Tensor, count: int) -> Tensor:
        request.reset_state()
        new = ids
        for _ in range(count):
            logits = request.infer({"ids": new.numpy()})["logits"]
            new = torch.from_numpy(logits[:, -1:].argmax(-1))
            ids = torch.cat([ids, new], dim=1)
        return ids

    return written
