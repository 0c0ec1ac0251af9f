/** The server at an earlier commit, built from the history of this repository. */
import { execFileSync, execSync } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const PACKAGES = ['.', 'server', 'server/ui', 'sdk', 'worker-sdk'];

/** The sources that define the stored format. */
const FORMAT = [
  'server/src/store/sqlite/schema.ts',
  'server/src/store/mongo/collections.ts',
  'server/src/engine/model/snapshot.ts',
];

export interface PreviousBuild {
  /** The main.js of the build. */
  readonly main: string;
  remove(): void;
}

/** The commit that introduced the current stored format; null if there is no history. */
export function oldestOfThisFormat(): string | null {
  try {
    const options = { cwd: ROOT, encoding: 'utf8', stdio: 'pipe' } as const;
    const commit = execFileSync('git', ['log', '-1', '--format=%h', '--', ...FORMAT], options);
    return commit.trim() === '' ? null : commit.trim();
  } catch {
    return null;
  }
}

/** Null if the commit does not exist, as in a copy without history. @throws Error if it cannot be built */
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
    // If the server is root, its Python runs as nobody, who must be able to read the files.
    chmodSync(folder, 0o755);
    execFileSync('tar', ['-x', '-C', folder], { input: sources });
    // Uses today's packages: the versions of the dependencies are not under test.
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

/** Builds as that commit did: `node <script>`. */
function buildCommandOf(folder: string): string {
  const { scripts } = JSON.parse(readFileSync(path.join(folder, 'package.json'), 'utf8')) as {
    readonly scripts: { readonly build: string };
  };
  return scripts.build;
}
