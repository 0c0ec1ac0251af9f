/**
 * A limit on connections to callees that includes idle ones: calls to many hosts would otherwise leave one idle connection
 * at each, until the process has no file descriptors left.
 *
 * When another connection is needed, the one that has been idle longest is closed. There always is one: the number of
 * connections in use is limited by the number of calls, which wait for a slot before they request a connection
 * (call-slots.ts).
 */
import { subscribe } from 'node:diagnostics_channel';
import type { Socket } from 'node:net';
import type { buildConnector } from 'undici';

interface RequestEvent {
  readonly request: object;
}

export class OpenSockets {
  readonly #max: number;
  #open = 0;
  /** Longest idle first. */
  readonly #idle = new Set<Socket>();

  constructor(max: number) {
    this.#max = max;
    followRequests();
  }

  /** The same connector, within the limit. */
  limited(connect: buildConnector.connector): buildConnector.connector {
    return (options, callback) => {
      this.#makeRoom();
      this.#open += 1;
      connect(options, (...connected) => {
        // undici omits the socket if there is an error.
        const [error, socket] = connected;
        if (error === null) this.#follow(socket);
        else this.#open -= 1;
        callback(...connected);
      });
    };
  }

  used(socket: Socket): void {
    this.#idle.delete(socket);
  }

  unused(socket: Socket): void {
    if (!socket.destroyed) this.#idle.add(socket);
  }

  #follow(socket: Socket): void {
    owners.set(socket, this);
    this.unused(socket);
    socket.once('close', () => {
      this.#idle.delete(socket);
      this.#open -= 1;
    });
  }

  #makeRoom(): void {
    let surplus = this.#open + 1 - this.#max;
    for (const socket of this.#idle) {
      if (surplus <= 0) return;
      surplus -= 1;
      this.#idle.delete(socket);
      socket.destroy();
    }
  }
}

const owners = new WeakMap<Socket, OpenSockets>();
const socketOf = new WeakMap<object, Socket>();
let follows = false;

/** undici reports on these channels which connection sends each request, and when its response is complete. */
function followRequests(): void {
  if (follows) return;
  follows = true;
  subscribe('undici:client:sendHeaders', (event) => {
    const { request, socket } = event as RequestEvent & { readonly socket: Socket };
    const owner = owners.get(socket);
    if (owner === undefined) return;
    socketOf.set(request, socket);
    owner.used(socket);
  });
  const ended = (event: unknown): void => {
    const socket = socketOf.get((event as RequestEvent).request);
    if (socket !== undefined) owners.get(socket)?.unused(socket);
  };
  subscribe('undici:request:trailers', ended);
  subscribe('undici:request:error', ended);
}
