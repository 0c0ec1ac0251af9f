/**
 * The worst call that a caller may make of each operation of the OpenAPI document: what reads, writes or computes the most
 * within the limits of the server. A new operation needs an entry here.
 */
import { OPERATIONS } from './recorder.js';

/** A work item that a worker holds. */
interface TakenItem {
  readonly workflowId: string;
  readonly executionId: string;
  readonly token: string;
}

/** What the calls are about. */
export interface FloodSubjects {
  /** An open run with 0.9 MB of data, one with 3,000 open steps, and one that has ended after hundreds of steps. */
  readonly large: string;
  readonly wide: string;
  readonly ended: string;
  /** An event with 0.9 MB of data. */
  readonly event: string;
  readonly bulkJob: string;
  readonly delivery: string;
  /** For each operation that ends, or keeps, a work item. */
  readonly taken: Readonly<Record<string, readonly TakenItem[]>>;
  /** Ids of open runs. */
  readonly runs: readonly string[];
}

export interface FloodCall {
  /** The parameters in the path. */
  readonly values?: Readonly<Record<string, string>>;
  readonly query?: string;
  readonly body?: string;
  readonly type?: string;
  /** Who may call: a narrowed caller unless this says otherwise. */
  readonly by?: 'viewer' | 'author' | 'admin';
  /** The statuses of calls that did their work: success unless this says otherwise. */
  readonly expects?: readonly number[];
  /** Calls in parallel: as many as for other operations unless this says otherwise. */
  readonly parallel?: number;
  /** Works on something new each time. */
  readonly at: number;
}

type Worst = (subjects: FloodSubjects, at: number) => Omit<FloodCall, 'at'>;

/** In the form that standard webhooks have. */
export const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
export const FLOODED = 'flood-searched';
export const LONG_LENGTH = 900_000;
/** JSON text of 0.9 MB in small values, which cost the most, in an object. */
export const LONG_JSON = `{"a":[${'{},'.repeat(60_000)}0],"b":"${'x'.repeat(LONG_LENGTH - 180_000)}"}`;

/** Five conditions, each of which many runs fulfill. */
const WHERE = [1, 2, 3, 4, 5].map((name) => `&where=${encodeURIComponent(`f${name}>=0`)}`).join('');
const CONDITIONS = [1, 2, 3, 4, 5].map((name) => `f${name}>=0`);
const REASON = { reason: 'a flood' };
const PAGE = '?limit=500';

const json = (value: unknown): Pick<FloodCall, 'body'> => ({ body: JSON.stringify(value) });
/** The work ends in this refusal. */
const refused = (status: number): Pick<FloodCall, 'expects'> => ({ expects: [status] });
const named = (id: string): Pick<FloodCall, 'values'> => ({ values: { id } });

/** A definition of 0.9 MB. */
function longDefinition(at: number): string {
  const Steps = Array.from({ length: 500 }, (_, n) => ({
    Id: `s${n}`,
    StepType: 'EmitLog',
    ...(n < 499 && { NextStepId: `s${n + 1}` }),
    Inputs: { Message: `"${'m'.repeat(1500)}" + str(data.a)` },
  }));
  return JSON.stringify({ Id: `flood-long-${at % 10}`, Steps });
}

const trigger = { values: { id: 'flood-triggered', name: 'main' } };
const largeRun: Worst = ({ large }) => named(large);
const openRun: Worst = ({ runs }, at) => named(runs[at % runs.length] ?? '');
const notification = { by: 'author', values: { name: 'flood' } } as const;
const webhook = { by: 'author', values: { name: 'flood' } } as const;
const nothing: Worst = () => ({});

/** Each of these ends a work item: the next call of the same item is refused. */
export const ENDING_OPERATIONS = [
  'POST /api/activity/fail/{token}',
  'POST /api/activity/success/{token}',
  'DELETE /api/activity/{id}',
  'POST /api/workflow/{id}/steps/{executionId}/fail',
  'POST /api/workflow/{id}/steps/{executionId}/success',
] as const;
export const HEARTBEAT = 'PUT /api/activity/{token}/heartbeat';

function ending(operation: (typeof ENDING_OPERATIONS)[number]): Worst {
  return ({ taken }, at) => {
    const items = taken[operation] ?? [];
    const { executionId, token, workflowId } = items[at % items.length] ?? NO_ITEM;
    if (operation === 'DELETE /api/activity/{id}') return named(token);
    return { values: { id: workflowId, executionId, token }, body: LONG_JSON };
  };
}

const NO_ITEM: TakenItem = { workflowId: '', executionId: '', token: '' };

