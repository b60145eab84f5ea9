"""Time-based one-time passwords (RFC 6238), as authenticator apps make them."""

import base64
import binascii
import time
from typing import Literal, cast
from urllib.parse import parse_qs, urlsplit

from pydantic import BaseModel, ConfigDict, Field

Algorithm = Literal["SHA1", "SHA256", "SHA512"]


class OneTimePassword(BaseModel):
    """What codes are made of. `period` is in seconds."""

    model_config = ConfigDict(frozen=True)

    key: bytes = Field(repr=False)
    digits: int = Field(default=6, ge=6, le=8)
    period: int = Field(default=30, ge=1)
    algorithm: Algorithm = "SHA1"

    @classmethod
    def parse(cls, text: str) -> "OneTimePassword":
        """From a key in Base32, or from an authenticator's `otpauth://totp/…` address.

        Raises:
            ValueError: it is neither.
        """
        if not text.startswith("otpauth:"):
            return cls(key=_decoded(text))
        parts = urlsplit(text)
        if parts.netloc != "totp":
            raise ValueError("only time-based codes can be made (otpauth://totp/…)")
        given = {name: values[0] for name, values in parse_qs(parts.query).items()}
        return cls(
            key=_decoded(given.get("secret", "")),
            digits=int(given.get("digits", "6")),
            period=int(given.get("period", "30")),
            algorithm=cast("Algorithm", given.get("algorithm", "SHA1").upper()),
        )

    def now(self) -> str:
        """The code of this moment."""
        return self.at(time.time())

    def at(self, seconds: float) -> str:
        """The code of a moment, in seconds since 1970."""
        # Imported late: seldom needed.
        from cryptography.hazmat.primitives import hashes  # noqa: PLC0415
        from cryptography.hazmat.primitives.twofactor.totp import TOTP  # noqa: PLC0415

        algorithm = {"SHA1": hashes.SHA1, "SHA256": hashes.SHA256, "SHA512": hashes.SHA512}[self.algorithm]()
        # Many sites give out keys of 80 bits, which is less than RFC 4226 asks for.
        codes = TOTP(self.key, self.digits, algorithm, self.period, enforce_key_length=False)
        return codes.generate(int(seconds)).decode()


def _decoded(text: str) -> bytes:
    letters = "".join(text.split()).replace("-", "").upper().rstrip("=")
    try:
        key = base64.b32decode(letters + "=" * (-len(letters) % 8))
    except binascii.Error:
        raise ValueError("the key is not Base32") from None
    if not key:
        raise ValueError("the key is empty")
    return key
