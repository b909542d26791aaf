"""From a wrong result to a sentence that names the mistake."""
