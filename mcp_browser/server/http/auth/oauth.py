"""Access tokens of an OAuth 2.1 authorization server: its keys, and whether it has issued a token.

The keys are found by the server's metadata (RFC 8414, OpenID Connect Discovery), kept, and fetched again when
they are old or a token names an unknown one. A call waits only for an unknown key.
"""

import asyncio
import json
import logging
import time
from collections.abc import Mapping
from typing import Any, cast
from urllib.parse import urlsplit

import httpx2
import jwt
from mcp.client.auth.utils import (
    build_oauth_authorization_server_metadata_discovery_urls as discovery_addresses,
)
from mcp.server.auth.provider import AccessToken

logger = logging.getLogger(__name__)

_RSA = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512")
ALGORITHMS = (*_RSA, "ES256", "ES384", "ES512", "EdDSA")  # A shared secret could also make tokens
LEEWAY_SECONDS = 30
KEYS_FRESH_SECONDS = 15 * 60
KEYS_USABLE_SECONDS = 24 * 3600  # How long keys may be used when the authorization server does not answer
FETCH_PAUSE_SECONDS = 10  # How often the keys are fetched at most, whatever tokens say
_REQUEST_SECONDS = 5
_FETCH_SECONDS = 10  # How long a fetch may take in all: no call waits longer for the authorization server
_LONGEST_DOCUMENT = 512 * 1024
_LONGEST_TOKEN = 16 * 1024
_FAULTS = (httpx2.HTTPError, httpx2.InvalidURL, jwt.PyJWTError, ValueError, TimeoutError, RecursionError)
_TOKEN_TYPES = frozenset({"", "jwt", "at+jwt", "application/at+jwt"})


class IssuerUnreachable(Exception):
    """The authorization server's keys are not known and cannot be had now."""


class TokenRefused(Exception):
    """A token does not count. The message may be sent to the client."""


SigningKey = tuple[Any, tuple[str, ...]]  # A public key, and the signatures that it may be used for


class AccessTokens:
    """Checks access tokens of one issuer, with the keys by which it signs."""

    def __init__(self, issuer: str, audience: tuple[str, ...]) -> None:
        self._issuer = issuer
        self._audience = audience
        self._keys: dict[str | None, SigningKey] = {}  # By their identifiers
        self._fetched_at = float("-inf")
        self._tried_at = float("-inf")
        self._fetching: asyncio.Task[None] | None = None

    async def check(self, token: str) -> AccessToken:
        """What a token of this issuer for this server allows; raises TokenRefused, IssuerUnreachable."""
        try:
            if len(token) > _LONGEST_TOKEN or token.count(".") != 2:  # noqa: PLR2004 - header, claims, signature
                raise ValueError
            header = jwt.get_unverified_header(token)
        except (jwt.PyJWTError, ValueError, RecursionError):
            raise TokenRefused("The token is not known here.") from None
        if header.get("alg") not in ALGORITHMS:
            raise TokenRefused("The token's signature is not of a kind that is taken here.")
        if str(header.get("typ") or "").lower() not in _TOKEN_TYPES:
            raise TokenRefused("The token is not an access token.")
        kid = header.get("kid")
        found = await self._key(kid if isinstance(kid, str) else None)
        if found is None:
            raise TokenRefused("The token is signed with a key that the authorization server does not name.")
        key, algorithms = found
        try:
            claims = jwt.decode(
                token,
                key,
                algorithms=list(algorithms),
                audience=list(self._audience),
                issuer=self._issuer,
                leeway=LEEWAY_SECONDS,
                options={"require": ["exp", "iss", "aud"]},
            )
        except jwt.ExpiredSignatureError:
            raise TokenRefused("The token has expired.") from None
        except jwt.InvalidAudienceError:
            raise TokenRefused("The token is for another audience.") from None
        except (jwt.PyJWTError, ValueError, TypeError, RecursionError):
            raise TokenRefused("The token is not valid.") from None
        client = claims.get("client_id") or claims.get("azp") or ""
        subject = claims.get("sub") or client
        if not isinstance(subject, str) or not isinstance(client, str) or not subject:
            raise TokenRefused("The token does not say whom it is for.")
        return AccessToken(
            token="",
            client_id=client,
            scopes=sorted(_words(claims.get("scope")) | _words(claims.get("scp"))),
            expires_at=int(claims["exp"]),
            subject=subject,
            claims={"iss": self._issuer},
        )

    async def _key(self, kid: str | None) -> SigningKey | None:
        """The key of an identifier; None if the server has none such.

        A known key is returned at once; an old one is fetched again in the background. Raises
        IssuerUnreachable: there are no keys yet, or they are too old to be used.
        """
        now, known = time.monotonic(), self._find(kid)
        age = now - self._fetched_at
        if age > KEYS_FRESH_SECONDS or known is None:
            if self._fetching is None and now - self._tried_at >= FETCH_PAUSE_SECONDS:
                self._fetching = asyncio.create_task(self._fetch())
            if self._fetching is not None and (age > KEYS_USABLE_SECONDS or known is None):
                # A request that is given up leaves the fetch to the others.
                await asyncio.shield(self._fetching)
        if time.monotonic() - self._fetched_at > KEYS_USABLE_SECONDS:
            raise IssuerUnreachable
        return self._find(kid)

    def _find(self, kid: str | None) -> SigningKey | None:
        if kid is None and len(self._keys) == 1:
            return next(iter(self._keys.values()))
        return self._keys.get(kid)

    async def _fetch(self) -> None:
        try:
            async with (
                asyncio.timeout(_FETCH_SECONDS),
                httpx2.AsyncClient(timeout=_REQUEST_SECONDS, follow_redirects=False) as client,
            ):
                found = _keys_of(await _document(client, await self._address(client)))
            if not found:
                raise ValueError("it has no keys for signatures that are taken here")
            self._keys, self._fetched_at = found, time.monotonic()
        except _FAULTS as error:
            logger.warning("Cannot get the keys of %s: %s", self._issuer, error or type(error).__name__)
        finally:
            self._tried_at = time.monotonic()
            self._fetching = None

    async def _address(self, client: httpx2.AsyncClient) -> str:
        problem: Exception | None = None
        for address in discovery_addresses(self._issuer, ""):
            try:
                metadata = await _document(client, address)
            except (httpx2.HTTPError, ValueError) as error:
                problem = problem or error
                continue
            if metadata.get("issuer") != self._issuer:
                raise ValueError(f"{address} is another issuer's; --oauth-issuer must be what it says")
            jwks = metadata.get("jwks_uri")
            safe = {"https", urlsplit(self._issuer).scheme}
            if not isinstance(jwks, str) or urlsplit(jwks).scheme not in safe:
                raise ValueError(f"{address} names no jwks_uri with https")
            return jwks
        raise problem or ValueError("no metadata")


