/** `stepwright definitions`: lists, shows, enables and disables the definitions on a server. */
import type { DefinitionDocument, DefinitionSummary } from '../../api/wire/models/definition.js';
import { connect } from '../connection/connect.js';
import type { ServerCommandOptions } from '../connection/options.js';
import { readPages, type Page } from '../connection/pages.js';
import { pathTo } from '../connection/server-client.js';
import { Output } from '../output/output.js';
import { plain } from '../output/plain-text.js';
import { noteMore } from '../output/runs.js';
import { relativeTime } from '../output/times.js';
import type { PageOptions } from './bulk.js';
import type { VersionOptions } from './scripts.js';

export interface ShowOptions extends VersionOptions {
  /** Prints only the text. */
  readonly source: boolean;
}

export async function listDefinitions({ cursor, limit, ...options }: PageOptions): Promise<void> {
  const client = await connect(options);
  const page = await readPages<DefinitionSummary>(client, '/api/definition', { cursor, limit });
  printDefinitions(page, 'definitions', options);
}

export async function listVersions(
  id: string,
  { cursor, limit, ...options }: PageOptions,
): Promise<void> {
  const client = await connect(options);
  const path = pathTo`/api/definition/${id}/versions`;
  const page = await readPages<DefinitionSummary>(client, path, { cursor, limit });
  printDefinitions(page, 'versions', options);
}

/** @throws CommandFailure */
export async function showDefinition(id: string, options: ShowOptions): Promise<void> {
  const client = await connect(options);
  const path = pathTo`/api/definition/${id}`;
  const output = new Output();
  if (options.json) {
    output.json(await client.get<DefinitionDocument>(path, { version: options.version }));
    return;
  }
  const found = await client.get<DefinitionDocument>(path, { version: options.version });
  const query = { version: found.version, source: true };
  const text = await client.text('GET', path, { query });
  if (!options.source) {
    output.pairs([
      ['Definition', found.id],
      ['Version', String(found.version)],
      ['Origin', found.origin ?? ''],
      ['State', stateOf(found), found.disabled === true ? 'yellow' : null],
    ]);
    output.line();
  }
  output.text(text);
}

/** Processed one by one; the first failure ends the command. @throws CommandFailure */
export async function switchDefinitions(
  action: 'disable' | 'enable',
  ids: readonly string[],
  options: ServerCommandOptions,
): Promise<void> {
  const client = await connect(options);
  const output = new Output();
  for (const id of ids) {
    const path = `${pathTo`/api/definition/${id}`}/${action}`;
    const answer = await client.send<DefinitionDocument>('PUT', path);
    if (options.json) output.jsonLine(answer);
    else output.line(`${plain(id)}: ${stateOf(answer)}`);
  }
}

function printDefinitions(
  page: Page<DefinitionSummary>,
  noun: string,
  { json }: ServerCommandOptions,
): void {
  const output = new Output();
  if (json) {
    output.json(page);
    return;
  }
  if (page.items.length > 0) {
    output.table(page.items, [
      { title: 'DEFINITION', text: ({ id }) => id },
      { title: 'VERSION', text: ({ version }) => String(version), alignRight: true },
      {
        title: 'STATE',
        text: stateOf,
        style: ({ disabled }) => (disabled ? 'yellow' : null),
      },
      { title: 'STORED', text: ({ createdAt }) => relativeTime(createdAt, output.now) },
      { title: 'BY', isOptional: true, text: ({ createdBy }) => createdBy ?? '', canShrink: true },
      { title: 'ORIGIN', isOptional: true, text: ({ origin }) => origin ?? '', canShrink: true },
      {
        title: 'DESCRIPTION',
        isOptional: true,
        text: ({ description }) => description ?? '',
        canShrink: true,
      },
    ]);
  }
  noteMore(output, page, noun);
}

function stateOf({ disabled }: Pick<DefinitionDocument, 'disabled'>): string {
  return disabled === true ? 'disabled' : 'enabled';
}
