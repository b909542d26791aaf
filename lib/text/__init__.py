"""From text to numbers: byte-pair encoding, tokenizers, word vectors."""
