/** `stepwright keys`: manages API keys, the bearer tokens that can be revoked at any time. */
import type { ApiKey, CreatedApiKey } from '../../api/wire/models/key.js';
import { connect } from '../connection/connect.js';
import type { ServerCommandOptions } from '../connection/options.js';
import type { Page } from '../connection/pages.js';
import { jsonContent, pathTo } from '../connection/server-client.js';
import { Output } from '../output/output.js';
import { noteMore } from '../output/runs.js';
import { relativeTime } from '../output/times.js';

export interface CreateKeyOptions extends ServerCommandOptions {
  readonly scope: readonly string[];
  /** ISO 8601. */
  readonly expires?: string;
}

/** Prints the key to standard output and everything else to standard error. */
export async function createKey(name: string, options: CreateKeyOptions): Promise<void> {
  const { expires, json, scope } = options;
  const client = await connect(options);
  const request = { name, scopes: scope, ...(expires !== undefined && { expires }) };
  // The server checks the scopes.
  const body = jsonContent(request);
  const created = await client.send<CreatedApiKey>('POST', '/api/key', { body });
  const output = new Output();
  if (json) {
    output.json(created);
    return;
  }
  output.note(`Created the key ${created.id}. It won't be shown again:`);
  output.line(created.key);
}

export async function listKeys(options: ServerCommandOptions): Promise<void> {
  const client = await connect(options);
  const page = await client.get<Page<ApiKey>>('/api/key');
  const output = new Output();
  if (options.json) {
    output.json(page);
    return;
  }
  const when = (time: string | null): string =>
    time === null ? 'never' : relativeTime(time, output.now);
  if (page.items.length > 0) {
    output.table(page.items, [
      { title: 'KEY', text: ({ id }) => id },
      { title: 'NAME', text: ({ name }) => name, canShrink: true },
      { title: 'SCOPES', text: ({ scopes }) => scopes.join(' '), canShrink: true },
      { title: 'LAST USED', text: ({ lastUsedTime }) => when(lastUsedTime) },
      { title: 'EXPIRES', text: ({ expires }) => when(expires) },
    ]);
  }
  noteMore(output, page, 'keys');
}

export async function removeKey(id: string, options: ServerCommandOptions): Promise<void> {
  const client = await connect(options);
  await client.send<null>('DELETE', pathTo`/api/key/${id}`);
  new Output().removed('key', { id }, options);
}
