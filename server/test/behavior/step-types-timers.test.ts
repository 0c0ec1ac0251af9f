/** Delay, Schedule, Recur; no timer fires early or much too late. */
import { describe, expect, it } from 'vitest';
import { itFails, itRuns } from './support/cases.js';
import { everyStore } from './support/every-store.js';
import { chain, compute, mark, step } from './support/steps.js';

const more = compute('more', { n: 'data.get("n", 0) + 1' });

everyStore(
  'timers',
  (at) => {
    describe('Delay', () => {
      it.concurrent.for([
        ['a number of seconds', 0.15, 150],
        ['an expression', 'data.seconds / 2', 150],
        ['hh:mm:ss with a fraction', '"00:00:00.150"', 150],
        ['d.hh:mm:ss', '"0.00:00:01"', 1000],
        ['ISO 8601', '"PT0.15S"', 150],
        ['a timedelta', 'timedelta(milliseconds=150)', 150],
      ] as const)('waits for %s: %s', async ([, period, expectedMs]) => {
        const { client } = at;
        const id = await client.defineAndStart(
          chain(step('wait', 'Delay', { Period: period }), mark('after')),
          {
            seconds: 0.3,
          },
        );
        const { data, status } = await client.ended(id);
        expect({ status, trail: data['trail'] }).toEqual({ status: 'Complete', trail: ['after'] });
        const wait = (await client.steps(id)).find(({ stepId }) => stepId === 'wait')!;
        const tookMs = Date.parse(wait.endTime!) - Date.parse(wait.startTime);
        expect(tookMs).toBeGreaterThanOrEqual(expectedMs);
        expect(tookMs).toBeLessThan(expectedMs + 10_000);
      });

      it('shows the time of its end', async () => {
        const { client } = at;
        const id = await client.defineAndStart([step('wait', 'Delay', { Period: 3600 })]);
        const waiting = await client.untilWaiting(id, 'wait');
        expect(waiting).toMatchObject({ stepType: 'Delay', waitsFor: { kind: 'time' } });
        const untilMs = Date.parse(waiting.waitsFor!.until!) - Date.parse(waiting.startTime);
        expect(untilMs).toBeGreaterThanOrEqual(3_600_000);
        expect(untilMs).toBeLessThan(3_660_000);
        await client.terminate(id);
      });

      itFails(at, [
        {
          does: 'an invalid period',
          step: step('wait', 'Delay', { Period: 'data.p' }),
          data: { p: 'soon' },
          message: /Period/,
        },
        {
          does: 'a period of None',
          step: step('wait', 'Delay', { Period: 'None' }),
          message: /Period/,
        },
      ]);
    });

    describe('Schedule', () => {
      itRuns(at, [
        {
          does: 'waits for the interval, runs Do once, then continues',
          steps: [
            step(
              'split',
              'Parallel',
              {},
              {
                Do: [
                  chain(
                    step('later', 'Schedule', { Interval: 0.2 }, { Do: [[mark('inside')]] }),
                    mark('after'),
                  ),
                  chain(step('sooner', 'Delay', { Period: 0.05 }), mark('before')),
                ],
              },
            ),
          ],
          gives: { trail: ['before', 'inside', 'after'] },
        },
        {
          does: 'lets its next steps run at once in the background, and keeps the run open until Do has run',
          steps: chain(
            step(
              'later',
              'Schedule',
              { Interval: 0.1, Background: true },
              { Do: [[mark('inside')]] },
            ),
            mark('after'),
          ),
          gives: { trail: ['after', 'inside'] },
        },
      ]);

      it('keeps the run Runnable in the background', async () => {
        const { client } = at;
        const id = await client.defineAndStart(
          chain(
            step(
              'later',
              'Schedule',
              { Interval: 3600, Background: 'True' },
              { Do: [[mark('inside')]] },
            ),
            mark('after'),
          ),
        );
        await client.untilStep(id, 'after', ({ status }) => status === 'Complete');
        expect(await client.workflow(id)).toMatchObject({
          status: 'Runnable',
          data: { trail: ['after'] },
        });
        expect(await client.untilWaiting(id, 'later')).toMatchObject({
          waitsFor: { kind: 'time' },
        });
        await client.terminate(id);
      });
    });

    describe('Recur', () => {
      itRuns(at, [
        {
          does: 'runs Do immediately and then every interval until the stop condition is true; its next steps run at once',
          steps: chain(
            step(
              'recur',
              'Recur',
              { Interval: 0.05, StopCondition: 'data.get("n", 0) >= 3' },
              { Do: [[more]] },
            ),
            mark('after'),
          ),
          gives: { trail: ['after'], n: 3 },
        },
        {
          does: 'delays its next steps until its end without Background',
          steps: chain(
            step(
              'recur',
              'Recur',
              { Interval: 0.05, StopCondition: 'data.get("n", 0) >= 2', Background: false },
              { Do: [[more]] },
            ),
            compute('after', { after: 'data.n' }),
          ),
          gives: { n: 2, after: 2 },
        },
        {
          does: 'runs nothing if the stop condition is true at the start',
          steps: chain(
            step(
              'recur',
              'Recur',
              { Interval: 0.05, StopCondition: 'True' },
              { Do: [[mark('never')]] },
            ),
            mark('after'),
          ),
          gives: { trail: ['after'] },
        },
        {
          does: 'never overlaps rounds: a slow one is followed at once by the next',
          steps: [
            step(
              'recur',
              'Recur',
              { Interval: 0.05, StopCondition: 'len(data.get("trail", [])) >= 4' },
              {
                Do: [chain(mark('begin'), step('slow', 'Delay', { Period: 0.15 }), mark('end'))],
              },
            ),
          ],
          gives: { trail: ['begin', 'end', 'begin', 'end'] },
        },
      ]);

      it('starts each round one interval after the start of the previous one, and no earlier', async () => {
        const { client } = at;
        const id = await client.defineAndStart([
          step(
            'recur',
            'Recur',
            { Interval: 0.2, StopCondition: 'data.get("n", 0) >= 3' },
            { Do: [[more]] },
          ),
        ]);
        await client.ended(id);
        const rounds = (await client.steps(id)).filter(({ stepId }) => stepId === 'more');
        const starts = rounds.map(({ startTime }) => Date.parse(startTime));
        expect(starts).toHaveLength(3);
        for (const [index, start] of starts.slice(1).entries()) {
          expect(start - starts[index]!).toBeGreaterThanOrEqual(195);
          expect(start - starts[index]!).toBeLessThan(10_000);
        }
      });

      it('continues without StopCondition until the run ends', async () => {
        const { client } = at;
        const id = await client.defineAndStart([
          step('recur', 'Recur', { Interval: 0.02 }, { Do: [[more]] }),
        ]);
        await client.untilWorkflow(id, ({ data }) => Number(data['n']) >= 3);
        expect((await client.terminate(id)).body).toMatchObject({ status: 'Terminated' });
      });
    });
  },
  { dialects: 'alternating' },
);
