/**
 * S-23c: calls in random order, as the OpenAPI document describes them. Ids, tokens and cursors from earlier responses
 * are used in later calls, mixed with invalid ones, so that calls meet runs in every state.
 */
import { readFileSync } from 'node:fs';
import { describe, expect } from 'vitest';
import { itSurvives, probe, serverToFuzz, type Chance, type Probe } from './fuzz.js';

interface Parameter {
  readonly in: 'path' | 'query' | 'header';
  readonly name: string;
}
interface Operation {
  readonly parameters: readonly Parameter[];
  readonly requestBody?: { readonly content: Readonly<Record<string, unknown>> };
  readonly responses: Readonly<
    Record<string, { readonly content?: Readonly<Record<string, unknown>> }>
  >;
}

const openApi = JSON.parse(
  readFileSync(new URL('../../../openapi/openapi.json', import.meta.url), 'utf8'),
) as { readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>> };

const CALLS = Object.entries(openApi.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ method, path, operation })),
);

/** Responses that the document leaves to `default`: unusual names, unknown paths, too many requests, overload. */
const ALWAYS_POSSIBLE = ['400', '404', '405', '429', '503'];

const RUBBISH = [
  '',
  '0',
  '-1',
  '1',
  '2',
  '1e3',
  'x',
  'a/b',
  '__proto__',
  '$ne',
  '\u0000',
  'é😀',
  'AAAA',
  '{"a":1}',
  ' ',
];

const DEFINITIONS = [
  { id: 'wait', steps: [{ id: 'w', stepType: 'WaitFor', inputs: { eventName: "'e'", eventKey: "'k'" } }] },
  { id: 'work', steps: [{ id: 'w', stepType: 'Activity', inputs: { activityName: "'job'", parameters: 'data' }, errorBehavior: 'Retry', retryInterval: 0 }] },
  { id: 'loop', steps: [{ id: 'l', stepType: 'While', inputs: { condition: 'data.get("n", 0) < 5' }, do: [[{ id: 'i', stepType: 'NoOp', outputs: { n: 'data.get("n", 0) + 1' } }]] }] },
  { id: 'delay', steps: [{ id: 'd', stepType: 'Delay', inputs: { duration: "'PT0.2S'" } }] },
  { id: 'fails', steps: [{ id: 'f', stepType: 'NoOp', outputs: { x: '1/0' }, errorBehavior: 'Suspend' }] },
  { id: 'custom', steps: [{ id: 'c', stepType: 'mine', outputs: { x: 'step.x' } }] },
]; // prettier-ignore

const BODIES = [
  '{}',
  '[]',
  'null',
  '{"n":3}',
  '"text"',
  '',
  '{',
  'a: 1',
  'x = 1',
  'x = ',
  'data = "x" * 10',
];

/** Values from responses, by their name there. */
class Pool {
  readonly #values = new Map<string, string[]>();

  learn(value: unknown, name = ''): void {
    if (typeof value === 'string' && value.length < 500) {
      const known = this.#values.get(name) ?? [];
      known.push(value);
      if (known.length > 50) known.shift();
      this.#values.set(name, known);
    } else if (typeof value === 'object' && value !== null) {
      for (const [member, inner] of Object.entries(value)) {
        this.learn(inner, Array.isArray(value) ? name : member);
      }
    }
  }

