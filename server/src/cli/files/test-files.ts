/** Finds files of tests, and reads the files that they use. */
import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { withoutByteOrderMark } from '../../base/byte-order-mark.js';
import { readJson, writeJson } from '../../engine/values/exact-json.js';
import { isJsonObject, type JsonObject } from '../../engine/values/json.js';
import type { TestFile } from '../../testing/files/test-file.js';
import {
  ProjectError,
  type ProjectSources,
  type SourceFile,
} from '../../testing/files/test-project.js';
import { CommandFailure } from '../failure.js';
import { isSkipped, readWorkflowFiles, stepNameOf } from './workflow-files.js';

const TEST = /\.test\.ya?ml$/i;

/** Files are taken as they are; folders with all files of tests in them. In order of their paths. */
export async function readTestFiles(paths: readonly string[]): Promise<SourceFile[]> {
  const found = new Map<string, string>();
  for (const given of paths) {
    for (const file of await filesIn(given)) found.set(path.resolve(file), file);
  }
  const files = [...found.values()].sort();
  return Promise.all(
    files.map(async (file) => ({ path: file, text: await readFile(file, 'utf8') })),
  );
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

/** The definition that a file of tests names, and everything beside it. @throws ProjectError if it cannot be read */
export async function loadProject(testPath: string, file: TestFile): Promise<ProjectSources> {
  const folder = path.dirname(testPath);
  const read = async (name: string): Promise<SourceFile> => {
    const found = path.join(folder, name);
    try {
      return { path: found, text: await readFile(found, 'utf8') };
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
  };
}

function snapshotPath(testPath: string): string {
  return `${testPath}.snap`;
}

/** By the name of the case. */
export async function readSnapshots(testPath: string): Promise<Record<string, JsonObject>> {
  const file = snapshotPath(testPath);
  let text: string;
  try {
    text = withoutByteOrderMark(await readFile(file, 'utf8'));
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return {};
    throw error;
  }
  const value = readJson(text);
  if (isJsonObject(value) && Object.values(value).every(isJsonObject)) {
    return value as Record<string, JsonObject>; // Checked.
  }
  throw new CommandFailure(`${file} is not a file of snapshots: remove it, and run with --update`);
}

export async function writeSnapshots(
  testPath: string,
  snapshots: Readonly<Record<string, JsonObject>>,
): Promise<void> {
  const sorted = Object.fromEntries(Object.entries(snapshots).sort(([a], [b]) => (a < b ? -1 : 1)));
  await writeFile(snapshotPath(testPath), `${writeJson(sorted, 2)}\n`);
}

/** @param to a file that ends with `.html`, or a folder for `index.html` @returns the file */
export async function writeCoverage(to: string, html: string): Promise<string> {
  const file = /\.html?$/i.test(to) ? to : path.join(to, 'index.html');
  try {
    await mkdir(path.dirname(file), { recursive: true });
    await writeFile(file, html);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new CommandFailure(`the coverage cannot be written to ${file}: ${reason}`);
  }
  return file;
}
