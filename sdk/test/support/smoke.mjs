// The built client and worker complete a run on the current version of Node.js. Prints one line.
import { createClient } from '@stepwright/sdk';
import { Worker } from '../../../worker-sdk/dist/index.js';

const client = createClient({ baseUrl: process.argv[2] });
await client.definitions.register(`
id: smoke
steps:
  - id: do
    stepType: Activity
    inputs:
      ActivityName: '"smoke"'
      Parameters: data.parameters
    outputs:
      result: step.Result
`);
const worker = new Worker({ client, activities: { smoke: ({ number }) => number * 2 } });
const running = worker.run();
const handle = await client.workflows.start('smoke', { parameters: { number: 21 } });
const { status, data } = await handle.wait({ timeoutMs: 20_000 });
await worker.stop();
await running;
console.log(status, data.result);
