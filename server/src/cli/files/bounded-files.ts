/**
 * Reads and writes files of a folder whose content somebody else may have made, such as the branch of a stranger.
 *
 *  BF1 What is read or written is in the folder by its real path: a link leads nowhere else, and not to a hidden file, such as
 *      `.env`. Links to files whose path begins with `..` are those of a Kubernetes mount.
 *  BF2 The check is about the file that was opened: who replaces a path by a link meanwhile changes nothing.
 *  BF3 Only files of a bounded size are read: no devices and no pipes, which might never end.
 *
 * A hard link cannot be told from a file. Git creates none.
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

/** A link that is not followed, or something that is not read. The message says why, without the path. */
export class FileRefused extends Error {
  override readonly name = 'FileRefused' as const;
}

export interface BoundedFile {
  readonly bytes: Buffer;
  /** Where it is, with all links resolved. */
  readonly realPath: string;
}

/** More than any server accepts with its default settings. */
const BYTES_MAX = 16 * 1024 * 1024;
/** A pipe without a writer must not block. Windows has no such flag. */
const WITHOUT_WAITING = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0); // eslint-disable-line @typescript-eslint/no-unnecessary-condition -- absent on Windows

/** Whether a folder or file is left out, with everything in it. */
export function isSkipped(name: string): boolean {
  return SKIPPED_FOLDERS.has(name) || (name.startsWith('.') && name !== '.' && name !== '..');
}
const SKIPPED_FOLDERS: ReadonlySet<string> = new Set(['node_modules', '__pycache__']);

/**
 * @param folder may itself be a link: whoever names it has chosen where it leads
 * @throws FileRefused; errors of the file system
 */
export async function readBounded(folder: string, file: string): Promise<BoundedFile> {
  // Opening a device may already do something.
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
 * Replaces a file as a whole. A link inside the folder stays one.
 * @param newMode of a file that is created; by default, that of the umask
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
    // Neither the draft nor the new file is ever written through a link.
    await writeFile(draft, text, { flag: 'wx', mode });
    await rename(draft, target);
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
}

/**
 * Writes the result of a command to the file that its caller names: a new or replaced file, or the device or pipe that is
 * there, such as `/dev/stdout`. A link is followed only to a file beside it or below.
 * @throws FileRefused; errors of the file system
 */
export async function writeOutput(file: string, text: string, newMode?: number): Promise<void> {
  const isSpecial = await stat(file).then(
    (found) => !found.isFile(),
    () => false,
  );
  // Only the owner of the machine can put links into /dev.
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

/** Of the file that is open, whatever its path means by now. @throws FileRefused if it was replaced */
async function realPathOf(handle: FileHandle, file: string): Promise<string> {
  const fromKernel = await readlink(`/proc/self/fd/${handle.fd}`).catch(() => null);
  if (fromKernel !== null && path.isAbsolute(fromKernel)) return fromKernel;
  const resolved = await realpath(file);
  const [opened, there] = await Promise.all([
    handle.stat({ bigint: true }),
    lstat(resolved, { bigint: true }),
  ]);
  if (opened.ino === there.ino && opened.dev === there.dev) return resolved;
  throw new FileRefused('it was replaced while it was read');
}

/** The path in the folder. @throws FileRefused if it is not in it */
function insideOf(root: string, realPath: string): string {
  const inside = path.relative(root, realPath);
  if (inside.split(path.sep)[0] !== '..' && !path.isAbsolute(inside)) return inside;
  throw new FileRefused(`its real path is outside the folder ${root}`);
}

function isHidden(name: string): boolean {
  return isSkipped(name) && !name.startsWith('..');
}
