/** What a definition may say about its triggers, and how everything else is rejected: at its place, and with what to do. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { DefinitionCheck } from '../../src/api/wire/models/definition.js';
import type { Problem } from '../../src/api/wire/models/problem.js';
import type { Json, JsonObject } from '../../src/engine/values/json.js';
import { createMemoryStore } from '../../src/store/memory/memory-store.js';
import { Client } from './support/client.js';
import { startServer, type TestServer } from './support/server.js';
import { step } from './support/steps.js';

const NIGHTLY = { Name: 'a', Cron: '0 2 * * *' };
const PAID = { Name: 'a', Event: { Name: 'paid' } };

describe('the trigger list of a definition', () => {
  let server: TestServer;
  let client: Client;
  beforeAll(async () => {
    server = await startServer({ store: createMemoryStore() });
    client = new Client(server.url);
  });
  afterAll(() => server.stop());

  const documentOf = (Triggers: Json): JsonObject => ({
    Id: 'checked',
    Triggers,
    Steps: [step('end', 'NoOp')],
  });
  const check = async (triggers: Json): Promise<DefinitionCheck> => {
    const path = '/api/definition/validate';
    const { body, status, text } = await client.post<DefinitionCheck>(path, documentOf(triggers));
    expect(status, text).toBe(200);
    return body;
  };

  it.each<readonly [string, Json, string, string]>([
    ['no list', { a: NIGHTLY }, '/Triggers', 'must be a list'],
    ['no object', ['nightly'], '/Triggers/0', 'must be an object'],
    ['no name', [{ Cron: '@daily' }], '/Triggers/0', 'requires a Name'],
    ['one name twice', [NIGHTLY, PAID], '/Triggers/1/Name', 'two triggers with the name'],
    ['neither Cron nor Event', [{ Name: 'a' }], '/Triggers/0', 'exactly one of Cron and Event'],
    ['both', [{ ...PAID, ...NIGHTLY }], '/Triggers/0', 'exactly one of Cron and Event'],
    ['a broken expression', [{ ...NIGHTLY, Cron: '0 25 * * *' }], '/Triggers/0/Cron', ''],
    ['four fields', [{ ...NIGHTLY, Cron: '0 2 * *' }], '/Triggers/0/Cron', ''],
    ['times that never come', [{ ...NIGHTLY, Cron: '0 0 31 2 *' }], '/Triggers/0/Cron', 'never'],
    ['no zone', [{ ...NIGHTLY, TimeZone: 'Mars/Base' }], '/Triggers/0/TimeZone', 'Mars/Base'],
    ['no overlap', [{ ...NIGHTLY, Overlap: 'Both' }], '/Triggers/0/Overlap', 'Skip, Allow, Queue'],
    ['no duration', [{ ...NIGHTLY, Jitter: 'soon' }], '/Triggers/0/Jitter', 'soon'],
    [
      'TimeZone on Event',
      [{ ...PAID, TimeZone: 'UTC' }],
      '/Triggers/0/TimeZone',
      'belongs to Cron',
    ],
    ['Overlap on Event', [{ ...PAID, Overlap: 'Skip' }], '/Triggers/0/Overlap', 'belongs to Cron'],
    ['CatchUp on Event', [{ ...PAID, CatchUp: '1h' }], '/Triggers/0/CatchUp', 'belongs to Cron'],
    ['Jitter on Event', [{ ...PAID, Jitter: 30 }], '/Triggers/0/Jitter', 'belongs to Cron'],
    [
      'Debounce on Cron',
      [{ ...NIGHTLY, Debounce: { Period: 5 } }],
      '/Triggers/0/Debounce',
      'belongs to Event',
    ],
    ['a number as Debounce', [{ ...PAID, Debounce: 5 }], '/Triggers/0/Debounce', 'an object'],
    ['no period', [{ ...PAID, Debounce: { Key: '1' } }], '/Triggers/0/Debounce', 'a Period'],
    [
      'a negative period',
      [{ ...PAID, Debounce: { period: -5 } }],
      '/Triggers/0/Debounce/period',
      'Period must not be negative',
    ],
    [
      'a negative Max',
      [{ ...PAID, Debounce: { Period: 5, Max: '-1m' } }],
      '/Triggers/0/Debounce/Max',
      'Max must not be negative',
    ],
    [
      'an unknown Data',
      [{ ...PAID, Debounce: { Period: 5, Data: 'all' } }],
      '/Triggers/0/Debounce/Data',
      'last, first, list',
    ],
    [
      'a list as Key',
      [{ ...PAID, Debounce: { Period: 5, Key: [1] } }],
      '/Triggers/0/Debounce/Key',
      'an expression',
    ],
    [
      'broken Python in Key',
      [{ ...PAID, Debounce: { Period: 5, Key: 'context[' } }],
      '/Triggers/0/Debounce/Key',
      '',
    ],
    ['no event name', [{ Name: 'a', Event: {} }], '/Triggers/0/Event', 'requires a Name'],
    ['an event as text', [{ Name: 'a', Event: 'paid' }], '/Triggers/0/Event', 'must be an object'],
    ['broken Python', [{ ...PAID, Data: { '@x': 'data[' } }], '/Triggers/0/Data', ''],
  ])('is rejected with %s', async (_, triggers, pointer, message) => {
    const { errors } = await check(triggers);
    const found = errors.filter((each) => each.pointer?.startsWith(pointer) === true);
    expect(found, JSON.stringify(errors)).not.toEqual([]);
    expect(found.map((each) => each.message).join(' ')).toContain(message);
    const posted = await client.post<Problem>('/api/definition', documentOf(triggers));
    expect([posted.status, posted.body.code]).toEqual([400, 'invalid_definition']);
  });

  it('has at most a hundred entries', async () => {
    const of = (count: number): Json =>
      Array.from({ length: count }, (_, n) => ({ ...NIGHTLY, Name: `t${n}` }));
    expect((await check(of(100))).errors).toEqual([]);
    expect((await check(of(101))).errors).toMatchObject([{ pointer: '/Triggers' }]);
  });

  it('accepts durations in every form, names in any casing, and five or six fields', async () => {
    const { errors, triggers } = await check([
      { name: 'a', cron: '@hourly', overlap: 'queue', catchUp: '1h', jitter: 30 },
      { Name: 'b', Cron: '30 0 12 * * mon', CatchUp: '2d', Jitter: '00:00:30' },
      { Name: 'c', Cron: '0 12 1 jan *', TimeZone: 'Asia/Tokyo', Jitter: '30s' },
      { Name: 'd', Cron: '0 0 * * 7' },
      { Name: 'e', Cron: '0 0 * * 0' },
      { Name: 'f', Cron: '0 0 L * *' },
      { Name: 'g', Cron: '0 0 * * FRIL' },
      { Name: 'h', Cron: '0 0 13 * 5' },
    ]);
    expect(errors).toEqual([]);
    const times = new Map(triggers.map(({ name, nextTimes }) => [name, nextTimes]));
    const days = (name: string): readonly Date[] => times.get(name)!.map((time) => new Date(time));
    expect(times.get('b')!.every((time) => time.endsWith('T12:00:30.000Z'))).toBe(true);
    expect(days('b').every((day) => day.getUTCDay() === 1)).toBe(true);
    expect(times.get('c')!.every((time) => time.endsWith('-01-01T03:00:00.000Z'))).toBe(true);
    expect(times.get('d')).toEqual(times.get('e'));
    expect(days('d').every((day) => day.getUTCDay() === 0)).toBe(true);
    const nextDay = (day: Date): Date => new Date(day.getTime() + 86_400_000);
    const nextWeek = (day: Date): Date => new Date(day.getTime() + 7 * 86_400_000);
    expect(days('f').every((day) => nextDay(day).getUTCDate() === 1)).toBe(true);
    const isLastFriday = (day: Date): boolean =>
      day.getUTCDay() === 5 && nextWeek(day).getUTCMonth() !== day.getUTCMonth();
    expect(days('g').every(isLastFriday)).toBe(true);
    // Either fits.
    expect(days('h').every((day) => day.getUTCDay() === 5 || day.getUTCDate() === 13)).toBe(true);
    expect(days('h').some((day) => day.getUTCDay() === 5 && day.getUTCDate() !== 13)).toBe(true);
  });
});
