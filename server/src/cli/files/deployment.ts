/**
 * Compares a folder with a server, and deploys the differences.
 *
 *  DP1 A file whose text the server already has isn't stored again, so applying is idempotent, even after it was killed at any
 *      point.
 *  DP2 `deploy` ends only after it has read all files back from the server and found them unchanged. Of several concurrent
 *      deployments, the one that begins this check last wins: the server then has all of its files and no others.
 */
import { randomInt } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { DefinitionSummary } from '../../api/wire/models/definition.js';
import { ServerClient } from '../connection/server-client.js';
import { CommandFailure } from '../failure.js';
import type { FileProblems } from '../output/print-problems.js';
import { prune } from './pruning.js';
import {
  comparedText,
  isSameText,
  nameIn,
  storedText,
  storeFile,
  type ServerCalls,
} from './store-files.js';
import type { WorkflowFile } from './workflow-files.js';

export interface Change {
  readonly file: WorkflowFile;
  readonly name: string;
  readonly action: 'create' | 'update' | 'unchanged';
  /** The text on the server; empty if it has none. */
  readonly before: string;
  readonly after: string;
}

/** The state to reach besides the files. */
interface Wishes {
  /** Where the files come from. */
  readonly origin: string | null;
  /** Definitions to disable. */
  readonly stale: readonly DefinitionSummary[];
}

export interface Deployed {
  /** The last version that was stored, by path; null for a limit, which has no versions. */
  readonly versions: ReadonlyMap<string, number | null>;
  /** The file that the server rejected. Nothing after it was stored. */
  readonly rejected: FileProblems | null;
  readonly disabled: readonly DefinitionSummary[];
}

const ROUNDS_MAX = 30;
const PAUSE_MS = 100;

/** @throws CommandFailure if two files have the same name */
export async function planOf(
  server: ServerCalls,
  files: readonly WorkflowFile[],
): Promise<Change[]> {
  checkNames(files);
  const changes: Change[] = [];
  for (const file of files) {
    const after = comparedText(file);
    const before = await storedText(server, file);
    const action = before === null ? 'create' : isSameText(before, after) ? 'unchanged' : 'update';
    changes.push({ file, name: nameIn(file) ?? '', action, before: before ?? '', after });
  }
  return changes;
}

/** @throws CommandFailure if other clients keep changing the same files */
export async function deploy(
  server: ServerCalls,
  files: readonly WorkflowFile[],
  { origin, stale }: Wishes = { origin: null, stale: [] },
): Promise<Deployed> {
  const versions = new Map<string, number | null>();
  for (let round = 0; round < ROUNDS_MAX; round += 1) {
    // Another client has changed files in the meantime: back off so that one of us can finish.
    if (round > 1) await pause(randomInt(PAUSE_MS * round));
    const pending = (await planOf(server, files)).filter(({ action }) => action !== 'unchanged');
    if (pending.length === 0) {
      // Comes last, because previous definitions of the folder may start it.
      const disabled = await pruneAll(server, stale, origin);
      return { versions, rejected: null, disabled };
    }
    for (const { file } of pending) {
      const stored = await storeFile(server, file, origin);
      if (stored === null) continue;
      const { accepted, problems, version } = stored;
      if (!accepted) return { versions, rejected: { file, problems }, disabled: [] };
      versions.set(file.path, version);
    }
  }
  throw new CommandFailure(
    'other clients keep changing the same definitions, scripts or limits on the server',
    'Apply one folder at a time, then repeat the command',
  );
}

async function pruneAll(
  server: ServerCalls,
  stale: readonly DefinitionSummary[],
  origin: string | null,
): Promise<DefinitionSummary[]> {
  const disabled: DefinitionSummary[] = [];
  if (origin === null) return disabled;
  const client = new ServerClient(server);
  for (const each of stale) if (await prune(client, each.id, origin)) disabled.push(each);
  return disabled;
}

function checkNames(files: readonly WorkflowFile[]): void {
  const known = new Map<string, WorkflowFile>();
  for (const file of files) {
    const name = nameIn(file);
    if (name === null) continue;
    const key = `${file.kind} ${name}`;
    const other = known.get(key);
    if (other !== undefined) {
      throw new CommandFailure(
        `${other.path} and ${file.path} are both the ${file.kind} '${name}'`,
        'Rename one of them, or pass only one of them',
      );
    }
    known.set(key, file);
  }
}
