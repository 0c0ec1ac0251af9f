/** Finds out which files only their owner can read, before a process without rights fails on them. */
import { realpathSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

const READ = 0o004;
const ENTER = 0o001;

/**
 * The first of these files, or of the folders above them, that users in general cannot read or enter; null if there is none. It
 * knows the permissions of Unix only: where access lists say otherwise, the process is tried.
 */
export function findHiddenPath(files: readonly string[]): string | null {
  for (const given of files) {
    const file = realpathSync(given);
    if (!allows(file, READ)) return file;
    for (let folder = dirname(file); ; folder = dirname(folder)) {
      if (!allows(folder, ENTER)) return folder;
      if (folder === dirname(folder)) break;
    }
  }
  return null;
}

function allows(path: string, right: number): boolean {
  return (statSync(path).mode & right) !== 0;
}
