/** The commands in docs/bulk.md do what the page says. */
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { expect, it, onTestFinished } from 'vitest';
import type { BulkJob, BulkPreview, CreatedBulkJob } from '../../src/api/wire/models/bulk.js';
import { createMemoryStore } from '../../src/store/memory/memory-store.js';
import { bulkDone } from './support/bulk.js';
import { Client } from './support/client.js';
import { startServer } from './support/server.js';
import { step } from './support/steps.js';

const PAGE = readFileSync(new URL('../../../docs/bulk.md', import.meta.url), 'utf8');
const COMMANDS = [...PAGE.matchAll(/^```sh\n([^]*?)^```$/gm)].flatMap(([, block = '']) =>
  block.split(/^(?=curl )/m),
);
const EXAMPLE_ID = '01hx5v3x9t6k2m4n8p0q';

it('shows, creates, reads and stops a job with the documented commands', async () => {
  const server = await startServer({ store: createMemoryStore() });
  onTestFinished(() => server.stop());
  const client = new Client(server.url);
  const Id = 'order';
  const wait = step('wait', 'Activity', { ActivityName: '"nobody"' });
  const Index = { customer: 'data.customer' };
  expect((await client.postDefinition({ Id, Index, Steps: [wait] })).status).toBe(201);
  for (const customer of ['C-17', 'C-17', 'C-18']) await client.start(Id, { customer });
  const run = async <Result>(command: string | undefined, id = ''): Promise<Result> => {
    const text = (command ?? 'false')
      .replaceAll('localhost:5001', server.url)
      .replaceAll(EXAMPLE_ID, id);
    const { stdout } = await promisify(execFile)('sh', ['-ec', text]);
    return JSON.parse(stdout) as Result;
  };
  expect(COMMANDS).toHaveLength(4);
  expect(await run<BulkPreview>(COMMANDS[0])).toMatchObject({ matched: 2, exact: true });
  const { id, matched } = await run<CreatedBulkJob>(COMMANDS[1]);
  expect(matched).toBe(2);
  await bulkDone(client, id);
  const job = await run<BulkJob>(COMMANDS[2], id);
  expect(job).toMatchObject({ state: 'Done', done: 2, reason: 'the carrier is down' });
  expect(await run<BulkJob>(COMMANDS[3], id)).toEqual(job);
});
