/** A reader of /api/stream that supports only the format of server-sent events. */
import { expect } from 'vitest';
import type { JsonObject } from '../../../src/engine/values/json.js';

export interface LiveChange {
  readonly event: string;
  readonly data: JsonObject;
}

export class LiveChanges {
  /** `closed` if the server ended the stream, `broken` if the connection failed. */
  readonly ended: Promise<'closed' | 'broken'>;
  readonly #hangUp: AbortController;
  readonly #heard: LiveChange[] = [];

  private constructor(body: ReadableStream<Uint8Array>, hangUp: AbortController) {
    this.#hangUp = hangUp;
    this.ended = this.#read(body).then(
      () => 'closed',
      () => 'broken',
    );
  }

  /** Resolves when the server is listening for changes. */
  static async open(url: string, query = '', token?: string): Promise<LiveChanges> {
    const hangUp = new AbortController();
    const response = await fetch(`${url}/api/stream${query}`, {
      signal: hangUp.signal,
      headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
    });
    expect(response.status).toBe(200);
    if (response.body === null) throw new Error('the stream has no body');
    return new LiveChanges(response.body, hangUp);
  }

  /** The first change that matches; it and all earlier ones are removed. */
  async until(holds: (change: LiveChange) => boolean, timeout = 40_000): Promise<LiveChange> {
    let found = -1;
    await expect
      .poll(() => (found = this.#heard.findIndex(holds)), {
        timeout,
        message: 'the change was not told of',
      })
      .toBeGreaterThanOrEqual(0);
    return this.#heard.splice(0, found + 1).at(-1)!;
  }

  close(): void {
    this.#hangUp.abort();
  }

  async #read(body: ReadableStream<Uint8Array>): Promise<void> {
    const decoder = new TextDecoder();
    let text = '';
    for await (const chunk of body) {
      text += decoder.decode(chunk, { stream: true });
      const blocks = text.split('\n\n');
      text = blocks.pop() ?? '';
      for (const block of blocks) {
        const event = /^event: (\w+)$/m.exec(block)?.[1];
        const data = /^data: (.*)$/m.exec(block)?.[1];
        if (event === undefined || data === undefined) continue;
        this.#heard.push({ event, data: JSON.parse(data) as JsonObject });
      }
    }
  }
}
