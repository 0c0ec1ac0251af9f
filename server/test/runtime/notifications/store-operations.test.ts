/**
 * Goal: runs that others are told of cost the store no further operation where the message can be stored with the run (S11),
 * and where it cannot, the outbox takes its place.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { DeliveryPage } from '../../../src/api/wire/models/notification.js';
import { createMemoryStore } from '../../../src/store/memory/memory-store.js';
import { observeStore } from '../../../src/store/observed-store.js';
import { eventually } from '../../../../sdk/test/support/eventually.js';
import { Client, fresh } from '../../behavior/support/client.js';
import { startServer } from '../../behavior/support/server.js';
import { step } from '../../behavior/support/steps.js';

/** Without those for attempts, whose number depends on the target. */
const COUNTED: ReadonlySet<string> = new Set([
  'commitInstance',
  'insertDeliveries',
  'insertInstance',
]);

const ATTEMPTS_MAX = 20;

const commitsOf = (writes: readonly string[]): number =>
  writes.filter((name) => name === 'commitInstance').length;

describe.each([
  ['with the run', true, ['insertInstance']],
  [
    'through the outbox',
    false,
    ['insertInstance', 'insertDeliveries', 'insertDeliveries', 'commitInstance'],
  ],
])('a message stored %s', (_, storesDeliveries, expected) => {
  it(`takes these writes: ${expected.join(', ')}`, async () => {
    const folder = mkdtempSync(join(tmpdir(), 'stepwright-told-'));
    const writes: string[] = [];
    const server = await startServer({
      store: { ...createMemoryStore(), storesDeliveries },
      environment: { data_dir: folder },
      wrapStore: (store) =>
        observeStore(store, {
          after: ({ name }) => {
            if (COUNTED.has(name)) writes.push(name);
          },
        }),
    });
    try {
      const client = new Client(server.url);
      const definitionId = await client.define([step('end', 'NoOp')]);
      const name = fresh('told');
      const settings = {
        // Nobody listens there.
        url: 'http://127.0.0.1:9/',
        on: ['started', 'completed'],
        definitionId,
        secret: `whsec_${Buffer.alloc(32, 7).toString('base64')}`,
      };
      const options = { body: JSON.stringify(settings), type: 'application/json' };
      expect((await client.call('PUT', `/api/notification/${name}`, options)).status).toBe(200);
      // On a busy machine, the first pass takes so long that the run is stored before and after it.
      for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt += 1) {
        writes.length = 0;
        await client.ended(await client.start(definitionId));
        await eventually('everything is written', () => writes.length >= expected.length);
        if (commitsOf(writes) === commitsOf(expected)) break;
      }
      expect(writes).toEqual(expected);
      const path = `/api/notification/${name}/deliveries`;
      const { body } = await client.get<DeliveryPage>(path);
      const types = new Set(body.items.map(({ type }) => type));
      expect(types).toEqual(new Set(['workflow.completed', 'workflow.started']));
    } finally {
      await server.stop();
      rmSync(folder, { recursive: true, force: true });
    }
  });
});
