/** The steps of a run, as the API lists them. */
import { expect, it } from 'vitest';
import { everyStore } from './support/every-store.js';
import { chain, compute, step } from './support/steps.js';

everyStore(
  'the steps of a run',
  (at) => {
    it('lists steps in order, with inputs, outputs and waits', async () => {
      const { client } = at;
      const id = await client.defineAndStart(
        chain(
          step(
            'say',
            'EmitLog',
            { Message: '"hi " + data.name' },
            { Name: 'Says hello', Outputs: { said: 'step.Message' } },
          ),
          step('wait', 'WaitFor', { EventName: '"e"', EventKey: '"k"' }),
        ),
        { name: 'Ann' },
      );
      await client.untilWaiting(id, 'wait');
      const [say, wait, ...rest] = await client.steps(id);
      expect(rest).toEqual([]);
      expect(say).toMatchObject({
        stepId: 'say',
        stepType: 'EmitLog',
        name: 'Says hello',
        status: 'Complete',
        attempt: 1,
        item: null,
        inputs: { Message: 'hi Ann' },
        outputs: { said: 'hi Ann' },
        error: null,
        waitsFor: null,
      });
      expect(Date.parse(say!.endTime!)).toBeGreaterThanOrEqual(Date.parse(say!.startTime));
      expect(wait).toMatchObject({
        stepId: 'wait',
        status: 'Waiting',
        endTime: null,
        inputs: { EventName: 'e', EventKey: 'k' },
        waitsFor: { kind: 'event', eventName: 'e', eventKey: 'k' },
      });
      await client.terminate(id);
      expect((await client.steps(id)).map(({ endTime }) => endTime === null)).not.toContain(true);
    });

    it('lists steps in consistent pages, even for a long run', async () => {
      const { client } = at;
      const id = await client.defineAndStart(
        [
          step(
            'loop',
            'While',
            { Condition: 'data.n < 300' },
            { Do: [[compute('more', { n: 'data.n + 1' })]] },
          ),
        ],
        { n: 0 },
      );
      await client.ended(id);
      const all = await client.steps(id);
      const turns = all.filter(({ stepId }) => stepId === 'more');
      expect(turns.map(({ outputs }) => (outputs as { n: number }).n)).toEqual(
        Array.from({ length: 300 }, (_, n) => n + 1),
      );
      const seen: number[] = [];
      let cursor: string | null = '';
      while (cursor !== null) {
        const page: { body: { items: { executionId: number }[]; nextCursor: string | null } } =
          await client.get(`/api/workflow/${id}/steps?limit=7&cursor=${cursor}`);
        seen.push(...page.body.items.map(({ executionId }) => executionId));
        cursor = page.body.nextCursor;
      }
      expect(seen).toEqual(all.map(({ executionId }) => executionId));
    });
  },
  { dialects: 'alternating' },
);