  /** Usually a value of the kind that the call needs. */
  take(chance: Chance, names: readonly string[]): string {
    if (chance.once(8)) return chance.pick(RUBBISH);
    const name = chance.once(10) ? chance.pick([...this.#values.keys(), '']) : chance.pick(names);
    return chance.pick(this.#values.get(name) ?? RUBBISH);
  }
}

const SOURCES: readonly (readonly [start: string, names: readonly string[]])[] = [
  ['/api/activity/{id}', ['activityName', 'token']],
  ['/api/activity', ['token']],
  ['/api/definition', ['definitionId']],
  ['/api/workflow/{id}/', ['workflowId']],
  ['/api/workflow', ['workflowId', 'definitionId']],
  ['/api/event', ['eventName', 'eventKey']],
  ['/api/step', ['name', 'stepName']],
];

function isStream({ responses }: Operation): boolean {
  return responses['200']?.content?.['text/event-stream'] !== undefined;
}

/** A stream stays open as long as the client listens; this client disconnects once it is open. */
async function openAndClose(url: string): Promise<Probe> {
  const caller = new AbortController();
  const response = await fetch(url, { signal: caller.signal });
  const text = response.ok ? '' : await response.text();
  caller.abort();
  return { status: response.status, text };
}

/** The bytes of a text, as far as a client can send them in a header. */
function asHeader(text: string): string {
  return Buffer.from(text)
    .toString('latin1')
    .replaceAll(/[\0\r\n]/g, '?')
    .trim();
}

describe.each(['memory', 'sqlite'] as const)(
  'sequences of calls, with the store in %s',
  (store) => {
    const at = serverToFuzz(store, {
      STEPS_WITHOUT_WAIT_MAX: '300',
      POLL_TIMEOUT_SECONDS_MAX: '1',
      WAIT_SECONDS_MAX: '1',
      WRONG_TOKENS_PER_MINUTE_MAX: '1000000',
    });
    const pool = new Pool();
    for (const { id } of DEFINITIONS) pool.learn(id, 'definitionId');
    for (const [name, value] of [
      ['eventName', 'e'],
      ['eventKey', 'k'],
      ['activityName', 'job'],
      ['stepName', 'mine'],
    ]) {
      pool.learn(value, name);
    }

    const valueOf = ({ name }: Parameter, path: string, chance: Chance): string => {
      switch (name) {
        case 'wait':
        case 'timeout':
          return chance.once(10) ? chance.pick(RUBBISH) : '0';
        case 'lease':
        case 'limit':
        case 'version':
          return chance.pick(['1', '2', '100', ...RUBBISH]);
        case 'status':
          return chance.pick(['Runnable', 'Suspended', 'Complete', 'Terminated', ...RUBBISH]);
        case 'cursor':
          return pool.take(chance, ['nextCursor']);
        case 'startedFrom':
        case 'startedTo':
          return pool.take(chance, ['startTime', 'endTime']);
        case 'Idempotency-Key':
          return chance.pick(['k1', 'k2', 'k3']);
        default:
          return pool.take(chance, SOURCES.find(([start]) => path.startsWith(start))?.[1] ?? ['']);
      }
    };

    const bodyOf = (path: string, chance: Chance): string => {
      if (path.startsWith('/api/definition') && !chance.once(5))
        return JSON.stringify(chance.pick(DEFINITIONS));
      if (path.startsWith('/api/step') && !chance.once(3)) return 'x = 1';
      return chance.pick(BODIES);
    };

    const callOnce = async (chance: Chance): Promise<void> => {
      const { method, operation, path } = chance.pick(CALLS);
      let filled = path;
      const query = new URLSearchParams();
      const headers: Record<string, string> = {};
      for (const parameter of operation.parameters) {
        const value = valueOf(parameter, path, chance);
        if (parameter.in === 'path')
          filled = filled.replace(`{${parameter.name}}`, encodeURIComponent(value));
        else if (!chance.once(2)) continue;
        else if (parameter.in === 'query') query.append(parameter.name, value);
        else headers[parameter.name] = asHeader(value);
      }
      const types = Object.keys(operation.requestBody?.content ?? {});
      const sent =
        types.length === 0 ? {} : { body: bodyOf(path, chance), type: chance.pick(types) };
      const line = [method.toUpperCase(), `${filled}?${query.toString()}`] as const;
      const { status, text } = isStream(operation)
        ? await openAndClose(at.client.url + line[1])
        : await probe(at.client, line, { ...sent, headers });
      const documented = [...Object.keys(operation.responses), ...ALWAYS_POSSIBLE];
      expect(documented, `${line.join(' ')}: ${text}`).toContain(String(status));
      if (text.startsWith('{') && status < 300) pool.learn(JSON.parse(text));
    };

    // Several at a time, so that they also interact.
    const round = async (chance: Chance): Promise<void> => {
      await Promise.all(Array.from({ length: 16 }, () => callOnce(chance)));
    };

    itSurvives('calls in any order', round, { shares: 2, givesMemoryBack: store === 'sqlite' });
  },
);
