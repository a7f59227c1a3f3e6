// A race for four on Colyseus, as its guide has one begin: a room with a state and one kind of message.
// It knows no rules: every move is taken.  Nothing outlives the process.
//
//   node server.mjs PORT broadcast    a move is told to its room at once
//   node server.mjs PORT schema       the state's changes go out every 50 ms; the mover gets an answer
//
// It prints one line of JSON when it listens: its process and its versions.
import { createRequire } from 'node:module';
import { Room, Server } from '@colyseus/core';
import { MapSchema, ArraySchema, Schema, defineTypes } from '@colyseus/schema';
import { WebSocketTransport } from '@colyseus/ws-transport';

const SEATS = 4;
const SPOTS = 16;
const DECK = 13;
const PATCH_MS = 50;

const port = Number(process.argv[2]);
const byPatches = process.argv[3] === 'schema';

class Spot extends Schema {
  constructor(suit) {
    super();
    this.suit = suit;
    this.rank = 0;
    this.by = 0;
  }
}
defineTypes(Spot, { suit: 'uint8', rank: 'uint8', by: 'uint8' });

class Middle extends Schema {
  constructor() {
    super();
    this.number = 0;
    this.cards = new MapSchema();
    this.spots = new ArraySchema(...Array.from({ length: SPOTS }, (_, n) => new Spot(n % SEATS)));
  }
}
defineTypes(Middle, { number: 'uint32', cards: { map: 'uint8' }, spots: [Spot] });

class RaceRoom extends Room {
  maxClients = SEATS;

  onCreate() {
    this.state = new Middle();
    this.patchRate = byPatches ? PATCH_MS : null;
    this.onMessage('move', (client, move) => this.play(client, move));
  }

  onJoin(client) {
    this.state.cards.set(client.sessionId, DECK);
  }

  onLeave(client) {
    this.state.cards.delete(client.sessionId);
  }

  play(client, { id, seat, spot: at }) {
    const spot = this.state.spots[at % SPOTS];
    spot.rank = (spot.rank % DECK) + 1;
    spot.by = seat;
    const number = ++this.state.number;
    if (byPatches) client.send('taken', { id, number });
    else this.broadcast('moved', { id, number, seat, spot: at, rank: spot.rank, suit: spot.suit, cards: DECK });
  }
}

const server = new Server({ transport: new WebSocketTransport(), greet: false });
server.define('race', RaceRoom);
await server.listen(port, '127.0.0.1');

const installed = createRequire(import.meta.url)('./package-lock.json').packages;
const version = (name) => installed[`node_modules/${name}`].version;
console.log(JSON.stringify({ pid: process.pid, node: process.version, colyseus: version('@colyseus/core') }));
