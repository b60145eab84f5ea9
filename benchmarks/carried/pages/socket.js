const socket = new WebSocket(carriedSocket);
socket.onopen = () => setInterval(() => socket.send("ping"), 500);
