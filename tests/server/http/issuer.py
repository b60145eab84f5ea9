"""An authorization server for tests: it has keys, tells about them, and signs what it is given."""

import asyncio
import base64
import hashlib
import hmac
import json
import socket
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from typing import Any

import jwt
import uvicorn
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from jwt.algorithms import ECAlgorithm, OKPAlgorithm, RSAAlgorithm
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from tests.server.http.conftest import run_server

AUDIENCE = "https://browser.example.com/mcp"
METADATA = "/.well-known/oauth-authorization-server"
OPENID = "/.well-known/openid-configuration"


KINDS: dict[str, tuple[Callable[[], Any], str, Any]] = {
    "RSA": (lambda: rsa.generate_private_key(public_exponent=65537, key_size=2048), "RS256", RSAAlgorithm),
    "EC": (lambda: ec.generate_private_key(ec.SECP256R1()), "ES256", ECAlgorithm),
    "OKP": (ed25519.Ed25519PrivateKey.generate, "EdDSA", OKPAlgorithm),
}
"""How to make a key of each kind, what it signs by, and what writes it down."""


def _base64(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


class Issuer:
    """Signs tokens. What it says and does can be changed while it runs."""

    def __init__(self, listener: socket.socket) -> None:
        self.listener = listener
        self.url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        self.requests: list[str] = []
        self.served_at = METADATA
        self.status = 200
        self.hangs = False
        """Whether it takes requests and answers none."""
        self.metadata: dict[str, Any] = {"issuer": self.url, "jwks_uri": f"{self.url}/jwks"}
        self.more_keys: list[object] = []
        self.rotate("first")

    def rotate(self, kid: str, kind: str = "RSA") -> None:
        """Sign with a new key from now on, and forget the last one."""
        make, self.algorithm, self._writer = KINDS[kind]
        self.kid, self.key = kid, make()

    def claims(self, **changed: Any) -> dict[str, Any]:
        """The claims of a token that counts, with some of them changed, or left out where None."""
        now = int(time.time())
        claims = {
            **{"iss": self.url, "aud": AUDIENCE, "sub": "alice", "client_id": "assistant"},
            **{"scope": "browse other", "iat": now, "exp": now + 300},
        }
        return {name: value for name, value in (claims | changed).items() if value is not None}

    def token(self, *, header: Any = None, **changed: Any) -> str:
        """A token, signed with the current key."""
        headers: dict[str, Any] = {"kid": self.kid, "typ": "at+jwt"} | (header or {})
        return jwt.encode(self.claims(**changed), self.key, algorithm=self.algorithm, headers=headers)

    def confused_token(self) -> str:
        """A token whose HS256 secret is the issuer's public key, as everybody can make it."""
        secret = self.key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
        head = _base64(json.dumps({"alg": "HS256", "typ": "JWT", "kid": self.kid}).encode())
        body = _base64(json.dumps(self.claims()).encode())
        signature = hmac.new(secret, f"{head}.{body}".encode(), hashlib.sha256).digest()
        return f"{head}.{body}.{_base64(signature)}"

    def unsigned_token(self) -> str:
        """A token without a signature."""
        return jwt.encode(self.claims(), "", algorithm="none", headers={"kid": self.kid})

    def jwks(self) -> list[object]:
        """The public keys as the issuer publishes them."""
        key = self._writer.to_jwk(self.key.public_key(), as_dict=True)
        return [key | {"kid": self.kid, "use": "sig"}, *self.more_keys]

    async def answer(self, request: Request) -> Response:
        self.requests.append(request.url.path)
        while self.hangs and not await request.is_disconnected():  # noqa: ASYNC110
            await asyncio.sleep(0.02)
        if request.url.path == "/jwks":
            return JSONResponse({"keys": self.jwks()}, status_code=self.status)
        if request.url.path == self.served_at:
            return JSONResponse(self.metadata, status_code=self.status)
        return Response(status_code=404)

    @asynccontextmanager
    async def running(self) -> AsyncGenerator[None]:
        """Answer requests until the end of the block."""
        app = Starlette(routes=[Route("/{path:path}", self.answer)])
        config = uvicorn.Config(app, lifespan="off", log_config=None, access_log=False)
        async with run_server(config, self.listener):
            yield
