/**
 * Finds the definitions, scripts and limits in a folder, and determines the kind of each file.
 *
 *  WF1 An unreadable file is returned with the reason, so one bad file doesn't hide the others.
 *  WF2 Memory and time are limited: long files aren't read (BF3), and links to folders aren't followed.
 *  WF3 A file whose real path is outside the folder isn't read (BF1).
 */
import type { Dirent } from 'node:fs';
import { lstat, readdir, stat } from 'node:fs/promises';
import path from 'node:path';
import { isSkipped, readBounded, type BoundedFile } from './bounded-files.js';

export interface WorkflowFile {
  /** As given, or the given folder and the path inside it. */
  readonly path: string;
  readonly kind: 'definition' | 'script' | 'limit';
  /** Empty if the file can't be read. */
  readonly text: string;
  /** Why the file can't be read, or null. */
  readonly unreadable: string | null;
  /** The path with all links resolved; the same as `path` if the file can't be read. */
  readonly realPath: string;
}

const FILES_MAX = 10_000;
const DEFINITION = /\.(ya?ml|json)$/i;
const SCRIPT = /\.py$/i;
const LIMIT = /\.limit\.(ya?ml|json)$/i;
/** Tests of definitions. */
const TEST = /\.test\.(ya?ml|json)$/i;
/** Folders may contain other JSON files, such as package.json. */
const HAS_STEPS = /"steps"\s*:/i;

/** Definitions use what comes before them. */
const ORDER: readonly WorkflowFile['kind'][] = ['script', 'limit', 'definition'];

/** Whether a file in a folder may be a definition, a script or a limit. */
export function isCandidate(file: string): boolean {
  return !TEST.test(file) && (DEFINITION.test(file) || SCRIPT.test(file));
}

/**
 * Files are taken as they are, folders with everything in them. Scripts and limits come first, because definitions use them.
 * @throws Error that names a given path that does not exist, or a folder with too many files
 */
export async function readWorkflowFiles(paths: readonly string[]): Promise<WorkflowFile[]> {
  const found = new Map<string, WorkflowFile>();
  for (const given of paths) {
    if ((await stat(given)).isDirectory()) {
      await readFolder({ root: given, folder: given }, found);
    } else {
      add(found, await readOne(path.dirname(given), given));
    }
  }
  const order = ({ kind }: WorkflowFile): number => ORDER.indexOf(kind);
  return [...found.values()].sort(
    (one, other) => order(one) - order(other) || (one.path < other.path ? -1 : 1),
  );
}

/** The custom step name of a script. */
export function stepNameOf(file: string): string {
  return path.basename(file).replace(SCRIPT, '');
}

interface Place {
  /** The given paths. */
  readonly root: string;
  readonly folder: string;
}

async function readFolder(
  { folder, root }: Place,
  found: Map<string, WorkflowFile>,
): Promise<void> {
  let entries: Dirent[];
  try {
    entries = await readdir(folder, { withFileTypes: true });
  } catch (error) {
    if (!isGone(error)) add(found, unreadable(folder, reasonOf(error)));
    return;
  }
  for (const entry of entries) {
    if (isSkipped(entry.name)) continue;
    const inside = path.join(folder, entry.name);
    if (entry.isDirectory()) await readFolder({ root, folder: inside }, found);
    else if (isCandidate(entry.name)) await readEntry(root, inside, found);
  }
}

/** Kubernetes mounts files as links. Links to folders are skipped because they may be circular. */
async function readEntry(
  root: string,
  file: string,
  found: Map<string, WorkflowFile>,
): Promise<void> {
  try {
    if ((await stat(file)).isDirectory()) return;
    const read = await readOne(root, file);
    const isDefinition = read.kind === 'definition' && read.unreadable === null;
    const isOther = isDefinition && /\.json$/i.test(file) && !HAS_STEPS.test(read.text);
    if (!isOther) add(found, read);
  } catch (error) {
    // If it isn't a link, it was deleted after the folder was read. A link without a target is a mistake.
    if (!isGone(error) || (await isThere(file))) add(found, unreadable(file, reasonOf(error)));
  }
}

function add(found: Map<string, WorkflowFile>, file: WorkflowFile): void {
  found.set(path.resolve(file.path), file);
  if (found.size > FILES_MAX) {
    throw new Error(
      `there are more than ${FILES_MAX} definitions, scripts and limits: name a smaller folder`,
    );
  }
}

/** @throws Error if there is no such file */
async function readOne(root: string, file: string): Promise<WorkflowFile> {
  let read: BoundedFile;
  try {
    read = await readBounded(root, file);
  } catch (error) {
    if (isGone(error)) throw error;
    return unreadable(file, reasonOf(error));
  }
  const { bytes, realPath } = read;
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    if (text.includes('\0')) return unreadable(file, 'it is a binary file');
    return { path: file, kind: kindOf(file), text, unreadable: null, realPath };
  } catch {
    return unreadable(file, 'it is not UTF-8 text');
  }
}

function unreadable(file: string, reason: string): WorkflowFile {
  return { path: file, kind: kindOf(file), text: '', unreadable: reason, realPath: file };
}

function kindOf(file: string): WorkflowFile['kind'] {
  if (SCRIPT.test(file)) return 'script';
  return LIMIT.test(file) ? 'limit' : 'definition';
}

const REASONS: Readonly<Record<string, string>> = {
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  ELOOP: 'it is a link that leads to itself',
  ENOENT: 'it is a link to a file that does not exist',
};

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return REASONS['code' in error ? String(error.code) : ''] ?? error.message;
}

async function isThere(file: string): Promise<boolean> {
  return lstat(file).then(
    () => true,
    () => false,
  );
}

function isGone(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT';
}
