/** `stepwright scripts`: lists and prints the custom step scripts on a server. */
import type { StepSummary } from '../../api/wire/models/step.js';
import { connect } from '../connection/connect.js';
import type { ServerCommandOptions } from '../connection/options.js';
import { readPages } from '../connection/pages.js';
import { pathTo } from '../connection/server-client.js';
import { Output } from '../output/output.js';
import { noteMore } from '../output/runs.js';
import { relativeTime } from '../output/times.js';
import type { PageOptions } from './bulk.js';

export interface VersionOptions extends ServerCommandOptions {
  readonly version?: number;
}

export async function listScripts(options: PageOptions): Promise<void> {
  await printScripts('/api/step', 'scripts', options);
}

export async function listScriptVersions(name: string, options: PageOptions): Promise<void> {
  await printScripts(pathTo`/api/step/${name}/versions`, 'versions', options);
}

/** @throws CommandFailure */
export async function showScript(name: string, options: VersionOptions): Promise<void> {
  const client = await connect(options);
  const { json, version } = options;
  const source = await client.text('GET', pathTo`/api/step/${name}`, { query: { version } });
  const output = new Output();
  if (json) output.json({ name, source });
  else output.text(source);
}

async function printScripts(
  path: string,
  noun: string,
  { cursor, limit, ...options }: PageOptions,
): Promise<void> {
  const client = await connect(options);
  const page = await readPages<StepSummary>(client, path, { cursor, limit });
  const output = new Output();
  if (options.json) {
    output.json(page);
    return;
  }
  if (page.items.length > 0) {
    output.table(page.items, [
      { title: 'SCRIPT', text: ({ name }) => name },
      { title: 'VERSION', text: ({ version }) => String(version), alignRight: true },
      { title: 'STORED', text: ({ createdAt }) => relativeTime(createdAt, output.now) },
      { title: 'BY', isOptional: true, text: ({ createdBy }) => createdBy ?? '', canShrink: true },
    ]);
  }
  noteMore(output, page, noun);
}
