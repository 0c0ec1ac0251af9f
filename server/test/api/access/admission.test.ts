/** What becomes of calls in progress when the right of their caller ends. */
import { generateKeyPairSync } from 'node:crypto';
import { connect } from 'node:net';
import { readFileSync } from 'node:fs';
import { SignJWT } from 'jose';
import { describe, expect, it, vi } from 'vitest';
import type { WorkItem } from '../../../src/runtime/activities/activity-types.js';
import { StoreUnavailableError } from '../../../src/store/store.js';
import { authWith, problemOf, startApi, type ApiServer } from '../support/api-server.js';
import { deferred } from '../support/deferred.js';
import { SOME_INSTANCE, type HostAnswers } from '../support/scripted-host.js';

const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const KEY = `sw_abcdefgh_${'k'.repeat(43)}`;
const STORED = {
  name: 'worker',
  scopes: ['conductor:admin'],
  secretHash: '',
  createdBy: 'ada',
  createdAt: 0,
  expiresAt: null,
  lastUsedAt: null,
};
const ITEM: WorkItem = {
  token: 't-1',
  activityName: 'charge',
  parameters: { card: 'the secret of the item' },
  storedLength: 40,
  tokenExpiresAt: null,
  workflowId: 'w1',
  stepId: 's',
  executionId: 1,
  idempotencyKey: 'k',
  attempt: 1,
};
const never = () => new Promise<never>(() => undefined);

async function* endless(asked: () => void): AsyncGenerator<never, void, undefined> {
  asked();
  await never();
}

async function tokenFor(ms: number): Promise<string> {
  return new SignJWT({ scope: 'conductor:admin', sub: 'ada' })
    .setProtectedHeader({ alg: 'ES256' })
    .setExpirationTime(Math.ceil((Date.now() + ms) / 1000))
    .sign(privateKey);
}

/** A call that was authenticated before is confirmed again. */
async function untilNotFresh(): Promise<void> {
  const from = performance.now();
  await vi.waitFor(() => expect(performance.now()).toBeGreaterThan(from + 300));
}

const withToken = (bearer: string): RequestInit => ({
  headers: { authorization: `Bearer ${bearer}` },
});

/** A server with an API key that can be removed, and changed. */
async function withKey(host: HostAnswers) {
  let stored: typeof STORED | null = STORED;
  let isAway = false;
  const api = await startApi({
    auth: authWith(publicKey),
    host: {
      'keys.verify': async () => {
        if (isAway) throw new StoreUnavailableError('away');
        return stored;
      },
      ...host,
    },
  });
  return {
    api,
    call: (path: string, init: RequestInit = {}) => api.fetch(path, { ...init, ...withToken(KEY) }),
    remove: () => void (stored = null),
    narrow: () => void (stored = { ...STORED, scopes: ['conductor:viewer'] }),
    away: () => void (isAway = true),
    back: () => void (isAway = false),
  };
}

async function expectEnded(response: Response): Promise<Record<string, unknown>> {
  const problem = await problemOf(response);
  expect([response.status, problem['code']]).toEqual([401, 'authorization_ended']);
  expect(response.headers.get('content-type')).toContain('application/problem+json');
  expect(response.headers.get('www-authenticate')).toBe('Bearer error="invalid_token"');
  return problem;
}

const OPENAPI = new URL('../../../openapi/openapi.json', import.meta.url);
interface Documented {
  readonly paths: Record<string, Record<string, { readonly security?: readonly unknown[] }>>;
}

/** All calls that need a token, with the parameters that they need. */
function authenticatedCalls(): readonly (readonly [method: string, path: string])[] {
  const { paths } = JSON.parse(readFileSync(OPENAPI, 'utf8')) as Documented;
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(([, { security = [] }]) => security.length > 0)
      .map(([method]) => [method.toUpperCase(), pathOf(path)] as const),
  );
}

function pathOf(path: string): string {
  const filled = path.replaceAll('{executionId}', '1').replaceAll(/\{\w+\}/g, 'x');
  if (filled.endsWith('/explain') && !filled.includes('/x/')) return `${filled}?id=x`;
  return filled.endsWith('/find') ? `${filled}?text=x` : filled;
}

