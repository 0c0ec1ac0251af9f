/**
 * Scopes that a prefix narrows. Method: every operation of the OpenAPI document whose scope can be narrowed is called with the
 * narrowed scope, for a run inside and for one outside of the prefix. Inside, it does what the whole scope allows. Outside, it
 * responds as for an unknown id, changes nothing and shows nothing.
 */
import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Answer, Client } from './support/client.js';
import { everyStore } from './support/every-store.js';
import { pathFor, startTarget, UNKNOWN, type Target, type Team } from './support/narrowed.js';
import { clientWith, TOKEN_ENVIRONMENT } from './support/token-client.js';

interface Operation {
  readonly name: string;
  readonly method: string;
  readonly path: string;
  /** `conductor:viewer`, `conductor:controller` or `conductor:worker`. */
  readonly scope: string;
}

const OPENAPI = new URL('../../openapi/openapi.json', import.meta.url);
const NARROWED = new Set(['conductor:viewer', 'conductor:controller', 'conductor:worker']);

interface OpenApi {
  readonly paths: Record<
    string,
    Record<string, { readonly security?: readonly { readonly bearer?: readonly string[] }[] }>
  >;
}

const DESCRIBED = Object.entries(
  (JSON.parse(readFileSync(OPENAPI, 'utf8')) as OpenApi).paths,
).flatMap(([path, methods]) =>
  Object.entries(methods).map(([verb, { security = [] }]) => {
    const method = verb.toUpperCase();
    const scopes = security.flatMap(({ bearer = [] }) => bearer);
    return { name: `${method} ${path}`, method, path, scopes };
  }),
);

const OPERATIONS: readonly Operation[] = DESCRIBED.flatMap(({ scopes, ...operation }) =>
  scopes.filter((scope) => NARROWED.has(scope)).map((scope) => ({ ...operation, scope })),
);

/** They concern all runs, or nothing that belongs to a definition: a prefix closes them. */
const CLOSED = new Set([
  'GET /api/activity',
  'GET /api/limit',
  'GET /api/limit/{name}',
  'GET /api/node',
  'GET /api/notification/{name}/deliveries',
  'GET /api/step',
  'GET /api/step/{id}',
  'GET /api/step/{id}/versions',
  'GET /api/workers',
]);

/** The caller names the target, and learns that the scope does not reach it, whether it exists or not. */
const FORBIDDEN_OUTSIDE = new Set([
  'GET /api/activity/{id}',
  'POST /api/event/{name}/{key}',
  'POST /api/workflow/{id}',
]);

/** They respond with what the scope reaches. */
const LISTS = new Set([
  'GET /api/activity/{id}/queue',
  'GET /api/bulk',
  'GET /api/definition',
  'GET /api/event/{name}/{key}/waiting',
  'GET /api/overview',
  'GET /api/schedule',
  'GET /api/workflow',
  'GET /api/workflow/explain',
  'GET /api/workflow/find',
]);

/** See narrow-lists.test.ts. */
const TESTED_ELSEWHERE = new Set([
  'GET /api/event',
  'GET /api/event/{id}',
  'GET /api/stream',
  'GET /api/workflow/count',
  'GET /api/workflow/failures',
  'PATCH /api/workflow',
  'POST /api/bulk',
]);

/** They have no scope that can be narrowed. */
const FOR_OTHERS: readonly Operation[] = DESCRIBED.filter(
  ({ scopes }) => scopes.length > 0 && !scopes.some((scope) => NARROWED.has(scope)),
).map(({ scopes: [scope = ''], ...operation }) => ({ ...operation, scope }));

const ON_TARGETS = OPERATIONS.filter(({ name }) =>
  [CLOSED, FORBIDDEN_OUTSIDE, LISTS, TESTED_ELSEWHERE].every((others) => !others.has(name)),
);
const only = (names: ReadonlySet<string>) => OPERATIONS.filter(({ name }) => names.has(name));

const REASON = { reason: 'because' };
const BODIES: Readonly<Record<string, unknown>> = {
  'PATCH /api/workflow/{id}/tags': { team: 'x' },
  'PUT /api/workflow/{id}/priority': { priority: 1 },
  'POST /api/activity/fail/{token}': 'no',
  'POST /api/definition/{id}/triggers/{name}/backfill': {
    from: '2026-05-01T00:00:00Z',
    to: '2026-05-02T00:00:00Z',
  },
  'POST /api/workflow/{id}/modify': { ...REASON, data: { x: 1 } },
  'POST /api/workflow/{id}/rerun': REASON,
  'POST /api/workflow/{id}/restart': REASON,
  'POST /api/workflow/{id}/steps/{executionId}/fail': 'no',
};

/** So that lists contain both teams, if the caller may see them. */
function queryFor({ name }: Operation, targets: readonly Target[]): string {
  if (name === 'GET /api/workflow/explain')
    return `?id=${targets.map(({ run }) => run).join('&id=')}`;
  if (name === 'GET /api/workflow/find') return `?text=${targets[0]!.run.slice(0, 3)}`;
  return name === 'GET /api/definition' ? '?limit=500' : '';
}

const namesOf = ({ run, job, definitionId }: Target) =>
  new RegExp([run, job, `${definitionId}"`].join('|'));