async def _document(client: httpx2.AsyncClient, address: str) -> dict[str, Any]:
    async with client.stream("GET", address, headers={"Accept": "application/json"}) as response:
        response.raise_for_status()  # So it does where the address leads elsewhere.
        content = bytearray()
        async for chunk in response.aiter_bytes():
            content += chunk
            if len(content) > _LONGEST_DOCUMENT:
                raise ValueError(f"{address} is too long")
    try:
        document: object = json.loads(content)
    except (ValueError, RecursionError):
        document = None
    if not isinstance(document, dict):
        raise ValueError(f"{address} is not a JSON object")
    return cast("dict[str, Any]", document)


def _keys_of(document: Mapping[str, Any]) -> dict[str | None, SigningKey]:
    """The public keys for signatures in a JWKS, without entries that are not understood."""
    found: dict[str | None, SigningKey] = {}
    listed = document.get("keys")
    entries = cast("list[object]", listed) if isinstance(listed, list) else []
    for data in (cast("dict[str, Any]", entry) for entry in entries if isinstance(entry, dict)):
        if data.get("use", "sig") != "sig" or data.get("kty") not in {"RSA", "EC", "OKP"} or "d" in data:
            continue
        try:
            key = jwt.PyJWK.from_dict(data)
        except (jwt.PyJWTError, ValueError, TypeError):
            continue
        # A key without `alg` may be used as its kind allows; PyJWT names but one way for it.
        any_rsa = data["kty"] == "RSA" and "alg" not in data
        usable = _RSA if any_rsa else tuple(name for name in ALGORITHMS if name == key.algorithm_name)
        kid = data.get("kid")
        if usable:
            found[kid if isinstance(kid, str) else None] = key.key, usable
    return found


def _words(claim: object) -> set[str]:
    """The scopes in a claim: a text with spaces, or a list."""
    if isinstance(claim, str):
        return set(claim.split())
    listed = cast("list[object]", claim) if isinstance(claim, list) else []
    return {word for word in listed if isinstance(word, str)}
