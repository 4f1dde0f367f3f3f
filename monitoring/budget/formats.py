"""Weight formats: how many bits a weight takes.

Formats of GGUF are blocks of a fixed size (``ggml-common.h`` of llama.cpp): a Q4_K block holds 256
weights in 144 bytes, a Q6_K block 256 in 210. The mixes named _M keep half of the value projections
and of the second feed-forward matrices in Q6_K, and the token embeddings too where they are the
output matrix (``llama_tensor_get_type`` of llama.cpp), so a file's size follows from the model.
"""

from __future__ import annotations

from dataclasses import dataclass

from monitoring.budget.architecture import Parameters

BITS_PER_BYTE = 8


@dataclass(frozen=True)
class WeightFormat:
    """Bits per weight of each part; ``fine`` is that of the finer half of values and downs."""

    name: str
    bits: float
    embedding_bits: float
    fine_bits: float | None = None
    gguf: bool = False

    def size(self, parameters: Parameters) -> int:
        """Return the bytes of a model's weights as vLLM holds them."""
        fine = self.bits if self.fine_bits is None else (self.bits + self.fine_bits) / 2
        bits = self.bits * (parameters.plain + parameters.repeated)
        bits += fine * (parameters.values + parameters.downs)
        bits += self.embedding_bits * parameters.embedding
        # A GGUF file of the text model has no vision tower.
        bits += 0 if self.gguf else 16 * parameters.vision
        return round(bits / BITS_PER_BYTE)


def _gguf(name: str, bits: float, fine: float | None = None) -> WeightFormat:
    embedding = 6.5625 if fine else bits
    return WeightFormat(name, bits, embedding, fine, gguf=True)


_ALL = (
    WeightFormat("bf16", 16, 16),
    WeightFormat("fp8", 8, 16),
    WeightFormat("int8", 8, 16),
    # A 16-bit scale and a 4-bit zero for each 128 weights, as AWQ and GPTQ write them.
    WeightFormat("int4", 4 + 20 / 128, 16),
    WeightFormat("nvfp4", 4 + 8 / 16, 16),
    WeightFormat("mxfp4", 4 + 8 / 32, 16),
    _gguf("q8_0", 8.5),
    _gguf("q6_k", 6.5625),
    _gguf("q5_k_m", 5.5, 6.5625),
    _gguf("q4_k_m", 4.5, 6.5625),
    _gguf("q4_0", 4.5),
)

FORMATS: dict[str, WeightFormat] = {each.name: each for each in _ALL}
