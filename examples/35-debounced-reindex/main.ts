/** Five changes of a product follow each other, and one of another. Each product is indexed once, with all of its changes. */
import { readFile } from 'node:fs/promises';
import { createClient } from '@stepwright/sdk';
import { Worker } from '@stepwright/worker-sdk';

interface Change {
  product: number;
  field: string;
}

const baseUrl = process.env['STEPWRIGHT_URL'] ?? 'http://127.0.0.1:5001';
const { definitions, workflows } = createClient({ baseUrl });
await definitions.register(await readFile(new URL('reindex.yaml', import.meta.url), 'utf8'));

const now = Date.now();
const change = (product: number, field: string) =>
  workflows.start<Change & { indexed: string }, Change>(
    'reindex',
    { product, field },
    { debounce: 2, debounceKey: `${product}-${now}`, debounceMax: 60, debounceData: 'list' },
  );

const first = await change(7, 'price');
const others = [
  await change(7, 'stock'),
  await change(7, 'title'),
  await change(7, 'price'),
  await change(7, 'image'),
];
const other = await change(8, 'price');
console.log(`started: ${first.joined ? 'no' : 'yes'}`);
console.log(`joined: ${others.filter(({ joined, id }) => joined && id === first.id).length}`);
console.log(`another product has its own run: ${other.id !== first.id}`);

const { debounce } = await first.get();
console.log(`collected so far: ${debounce?.starts ?? 0}`);
const [reason] = (await first.explain()).reasons;
console.log(`it waits for more: ${reason?.kind === 'debounce'}`);

const worker = new Worker({
  baseUrl,
  activities: {
    'index-product': (input) => {
      const { fields, product } = input as { product: number; fields: string[] };
      return Promise.resolve(`product ${product}: ${fields.join(', ')}`);
    },
  },
});
const stop = new AbortController();
const running = worker.run({ signal: stop.signal });
try {
  for (const run of [first, other]) {
    const { indexed } = await run.result({ timeoutMs: 20_000 });
    console.log(`indexed ${indexed}`);
  }
} finally {
  stop.abort();
  await running;
}