everyStore(
  'narrow scopes',
  (at) => {
    let admin: Client;
    /** With the whole scope, and with the scope for each team. */
    const callers = new Map<string, Client>();
    let outside: Target;

    beforeAll(async () => {
      admin = await clientWith(at.client.url, 'conductor:admin');
      for (const scope of NARROWED) {
        callers.set(scope, await clientWith(at.client.url, scope));
        for (const team of ['inside', 'outside']) {
          const narrowed = `${scope}:${team}-*`;
          callers.set(narrowed, await clientWith(at.client.url, narrowed));
        }
      }
      outside = await start('outside');
    });

    const start = (team: Team): Promise<Target> =>
      startTarget(team, admin, callers.get(`conductor:controller:${team}-*`)!);
    const whole = ({ scope }: Operation): Client => callers.get(scope)!;
    const narrow = ({ scope }: Operation): Client => callers.get(`${scope}:inside-*`)!;
    const call = (caller: Client, operation: Operation, target: Target): Promise<Answer> => {
      const { method, name, path } = operation;
      const takesBody = method === 'POST' || method === 'PATCH' || name in BODIES;
      return caller.call(method, pathFor(method, path, target) + queryFor(operation, [target]), {
        ...(takesBody && { body: JSON.stringify(BODIES[name] ?? {}), type: 'application/json' }),
      });
    };
    /** The response without the ids that the caller has sent. */
    const shapeOf = ({ status, text }: Answer, target: Target): string =>
      Object.values<string>({ ...target })
        .toSorted((left, right) => right.length - left.length)
        .filter((value) => value.length > 1)
        .reduce((shape, value) => shape.replaceAll(value, '…'), `${status} ${text}`);

    const stateOfOutside = async () => ({
      run: (await admin.get(`/api/workflow/${outside.run}`)).body,
      steps: await admin.steps(outside.run),
      triggers: (await admin.get(`/api/definition/${outside.definitionId}/triggers`)).body,
      runs: (await admin.get(`/api/workflow?definitionId=${outside.definitionId}`)).body,
      queue: (await admin.get(`/api/activity/${outside.queue}/queue`)).body,
    });

    it('expects only operations that exist', () => {
      const known = new Set(OPERATIONS.map(({ name }) => name));
      const expected = [CLOSED, FORBIDDEN_OUTSIDE, LISTS, TESTED_ELSEWHERE];
      for (const name of expected.flatMap((names) => [...names])) expect(known).toContain(name);
      expect(ON_TARGETS.length).toBeGreaterThan(30);
    });

    // First, while there are few definitions: the overview counts the runs of a hundred.
    describe.each(only(LISTS))('$name', (operation) => {
      it('shows all items inside, and none outside', async () => {
        const targets = [await start('inside'), await start('outside')] as const;
        const read = async (caller: Client): Promise<string> => {
          const texts: string[] = [];
          for (const target of targets) {
            const path = pathFor(operation.method, operation.path, target);
            const answer = await caller.get(path + queryFor(operation, targets));
            expect(answer.status, answer.text).toBe(200);
            texts.push(answer.text);
          }
          return texts.join('\n');
        };
        const [inside, hidden] = targets;
        expect(await read(whole(operation))).toMatch(namesOf(hidden));
        const own = await read(narrow(operation));
        expect(own).toMatch(namesOf(inside));
        expect(own).not.toMatch(namesOf(hidden));
        expect(own).not.toMatch(namesOf(outside));
        expect(own).not.toContain('outside-');
      });
    });

    describe.each(ON_TARGETS)('$name', (operation) => {
      it('works inside as with the whole scope', async () => {
        const allowed = await call(whole(operation), operation, await start('inside'));
        const answer = await call(narrow(operation), operation, await start('inside'));
        expect(answer.status, answer.text).toBe(allowed.status);
        // The run is in a status in which the operation is not possible.
        const isRefused = answer.status === 409 || answer.text.includes('"status_conflict"');
        if (!isRefused) expect(answer.status, answer.text).toBeLessThan(300);
      });

      it("does nothing outside, and doesn't reveal if the target exists", async () => {
        const before = await stateOfOutside();
        const answer = await call(narrow(operation), operation, outside);
        expect(answer.status, answer.text).toBe(404);
        const unknown = await call(narrow(operation), operation, UNKNOWN);
        expect(shapeOf(answer, outside)).toBe(shapeOf(unknown, UNKNOWN));
        expect(await stateOfOutside()).toEqual(before);
      });
    });

    describe.each(only(FORBIDDEN_OUTSIDE))('$name', (operation) => {
      it('works inside as with the whole scope', async () => {
        const target = await start('inside');
        await admin.call('DELETE', `/api/activity/${target.token}`);
        const answer = await call(narrow(operation), operation, target);
        expect(answer.status, answer.text).toBeLessThan(300);
      });

      it('is forbidden outside, also for missing targets', async () => {
        const before = await stateOfOutside();
        const answer = await call(narrow(operation), operation, outside);
        expect(answer.status, answer.text).toBe(403);
        const unknown = await call(narrow(operation), operation, UNKNOWN);
        expect(shapeOf(answer, outside)).toBe(shapeOf(unknown, UNKNOWN));
        expect(await stateOfOutside()).toEqual(before);
      });
    });

    it('refuses the calls of authors and administrators', async () => {
      const scopes = [...NARROWED].map((scope) => `${scope}:inside-*`).join(' ');
      const caller = await clientWith(at.client.url, scopes);
      expect(FOR_OTHERS.length).toBeGreaterThan(20);
      for (const operation of FOR_OTHERS) {
        const answer = await call(caller, operation, outside);
        expect(answer.status, `${operation.name} ${answer.text}`).toBe(403);
        expect(answer.text).toContain(`requires the scope ${operation.scope}`);
      }
    });

    describe.each(only(CLOSED))('$name', (operation) => {
      it('requires the whole scope', async () => {
        const answer = await call(narrow(operation), operation, outside);
        expect(answer.status, answer.text).toBe(403);
        expect(answer.text).toContain(`requires the scope ${operation.scope} without a prefix`);
      });
    });
  },
  { environment: TOKEN_ENVIRONMENT, dialects: 'alternating' },
);