/** The smallest valid body of each call that needs one. */
const BODIES: Readonly<Record<string, unknown>> = {
  'PUT /api/workflow/x/priority': { priority: 1 },
  'PATCH /api/workflow': { action: 'suspend', workflowIds: ['x'] },
  'POST /api/bulk': { action: 'suspend', workflowIds: ['x'], reason: 'x' },
  'POST /api/key': { name: 'x', scopes: ['conductor:viewer'] },
  'PUT /api/webhook/x': {
    scheme: 'github',
    secret: 'x'.repeat(32),
    publish: { name: '"n"', key: '"k"' },
  },
  'PUT /api/limit/x': { concurrency: 1 },
  'PUT /api/notification/x': { url: 'http://localhost/', on: ['failed'], secret: 'x'.repeat(32) },
  'POST /api/workflow/x/modify': { reason: 'x', resume: true },
  'POST /api/workflow/x/rerun': { reason: 'x' },
  'POST /api/workflow/x/restart': { reason: 'x' },
  'POST /api/definition/x/triggers/x/backfill': {
    from: '2026-05-01T00:00:00Z',
    to: '2026-05-02T00:00:00Z',
  },
};

async function callAll(api: ApiServer, bearer: string) {
  const calls = authenticatedCalls();
  const answers = await Promise.all(
    calls.map(async ([method, path]) => {
      const isScript = method === 'POST' && path === '/api/step/x';
      const body = isScript ? 'x = 1' : JSON.stringify(BODIES[`${method} ${path}`] ?? {});
      const response = await api.fetch(path, {
        method,
        headers: {
          authorization: `Bearer ${bearer}`,
          ...(method !== 'GET' && {
            'content-type': isScript ? 'text/x-python' : 'application/json',
          }),
        },
        ...(method !== 'GET' && { body }),
      });
      return [`${method} ${path}`, response.status, await response.text()] as const;
    }),
  );
  expect(answers.length).toBe(calls.length);
  return answers;
}

/** The host never answers, and the stream never ends. */
const SILENT: HostAnswers = {
  'changes.watch': () => {
    const closed = deferred<null>();
    return { next: () => closed.promise, close: () => closed.resolve(null) };
  },
};
const areas = [
  'definitions',
  'customSteps',
  'instances',
  'events',
  'activities',
  'nodes',
  'workers',
] as const;

