/** Triggers in virtual time: due times, events, and what happens while a run is open. */
import { describe, expect, it } from 'vitest';
import { createTestServer, type TestServer } from '../../../src/test-kit/index.js';

const WAIT = `
  - Id: wait
    StepType: WaitFor
    Inputs: { EventName: '"done"', EventKey: '"1"' }
`;

function definition(trigger: string, steps = '  - { Id: end, StepType: NoOp }'): string {
  return `
Id: job
Triggers:
  - Name: nightly
${trigger.replace(/^\n|\s+$/g, '').replace(/^/gm, '    ')}
Steps:
${steps.replace(/^\n/, '')}
`;
}

const isoOf = (time: number): string => new Date(time).toISOString();

async function withServer(
  text: string,
  test: (server: TestServer) => Promise<void>,
): Promise<void> {
  await using server = await createTestServer({ definitions: [text], now: '2026-03-28T12:00:00Z' });
  await test(server);
}

describe('a cron trigger', () => {
  it('starts a run at each due time of its zone, across a change of the clocks', () =>
    withServer(
      definition(`
Cron: 30 2 * * *
TimeZone: Europe/Zurich
Data: { '@day': 'context.Trigger.Time[:10]', note: '@literal' }
Reference: '"nightly-" + context.Trigger.Time[:10]'
`),
      async (server) => {
        await server.advance('2d');
        const runs = await server.runs('job');
        expect(runs.map((run) => [isoOf(run.startTime), run.reference, run.data])).toEqual([
          [
            '2026-03-29T01:00:00.000Z',
            'nightly-2026-03-29',
            { day: '2026-03-29', note: '@literal' },
          ],
          [
            '2026-03-30T00:30:00.000Z',
            'nightly-2026-03-30',
            { day: '2026-03-30', note: '@literal' },
          ],
        ]);
      },
    ));

  it('shows steps the cause of their run', () =>
    withServer(
      definition(
        'Cron: "@hourly"',
        `  - Id: end
    StepType: NoOp
    Outputs: { by: 'context.Trigger.Name + " " + context.Trigger.Time' }`,
      ),
      async (server) => {
        await server.advance('1h');
        const [run] = await server.runs('job');
        expect(run?.data).toEqual({ by: 'nightly 2026-03-28T13:00:00.000Z' });
        expect((await server.start('job')).status).toBe('Runnable');
      },
    ));

  it.each([
    ['Skip', 1],
    ['Queue', 1],
    ['Allow', 3],
    ['Terminate', 3],
  ])('has started with Overlap %s %i runs after three due times', (overlap, count) =>
    withServer(definition(`Cron: "@hourly"\nOverlap: ${overlap}`, WAIT), async (server) => {
      await server.advance('3h');
      const runs = await server.runs('job');
      expect(runs).toHaveLength(count);
      const open = runs.filter(({ status }) => status === 'Runnable').length;
      expect(open).toBe(overlap === 'Allow' ? 3 : 1);
    }),
  );

  it('queues every due time until the run before has ended', () =>
    withServer(definition('Cron: "@hourly"\nOverlap: Queue', WAIT), async (server) => {
      await server.advance('3h 10s');
      for (const count of [2, 3]) {
        await server.publish('done', '1');
        await server.advance('2s');
        expect(await server.runs('job')).toHaveLength(count);
      }
      await server.publish('done', '1');
      await server.advance('10s');
      expect(await server.runs('job')).toHaveLength(3);
    }));

  it('delays each start by up to its jitter', () =>
    withServer(definition('Cron: "@hourly"\nJitter: 10m'), async (server) => {
      await server.advance('20h 10m');
      const starts = (await server.runs('job')).map(({ startTime }) => startTime % 3_600_000);
      expect(starts).toHaveLength(20);
      expect(Math.max(...starts)).toBeLessThanOrEqual(600_000);
      expect(new Set(starts).size).toBeGreaterThan(10);
    }));

  it('continues after a failed expression', () =>
    withServer(
      definition(`Cron: "@hourly"\nData: { '@n': '1 / (int(context.Trigger.Time[11:13]) - 13)' }`),
      async (server) => {
        await server.advance('3h');
        expect((await server.runs('job')).map(({ data }) => data)).toEqual([{ n: 1 }, { n: 0.5 }]);
      },
    ));

  it('follows the newest version, and keeps its place if it has not changed', () =>
    withServer(definition('Cron: "@hourly"'), async (server) => {
      await server.advance('1h');
      await server.define(definition('Cron: "@hourly"', '  - { Id: other, StepType: NoOp }'));
      await server.advance('1h');
      expect((await server.runs('job')).map(({ version }) => version)).toEqual([1, 2]);
      await server.define(definition('Cron: "30 * * * *"'));
      await server.advance('1h');
      await server.define('Id: job\nSteps: [{ Id: end, StepType: NoOp }]');
      await server.advance('1d');
      const starts = (await server.runs('job')).map(({ startTime }) =>
        isoOf(startTime).slice(11, 16),
      );
      expect(starts).toEqual(['13:00', '14:00', '14:30']);
    }));
});

describe('an event trigger', () => {
  it('starts one run for each event with its name and key', () =>
    withServer(
      definition(`
Event: { Name: payment, Key: eu }
Data: { '@order': 'context.Trigger.EventData["order"]', '@key': context.Trigger.EventKey }
`),
      async (server) => {
        await server.publish('payment', 'eu', { order: 7 });
        await server.publish('payment', 'us', { order: 8 });
        await server.publish('refund', 'eu', { order: 9 });
        expect((await server.runs('job')).map(({ data }) => data)).toEqual([
          { order: 7, key: 'eu' },
        ]);
      },
    ));

  it('has the data of the event by default, if that is an object', () =>
    withServer(definition('Event: { Name: payment }'), async (server) => {
      await server.publish('payment', 'a', { order: 7 });
      await server.advance('1s');
      await server.publish('payment', 'b', [1]);
      expect((await server.runs('job')).map(({ data }) => data)).toEqual([{ order: 7 }, {}]);
    }));
});
