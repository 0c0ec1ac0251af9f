/** Checks a job at intervals until it is ready. */
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
const { progress, rounds } = await watch.result({ timeoutMs: 20_000 });
console.log(`At ${progress}% after ${rounds} rounds`);
