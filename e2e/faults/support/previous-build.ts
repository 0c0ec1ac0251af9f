/** The server as it was at an earlier commit, built from the history of this repository. */
import { execFileSync, execSync } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const PACKAGES = ['.', 'server', 'server/ui', 'sdk', 'worker-sdk'];

/** What the stored format is made of. */
const FORMAT = [
  'server/src/store/sqlite/schema.ts',
  'server/src/store/mongo/collections.ts',
  'server/src/engine/model/snapshot.ts',
];

export interface PreviousBuild {
  /** Its main.js. */
  readonly main: string;
  remove(): void;
}

/** The commit since which the stored format is today's; null where there is no history. */
export function oldestOfThisFormat(): string | null {
  try {
    const options = { cwd: ROOT, encoding: 'utf8', stdio: 'pipe' } as const;
    const commit = execFileSync('git', ['log', '-1', '--format=%h', '--', ...FORMAT], options);
    return commit.trim() === '' ? null : commit.trim();
  } catch {
    return null;
  }
}

/** Null where there is no such commit, as in a copy without history. @throws Error when it cannot be built */
export function buildPrevious(commit: string): PreviousBuild | null {
  let sources: Buffer;
  try {
    execFileSync('git', ['cat-file', '-e', `${commit}^{commit}`], { cwd: ROOT, stdio: 'ignore' });
    sources = execFileSync('git', ['archive', commit], { cwd: ROOT, maxBuffer: 2 ** 28 });
  } catch {
    return null;
  }
  const folder = mkdtempSync(path.join(tmpdir(), 'stepwright-previous-'));
  const remove = (): void => rmSync(folder, { recursive: true, force: true });
  try {
    // Where the server is root, its Python runs as nobody, who has to read the files.
    chmodSync(folder, 0o755);
    execFileSync('tar', ['-x', '-C', folder], { input: sources });
    // The packages of today stand in for those of then: the versions of the dependencies are not what is tested.
    for (const name of PACKAGES) {
      const modules = path.join(ROOT, name, 'node_modules');
      const then = path.join(folder, name);
      if (existsSync(then) && existsSync(modules))
        symlinkSync(modules, path.join(then, 'node_modules'));
    }
    execSync(buildCommandOf(folder), { cwd: folder, stdio: 'pipe' });
  } catch (error) {
    remove();
    throw error;
  }
  return { main: path.join(folder, 'server/dist/main.js'), remove };
}

/** As that commit built itself: `node <script>`. */
function buildCommandOf(folder: string): string {
  const { scripts } = JSON.parse(readFileSync(path.join(folder, 'package.json'), 'utf8')) as {
    readonly scripts: { readonly build: string };
  };
  return scripts.build;
}
