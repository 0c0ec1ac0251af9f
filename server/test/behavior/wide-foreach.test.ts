/** A parallel Foreach with very many items ends, and other runs continue in the meantime. */
import { expect, it } from 'vitest';
import { everyStore } from './support/every-store.js';
import { chain, compute, mark, step } from './support/steps.js';

everyStore(
  'a wide Foreach',
  (at) => {
    const items = at.kind === 'mongo' ? 1000 : 20_000;

    it(`runs ${items} items to their end while other runs make progress`, async () => {
      const { client } = at;
      const wide = await client.define(
        chain(
          step(
            'each',
            'Foreach',
            { Collection: 'list(range(data.n))' },
            { Do: [[compute('in', { last: 'context.Index' })]] },
          ),
          mark('after'),
        ),
      );
      const small = await client.define(chain(mark('a'), mark('b')));
      const id = await client.start(wide, { n: items });
      let meanwhile = 0;
      while ((await client.workflow(id)).status === 'Runnable') {
        const other = await client.ended(await client.start(small));
        expect(other.data).toEqual({ trail: ['a', 'b'] });
        meanwhile += 1;
      }
      const ended = await client.workflow(id);
      expect(ended).toMatchObject({ status: 'Complete', data: { trail: ['after'] } });
      expect(meanwhile).toBeGreaterThan(0);
    }, 120_000);

    it('lets all items wait in parallel', async () => {
      const { client } = at;
      const count = 1000;
      const id = await client.defineAndStart([
        step(
          'each',
          'Foreach',
          { Collection: `list(range(${count}))` },
          { Do: [[step('in', 'WaitFor', { EventName: '"go"', EventKey: '"now"' })]] },
        ),
      ]);
      await client.untilWorkflow(id, () => true);
      await expect
        .poll(async () => (await client.steps(id)).filter(({ stepId }) => stepId === 'in').length, {
          timeout: 20_000,
        })
        .toBe(count);
      await client.terminate(id);
    });
  },
  { dialects: 'alternating' },
);
