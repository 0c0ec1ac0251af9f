/**
 * Finds definitions that an earlier `apply` of the same folder stored on a server, and that the folder no longer contains.
 *
 *  PR1 Pruning only disables: no version or run is lost, open runs continue, and `definitions enable` reverts it.
 *  PR2 A definition belongs to the source of its latest version. Definitions from other sources, or without an origin, aren't
 *      touched.
 *  PR3 Each one is read again before it is disabled, and disabling is idempotent, so the command can be repeated.
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

/** The definitions that pruning would disable. */
export function staleAmong(
  definitions: readonly DefinitionSummary[],
  files: readonly WorkflowFile[],
  origin: string,
): DefinitionSummary[] {
  const names = namesOf(files);
  return definitions.filter(({ id, ...each }) => !names.has(id) && isOwn(each, origin));
}

/** Definitions in the folder that can't be started. */
export function disabledAmong(
  definitions: readonly DefinitionSummary[],
  files: readonly WorkflowFile[],
): DefinitionSummary[] {
  const names = namesOf(files);
  return definitions.filter(({ disabled, id }) => disabled && names.has(id));
}

/** @returns false if it now has another source, or was disabled in the meantime */
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