describe('the right of a caller', () => {
  it('ends every call of the API that is in progress when its token expires', async () => {
    const api = await startApi({ auth: authWith(publicKey), host: SILENT, isSilent: true });
    // Long enough for all of the calls to be authenticated.
    const answers = await callAll(api, await tokenFor(8000));
    for (const [name, status, text] of answers) {
      if (name === 'GET /api/stream')
        expect([status, text], name).toEqual([200, expect.any(String)]);
      else
        expect([status, text], name).toEqual([401, expect.stringContaining('authorization_ended')]);
    }
    expect(areas.every((area) => api.calls.some(({ method }) => method.startsWith(area)))).toBe(
      true,
    );
  });

  it('ends every call of the API that is in progress when its API key is removed', async () => {
    let isRemoved = false;
    const api = await startApi({
      auth: authWith(publicKey),
      host: { ...SILENT, 'keys.verify': async () => (isRemoved ? null : STORED) },
      isSilent: true,
    });
    const answers = callAll(api, KEY);
    const expected = authenticatedCalls().length;
    await vi.waitFor(() => {
      const reached = api.calls.filter(({ method }) => method !== 'keys.verify');
      expect(reached.length).toBeGreaterThanOrEqual(expected);
    }, 30_000);
    isRemoved = true;
    for (const [name, status, text] of await answers) {
      if (name !== 'GET /api/stream') {
        expect([status, text], name).toEqual([401, expect.stringContaining('authorization_ended')]);
      }
    }
  });

  it('ends when the scopes of the key change', async () => {
    const asked = deferred<null>();
    const get = () => {
      asked.resolve(null);
      return never();
    };
    const { call, narrow } = await withKey({ 'instances.get': get });
    const answer = call('/api/workflow/w1');
    await asked.promise;
    narrow();
    await expectEnded(await answer);
  });

  it('gives back a work item that came at the last moment, and does not show it', async () => {
    const item = deferred<WorkItem>();
    const polled = deferred<null>();
    const release = vi.fn(async () => undefined);
    const { call, remove } = await withKey({
      'activities.pull': () => {
        polled.resolve(null);
        return item.promise;
      },
      'activities.release': release,
    });
    const answer = call('/api/activity/charge?timeout=60');
    await polled.promise;
    await untilNotFresh();
    remove();
    item.resolve(ITEM);
    const problem = await expectEnded(await answer);
    expect(JSON.stringify(problem)).not.toContain('the secret');
    await vi.waitFor(() => expect(release).toHaveBeenCalledWith('t-1', 'undelivered'));
  });

  it('ends a wait for a start, and says which run was started', async () => {
    const asked = deferred<null>();
    const start: HostAnswers['instances.start'] = async (_request, wait) => {
      asked.resolve(null);
      await new Promise((resolve) => wait!.signal.addEventListener('abort', resolve));
      return { instance: SOME_INSTANCE, isNew: true };
    };
    const { call, remove } = await withKey({ 'instances.start': start });
    const answer = call('/api/workflow/greeting?wait=60', { method: 'POST' });
    await asked.promise;
    remove();
    const problem = await expectEnded(await answer);
    expect(problem['workflowId']).toBe('w1');
    expect(problem).not.toHaveProperty('data');
  });

  it('keeps the answer to a change that was made just before the token expired', async () => {
    const changed = deferred<null>();
    const api = await startApi({
      auth: authWith(publicKey),
      host: {
        'instances.start': async () => {
          await changed.promise;
          return { instance: SOME_INSTANCE, isNew: true };
        },
      },
    });
    const token = await tokenFor(1000);
    const expiresAt = 1000 * (JSON.parse(atob(token.split('.')[1]!)) as { exp: number }).exp;
    const answer = api.fetch('/api/workflow/greeting', { method: 'POST', ...withToken(token) });
    await vi.waitFor(() => expect(Date.now()).toBeGreaterThan(expiresAt), 5000);
    changed.resolve(null);
    expect((await answer).status).toBe(201);
  });

  it('cuts off a response that is being sent piece by piece', async () => {
    const written = deferred<null>();
    const { api, remove } = await withKey({
      'instances.export': (_id, send) =>
        send({
          instance: SOME_INSTANCE,
          definition: null,
          input: {},
          audit: [],
          steps: endless(() => written.resolve(null)),
        }),
    });
    const socket = connect(api.port, '127.0.0.1', () =>
      socket.write(
        `GET /api/workflow/w1/export HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${KEY}\r\n\r\n`,
      ),
    );
    const closed = deferred<null>();
    socket.on('error', () => undefined);
    socket.on('close', () => closed.resolve(null));
    socket.resume();
    await written.promise;
    remove();
    await closed.promise;
  });

  it('does not answer unconfirmed calls while the store does not respond', async () => {
    const get = deferred<typeof SOME_INSTANCE>();
    const asked = deferred<null>();
    const { away, call } = await withKey({
      'instances.get': () => {
        asked.resolve(null);
        return get.promise;
      },
    });
    const answer = call('/api/workflow/w1');
    await asked.promise;
    away();
    await untilNotFresh();
    get.resolve(SOME_INSTANCE);
    expect((await answer).status).toBe(503);
  });

  it('has no effect with a body that arrives after its end', async () => {
    const { api, remove } = await withKey({ 'events.publish': never });
    const socket = connect(api.port, '127.0.0.1');
    const head = `POST /api/event/a/b HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${KEY}\r\n`;
    socket.write(`${head}Content-Type: application/json\r\nContent-Length: 4\r\n\r\nnu`);
    let text = '';
    socket.on('data', (bytes) => (text += String(bytes)));
    await vi.waitFor(() => expect(api.calls.map(({ method }) => method)).toContain('keys.verify'));
    remove();
    await vi.waitFor(() => expect(text).toContain('authorization_ended'));
    socket.write('ll');
    socket.end();
    await new Promise((resolve) => socket.once('close', resolve));
    expect(api.calls.map(({ method }) => method)).not.toContain('events.publish');
  });
});
