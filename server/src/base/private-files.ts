/**
 * Directories and files that only the user of the server may open. As in PostgreSQL, the operator may let a group read them.
 *
 *  PV1 A file is private from the moment it exists, whatever the umask is.
 *
 * Windows has no modes: there, a directory gives its rights to what is created in it.
 */
import { chmodSync, closeSync, mkdirSync, openSync, statSync } from 'node:fs';

export const PRIVATE_FILE = 0o600;
const PRIVATE_DIRECTORY = 0o700;
const OTHERS = 0o007;

/** Creates it with all above it, if it is missing. One that exists is left as it is: it may have more in it. */
export function makePrivateDirectory(path: string): void {
  mkdirSync(path, { recursive: true, mode: PRIVATE_DIRECTORY });
}

/** Creates an empty file, if it is missing. One that exists and that everybody may open is closed to all others. */
export function createPrivateFile(path: string): void {
  closeSync(openSync(path, 'a', PRIVATE_FILE));
  closeToOthers(path);
}

/** If it exists, and everybody may open it. */
export function closeToOthers(path: string): void {
  if (!isOpenToOthers(path)) return;
  try {
    chmodSync(path, PRIVATE_FILE);
  } catch (error) {
    // Only its owner can. Whoever starts the server is told.
    if ((error as NodeJS.ErrnoException).code !== 'EPERM') throw error;
  }
}

/** Whether every user of the machine may open or list it. False if it does not exist. */
export function isOpenToOthers(path: string): boolean {
  if (process.platform === 'win32') return false;
  const found = statSync(path, { throwIfNoEntry: false });
  return found !== undefined && (found.mode & OTHERS) !== 0;
}
