"""Colyseus: `server.mjs` is the room, `load` plays in it."""
