/** Starts five exports of one tenant and one of another. Two of each run at a time, and the urgent one goes before the others. */
import { readFile } from 'node:fs/promises';
import { createClient, type Priority } from '@stepwright/sdk';
import { Worker } from '@stepwright/worker-sdk';

interface Export {
  tenant: string;
  report: string;
}

const baseUrl = process.env['STEPWRIGHT_URL'] ?? 'http://127.0.0.1:5001';
const { definitions, workflows } = createClient({ baseUrl });
await definitions.register(await readFile(new URL('export.yaml', import.meta.url), 'utf8'));

const now = Date.now();
const start = async (name: string, report: string, priority: Priority = 3) => {
  const data = { tenant: `${name}-${now}`, report };
  const run = await workflows.start<Export, Export>('export', data, { priority });
  const { queued } = await run.get();
  console.log(`${name}, ${report}: ${queued ? 'queued' : 'started'}`);
  return run;
};
const first = [
  await start('acme', 'sales'),
  await start('acme', 'stock'),
  await start('acme', 'orders'),
];
const returns = await start('acme', 'returns');
const runs = [...first, returns, await start('acme', 'audit', 1), await start('zeta', 'sales')];

const [reason] = (await returns.explain()).reasons;
console.log(reason?.text.replace(`-${now}`, ''));

let open = 0;
let most = 0;
const begun: string[] = [];
const worker = new Worker({
  baseUrl,
  concurrency: 10,
  activities: {
    export: async (input) => {
      const { report, tenant } = input as Export;
      if (!tenant.startsWith('acme')) return { file: `${report}.csv` };
      open += 1;
      most = Math.max(most, open);
      begun.push(report);
      // Long enough for others to begin beside it, if they could.
      await new Promise((resolve) => setTimeout(resolve, 50));
      open -= 1;
      return { file: `${report}.csv` };
    },
  },
});
const stop = new AbortController();
const running = worker.run({ signal: stop.signal });
try {
  for (const run of runs) await run.result({ timeoutMs: 20_000 });
} finally {
  stop.abort();
  await running;
}
console.log(`exports of acme at a time: ${most}`);
console.log(`the first of those that waited: ${begun[2] ?? 'none'}`);
