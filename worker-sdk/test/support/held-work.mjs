// A worker whose handlers end only on request, for tests that end its process.
import { stopOnSignals, Worker } from '../../dist/index.js';

const [, , baseUrl, settings] = process.argv;
const worker = new Worker({
  baseUrl,
  ...JSON.parse(settings),
  activities: {
    held: (_parameters, { workflowId, signal }) => {
      process.stdout.write(`${workflowId}\n`);
      return new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason));
      });
    },
  },
});
stopOnSignals(worker, { graceMs: 100 });
await worker.run();
