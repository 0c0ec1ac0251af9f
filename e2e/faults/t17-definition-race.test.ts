import { describe, expect, it } from 'vitest';
import { assign, definition } from './support/definitions.js';
import { eventually } from './support/eventually.js';
import { PersistentClient } from './support/persistent-client.js';
import { scaled } from './support/random.js';
import { untilEnded } from './support/until-ended.js';
import { withFleet } from './support/with-fleet.js';
import type { Instance } from './support/wire.js';

function content(n: number): object {
  return definition('contended', [assign('only', { content: String(n) })]);
}

describe.each([{ store: 'sqlite' }, { store: 'mongo' }, { store: 'postgres' }] as const)(
  'T-17 each concurrent version of a definition on $store',
  ({ store }) => {
    it('gets a consecutive number, and every run uses its own version', async () => {
      await withFleet({ count: 3, store }, async ({ fleet }) => {
        const client = new PersistentClient(() => fleet.urls);
        const count = scaled(50);
        await client.call('POST', '/api/definition', { body: content(0) });
        const contents = new Map<number, number>([[1, 0]]);
        const posts = Array.from({ length: count }, async (_, at) => {
          const { body } = await client.call('POST', '/api/definition', {
            body: content(at + 1),
            // Without a key, a repeated call whose first response was lost would create another version.
            key: `content-${at + 1}`,
          });
          contents.set((body as Instance).version, at + 1);
        });
        const starts = Array.from({ length: count }, async () => {
          const { body } = await client.call('POST', '/api/workflow/contended');
          return (body as Instance).workflowId;
        });
        const ids = await Promise.all(starts);
        await Promise.all(posts);
        const versions = [...contents.keys()].sort((a, b) => a - b);
        expect(versions).toEqual(Array.from({ length: count + 1 }, (_, at) => at + 1));
        const used = new Set<number>();
        for (const id of ids) {
          const { data, status, version } = await untilEnded(client, id);
          expect(status).toBe('Complete');
          expect(data['content']).toBe(contents.get(version));
          used.add(version);
        }

        // Once one node has acknowledged a version, every node soon uses it: the hint through Redis takes a moment.
        const { body } = await client.call('POST', '/api/definition', { body: content(-1) });
        const latest = (body as Instance).version;
        for (const url of fleet.urls) {
          const node = new PersistentClient(() => [url]);
          await eventually(`${url} starts on version ${latest}`, async () => {
            const start = await node.call('POST', '/api/workflow/contended');
            return (start.body as Instance).version === latest;
          });
        }
        console.log(`T-17 ${store}`, { versions: count, starts: ids.length, used: used.size });
      });
    });
  },
);
