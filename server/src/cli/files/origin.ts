/**
 * The origin of a folder, such as `github.com/acme/shop/flows@3f2c1a9d0b1e`, stored with the versions that `apply` creates.
 *
 *  OG1 The part before the last @ is the same for every commit on every machine, so `apply --prune` can recognize its own
 *      definitions.
 *  OG2 It includes the folder, so two folders of a repository don't prune each other's definitions.
 *  OG3 It never contains credentials from a repository URL.
 */
import { execFile } from 'node:child_process';
import { realpath } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { nameProblem, ORIGIN_LENGTH_MAX } from '../../engine/values/names.js';
import { misused } from '../failure.js';

const REVISION_LENGTH = 12;
const GIT_TIMEOUT_MS = 10_000;

interface Checkout {
  /** The repository and the folder in it; null if the repository is unknown. */
  readonly source: string | null;
  readonly revision: string;
}

type Variables = Readonly<Record<string, string | undefined>>;

/**
 * @param given the value of --origin, with or without @ and a revision
 * @returns null if the folder isn't in a repository with a remote URL
 * @throws CommandFailure if it isn't a valid origin
 */
export async function findOrigin(
  folder: string,
  given: string | undefined,
  variables: Variables = process.env,
): Promise<string | null> {
  if (given?.includes('@') === true) return checkedOrigin(given);
  const checkout = (await fromGit(folder)) ?? (await fromVariables(folder, variables));
  const source = given ?? checkout?.source ?? null;
  if (source === null) return null;
  return checkedOrigin(checkout === null ? source : `${source}@${checkout.revision}`);
}

/** The part of an origin that is the same for all commits. */
export function sourceOf(origin: string): string {
  const end = origin.lastIndexOf('@');
  return end < 0 ? origin : origin.slice(0, end);
}

/** `git@github.com:acme/shop.git` and `https://token@github.com/acme/shop` are `github.com/acme/shop`; null: a local path. */
export function repositoryOf(address: string): string | null {
  const short = /^(?:[^@/:]+@)?([^/:]{2,}):(?!\/\/)(.+)$/.exec(address);
  const place = short === null ? placeOf(address) : `${short[1]}/${short[2]}`;
  if (place === null) return null;
  const [host = '', ...names] = place.split('/').filter((name) => name !== '');
  const repository = [host.toLowerCase(), ...names].join('/').replace(/\.git$/, '');
  return names.length === 0 ? null : repository;
}

function placeOf(address: string): string | null {
  if (!URL.canParse(address)) return null;
  const { host, pathname } = new URL(address);
  return host === '' ? null : host + decodeURI(pathname);
}

async function fromGit(folder: string): Promise<Checkout | null> {
  const git = async (...args: readonly string[]): Promise<string> => {
    const options = { timeout: GIT_TIMEOUT_MS, maxBuffer: 1 << 24 };
    const { stdout } = await promisify(execFile)('git', ['-C', folder, ...args], options);
    return stdout.trimEnd();
  };
  try {
    const revision = await git('rev-parse', `--short=${REVISION_LENGTH}`, 'HEAD');
    const inside = await git('rev-parse', '--show-prefix');
    const changed = await git('status', '--porcelain', '--', '.');
    const address = await git('config', '--get', 'remote.origin.url').catch(() => '');
    const repository = repositoryOf(address);
    return {
      source: repository === null ? null : inFolder(repository, inside),
      revision: changed === '' ? revision : `${revision}-changed`,
    };
  } catch {
    // There is no Git, no repository or no commit.
    return null;
  }
}

/** Some CI jobs get the files without the repository. */
async function fromVariables(folder: string, variables: Variables): Promise<Checkout | null> {
  const github = `${variables['GITHUB_SERVER_URL'] ?? ''}/${variables['GITHUB_REPOSITORY'] ?? ''}`;
  const gitlab = variables['CI_PROJECT_URL'] ?? '';
  const repository = repositoryOf(gitlab === '' ? github : gitlab);
  const commit = variables['GITHUB_SHA'] ?? variables['CI_COMMIT_SHA'] ?? '';
  const root = variables['GITHUB_WORKSPACE'] ?? variables['CI_PROJECT_DIR'] ?? '';
  if (repository === null || commit === '' || root === '') return null;
  const inside = path.relative(await realpath(root).catch(() => root), await realpath(folder));
  if (inside.startsWith('..') || path.isAbsolute(inside)) return null;
  const source = inFolder(repository, inside.replaceAll(path.sep, '/'));
  return { source, revision: commit.slice(0, REVISION_LENGTH) };
}

function inFolder(repository: string, inside: string): string {
  const folder = inside.replace(/\/$/, '');
  return folder === '' ? repository : `${repository}/${folder}`;
}

function checkedOrigin(origin: string): string {
  const problem =
    sourceOf(origin) === '' ? 'names no source' : nameProblem(origin, ORIGIN_LENGTH_MAX);
  if (problem === null) return origin;
  throw misused(`the origin ${problem}: give a name such as --origin shop`);
}
