/** Calls twelve sites in parallel, two of which are broken. */
import { readFile } from 'node:fs/promises';
import { startSites } from './sites.ts';
import { createClient } from '@stepwright/sdk';

const client = createClient({ baseUrl: process.env['STEPWRIGHT_URL'] ?? 'http://127.0.0.1:5001' });
const read = (file: string) => readFile(new URL(file, import.meta.url), 'utf8');

/** The start data of the run. */
interface CheckSitesInput {
  base: string;
  sites: string[];
}

/** The data of the run when it has succeeded. */
interface CheckSites extends CheckSitesInput {
  codes: Record<string, number>;
  broken: string[];
}

await client.definitions.register(await read('check-sites.yaml'));

const names = Array.from({ length: 12 }, (_, index) => `site-${index + 1}`);
const sites = await startSites({ broken: ['site-3', 'site-8'] });
try {
  const workflow = await client.workflows.start<CheckSites, CheckSitesInput>('check-sites', {
    base: sites.url,
    sites: names,
  });
  const data = await workflow.result({ timeoutMs: 30_000 });
  console.log(`${Object.keys(data.codes).length} sites answered`);
  console.log(`Broken: ${data.broken.join(', ')}`);
} finally {
  sites.close();
}
