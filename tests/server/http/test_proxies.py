from tests.server.http.conftest import Serve

FORWARDED = {"X-Forwarded-For": "203.0.113.9", "X-Forwarded-Proto": "https"}


async def test_nobody_is_believed_without_being_named(serve: Serve) -> None:
    async with serve() as served:
        answer = (await served.client.get("/mcp", headers=FORWARDED)).json()
    assert (answer["client"], answer["scheme"]) == ("127.0.0.1", "http")


async def test_a_trusted_proxy_tells_whom_it_stands_for(serve: Serve) -> None:
    async with serve(trusted_proxies="127.0.0.0/8") as served:
        answer = (await served.client.get("/mcp", headers=FORWARDED)).json()
        assert (answer["client"], answer["scheme"]) == ("203.0.113.9", "https")
        chain = FORWARDED | {"X-Forwarded-For": "198.51.100.1, 203.0.113.9, 127.0.0.2"}
        assert (await served.client.get("/mcp", headers=chain)).json()["client"] == "203.0.113.9"


async def test_a_forwarded_host_counts_in_addition_to_the_host(serve: Serve) -> None:
    async with serve(trusted_proxies="127.0.0.1", allowed_hosts="browser.example.com") as served:
        assert await served.status(X_Forwarded_Host="browser.example.com") == 200
        assert await served.status(X_Forwarded_Host="evil.example") == 421
        assert await served.status(X_Forwarded_Host="browser.example.com, evil.example") == 421
        assert await served.status(X_Forwarded_Host="localhost", Host="evil.example") == 421


async def test_the_forwarded_host_of_others_neither_helps_nor_harms(serve: Serve) -> None:
    async with serve(trusted_proxies="192.0.2.1") as served:
        assert await served.status(X_Forwarded_Host="evil.example") == 200
        assert await served.status(X_Forwarded_Host="localhost", Host="evil.example") == 421
