/**
 * How an interpreter's process is started: which flags restrict it, and which files it may read.
 *
 * It gets nothing of the server's environment. Node's permission model allows it only to read its own few files: no
 * writing, no processes, no workers, no addons. A server that runs as root starts it as nobody. Sockets are not covered by
 * that model; the sealed interpreter keeps Python from them.
 */
import { createRequire } from 'node:module';
import { existsSync, realpathSync } from 'node:fs';
import { dirname, extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export interface ChildCommand {
  readonly file: string;
  readonly args: readonly string[];
  readonly cwd: string;
  /** All of it. @default empty */
  readonly environment?: Readonly<Record<string, string>>;
  /** The user and group that the process runs as; the server's own when left out. */
  readonly userId?: number;
}

/** The user that owns nothing, on every Unix. */
export const NOBODY = 65_534;

/** Real paths: the permission model and pnpm's links do not mix. */
export const OWN_FOLDER = realpathSync(dirname(fileURLToPath(import.meta.url)));
export const RUNNER_PATH = join(OWN_FOLDER, 'runner.py');

/** `.ts` when the server runs from its sources, as in tests. */
const SOURCE_EXTENSION = extname(fileURLToPath(import.meta.url));
const HEAP_LIMIT_MB = 128;
/**
 * Node is built for many threads and much work; an interpreter's process has one thread and little JavaScript. Together
 * with the next this makes it smaller by a third, and no slower.
 */
const SMALL_V8 = ['--single-threaded', '--optimize-for-size', '--max-semi-space-size=4'];
/**
 * For the C library where it is glibc: one heap, which gives back what is free, instead of one for each thread. What V8's
 * compilers work in comes in pieces of up to 32 kB, and is given back only where it is no part of that heap: 20 MB.
 */
const SMALL_HEAP = {
  MALLOC_ARENA_MAX: '1',
  MALLOC_MMAP_THRESHOLD_: '32768',
  MALLOC_TRIM_THRESHOLD_: '65536',
};

export function findPyodideFolder(): string {
  const manifest = createRequire(import.meta.url).resolve('pyodide/package.json');
  return realpathSync(dirname(manifest));
}

/** The folder of the server's package.json. */
export function findPackageFolder(): string {
  let folder = OWN_FOLDER;
  while (!existsSync(join(folder, 'package.json'))) folder = dirname(folder);
  return folder;
}

export function createChildCommand(
  pyodideFolder: string,
  alsoReadable: readonly string[],
): ChildCommand {
  const readable = [
    join(OWN_FOLDER, '*'),
    join(pyodideFolder, '*'),
    // Node looks here for the type of our modules.
    join(findPackageFolder(), 'package.json'),
    ...alsoReadable,
  ];
  const fromSources = SOURCE_EXTENSION === '.ts';
  return {
    file: process.execPath,
    args: [
      '--permission',
      ...readable.map((path) => `--allow-fs-read=${path}`),
      '--disallow-code-generation-from-strings',
      `--max-old-space-size=${HEAP_LIMIT_MB}`,
      ...SMALL_V8,
      '--expose-gc',
      '--no-warnings',
      ...(fromSources ? ['--import', join(OWN_FOLDER, 'typescript-sources.ts')] : []),
      join(OWN_FOLDER, `child-main${SOURCE_EXTENSION}`),
    ],
    cwd: OWN_FOLDER,
    environment: SMALL_HEAP,
  };
}
