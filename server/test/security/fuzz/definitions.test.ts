/** S-23a: definitions by grammar, valid ones, mutated ones and wild ones; what is accepted is started as well. */
import { afterAll, beforeAll, describe } from 'vitest';
import { validDocument, wildDocument } from '../../engine/definitions/random-documents.js';
import { serverForTests } from '../support/secured-server.js';
import { expectNoFailures, itSurvives, probe, type Chance } from './fuzz.js';

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

/** Puts something unexpected somewhere. */
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

describe('definitions', () => {
  const at = serverForTests({
    STEPS_WITHOUT_WAIT_MAX: '300',
    HTTP_TIMEOUT_MS: '200',
    WAIT_SECONDS_MAX: '1',
  });
  beforeAll(async () => {
    const path = `/api/step/${encodeURIComponent('My Custom Step')}`;
    await at.client.call('POST', path, { body: 'seen = 1', type: 'text/x-python' });
  });
  afterAll(() => expectNoFailures(at.server));

  itSurvives('definitions by grammar', async (chance) => {
    const wild = chance.once(3);
    let document = chance.sample<unknown>(wild ? wildDocument : validDocument);
    for (let times = chance.int(3); times > 0; times -= 1) document = mutate(document, chance);
    const body = JSON.stringify(document ?? null);
    const type = 'application/json';
    await probe(at.client, ['POST', '/api/definition/validate'], { body, type });
    const posted = await probe(at.client, ['POST', '/api/definition'], { body, type });
    if (posted.status !== 201) return;
    const { id } = JSON.parse(posted.text) as { id: string };
    await probe(at.client, ['GET', `/api/definition/${encodeURIComponent(id)}`]);
    const started = await probe(at.client, ['POST', `/api/workflow/${encodeURIComponent(id)}`], {
      body: chance.pick(START_DATA),
      type,
    });
    if (started.status !== 201) return;
    const { workflowId } = JSON.parse(started.text) as { workflowId: string };
    await probe(at.client, ['GET', `/api/workflow/${workflowId}/steps?limit=500`]);
    await probe(at.client, [
      'PUT',
      `/api/workflow/${workflowId}/${chance.pick(['suspend', 'resume'])}`,
    ]);
    await probe(at.client, ['DELETE', `/api/workflow/${workflowId}`]);
  });
});
