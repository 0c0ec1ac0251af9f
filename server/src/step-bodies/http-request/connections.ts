/**
 * The connections to callees.
 *
 *  OC1 A request goes out once. The exception: one that may arrive twice (RFC 9110, 9.2.2), when the callee has closed the
 *      connection of an earlier call as the request arrived, goes out again on a new connection.
 */
import { Agent, type buildConnector, type Dispatcher } from 'undici';
import { HEAD_BYTES_MAX } from './answer-head.js';
import { wasClosedBefore, withAnswers } from './answer-sockets.js';
import type { HttpCall } from './http-call.js';
import { OpenSockets } from './open-sockets.js';

export interface ConnectionsOptions {
  readonly perHostMax: number;
  readonly totalMax: number;
  readonly connect: buildConnector.connector;
}

/** Maximum time to keep an idle connection, whatever the callee offers. */
const IDLE_MS_MAX = 4000;

const IDEMPOTENT_METHODS: ReadonlySet<string> = new Set([
  'GET',
  'HEAD',
  'OPTIONS',
  'PUT',
  'DELETE',
]);

export class Connections {
  readonly #agent: Agent;
  /** Each request on a connection of its own. */
  readonly #freshAgent: Agent;

  constructor({ connect, perHostMax, totalMax }: ConnectionsOptions) {
    const settings = {
      connections: perHostMax,
      keepAliveMaxTimeout: IDLE_MS_MAX,
      allowH2: false,
      connect: withAnswers(new OpenSockets(totalMax).limited(connect)),
      maxHeaderSize: HEAD_BYTES_MAX,
      // The deadline of the call covers both.
      headersTimeout: 0,
      bodyTimeout: 0,
    };
    this.#agent = new Agent({ ...settings, pipelining: 1 });
    this.#freshAgent = new Agent({ ...settings, pipelining: 0 });
  }

  async send(call: HttpCall, signal: AbortSignal): Promise<Dispatcher.ResponseData> {
    const request = {
      origin: call.url.origin,
      path: `${call.url.pathname}${call.url.search}`,
      method: call.method,
      headers: [...call.headers].flat(),
      body: call.body,
      signal,
    };
    try {
      return await this.#agent.request(request);
    } catch (error) {
      if (!wasClosedBefore(error) || !IDEMPOTENT_METHODS.has(call.method)) throw error;
      return this.#freshAgent.request(request);
    }
  }

  async close(): Promise<void> {
    await Promise.all([this.#agent.destroy(), this.#freshAgent.destroy()]);
  }
}
