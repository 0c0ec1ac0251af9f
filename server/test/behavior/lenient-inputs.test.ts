/** Alternative spellings of the canonical forms, and their meaning. */
import { describe, expect, it } from 'vitest';
import { itRuns } from './support/cases.js';
import { fresh } from './support/client.js';
import { everyStore } from './support/every-store.js';
import { activity, chain, compute, mark, step } from './support/steps.js';

const PAST = 'datetime(2020, 1, 1) - datetime(2030, 1, 1)';

everyStore(
  'alternative spellings of inputs',
  (at) => {
    describe('durations', () => {
      itRuns(at, [
        ...[-5, PAST, '"-00:00:05"', '"-PT1H"', '-0.001'].map((Period) => ({
          does: `ends a Delay of ${Period} at once`,
          steps: chain(step('wait', 'Delay', { Period }), mark('after')),
          gives: { trail: ['after'] },
        })),
        {
          does: 'runs a Schedule in the past at once',
          steps: [step('s', 'Schedule', { Interval: PAST }, { Do: [[mark('in')]] })],
          gives: { trail: ['in'] },
        },
        {
          does: 'ends a negative Timeout of a WaitFor at once',
          steps: [
            step(
              'wait',
              'WaitFor',
              { EventName: '"never"', EventKey: '"never"', Timeout: -1 },
              { Outputs: { late: 'step.TimedOut' } },
            ),
          ],
          gives: { late: true },
        },
        {
          does: 'accepts single digits',
          steps: chain(step('wait', 'Delay', { Period: '"0:0:0.1"' }), mark('after')),
          gives: { trail: ['after'] },
        },
      ]);

      it('accepts hours and minutes', async () => {
        const id = await at.client.defineAndStart([step('wait', 'Delay', { Period: '"1:30"' })]);
        const waiting = await at.client.untilWaiting(id, 'wait');
        const { startTime, waitsFor } = waiting;
        const waitMs = Date.parse(waitsFor!.until!) - Date.parse(startTime);
        expect(Math.abs(waitMs - 90 * 60_000)).toBeLessThan(60_000);
      });
    });

    describe('levels', () => {
      itRuns(
        at,
        [2, '"2"', '"information"', ''].map((Level) => ({
          does: `takes ${JSON.stringify(Level)} as Information`,
          steps: [
            step('log', 'EmitLog', { Message: '"m"', Level }, { Outputs: { l: 'step.Level' } }),
          ],
          gives: { l: 'Information' },
        })),
      );
    });

    describe('an empty expression', () => {
      itRuns(at, [
        {
          does: 'has no effect as CancelCondition or selector, and is the empty string elsewhere',
          steps: chain(
            compute(
              'a',
              { o: '' },
              { CancelCondition: '', SelectNextStep: { never: '' }, NextStepId: 'b' },
            ),
            mark('b'),
          ).concat(mark('never')),
          gives: { o: '', trail: ['b'] },
        },
        {
          does: 'is the empty string under a key with @, and missing as an input',
          steps: [
            step(
              'log',
              'EmitLog',
              { Message: { '@Header': '', plain: '' }, Level: '' },
              { Outputs: { m: 'step.Message', l: 'step.Level' } },
            ),
          ],
          gives: { m: { Header: '', plain: '' }, l: 'Information' },
        },
      ]);

      it('counts as missing for a required input', async () => {
        const answer = await at.client.postDefinition({
          Id: fresh('definition'),
          Steps: [step('wait', 'Delay', { Period: '' })],
        });
        expect(answer.status).toBe(400);
        expect(answer.text).toContain('missing_input');
      });
    });

    it.each([
      ['data.flag', 'True'],
      ['not data.flag', 'False'],
      [true, 'True'],
    ])('takes the EventKey %s as the key %s', async (EventKey, key) => {
      const name = fresh('event');
      const id = await at.client.defineAndStart(
        [
          step(
            'wait',
            'WaitFor',
            { EventName: `"${name}"`, EventKey },
            { Outputs: { got: 'step.EventData' } },
          ),
        ],
        { flag: true },
      );
      await at.client.untilWaiting(id, 'wait');
      await at.client.publish(name, key, 'news');
      expect((await at.client.ended(id)).data).toMatchObject({ got: 'news' });
    });

    it.each(['success', 'fail'])(
      'answers 404 to %s after the response to a termination',
      async (outcome) => {
        const { client } = at;
        const name = fresh('activity');
        for (let round = 0; round < 10; round += 1) {
          const id = await client.defineAndStart([activity('a', name)]);
          const { token } = await client.work(name);
          expect((await client.terminate(id)).status).toBeLessThan(300);
          const answer = await client.post(`/api/activity/${outcome}/${token}`, 'late');
          expect(answer.status, answer.text).toBe(404);
        }
      },
    );
  },
  { dialects: 'alternating' },
);
