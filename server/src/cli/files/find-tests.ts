/**
 * Finds test files, and reads the files that they use.
 *
 *  FF1 Files used by a test file must be in its Git checkout or, without one, in the given folder, by real path.
 *  FF2 A snapshot is written next to its test file, never through a link that leads out of that folder.
 */
import { mkdir, readdir, realpath, stat } from 'node:fs/promises';
import path from 'node:path';
import { withoutByteOrderMark } from '../../base/byte-order-mark.js';
import { readJson, writeJson } from '../../engine/values/exact-json.js';
import { isJsonObject, type JsonObject } from '../../engine/values/json.js';
import type { TestFile } from '../../test-kit/files/file.js';
import {
  ProjectError,
  type ProjectSources,
  type SourceFile,
} from '../../test-kit/files/tested-definitions.js';
import { CommandFailure } from '../failure.js';
import { FileRefused, isSkipped, readBounded, writeBounded, writeOutput } from './bounded-files.js';
import { readWorkflowFiles, stepNameOf } from './workflow-files.js';

const TEST = /\.test\.ya?ml$/i;

export interface FoundTests extends SourceFile {
  /** The given folder, or the folder of the given file. */
  readonly root: string;
}

/** Files are taken as they are, folders with all their test files, ordered by path. */
export async function readTestFiles(paths: readonly string[]): Promise<FoundTests[]> {
  const found = new Map<string, { path: string; root: string }>();
  for (const given of paths) {
    const files = await filesIn(given);
    const root = files.length === 1 && files[0] === given ? path.dirname(given) : given;
    for (const file of files) found.set(path.resolve(file), { path: file, root });
  }
  const files = [...found.values()].sort((one, other) => (one.path < other.path ? -1 : 1));
  return Promise.all(
    files.map(async (file) => ({ ...file, text: await readNamed(file.root, file.path) })),
  );
}

/** @throws CommandFailure with the path if it can't be read */
async function readNamed(root: string, file: string): Promise<string> {
  try {
    return (await readBounded(root, file)).bytes.toString('utf8');
  } catch (error) {
    if (!(error instanceof FileRefused)) throw error;
    throw new CommandFailure(`${file} is not read: ${error.message}`);
  }
}

/**
 * The nearest folder at or above it that contains `.git`. A branch can't contain a `.git` folder, so it can't move this boundary.
 */
async function checkoutOf(given: string): Promise<string | null> {
  let folder = await realpath(given);
  for (;;) {
    const isCheckout = await stat(path.join(folder, '.git')).then(
      () => true,
      () => false,
    );
    if (isCheckout) return folder;
    const above = path.dirname(folder);
    if (above === folder) return null;
    folder = above;
  }
}

async function filesIn(given: string): Promise<string[]> {
  try {
    if (!(await stat(given)).isDirectory()) return [given];
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new CommandFailure(`${given} cannot be read: ${reason}`);
  }
  const files: string[] = [];
  for (const entry of await readdir(given, { withFileTypes: true })) {
    if (isSkipped(entry.name)) continue;
    const inside = path.join(given, entry.name);
    if (entry.isDirectory()) files.push(...(await filesIn(inside)));
    else if (entry.isFile() && TEST.test(entry.name)) files.push(inside);
  }
  return files;
}

/** The definition that a test file refers to, and everything next to it. @throws ProjectError if it can't be read */
export async function loadProject(
  { path: testPath, root }: FoundTests,
  file: TestFile,
): Promise<ProjectSources> {
  const folder = path.dirname(testPath);
  const bounds = (await checkoutOf(root)) ?? root;
  const read = async (name: string): Promise<SourceFile> => {
    const found = path.join(folder, name);
    try {
      return { path: found, text: (await readBounded(bounds, found)).bytes.toString('utf8') };
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      const message = `${name} cannot be read: ${reason}`;
      throw new ProjectError(testPath, [{ ...file.definitionPlace, message }]);
    }
  };
  const definition = await read(file.definition);
  const uses = await Promise.all(file.uses.map(read));
  const around = await readWorkflowFiles([path.dirname(definition.path)]);
  return {
    definition,
    uses,
    definitionsAround: around.filter(({ kind }) => kind === 'definition'),
    scriptsAround: new Map(
      around
        .filter(({ kind }) => kind === 'script')
        .map((script) => [stepNameOf(script.path), script]),
    ),
    limitsAround: around.filter(({ kind }) => kind === 'limit'),
  };
}

function snapshotPath(testPath: string): string {
  return `${testPath}.snap`;
}

/** By case name. */
export async function readSnapshots(testPath: string): Promise<Record<string, JsonObject>> {
  const file = snapshotPath(testPath);
  let text: string;
  try {
    text = withoutByteOrderMark(await readNamed(path.dirname(file), file));
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return {};
    throw error;
  }
  const value = readJson(text);
  if (isJsonObject(value) && Object.values(value).every(isJsonObject)) {
    return value as Record<string, JsonObject>; // Checked above.
  }
  throw new CommandFailure(`${file} is not a snapshot file: remove it and run with --update`);
}

export async function writeSnapshots(
  testPath: string,
  snapshots: Readonly<Record<string, JsonObject>>,
): Promise<void> {
  const sorted = Object.fromEntries(Object.entries(snapshots).sort(([a], [b]) => (a < b ? -1 : 1)));
  const file = snapshotPath(testPath);
  try {
    await writeBounded(path.dirname(file), file, `${writeJson(sorted, 2)}\n`);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new CommandFailure(`${file} is not written: ${reason}`);
  }
}

/** @param to a file that ends with `.html`, or a folder for `index.html` @returns the file */
export async function writeCoverage(to: string, html: string): Promise<string> {
  const file = /\.html?$/i.test(to) ? to : path.join(to, 'index.html');
  try {
    await mkdir(path.dirname(file), { recursive: true });
    await writeOutput(file, html);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new CommandFailure(`the coverage cannot be written to ${file}: ${reason}`);
  }
  return file;
}
