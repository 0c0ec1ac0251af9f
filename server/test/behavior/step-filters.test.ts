/** Goal: on every store, filters find executions of a long run: all that match, each once, and nothing else. */
import { beforeAll, describe, expect, it } from 'vitest';
import type { Problem } from '../../src/api/wire/models/problem.js';
import type { StepExecution, StepExecutionPage } from '../../src/api/wire/models/step-execution.js';
import { eventually } from '../../../sdk/test/support/eventually.js';
import { everyStore } from './support/every-store.js';
import { chain, compute, step } from './support/steps.js';

const ITEMS = 620;
const BAD_ITEM = 377;
const TURNS = 710;

/** One item of many fails, and is retried so much later that the others complete. */
const FOREACH = [
  step(
    'each',
    'Foreach',
    { Collection: `list(range(${ITEMS}))` },
    {
      Do: [
        compute(
          'price',
          {
            last: `f"Order-{context.Item}" if context.Item != ${BAD_ITEM} else data.missing_field`,
          },
          { ErrorBehavior: 'Retry', RetryInterval: 'PT10H' },
        ),
      ],
    },
  ),
];

/** The first step of each turn is a container, so what is inside it ends before it. */
const loop = (id: string, condition: string) =>
  step(
    id,
    'While',
    { Condition: condition },
    {
      Do: chain(
        step(`${id}-box`, 'Sequence', {}, { Do: [compute(`${id}-count`, { n: 'data.n + 1' })] }),
        compute(`${id}-after`, {}),
      ),
    },
  );

type Query = Readonly<Record<string, string | number>>;

