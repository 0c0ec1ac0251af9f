/** The live stream of one run, with automatic reconnects. Readers only learn that something has changed, and the latest state. */
import { createParser } from 'eventsource-parser';
import { setTimeout as pause } from 'node:timers/promises';
import type { ChangedWorkflow } from '../../api/wire/models/workflow.js';
import { readJson } from '../../engine/values/exact-json.js';
import { isTemporary } from './call-failures.js';
import type { ServerClient } from './server-client.js';

/** The server sends at least a comment every 15 seconds. */
const SILENCE_MS_MAX = 45_000;
const PAUSE_MS = 1000;
/** One attempt per second: a rolling upgrade takes less. */
const FAILURES_MAX = 60;

/** `null`: read the state, because changes may have been missed. */
export type Change = ChangedWorkflow | null;

/** Keeps only the newest change: a slow reader skips the others. */
export class RunChanges {
  #newest: Change | undefined;
  #failure: unknown = null;
  #wake: (() => void) | null = null;
  readonly #signal: AbortSignal;

  /** @param signal ends the connection */
  constructor(client: ServerClient, workflowId: string, signal: AbortSignal) {
    this.#signal = signal;
    signal.addEventListener('abort', () => this.#wake?.());
    this.#read(client, workflowId, signal).catch((error: unknown) => {
      this.#failure = error;
      this.#wake?.();
    });
  }

  /** @returns undefined after the signal was aborted. @throws CommandFailure if the server stays unavailable */
  async next(): Promise<Change | undefined> {
    while (this.#newest === undefined && this.#failure === null && !this.#signal.aborted) {
      await new Promise<void>((resolve) => (this.#wake = resolve));
    }
    if (this.#signal.aborted) return undefined;
    if (this.#newest === undefined) throw this.#failure;
    const newest = this.#newest;
    this.#newest = undefined;
    return newest;
  }

  #tell(change: Change): void {
    this.#newest = change;
    this.#wake?.();
  }

  async #read(client: ServerClient, workflowId: string, signal: AbortSignal): Promise<void> {
    let failures = 0;
    let hasConnected = false;
    while (!signal.aborted) {
      const connection = new AbortController();
      const either = AbortSignal.any([signal, connection.signal]);
      const hangUp = (): void => connection.abort();
      try {
        const silence = setTimeout(hangUp, SILENCE_MS_MAX);
        const body = await client
          .open('/api/stream', { workflowId }, either)
          .finally(() => clearTimeout(silence));
        hasConnected = true;
        failures = 0;
        this.#tell(null);
        await this.#readBody(body, hangUp);
      } catch (error) {
        failures += 1;
        if (!hasConnected || !isTemporary(error) || failures > FAILURES_MAX) throw error;
      }
      await pause(PAUSE_MS, undefined, { signal }).catch(() => undefined);
    }
  }

  async #readBody(body: ReadableStream<Uint8Array>, hangUp: () => void): Promise<void> {
    const decoder = new TextDecoder();
    const parser = createParser({
      onEvent: ({ data, event }) => {
        if (event === 'lag') this.#tell(null);
        // Events of this type have this shape.
        if (event === 'workflow') this.#tell(readJson(data) as unknown as ChangedWorkflow);
      },
    });
    const reader = body.getReader();
    for (;;) {
      const silence = setTimeout(hangUp, SILENCE_MS_MAX);
      // A broken connection is handled like a closed one: the next connection begins with the current state.
      const { done, value } = await reader
        .read()
        .catch(() => ({ done: true, value: undefined }))
        .finally(() => clearTimeout(silence));
      if (done) return;
      parser.feed(decoder.decode(value, { stream: true }));
    }
  }
}

/** Retries a call while the server is unavailable, until the signal is aborted. @throws CommandFailure if it stays unavailable */
export async function patiently<T>(call: () => Promise<T>, signal: AbortSignal): Promise<T> {
  for (let failures = 1; ; failures += 1) {
    try {
      return await call();
    } catch (error) {
      if (!isTemporary(error) || failures > FAILURES_MAX || signal.aborted) throw error;
    }
    await pause(PAUSE_MS, undefined, { signal }).catch(() => undefined);
  }
}
