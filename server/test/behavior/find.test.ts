/** Finding runs by any part of what identifies them, and explaining the runs of a list in one call, on every store. */
import { expect, it } from 'vitest';
import type { Explanations, WorkflowFindings } from '../../src/api/wire/models/find.js';
import { observeStore } from '../../src/store/observed-store.js';
import { Client, fresh } from './support/client.js';
import { everyStore } from './support/every-store.js';
import { startServer } from './support/server.js';
import { step } from './support/steps.js';
import { waitFor } from './support/explained-waits.js';

everyStore(
  'runs found by a text',
  (at) => {
    const find = async (text: string, rest = ''): Promise<WorkflowFindings> => {
      const path = `/api/workflow/find?text=${encodeURIComponent(text)}${rest}`;
      const { body, status, text: said } = await at.client.get<WorkflowFindings>(path);
      expect(status, said).toBe(200);
      return body;
    };

    it('matches the id, reference, tags or index fields, and the response says where', async () => {
      const order = fresh('order');
      const definition = await at.client.define({
        Index: { order: 'data.order', no: 'data.no' },
        Steps: [step('a', 'NoOp')],
      });
      const start = async (query: string, data = {}): Promise<string> => {
        const { body } = await at.client.call<{ workflowId: string }>(
          'POST',
          `/api/workflow/${definition}?${query}`,
          { body: at.client.dialect.write(data), type: at.client.dialect.mediaType },
        );
        return body.workflowId;
      };
      const byReference = await start(`reference=${order}`);
      const byTag = await start(`tag=${encodeURIComponent(`shop:${order}-2`)}`);
      const byField = await start('', { order: ['x', `in-${order}-3`] });
      const { definitionId, exact, items, partsFrom } = await find(order);
      expect({ definitionId, exact, partsFrom }).toEqual({
        definitionId: null,
        exact: true,
        partsFrom: null,
      });
      expect(items.map(({ matches, workflow }) => [workflow.workflowId, matches])).toEqual([
        [byReference, [{ of: 'reference', name: null, value: order, relation: 'equal' }]],
        [byTag, [{ of: 'tag', name: 'shop', value: `${order}-2`, relation: 'start' }]],
        [byField, [{ of: 'index', name: 'order', value: `in-${order}-3`, relation: 'part' }]],
      ]);
      const byNumber = await start('', { no: 47_110_815 });
      const [numbered] = (await find('47110815')).items;
      expect(numbered).toMatchObject({
        workflow: { workflowId: byNumber },
        matches: [{ of: 'index', name: 'no', value: 47_110_815, relation: 'equal' }],
      });
      const [first] = (await find(byTag)).items;
      expect(first?.matches[0]).toMatchObject({ of: 'id', relation: 'equal' });
      expect(
        (await find(byTag.slice(0, -2))).items.map(({ workflow }) => workflow.workflowId),
      ).toContain(byTag);
      expect(await find(definition)).toMatchObject({ definitionId: definition });
      const limited = await find(order, '&limit=1');
      expect(limited).toMatchObject({
        exact: false,
        items: [{ workflow: { workflowId: byReference } }],
      });
      const others: string[] = [];
      for (let page = limited; page.nextCursor !== null;) {
        page = await find(order, `&limit=1&cursor=${page.nextCursor}`);
        others.push(...page.items.map(({ workflow }) => workflow.workflowId));
      }
      expect(others.toSorted()).toEqual([byField, byTag].toSorted());
      expect(
        (await at.client.get(`/api/workflow/find?text=x&cursor=${limited.nextCursor!}`)).status,
      ).toBe(400);
      const byDigits = await find('7110815');
      expect(byDigits.items.find(({ workflow }) => workflow.workflowId === byNumber)).toMatchObject(
        {
          matches: [{ of: 'index', name: 'no', value: 47_110_815, relation: 'part' }],
        },
      );
      expect(await find(fresh('nobody'))).toMatchObject({
        items: [],
        exact: true,
        nextCursor: null,
      });
    });

    it.each(['', '?text=', `?text=${'x'.repeat(257)}`, '?text=a&limit=101', '?tex=a'])(
      'rejects a search with %s',
      async (query) => {
        expect((await at.client.get(`/api/workflow/find${query}`)).status).toBe(400);
      },
    );

    it('explains several runs in one call, with one read of the nodes and few of each run', async () => {
      const reads: string[] = [];
      const server = await startServer({
        store: at.store.open(),
        wrapStore: (store) => observeStore(store, { before: ({ name }) => void reads.push(name) }),
      });
      try {
        const client = new Client(server.url, at.client.dialect);
        const definition = await client.define({ Steps: [waitFor('wait', fresh('never'))] });
        const ids = await Promise.all(Array.from({ length: 20 }, () => client.start(definition)));
        const unknown = fresh('unknown');
        const path = `/api/workflow/explain?${[unknown, ...ids].map((id) => `id=${id}`).join('&')}`;
        reads.length = 0;
        const { body, status, text } = await client.get<Explanations>(path);
        expect(status, text).toBe(200);
        // On a busy machine, there may be no time for some.
        const explained = body.items.map(({ workflowId }) => workflowId);
        expect([...explained, ...body.left]).toEqual(ids);
        expect(explained.length).toBeGreaterThan(0);
        for (const { reasons } of body.items) expect(reasons[0]?.kind).toBe('event');
        const count = (name: string): number => reads.filter((read) => read === name).length;
        expect(count('listAudit')).toBe(explained.length);
        expect(count('getInstance')).toBe(explained.length + 1);
        expect(count('findEvents')).toBe(2 * explained.length);
        expect(count('listInstances') + count('getActivities')).toBe(0);
      } finally {
        await server.stop();
      }
      const tooMany = Array.from({ length: 51 }, (_, n) => `id=i${n}`).join('&');
      expect((await at.client.get(`/api/workflow/explain?${tooMany}`)).status).toBe(400);
      expect((await at.client.get('/api/workflow/explain')).status).toBe(400);
    });
  },
  { dialects: 'alternating' },
);
