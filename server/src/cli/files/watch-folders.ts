/**
 * Watches folders for changes of their files.
 *
 *  WA1 Links aren't followed, so a link to `/` costs only one watch. A link to a file in the folder is an alias of a file that is
 *      already watched.
 */
import { realpath } from 'node:fs/promises';
import path from 'node:path';
import { watch, type FSWatcher } from 'chokidar';
import { isSkipped } from './bounded-files.js';

/** @param folders may themselves be links @throws errors of the file system */
export async function watchFolders(folders: readonly string[]): Promise<FSWatcher> {
  const roots = new Set(await Promise.all(folders.map((folder) => realpath(folder))));
  return watch([...roots], {
    ignoreInitial: true,
    followSymlinks: false,
    ignored: (file) => !roots.has(file) && isSkipped(path.basename(file)),
  });
}
