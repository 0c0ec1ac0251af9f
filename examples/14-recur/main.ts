/** Watches a job at intervals until it is ready. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { createClient } from '@stepwright/sdk';

const client = createClient({ baseUrl: process.env['STEPWRIGHT_URL'] ?? 'http://127.0.0.1:5001' });
const read = (file: string) => readFile(new URL(file, import.meta.url), 'utf8');

interface WatchedJob {
  progress: number;
  rounds: number;
  progressSeenMeanwhile: number;
}

await client.definitions.register(await read('watch-job.yaml'));

const watch = await client.workflows.start<WatchedJob, object>('watch-job');
const { data, startTime, endTime } = await watch.wait({ timeoutMs: 20_000 });
console.log(`Ready after ${data.rounds} rounds`);

assert.equal(data.rounds, 3);
assert.ok(data.progressSeenMeanwhile < 100, 'what follows did not wait for the rounds');
const tookMs = Date.parse(endTime ?? '') - Date.parse(startTime);
assert.ok(tookMs >= 600, 'the second and the third round came after an interval each');
console.log('OK: the rounds came at intervals until the job was ready');
