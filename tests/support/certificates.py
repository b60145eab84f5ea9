"""Certificates that nobody has signed but themselves."""

import subprocess
from pathlib import Path


def self_signed(folder: Path, name: str) -> Path:
    """A PEM file with a certificate for a name, and its key."""
    pem, certificate = folder / "both.pem", folder / "one.pem"
    make = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", f"/CN={name}"]
    subprocess.run([*make, "-keyout", pem, "-out", certificate], check=True, capture_output=True)
    pem.write_text(pem.read_text() + certificate.read_text())
    return pem
