/**
 * How the process of an interpreter is started: the flags that restrict it, and the files that it may read.
 *
 * It does not inherit the server's environment. Node's permission model allows it only to read its own few files: no
 * writing, no processes, no workers, no addons. A server that runs as root starts it as nobody. The permission model
 * does not cover sockets; the sealed interpreter keeps Python away from them.
 */
import { createRequire } from 'node:module';
import { existsSync, realpathSync } from 'node:fs';
import { dirname, extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export interface ChildCommand {
  readonly file: string;
  readonly args: readonly string[];
  readonly cwd: string;
  /** The complete environment. @default empty */
  readonly environment?: Readonly<Record<string, string>>;
  /** The user and group of the process. @default those of the server */
  readonly userId?: number;
}

/** The user nobody, which owns nothing on any Unix. */
export const NOBODY = 65_534;

/** Real paths, because the permission model does not follow pnpm's links. */
export const OWN_FOLDER = realpathSync(dirname(fileURLToPath(import.meta.url)));
export const RUNNER_PATH = join(OWN_FOLDER, 'runner.py');

/** `.ts` if the server runs from its sources, as in tests. */
const SOURCE_EXTENSION = extname(fileURLToPath(import.meta.url));
const HEAP_LIMIT_MB = 128;
/**
 * Node is tuned for many threads and heavy work; an interpreter's process has one thread and little JavaScript.
 * Together with the environment below, these flags make it a third smaller, and no slower.
 */
const SMALL_V8 = ['--single-threaded', '--optimize-for-size', '--max-semi-space-size=4'];
/**
 * For glibc: one heap, which returns free memory to the system, instead of one heap per thread. V8's compilers allocate
 * their working memory in pieces of up to 32 kB, which is returned only if it is not part of that heap. This saves 20
 * MB.
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

export function findPackageFolder(): string {
  let folder = OWN_FOLDER;
  while (!existsSync(join(folder, 'package.json'))) folder = dirname(folder);
  return folder;
}

/** One file of each folder that the process reads, and the program itself. */
export function filesOfChild(): readonly string[] {
  return [process.execPath, RUNNER_PATH, join(findPyodideFolder(), 'package.json')];
}

export function createChildCommand(
  pyodideFolder: string,
  alsoReadable: readonly string[],
): ChildCommand {
  const readable = [
    join(OWN_FOLDER, '*'),
    join(pyodideFolder, '*'),
    // Node reads the module type of our files from here.
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
