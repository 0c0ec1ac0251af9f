/**
 * S-51: callers with random scopes, tokens and keys call random operations with the names of what is theirs and of what is not.
 * No prefix reaches the definitions and activities of the other team. Whatever they send, no response contains a word of
 * that team that they have not sent, and its runs stay as they are.
 */
import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect } from 'vitest';
import type { CreatedApiKey } from '../../../src/api/wire/models/key.js';
import type { Client } from '../../behavior/support/client.js';
import { fresh } from '../../behavior/support/client.js';
import { activity, step } from '../../behavior/support/steps.js';
import { clientWith, TOKEN_ENVIRONMENT, tokenWith } from '../../behavior/support/token-client.js';
import { itSurvives, probe, serverToFuzz, type Chance } from './fuzz.js';

interface OpenApi {
  readonly paths: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

const OPENAPI = new URL('../../../openapi/openapi.json', import.meta.url);
const CALLS = Object.entries((JSON.parse(readFileSync(OPENAPI, 'utf8')) as OpenApi).paths).flatMap(
  ([path, methods]) =>
    Object.keys(methods).map((method) => ({ method: method.toUpperCase(), path })),
);
/** It stays open; see narrow-lists.test.ts. */
const STREAM = '/api/stream';
/** They need no token. */
const OPEN = /^\/(health|metrics|schemas|hooks|api\/info)/;

/** In all that the other team has, except for the names that callers may send. */
const WORD = 'hiddenword';
const OWN = ['conductor:viewer', 'conductor:controller', 'conductor:worker'];
/** None is the beginning of a name of the other team. */
const PREFIXES = [
  'mine-*',
  'mine*',
  'm*',
  'mine-a*',
  'OTHER-*',
  'other-a-*',
  'other_*',
  '%*',
  '_*',
  '$ne*',
  '.**',
  "'*",
  'é😀*',
];
/** No scope has this form, so they allow nothing. */
const MALFORMED = [
  'conductor:viewer:',
  'conductor:viewer:*',
  'conductor:viewer:other',
  'conductor:viewer:other**',
  'conductor:viewer*',
  'conductor:*',
  '*',
  'conductor:viewer:other\u0000*',
  'conductor:Viewer',
  'viewer',
  'conductor:admin:other*',
  'conductor:author:other*',
  'CONDUCTOR:ADMIN',
];

interface Team {
  readonly definitionId: string;
  readonly runs: readonly string[];
  readonly queue: string;
  readonly token: string;
  readonly event: string;
}

/** A run that waits for work and an event, and one that has failed. */
async function openTeam(admin: Client, name: string, word: string): Promise<Team> {
  const definitionId = `${name}-a`;
  const queue = `${name}-work`;
  const event = `${name}-event`;
  const waits = step('wait', 'WaitFor', { EventName: `"${event}"`, EventKey: '"key"' });
  const both = step('both', 'Parallel', {}, { Do: [[activity('work', queue)], [waits]] });
  await admin.postDefinition({ Id: definitionId, Description: word, Steps: [both] });
  const fails = step('fail', 'Fail', { Message: `"${word}"` }, { ErrorBehavior: 'Suspend' });
  await admin.postDefinition({ Id: `${name}-b-${word}`, Steps: [fails] });
  const data = { word, tags: [word] };
  const waiting = await admin.start(definitionId, data, word);
  await admin.untilWaiting(waiting, 'work');
  const { token } = await admin.work(queue, '&lease=3600');
  const failed = await admin.start(`${name}-b-${word}`, data, word);
  await admin.untilWorkflow(failed, ({ status }) => status === 'Suspended');
  return { definitionId, runs: [waiting, failed], queue, token, event };
}

describe.each(['memory', 'sqlite'] as const)('random scopes, with the store in %s', (store) => {
  const at = serverToFuzz(store, {
    ...TOKEN_ENVIRONMENT,
    POLL_TIMEOUT_SECONDS_MAX: '1',
    WAIT_SECONDS_MAX: '1',
    WRONG_TOKENS_PER_MINUTE_MAX: '1000000',
  });
  let admin: Client;
  let own: Team;
  let other: Team;
  let before: unknown;

  beforeAll(async () => {
    admin = await clientWith(at.client.url, 'conductor:admin');
    own = await openTeam(admin, 'mine', 'ownword');
    other = await openTeam(admin, 'other', WORD);
    before = await stateOfOther();
  });

  const stateOfOther = async (): Promise<unknown> => {
    const runs = other.runs.flatMap((id) => [`/api/workflow/${id}`, `/api/workflow/${id}/steps`]);
    const lists = ['definitionId=other-a', `definitionId=other-b-${WORD}`].map(
      (filter) => `/api/workflow?${filter}`,
    );
    const paths = [...runs, ...lists, `/api/activity/${other.queue}/queue`];
    return Promise.all(paths.map(async (path) => (await admin.get(path)).text));
  };

  const scopesOf = (chance: Chance): readonly string[] =>
    Array.from({ length: 1 + chance.int(4) }, () =>
      chance.once(4) ? chance.pick(MALFORMED) : `${chance.pick(OWN)}:${chance.pick(PREFIXES)}`,
    );

  const bearerOf = async (chance: Chance): Promise<{ bearer: string; isValid: boolean }> => {
    if (chance.once(6)) {
      const { body } = await admin.post<CreatedApiKey>('/api/key', {
        name: fresh('fuzzed'),
        scopes: [`${chance.pick(OWN)}:${chance.pick(['mine-*', 'm*', 'other-a-*'])}`],
      });
      const isRemoved = chance.once(2);
      if (isRemoved || chance.once(2)) await admin.call('DELETE', `/api/key/${body.id}`);
      // It may be accepted for a second after its removal: its scopes allow no more than before.
      return { bearer: body.key, isValid: true };
    }
    const token = await tokenWith(scopesOf(chance).join(' '));
    if (!chance.once(5)) return { bearer: token, isValid: true };
    const [head = '', claims = '', signature = ''] = token.split('.');
    const none = Buffer.from('{"alg":"none"}').toString('base64url');
    const all = Buffer.from('{"scope":"conductor:admin","exp":9999999999}').toString('base64url');
    const bearer = chance.pick([
      `${head}.${all}.${signature}`,
      `${none}.${all}.`,
      `${none}.${all}.${signature}`,
      `${head}.${claims}.`,
      `${head}.${claims}`,
      `sw_${signature}`,
      `sw_abc_${signature.slice(0, 43)}`,
      'x',
    ]);
    return { bearer, isValid: false };
  };

  const namesFor = (path: string, team: Team, chance: Chance): readonly string[] => {
    if (path.startsWith('/api/definition') || path === '/api/workflow/{id}') {
      return [team.definitionId, ...team.runs];
    }
    if (path.startsWith('/api/activity')) return [team.queue, team.token];
    if (path.startsWith('/api/event')) return [team.event, 'key'];
    return chance.once(8) ? [team.queue, team.definitionId] : team.runs;
  };

  const queryOf = (team: Team, chance: Chance): string => {
    const choices: readonly (readonly [string, string])[] = [
      ['definitionId', team.definitionId],
      ['parent', team.runs[0]!],
      ['text', team.runs[0]!.slice(0, 6)],
      ['id', team.runs[0]!],
      ['workflowId', team.runs[0]!],
      ['name', team.event],
      ['key', 'key'],
      ['status', 'Suspended'],
      ['where', 'tag.team != x'],
      ['limit', '500'],
      ['onConflict', 'terminate'],
      ['workerId', 'w'],
    ];
    const query = new URLSearchParams();
    for (let left = chance.int(3); left > 0; left -= 1) query.append(...chance.pick(choices));
    return query.toString();
  };

  const bodyOf = (team: Team, chance: Chance): string =>
    JSON.stringify(
      chance.pick<unknown>([
        {},
        { reason: 'r', data: { word: 'x' } },
        { reason: 'r', resume: true, cancel: '*' },
        { action: 'terminate', workflowIds: [...team.runs, own.runs[0]] },
        { action: 'terminate', reason: 'r', workflowIds: team.runs },
        {
          action: 'suspend',
          reason: 'r',
          filter: chance.pick([{}, { definitionId: team.definitionId }]),
        },
        { action: 'purge', reason: 'r', filter: {}, dryRun: true },
        { team: 'x' },
      ]),
    );

  const callOnce = async (chance: Chance): Promise<void> => {
    const { method, path } = chance.pick(CALLS);
    if (path === STREAM) return;
    const { bearer, isValid } = await bearerOf(chance);
    const team = chance.once(4) ? own : other;
    const filled = path
      .replace('{executionId}', String(1 + chance.int(4)))
      .replaceAll(/\{\w+\}/g, () => encodeURIComponent(chance.pick(namesFor(path, team, chance))));
    const takesBody = method === 'POST' || method === 'PATCH' || method === 'PUT';
    const { status, text } = await probe(
      at.client,
      [method, `${filled}?${queryOf(team, chance)}`],
      {
        headers: { authorization: `Bearer ${bearer}` },
        ...(takesBody && { body: bodyOf(team, chance), type: 'application/json' }),
      },
    );
    if (!OPEN.test(path)) expect(text, `${method} ${filled}`).not.toContain(WORD);
    if (!isValid && !OPEN.test(path)) expect([401, 404, 405, 429], text).toContain(status);
  };

  const round = async (chance: Chance): Promise<void> => {
    await Promise.all(Array.from({ length: 16 }, () => callOnce(chance)));
    expect(await stateOfOther()).toEqual(before);
  };

  itSurvives('calls with random scopes', round, { shares: 2, givesMemoryBack: store === 'sqlite' });
});
