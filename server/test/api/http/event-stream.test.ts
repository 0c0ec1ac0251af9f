/**
 * GET /api/stream over HTTP: its events, and clients that are slow, disconnected, too many or whose token has expired.
 */
import { connect } from 'node:net';
import { generateKeyPairSync } from 'node:crypto';
import { SignJWT } from 'jose';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { ChangeBatch } from '../../../src/backplane/backplane.js';
import type { ChangeListener } from '../../../src/runtime/changes/change-watch.js';
import { problemOf, authWith, startApi } from '../support/api-server.js';

const NOTHING: ChangeBatch = { workflows: [], definitions: [], lagged: false };
const CHANGE = {
  id: 'w1',
  definitionId: 'd',
  version: 3,
  reference: 'a\nb',
  status: 'Complete',
  outcome: 'Succeeded',
  parent: { workflowId: 'w0' },
  startTime: Date.UTC(2026, 0, 1),
  endTime: Date.UTC(2026, 0, 2),
  lastChangeTime: Date.UTC(2026, 0, 2),
  failureTime: null,
  failingSince: null,
} as const;

/** Yields these batches, then waits until it is closed; `null` in the list ends the stream. */
function listener(batches: readonly (ChangeBatch | null)[]): ChangeListener & {
  asked: number;
  closed: number;
} {
  let wake: () => void = () => undefined;
  return {
    asked: 0,
    closed: 0,
    async next() {
      const batch = this.closed > 0 ? null : batches[this.asked];
      this.asked += 1;
      if (batch !== undefined) return batch;
      if (this.closed === 0) await new Promise<void>((resolve) => (wake = resolve));
      return null;
    },
    close() {
      this.closed += 1;
      wake();
    },
  };
}

describe('GET /api/stream', () => {
  it('sends each change as an event that any EventSource can read', async () => {
    const changes = listener([
      { workflows: [CHANGE], definitions: [{ id: 'd', version: 4 }], lagged: false },
      { ...NOTHING, lagged: true },
      NOTHING,
      null,
    ]);
    const api = await startApi({ host: { 'changes.watch': () => changes } });
    const response = await api.fetch('/api/stream?definitionId=d');
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
    expect(response.headers.get('cache-control')).toContain('no-cache');
    expect(response.headers.get('x-accel-buffering')).toBe('no');
    const workflow =
      '{"workflowId":"w1","definitionId":"d","version":3,"reference":"a\\nb","status":"Complete",' +
      '"outcome":"Succeeded","parent":{"workflowId":"w0"},"startTime":"2026-01-01T00:00:00.000Z",' +
      '"endTime":"2026-01-02T00:00:00.000Z","lastChangeTime":"2026-01-02T00:00:00.000Z","failureTime":null,"failingSince":null}';
    expect(await response.text()).toBe(
      [
        'retry: 2000',
        'event: definition\ndata: {"id":"d","version":4}',
        `event: workflow\ndata: ${workflow}`,
        'event: lag\ndata: {}',
        ': nothing changed',
        '',
      ].join('\n\n'),
    );
    expect(api.calls).toEqual([{ method: 'changes.watch', args: [{ definitionId: 'd' }] }]);
    expect(changes.closed).toBeGreaterThan(0);
  });

  it('confirms the subscription before the first event', async () => {
    const api = await startApi({ host: { 'changes.watch': () => listener([]) } });
    const hangUp = new AbortController();
    const response = await api.fetch('/api/stream', { signal: hangUp.signal });
    const chunks = response.body as ReadableStream<Uint8Array>;
    for await (const chunk of chunks) {
      expect(Buffer.from(chunk).toString()).toBe('retry: 2000\n\n');
      break;
    }
    hangUp.abort();
  });

  it('releases the listener when the client disconnects', async () => {
    const changes = listener([]);
    const api = await startApi({ host: { 'changes.watch': () => changes } });
    const hangUp = new AbortController();
    await api.fetch('/api/stream', { signal: hangUp.signal });
    expect(changes.closed).toBe(0);
    hangUp.abort();
    await expect.poll(() => changes.closed).toBeGreaterThan(0);
  });

  it('buffers nothing for a client that does not read', async () => {
    const big = Array.from({ length: 1000 }, () => CHANGE);
    const changes = listener(Array.from({ length: 2000 }, () => ({ ...NOTHING, workflows: big })));
    const api = await startApi({ host: { 'changes.watch': () => changes } });
    const socket = connect(api.port, '127.0.0.1');
    onTestFinished(() => void socket.destroy());
    socket.pause();
    socket.write('GET /api/stream HTTP/1.1\r\nHost: localhost\r\n\r\n');
    // It writes until the buffers of the connection are full, and then requests no more.
    let asked = -1;
    await expect
      .poll(
        () => {
          const before = asked;
          asked = changes.asked;
          return asked > 0 && asked === before;
        },
        { interval: 200, timeout: 10_000 },
      )
      .toBe(true);
    expect(changes.asked).toBeLessThan(200);
    socket.destroy();
    await expect.poll(() => changes.closed).toBeGreaterThan(0);
  });

  it('counts towards the limit of waiting calls from one address', async () => {
    const api = await startApi({
      host: { 'changes.watch': () => listener([]) },
      limits: { waitingPerAddressMax: 1 },
    });
    const hangUp = new AbortController();
    await api.fetch('/api/stream', { signal: hangUp.signal });
    const refused = await api.fetch('/api/stream');
    expect(refused.status).toBe(429);
    expect(await problemOf(refused)).toMatchObject({ code: 'too_many_requests' });
    hangUp.abort();
    const second = new AbortController();
    await expect
      .poll(async () => (await api.fetch('/api/stream', { signal: second.signal })).status)
      .toBe(200);
    second.abort();
  });

  it('ends when the token of the client expires', async () => {
    const keys = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const changes = listener([]);
    const api = await startApi({
      host: { 'changes.watch': () => changes },
      auth: authWith(keys.publicKey),
    });
    const token = await new SignJWT({ scope: 'conductor:viewer' })
      .setProtectedHeader({ alg: 'ES256' })
      .setExpirationTime(Math.floor(Date.now() / 1000) + 2)
      .sign(keys.privateKey);
    const response = await api.fetch('/api/stream', {
      headers: { authorization: `Bearer ${token}` },
    });
    expect(response.status).toBe(200);
    expect(await response.text()).toContain('retry');
    expect(changes.closed).toBeGreaterThan(0);
  });

  it.each([
    ['a name with a control character', '?workflowId=a%00b', 400],
    ['a name that is too long', `?definitionId=${'x'.repeat(201)}`, 400],
  ])('rejects %s', async (_what, query, status) => {
    const api = await startApi();
    expect((await api.fetch(`/api/stream${query}`)).status).toBe(status);
  });

  it('rejects HEAD, which would only keep it open', async () => {
    const api = await startApi();
    const response = await api.fetch('/api/stream', { method: 'HEAD' });
    expect(response.status).toBe(405);
    expect(response.headers.get('allow')).toBe('GET');
  });
});