everyStore(
  'filters of steps',
  (at) => {
    const page = async (run: string, query: Query): Promise<StepExecutionPage> => {
      const text = new URLSearchParams(asText(query));
      const answer = await at.client.get<StepExecutionPage>(
        `/api/workflow/${run}/steps?${text.toString()}`,
      );
      expect(answer.status, answer.text).toBe(200);
      return answer.body;
    };
    const pagesOf = async (
      run: string,
      query: Query,
      from: string | null = null,
    ): Promise<readonly StepExecution[]> => {
      const items: StepExecution[] = [];
      let cursor = from;
      do {
        const next = await page(run, { ...query, ...(cursor !== null && { cursor }) });
        items.push(...next.items);
        cursor = next.nextCursor;
      } while (cursor !== null);
      return items;
    };

    describe('a Foreach with one bad item', () => {
      let run = '';
      let everything: readonly StepExecution[] = [];
      beforeAll(async () => {
        run = await at.client.defineAndStart(FOREACH);
        await eventually('all items but one have ended', async () => {
          const ended = await pagesOf(run, { status: 'Complete', limit: 500 });
          const retrying = await pagesOf(run, { status: 'Retrying' });
          return ended.length === ITEMS - 1 && retrying.length === 1;
        });
        everything = await pagesOf(run, { limit: 500 });
        expect(everything).toHaveLength(ITEMS + 2);
      });

      it.each([
        [{ status: 'Failed' }, 1],
        [{ status: 'Retrying' }, 1],
        [{ status: 'Waiting' }, 1],
        [{ status: 'Running' }, 1],
        [{ status: 'Pending' }, 0],
        [{ status: 'Complete' }, ITEMS - 1],
        [{ item: BAD_ITEM }, 2],
        [{ item: 0 }, 1],
        [{ item: ITEMS }, 0],
        [{ search: 'order-61' }, 11],
        [{ search: 'ORDER-617' }, 1],
        [{ search: 'missing_FIELD' }, 2],
        [{ search: 'no such text' }, 0],
        [{ search: 'order-61', item: 615 }, 1],
        [{ search: 'order-61', item: 614, status: 'Failed' }, 0],
        [{ stepId: 'price', status: 'Failed', item: BAD_ITEM, search: 'missing' }, 1],
        [{ stepId: 'each', status: 'Failed' }, 0],
        [{ stepId: 'price', turn: 3 }, 1],
      ] as const)('matches %j with %i steps', async (query, count) => {
        for (const limit of [3, 500]) {
          if (limit === 3 && count > 20) continue;
          const found = await pagesOf(run, { ...query, limit });
          expect(found).toHaveLength(count);
          const ids = new Set(found.map(({ executionId, attempt }) => `${executionId}/${attempt}`));
          expect(ids.size).toBe(count);
          const wanted = everything.filter(({ executionId, attempt }) =>
            ids.has(`${executionId}/${attempt}`),
          );
          expect(found).toEqual(wanted);
          if ('turn' in query) continue;
          const newestFirst = await pagesOf(run, { ...query, limit, order: 'desc' });
          expect(new Set(newestFirst.map(({ executionId }) => executionId))).toEqual(
            new Set(found.map(({ executionId }) => executionId)),
          );
        }
      });

      it.each([
        ['status=failed', 'status', /must be one of Pending, Running/],
        ['status=Failed&status=Complete', 'status', /given more than once/],
        ['item=-1', 'item', /at least 0/],
        ['item=1.5', 'item', /whole number/],
        ['item=first', 'item', /whole number/],
        ['item=1e99', 'item', /whole number|too large/],
        ['stepId=price&turn=0', 'turn', /at least 1/],
        ['stepId=price&turn=x', 'turn', /whole number/],
        ['turn=2', 'turn', /needs stepId/],
        ['stepId=each&turn=2', 'turn', /Foreach: use item/],
        ['stepId=price&turn=2&order=desc', 'turn', /leave out order=desc/],
        ['search=', 'search', /is empty/],
        [`search=${'x'.repeat(10_000)}`, 'search', /10000 characters: at most 200/],
        ['search=a&search=b', 'search', /more than once/],
      ])('rejects %.40s', async (query, parameter, message) => {
        const path = `/api/workflow/${run}/steps?${query}`;
        const refused = await at.client.get<Problem>(path);
        expect(refused.status, refused.text).toBe(400);
        const [first] = refused.body.errors ?? [];
        expect(first).toMatchObject({ parameter });
        expect(first?.message).toMatch(message);
        expect(refused.text.length).toBeLessThan(2000);
      });

      it('rejects the cursor of another filter', async () => {
        const { nextCursor: cursor } = await page(run, { status: 'Complete', limit: 1 });
        const others: Query[] = [{ status: 'Failed' }, { search: 'a' }, {}, { item: 1 }];
        for (const other of others) {
          const query = new URLSearchParams({ ...asText(other), cursor: cursor ?? '' });
          const refused = await at.client.get(`/api/workflow/${run}/steps?${query.toString()}`);
          expect(refused.status, JSON.stringify(other)).toBe(400);
        }
      });
    });

    it('finds a loop iteration with all its steps', async () => {
      const steps = [loop('main', `data.n < ${TURNS}`)];
      const run = await at.client.defineAndStart(steps, { n: 0 });
      await at.client.ended(run);
      const ofTurn = async (turn: number, more: Query = {}, stepId = 'main') =>
        (await pagesOf(run, { stepId, turn, ...more })).map((one) => [one.stepId, one.outputs]);
      const inside = (n: number) => [
        ['main-count', { n }],
        ['main-box', {}],
        ['main-after', {}],
      ];
      for (const turn of [1, 2, 400, TURNS - 1, TURNS]) {
        expect(await ofTurn(turn), `turn ${turn}`).toMatchObject(inside(turn));
        expect(await ofTurn(turn, { limit: 1 })).toHaveLength(3);
      }
      expect(await ofTurn(TURNS + 1)).toEqual([]);
      expect(await ofTurn(TURNS, { search: String(TURNS) })).toHaveLength(1);
      expect(await ofTurn(5, { status: 'Failed' })).toEqual([]);
      expect(await ofTurn(TURNS, {}, 'main-count')).toMatchObject([['main-count', { n: TURNS }]]);
    });

    it('continues at its position while the run continues', async () => {
      const key = 'go';
      const steps = chain(
        loop('early', 'data.n < 20'),
        step('wait', 'WaitFor', { EventName: '"steps-go"', EventKey: `"${key}"` }),
        loop('late', 'data.n < 40'),
      );
      const run = await at.client.defineAndStart(steps, { n: 0 });
      await at.client.untilWaiting(run, 'wait');
      const query = { search: 'N', status: 'Complete', limit: 7 };
      const first = await page(run, query);
      const newest = await page(run, { ...query, order: 'desc' });
      await at.client.publish('steps-go', key, {});
      await at.client.ended(run);
      const rest = await pagesOf(run, query, first.nextCursor);
      expect(countsIn([...first.items, ...rest])).toEqual(upTo(40));
      const older = await pagesOf(run, { ...query, order: 'desc' }, newest.nextCursor);
      expect(countsIn([...newest.items, ...older])).toEqual(upTo(20).toReversed());
    });
  },
  { dialects: 'alternating' },
);

function asText(query: Query): Record<string, string> {
  return Object.fromEntries(Object.entries(query).map(([name, value]) => [name, String(value)]));
}

/** The numbers that the counting steps wrote. */
function countsIn(items: readonly StepExecution[]): unknown[] {
  return items
    .filter(({ stepId }) => stepId.endsWith('-count'))
    .map(({ outputs }) => (outputs as { readonly n?: number }).n);
}

function upTo(count: number): number[] {
  return Array.from({ length: count }, (_, at) => at + 1);
}
