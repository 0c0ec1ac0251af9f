/**
 * Reads and writes files in a folder with untrusted content, such as a contributor's branch.
 *
 *  BF1 Only files whose real path is in the folder are read or written: links can't lead elsewhere, nor to a hidden file such as
 *      `.env`. Links to files whose path begins with `..` come from Kubernetes mounts.
 *  BF2 The check applies to the opened file, so replacing a path with a link in the meantime has no effect.
 *  BF3 Only files of limited size are read, and no devices or pipes, which might never end.
 *
 * A hard link can't be distinguished from a file, but Git doesn't create any.
 */
import { randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import {
  lstat,
  open,
  readlink,
  realpath,
  rename,
  rm,
  stat,
  writeFile,
  type FileHandle,
} from 'node:fs/promises';
import path from 'node:path';

/** A link that isn't followed, or a file that isn't read. The message gives the reason, without the path. */
export class FileRefused extends Error {
  override readonly name = 'FileRefused' as const;
}

export interface BoundedFile {
  readonly bytes: Buffer;
  /** The real path, with all links resolved. */
  readonly realPath: string;
}

/** More than any server accepts with its default settings. */
const BYTES_MAX = 16 * 1024 * 1024;
/** A pipe without a writer must not block. Windows doesn't have this flag. */
const WITHOUT_WAITING = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0); // eslint-disable-line @typescript-eslint/no-unnecessary-condition -- absent on Windows

/** Whether to skip a file, or a folder with everything in it. */
export function isSkipped(name: string): boolean {
  return SKIPPED_FOLDERS.has(name) || (name.startsWith('.') && name !== '.' && name !== '..');
}
const SKIPPED_FOLDERS: ReadonlySet<string> = new Set(['node_modules', '__pycache__']);

/**
 * @param folder may itself be a link, because the user has chosen its target
 * @throws FileRefused; errors of the file system
 */
export async function readBounded(folder: string, file: string): Promise<BoundedFile> {
  // Merely opening a device may have effects.
  if (!(await stat(file)).isFile()) throw new FileRefused('it is not a file');
  const handle = await open(file, WITHOUT_WAITING);
  try {
    const found = await handle.stat();
    if (!found.isFile()) throw new FileRefused('it is not a file');
    const realPath = await realPathOf(handle, file);
    const inside = insideOf(await realpath(folder), realPath);
    const isLinked = inside !== path.relative(folder, file);
    if (isLinked && inside.split(path.sep).some(isHidden)) {
      throw new FileRefused('it is a link to a hidden file');
    }
    if (found.size > BYTES_MAX) {
      throw new FileRefused(`it is larger than ${BYTES_MAX >> 20} MB`);
    }
    return { bytes: await handle.readFile(), realPath };
  } finally {
    await handle.close();
  }
}

/**
 * Replaces a file atomically. A link inside the folder stays one.
 * @param newMode the mode of a new file; by default, determined by the umask
 * @throws FileRefused; errors of the file system
 */
export async function writeBounded(
  folder: string,
  file: string,
  text: string,
  newMode?: number,
): Promise<void> {
  const target = await writableTarget(folder, file);
  const mode = await stat(target).then(
    (found) => found.mode,
    () => newMode,
  );
  const draft = `${target}.${randomUUID()}.tmp`;
  try {
    // Neither the draft nor the new file is written through a link.
    await writeFile(draft, text, { flag: 'wx', mode });
    await rename(draft, target);
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
}

/**
 * Writes the result of a command to a file given by the caller: a new or replaced file, or an existing device or pipe such as
 * `/dev/stdout`. A link is only followed to a file in the same folder or below it.
 * @throws FileRefused; errors of the file system
 */
export async function writeOutput(file: string, text: string, newMode?: number): Promise<void> {
  const isSpecial = await stat(file).then(
    (found) => !found.isFile(),
    () => false,
  );
  // Only an administrator can create links in /dev.
  if (isSpecial || path.resolve(file).startsWith('/dev/')) await writeFile(file, text);
  else await writeBounded(path.dirname(file), file, text, newMode);
}

async function writableTarget(folder: string, file: string): Promise<string> {
  const found = await lstat(file).catch(() => null);
  if (found?.isSymbolicLink() !== true) {
    const target = path.join(await realpath(path.dirname(file)), path.basename(file));
    insideOf(await realpath(folder), target);
    return target;
  }
  const target = await realpath(file).catch(() => null);
  if (target === null) throw new FileRefused('it is a link to a file that does not exist');
  insideOf(await realpath(folder), target);
  return target;
}

/** The path of the open file. @throws FileRefused if the file was replaced */
async function realPathOf(handle: FileHandle, file: string): Promise<string> {
  const fromKernel = await readlink(`/proc/self/fd/${handle.fd}`).catch(() => null);
  if (fromKernel !== null && path.isAbsolute(fromKernel)) return fromKernel;
  const resolved = await realpath(file);
  const [opened, there] = await Promise.all([
    handle.stat({ bigint: true }),
    lstat(resolved, { bigint: true }),
  ]);
  if (opened.ino === there.ino && opened.dev === there.dev) return resolved;
  throw new FileRefused('it was replaced while it was being read');
}

/** The path relative to the folder. @throws FileRefused if it is outside the folder */
function insideOf(root: string, realPath: string): string {
  const inside = path.relative(root, realPath);
  if (inside.split(path.sep)[0] !== '..' && !path.isAbsolute(inside)) return inside;
  throw new FileRefused(`its real path is outside the folder ${root}`);
}

function isHidden(name: string): boolean {
  return isSkipped(name) && !name.startsWith('..');
}