const CALLS: Readonly<Record<string, Worst>> = {
  'GET /api/activity': () => ({ by: 'viewer' }),
  ...Object.fromEntries(ENDING_OPERATIONS.map((operation) => [operation, ending(operation)])),
  'GET /api/activity/{id}': () => ({ ...named('flood-work'), query: '?timeout=5&lease=1' }),
  'GET /api/activity/{id}/queue': () => ({ ...named('flood-work'), query: PAGE }),
  [HEARTBEAT]: ({ taken }) => ({ values: { token: taken[HEARTBEAT]?.[0]?.token ?? '' } }),
  'GET /api/audit': () => ({ by: 'admin', query: `${PAGE}&actor=nobody` }),
  'POST /api/bulk': () =>
    json({ action: 'retry', filter: { where: CONDITIONS }, dryRun: true, ...REASON }),
  'GET /api/bulk': () => ({ query: '?limit=100' }),
  'GET /api/bulk/{id}': ({ bulkJob }) => ({ by: 'viewer', ...named(bulkJob) }),
  // The first call stops the job.
  'DELETE /api/bulk/{id}': ({ bulkJob }) => ({
    by: 'admin',
    ...named(bulkJob),
    expects: [200, 409],
  }),
  'GET /api/bulk/{id}/runs': ({ bulkJob }) => ({
    by: 'viewer',
    ...named(bulkJob),
    query: '?limit=100',
  }),
  'POST /api/definition': (_, at) => ({ by: 'author', body: longDefinition(at) }),
  'GET /api/definition': () => ({ query: PAGE }),
  'POST /api/definition/validate': (_, at) => ({ by: 'author', body: longDefinition(at) }),
  'GET /api/definition/{id}': () => named('flood-long-0'),
  'PUT /api/definition/{id}/disable': () => ({ by: 'author', ...named('flood-unused') }),
  'PUT /api/definition/{id}/enable': () => ({ by: 'author', ...named('flood-unused') }),
  'GET /api/definition/{id}/open-steps': () => named(FLOODED),
  'GET /api/definition/{id}/triggers': () => named('flood-triggered'),
  'POST /api/definition/{id}/triggers/{name}/backfill': () => ({
    ...trigger,
    ...json({ from: '2026-01-01T00:00:00Z', to: '2026-01-20T00:00:00Z' }),
  }),
  'POST /api/definition/{id}/triggers/{name}/fire': () => trigger,
  'PUT /api/definition/{id}/triggers/{name}/pause': () => trigger,
  'PUT /api/definition/{id}/triggers/{name}/resume': () => trigger,
  'GET /api/definition/{id}/types': () => named('flood-long-0'),
  'GET /api/definition/{id}/versions': () => ({ ...named('flood-long-0'), query: PAGE }),
  'GET /api/event': () => ({ query: PAGE }),
  'GET /api/event/{id}': ({ event }) => named(event),
  'POST /api/event/{name}/{key}': (_, at) => ({
    by: 'admin',
    values: { name: 'flood-published', key: String(at) },
    body: LONG_JSON,
  }),
  'GET /api/event/{name}/{key}/waiting': () => ({
    values: { name: 'flood-event', key: 'k' },
    query: PAGE,
  }),
  'GET /api/info': nothing,
  'POST /api/key': (_, at) => ({
    by: 'admin',
    ...json({ name: `flood-${at}`, scopes: ['conductor:viewer'] }),
  }),
  'GET /api/key': () => ({ by: 'admin' }),
  'DELETE /api/key/{id}': () => ({ by: 'admin', ...named('unknown'), ...refused(404) }),
  'GET /api/limit': () => ({ query: PAGE }),
  'PUT /api/limit/{name}': (_, at) => ({
    by: 'author',
    values: { name: `flood-${at % 50}` },
    ...json({ description: 'x'.repeat(1000), concurrency: 1 + (at % 10) }),
    expects: [200, 201],
  }),
  'GET /api/limit/{name}': () => ({ values: { name: 'flood' } }),
  'DELETE /api/limit/{name}': () => ({
    by: 'author',
    values: { name: 'unknown' },
    ...refused(404),
  }),
  'GET /api/node': () => ({ by: 'admin' }),
  'GET /api/notification': () => ({ by: 'author' }),
  'PUT /api/notification/{name}': (_, at) => ({
    by: 'author',
    values: { name: `flood-${at % 50}` },
    ...json({ url: 'http://127.0.0.1:9/', on: ['completed'], where: CONDITIONS, secret: SECRET }),
  }),
  'GET /api/notification/{name}': () => notification,
  'DELETE /api/notification/{name}': () => ({
    by: 'author',
    values: { name: 'unknown' },
    ...refused(404),
  }),
  'GET /api/notification/{name}/deliveries': () => ({
    by: 'admin',
    values: { name: 'flood' },
    query: PAGE,
  }),
  'POST /api/notification/{name}/deliveries/{id}/redeliver': ({ delivery }) => ({
    by: 'author',
    values: { name: 'flood', id: delivery },
  }),
  'PUT /api/notification/{name}/pause': () => notification,
  'PUT /api/notification/{name}/resume': () => notification,
  'POST /api/notification/{name}/test': () => notification,
  'GET /api/overview': nothing,
  'GET /api/schedule': () => ({ query: '?hours=168&limit=500' }),
  'GET /api/secret': () => ({ by: 'author' }),
  'GET /api/step': () => ({ by: 'author', query: PAGE }),
  'POST /api/step/{id}': (_, at) => ({
    by: 'author',
    ...named(`flood${at % 10}`),
    body: `# ${'x'.repeat(250_000)}\na = ${at}\n`,
    type: 'text/x-python',
  }),
  'GET /api/step/{id}': () => ({ by: 'author', ...named('flood0') }),
  'GET /api/step/{id}/versions': () => ({ by: 'author', ...named('flood0'), query: PAGE }),
  'GET /api/stream': nothing,
  'GET /api/webhook': () => ({ by: 'author' }),
  'PUT /api/webhook/{name}': (_, at) => ({
    by: 'author',
    values: { name: `flood-${at % 50}` },
    ...json({
      scheme: 'github',
      secret: SECRET,
      publish: { name: "'flood'", key: 'hook.body["a"]' },
    }),
  }),
  'GET /api/webhook/{name}': () => webhook,
  'DELETE /api/webhook/{name}': () => ({
    by: 'author',
    values: { name: 'unknown' },
    ...refused(404),
  }),
  'GET /api/workers': () => ({ by: 'admin', query: PAGE }),
  'GET /api/workflow': () => ({ query: `${PAGE}${WHERE}` }),
  // On PostgreSQL, the calls wait for each other's locks until they fail.
  'PATCH /api/workflow': ({ runs }) => ({
    ...json({ action: 'resume', workflowIds: runs.slice(0, 100) }),
    expects: [200, 503],
  }),
  'GET /api/workflow/count': () => ({ query: `?${WHERE.slice(1)}` }),
  'GET /api/workflow/explain': ({ runs, wide }) => ({
    query: `?id=${[wide, ...runs.slice(0, 49)].join('&id=')}`,
  }),
  'GET /api/workflow/failures': () => ({ query: `?limit=100${WHERE}` }),
  'GET /api/workflow/find': () => ({ query: '?text=flood&limit=100' }),
  'POST /api/workflow/{id}': () => ({ ...named('flood-started'), body: LONG_JSON }),
  'GET /api/workflow/{id}': ({ large }) => ({ ...named(large), query: '?wait=5' }),
  'DELETE /api/workflow/{id}': ({ runs }, at) => ({
    ...named(runs[at % runs.length] ?? ''),
    query: '?dryRun=true&compensate=true',
  }),
  'GET /api/workflow/{id}/audit': largeRun,
  'GET /api/workflow/{id}/explain': ({ wide }) => ({ ...named(wide), parallel: 1000 }),
  'GET /api/workflow/{id}/export': ({ ended }) => named(ended),
  'GET /api/workflow/{id}/input': largeRun,
  'POST /api/workflow/{id}/modify': ({ large }) => ({
    ...named(large),
    body: JSON.stringify({ ...REASON, dryRun: true, data: { text: 'x'.repeat(LONG_LENGTH) } }),
  }),
  'POST /api/workflow/{id}/rerun': ({ ended }) => ({
    ...named(ended),
    ...json({ ...REASON, dryRun: true }),
  }),
  'POST /api/workflow/{id}/restart': ({ large }) => ({ ...named(large), ...json(REASON) }),
  // None is suspended, and none waits for a retry: the runs are read to learn that.
  'PUT /api/workflow/{id}/resume': (subjects, at) => ({
    ...openRun(subjects, at),
    ...refused(400),
  }),
  'PUT /api/workflow/{id}/retry': (subjects, at) => ({
    ...largeRun(subjects, at),
    ...refused(409),
  }),
  'GET /api/workflow/{id}/steps': ({ ended }) => ({
    ...named(ended),
    query: `${PAGE}&search=nothing`,
  }),
  'PUT /api/workflow/{id}/suspend': openRun,
  'PUT /api/workflow/{id}/priority': ({ runs }, at) => ({
    ...named(runs[at % runs.length] ?? ''),
    ...json({ priority: 1 + (at % 5) }),
  }),
  'PATCH /api/workflow/{id}/tags': ({ runs }, at) => ({
    ...named(runs[at % runs.length] ?? ''),
    ...json({ flood: String(at) }),
  }),
  'GET /health/live': nothing,
  'GET /health/ready': nothing,
  // Anybody may send this: the body is read and its signature is checked.
  'POST /hooks/{name}': () => ({ values: { name: 'flood' }, body: LONG_JSON, ...refused(401) }),
  'GET /metrics': nothing,
  'GET /schemas/definition.json': nothing,
  'GET /schemas/limit.json': nothing,
  'GET /schemas/test-file.json': nothing,
};

/** Operations without a worst call, and worst calls of no operation. */
export function uncovered(): readonly string[] {
  const known = new Set(OPERATIONS);
  return [
    ...OPERATIONS.filter((name) => !Object.hasOwn(CALLS, name)),
    ...Object.keys(CALLS).filter((name) => !known.has(name)),
  ];
}

/** @param at the number of the call */
export function worstCall(operation: string, subjects: FloodSubjects, at: number): FloodCall {
  const call = CALLS[operation]?.(subjects, at);
  if (call === undefined) throw new Error(`There is no worst call of ${operation}`);
  return { ...call, at };
}
