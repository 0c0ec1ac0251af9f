/**
 * Definitions on a server that an earlier `apply` of the same folder has put there, and that the folder has no more.
 *
 *  PR1 To prune is to disable: no version and no run is lost, open runs continue, and `definitions enable` takes it back.
 *  PR2 A definition belongs to the source of its latest version. Others, and those without an origin, are left alone.
 *  PR3 Each is read again before it is disabled, and disabling twice changes nothing: the command can be repeated.
 */
import type { DefinitionDocument, DefinitionSummary } from '../../api/wire/models/definition.js';
import { readPages } from '../connection/pages.js';
import { pathTo, type ServerClient } from '../connection/server-client.js';
import { sourceOf } from './origin.js';
import { nameIn } from './store-files.js';
import type { WorkflowFile } from './workflow-files.js';

/** The latest version of each definition. */
export async function definitionsOn(client: ServerClient): Promise<readonly DefinitionSummary[]> {
  const query = { limit: Number.MAX_SAFE_INTEGER };
  const { items } = await readPages<DefinitionSummary>(client, '/api/definition', query);
  return items;
}

/** What pruning would disable. */
export function staleAmong(
  definitions: readonly DefinitionSummary[],
  files: readonly WorkflowFile[],
  origin: string,
): DefinitionSummary[] {
  const names = namesOf(files);
  return definitions.filter(({ id, ...each }) => !names.has(id) && isOwn(each, origin));
}

/** Those in the folder that cannot be started. */
export function disabledAmong(
  definitions: readonly DefinitionSummary[],
  files: readonly WorkflowFile[],
): DefinitionSummary[] {
  const names = namesOf(files);
  return definitions.filter(({ disabled, id }) => disabled && names.has(id));
}

/** @returns false if it has changed hands or was disabled meanwhile */
export async function prune(client: ServerClient, id: string, origin: string): Promise<boolean> {
  const path = pathTo`/api/definition/${id}`;
  if (!isOwn(await client.get<DefinitionDocument>(path), origin)) return false;
  await client.send('PUT', `${path}/disable`);
  return true;
}

function isOwn(
  { disabled, origin }: Pick<DefinitionDocument, 'disabled' | 'origin'>,
  wanted: string,
): boolean {
  if (disabled === true || typeof origin !== 'string') return false;
  return sourceOf(origin) === sourceOf(wanted);
}

function namesOf(files: readonly WorkflowFile[]): ReadonlySet<string | null> {
  return new Set(files.filter(({ kind }) => kind === 'definition').map(nameIn));
}
