/** A built checkout of another commit of this repository, beside the working tree. It is kept for the next comparison. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const KEPT = path.join(ROOT, '.cache', 'against');

export interface OtherBuild {
  readonly commit: string;
  /** The first line of its message. */
  readonly subject: string;
  /** Its `main.js`. */
  readonly main: string;
}

/** @param revision whatever `git rev-parse` understands. Throws if git, the installation or the build fails. */
export function buildOf(revision: string): OtherBuild {
  const commit = git(['rev-parse', '--verify', '--end-of-options', `${revision}^{commit}`]);
  const subject = git(['log', '-1', '--format=%s', commit]);
  const folder = path.join(KEPT, commit);
  const main = path.join(folder, 'server', 'dist', 'main.js');
  if (!existsSync(main)) build(commit, folder);
  return { commit: commit.slice(0, 8), subject, main };
}

/** The folder gets its name when everything is built, so that an interrupted build is never measured. */
function build(commit: string, folder: string): void {
  const unfinished = path.join(KEPT, 'unfinished');
  rmSync(unfinished, { recursive: true, force: true });
  mkdirSync(KEPT, { recursive: true });
  console.log(`Building ${commit.slice(0, 8)}`);
  git(['clone', '--quiet', '--no-checkout', ROOT, unfinished]);
  git(['-C', unfinished, 'checkout', '--quiet', '--detach', commit]);
  for (const args of [['install', '--frozen-lockfile'], ['build']]) {
    execFileSync('npx', ['-y', 'pnpm@12', ...args], {
      cwd: unfinished,
      stdio: ['ignore', 'ignore', 'inherit'],
    });
  }
  renameSync(unfinished, folder);
}

function git(given: readonly string[]): string {
  return execFileSync('git', [...given], { cwd: ROOT, encoding: 'utf8' }).trim();
}
