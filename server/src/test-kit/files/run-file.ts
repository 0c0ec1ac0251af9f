/** Runs the cases of a file of tests, one after the other. */
import type { JsonObject } from '../../engine/values/json.js';
import type { TestPythons } from './pythons.js';
import { runCase, type CaseResult } from './run-case.js';
import { readTestFile } from './read-test-file.js';
import { TestFileError, type FileProblem, type TestCase, type TestFile } from './file.js';
import {
  createProject,
  ProjectError,
  type ProjectSources,
  type SourceFile,
  type TestProject,
} from './tested-definitions.js';

export interface FileOptions {
  /** Only cases whose name it accepts. */
  readonly accepts: (name: string) => boolean;
  /** Reads the files that the tests name. @throws ProjectError if one cannot be read */
  readonly load: (file: TestFile) => Promise<ProjectSources>;
  readonly pythons: TestPythons;
  /** By the name of the case. */
  readonly snapshots: Readonly<Record<string, JsonObject>>;
  readonly update: boolean;
}

export interface FileReport {
  readonly path: string;
  /** Problems of the file, or of a file that it uses. Then its cases have not run. */
  readonly problems: readonly (FileProblem & { readonly path: string })[];
  readonly cases: readonly CaseResult[];
  /** Null: it could not be read. */
  readonly project: TestProject | null;
}

export async function runFile(source: SourceFile, options: FileOptions): Promise<FileReport> {
  const { path, text } = source;
  const cases: CaseResult[] = [];
  let project: TestProject | null = null;
  try {
    const file = readTestFile(text);
    project = createProject(await options.load(file));
    for (const test of file.cases.filter(({ name }) => options.accepts(name))) {
      cases.push(await runCase(test, caseOptions(test, project, options)));
    }
    return { path, problems: [], cases, project };
  } catch (error) {
    if (error instanceof TestFileError || error instanceof ProjectError) {
      const at = error instanceof ProjectError ? error.path : path;
      const problems = error.problems.map((problem) => ({ ...problem, path: at }));
      return { path, problems, cases, project };
    }
    throw error;
  }
}

function caseOptions(
  { environment, name }: TestCase,
  project: TestProject,
  { pythons, snapshots, update }: FileOptions,
): Parameters<typeof runCase>[1] {
  const snapshot = snapshots[name] ?? null;
  return { project, python: pythons.of(environment), snapshot, update };
}
