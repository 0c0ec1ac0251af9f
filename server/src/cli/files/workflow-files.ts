/** The definitions and scripts in a folder, and what kind each file is. */
import { readdir, readFile, stat } from 'node:fs/promises';
import path from 'node:path';

export interface WorkflowFile {
  /** As given, or the given folder and the path inside it. */
  readonly path: string;
  readonly kind: 'definition' | 'script';
  readonly text: string;
}

const DEFINITION = /\.(ya?ml|json)$/i;
const SCRIPT = /\.py$/i;
/** Tests of definitions. */
const TEST = /\.test\.(ya?ml|json)$/i;
const SKIPPED_FOLDERS: ReadonlySet<string> = new Set(['node_modules', '__pycache__']);
/** A folder also has JSON files that are something else, such as package.json. */
const HAS_STEPS = /"steps"\s*:/i;

/** Whether a file in a folder may be a definition or a script. */
export function isCandidate(file: string): boolean {
  return !TEST.test(file) && (DEFINITION.test(file) || SCRIPT.test(file));
}

/** Whether a folder or file is left out, with everything in it. */
export function isSkipped(name: string): boolean {
  return SKIPPED_FOLDERS.has(name) || (name.startsWith('.') && name !== '.' && name !== '..');
}

/**
 * Files are taken as they are; folders with everything in them. Scripts come first, because definitions use them.
 * @throws Error that names a path that does not exist or cannot be read
 */
export async function readWorkflowFiles(paths: readonly string[]): Promise<WorkflowFile[]> {
  const found = new Map<string, WorkflowFile>();
  for (const given of paths) {
    if ((await stat(given)).isDirectory()) {
      for (const file of await readFolder(given)) found.set(path.resolve(file.path), file);
    } else {
      found.set(path.resolve(given), await readOne(given));
    }
  }
  const order = ({ kind }: WorkflowFile): number => (kind === 'script' ? 0 : 1);
  return [...found.values()].sort(
    (one, other) => order(one) - order(other) || (one.path < other.path ? -1 : 1),
  );
}

/** The name of the custom step that a script is. */
export function stepNameOf(file: string): string {
  return path.basename(file).replace(SCRIPT, '');
}

async function readFolder(folder: string): Promise<WorkflowFile[]> {
  const files: WorkflowFile[] = [];
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    if (isSkipped(entry.name)) continue;
    const inside = path.join(folder, entry.name);
    if (entry.isDirectory()) files.push(...(await readFolder(inside)));
    if (!entry.isFile() || !isCandidate(entry.name)) continue;
    const file = await readOne(inside);
    if (!/\.json$/i.test(inside) || HAS_STEPS.test(file.text)) files.push(file);
  }
  return files;
}

async function readOne(file: string): Promise<WorkflowFile> {
  const kind = SCRIPT.test(file) ? 'script' : 'definition';
  return { path: file, kind, text: await readFile(file, 'utf8') };
}
