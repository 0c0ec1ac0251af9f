/** One run for each key, whoever starts it at the same moment: clients, webhooks and triggers, through two nodes. On every store. */
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { eventually } from '../../../sdk/test/support/eventually.js';
import type { EventPage } from '../../src/api/wire/models/event.js';
import { Client, fresh } from './support/client.js';
import { deliver, runsOf, start, webhook } from './support/doors.js';
import { everyStore } from './support/every-store.js';
import { startServer } from './support/server.js';
import { mark } from './support/steps.js';

const environment = {
  data_dir: mkdtempSync(join(tmpdir(), 'stepwright-key-races-')),
  webhook_calls_per_minute_max: '100000',
};
const STARTS = 200;

everyStore(
  `${STARTS} simultaneous starts with one key`,
  (at) => {
    it.each(['fail', 'existing'])(
      'starts one run with %s for clients, webhooks and triggers of two nodes',
      async (OnConflict) => {
        // A second node on the same store, where the store can be shared.
        const other = await startServer({ store: at.store.open(), environment });
        try {
          const clients = [at.client, new Client(other.url, at.client.dialect)] as const;
          const eventName = fresh('paid');
          const id = await at.client.define({
            Reference: 'data.order',
            ConflictScope: 'Kept',
            OnConflict,
            Triggers: [{ Name: 'main', Event: { Name: eventName } }],
            // Each run ends at once.
            Steps: [mark('a')],
          });
          const name = await webhook(at.client, { definitionId: id });
          const data = { order: 'A1' };
          const answers = await Promise.all(
            Array.from({ length: STARTS }, async (_, n) => {
              const client = clients[n % 2]!;
              if (n % 4 < 2) return (await start(client, id, data)).status;
              if (n % 8 < 6) return (await deliver(client, name, data)).status;
              await client.publish(eventName, String(n), data);
              return 'event';
            }),
          );
          await eventually('all events are delivered', async () => {
            const path = '/api/event?limit=500';
            const { body } = await at.client.get<EventPage>(path);
            const ofIt = body.items.filter(({ name: each }) => each === eventName);
            return ofIt.filter(({ deliveredTo }) => deliveredTo !== null).length === STARTS / 4;
          });
          expect(await runsOf(at.client, id)).toHaveLength(1);
          const wrong = answers.filter(
            (each) => each !== 'event' && ![201, 200, 202, 409].includes(each),
          );
          expect(wrong).toEqual([]);
        } finally {
          await other.stop();
        }
      },
    );
  },
  { dialects: 'alternating', environment },
);
