/** S-23a: definitions by grammar, valid, mutated and random ones; accepted ones are started too. */
import { beforeAll, describe } from 'vitest';
import type { Client } from '../../behavior/support/client.js';
import { validDocument, randomDocument } from '../../engine/definitions/random-documents.js';
import { itSurvives, probe, serverToFuzz, type Chance } from './fuzz.js';
import { HELPERS, hostileData, hostileDocument } from './hostile-documents.js';

const VALUES: readonly unknown[] = [
  null, true, 0, -1, 1e308, '', 'data.x', '1 +', '[', '__import__("os")', 'x'.repeat(5000), [], {}, [[[]]],
  { '@a': 'data.x' }, '9999999999999999999', 'step 0', 'PT1S', '\u0000', '\ud800', 'Retry',
]; // prettier-ignore

const START_DATA: readonly string[] = [
  '{}',
  '{"x":0,"a":"text","list":[1,2],"done":false}',
  '{"x":"http://127.0.0.1:9","y":null,"list":[],"done":true}',
  '{"x":[[1],[2]],"a":{"b":1},"list":"abc"}',
];

/** Inserts an unexpected value at a random place. */
function mutate(value: unknown, chance: Chance): unknown {
  if (typeof value !== 'object' || value === null || chance.once(6)) return chance.pick(VALUES);
  const entries: [string, unknown][] = Object.entries(value);
  if (entries.length === 0) return chance.pick(VALUES);
  const [key, inner] = chance.pick(entries);
  const copy = structuredClone(value) as Record<string, unknown>;
  if (chance.once(8)) Reflect.deleteProperty(copy, key);
  else copy[chance.once(10) ? String(chance.pick(VALUES)) : key] = mutate(inner, chance);
  return copy;
}

/**
 * Small limits, so that they are reached in a few seconds. The memory store responds before the event loop turns:
 * there, all work of an instance until it waits is one piece.
 */
const LIMITS = {
  STEPS_WITHOUT_WAIT_MAX: '300',
  OPEN_STEPS_MAX: '3000',
  INSTANCE_BYTES_MAX: '4000000',
  HTTP_TIMEOUT_MS: '200',
  EXPRESSION_TIMEOUT_MS: '500',
  WAIT_SECONDS_MAX: '1',
};
const JSON_TYPE = 'application/json';

describe.each(['memory', 'sqlite'] as const)('definitions, with the store in %s', (store) => {
  const at = serverToFuzz(store, LIMITS);
  beforeAll(async () => {
    const path = `/api/step/${encodeURIComponent('My Custom Step')}`;
    await at.client.call('POST', path, { body: 'seen = 1', type: 'text/x-python' });
    for (const helper of HELPERS) await at.client.post('/api/definition', helper);
    for (let times = 0; times < 20; times += 1) await at.client.publish('e', 'past', times);
  });

  /** An accepted definition is started, inspected through every call and stopped; it must not affect other requests. */
  const live = async (document: unknown, data: string): Promise<void> => {
    const body = JSON.stringify(document ?? null);
    const posted = await probe(at.client, ['POST', '/api/definition'], { body, type: JSON_TYPE });
    if (posted.status !== 201) return;
    const { id } = JSON.parse(posted.text) as { id: string };
    const path = `/api/workflow/${encodeURIComponent(id)}`;
    const started = await probe(at.client, ['POST', path], { body: data, type: JSON_TYPE });
    if (started.status !== 201) return;
    const { workflowId } = JSON.parse(started.text) as { workflowId: string };
    const own = `/api/workflow/${workflowId}`;
    await probe(at.client, ['GET', `/api/definition/${encodeURIComponent(id)}`]);
    for (const view of [`${own}?wait=1`, `${own}/steps?limit=500`, `${own}/explain`]) {
      await probe(at.client, ['GET', view]);
    }
    for (const action of ['suspend', 'resume', 'retry']) {
      await probe(at.client, ['PUT', `${own}/${action}`]);
    }
    await endAll(at.client, id);
  };

  itSurvives(
    'definitions by grammar',
    async (chance) => {
      const wild = chance.once(3);
      let document = chance.sample<unknown>(wild ? randomDocument : validDocument);
      for (let times = chance.int(3); times > 0; times -= 1) document = mutate(document, chance);
      const body = JSON.stringify(document ?? null);
      await probe(at.client, ['POST', '/api/definition/validate'], { body, type: JSON_TYPE });
      await live(document, chance.pick(START_DATA));
    },
    { shares: 4, givesMemoryBack: store === 'sqlite' },
  );

  itSurvives(
    'definitions that mean harm',
    async (chance) => {
      const document = hostileDocument(`hostile ${chance.int(5)}`, chance);
      await live(document, JSON.stringify(hostileData(chance)));
    },
    { shares: 4, givesMemoryBack: store === 'sqlite' },
  );
});

/** Ends all runs of a definition and their descendants. */
async function endAll(client: Client, definitionId: string): Promise<void> {
  for (;;) {
    const query = `definitionId=${encodeURIComponent(definitionId)}&limit=100`;
    const running: string[] = [];
    for (const status of ['Runnable', 'Suspended']) {
      const { text } = await probe(client, ['GET', `/api/workflow?${query}&status=${status}`]);
      const { items } = JSON.parse(text) as { items: { workflowId: string }[] };
      running.push(...items.map(({ workflowId }) => workflowId));
    }
    if (running.length === 0) return;
    const workflowIds = running.slice(0, 100);
    const body = JSON.stringify({ action: 'terminate', workflowIds });
    await probe(client, ['PATCH', '/api/workflow'], { body, type: JSON_TYPE });
  }
}
