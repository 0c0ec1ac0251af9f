/** `stepwright test`: runs test files on the real engine with real Python, in virtual time. */
import { once } from 'node:events';
import path from 'node:path';
import { runFile, type FileReport } from '../../test-kit/files/run-file.js';
import type { TestPythons } from '../../test-kit/files/pythons.js';
import {
  coverageOf,
  percentOf,
  totalsOfAll,
  type DefinitionCoverage,
} from '../../test-kit/files/coverage.js';
import { EXIT_CODES } from '../exit-codes.js';
import { writeOutput } from '../files/bounded-files.js';
import {
  loadProject,
  readSnapshots,
  readTestFiles,
  writeCoverage,
  writeSnapshots,
  type FoundTests,
} from '../files/find-tests.js';
import { coverageHtmlOf } from '../output/coverage-html.js';
import { coverageJson, printCoverage } from '../output/coverage.js';
import { junitOf } from '../output/junit.js';
import { Output, printNote } from '../output/output.js';
import { continued, plain } from '../output/plain-text.js';
import { hasFailed, printReport, printSummary, resultsOf } from '../output/case-results.js';

export interface TestCommandOptions {
  readonly filter: string;
  readonly update: boolean;
  readonly watch: boolean;
  readonly json: boolean;
  readonly junit?: string;
  readonly coverage?: boolean;
  /** A file, or a folder. */
  readonly coverageHtml?: string;
  /** In percent. */
  readonly coverageMin?: number;
}

/** Editors write a file in several steps. */
const SETTLE_MS = 30;
const WATCHED = /\.(ya?ml|json|py|snap)$/i;

/** @returns the exit code: 1 if a case failed, or if there are no cases */
export async function test(
  paths: readonly string[],
  options: TestCommandOptions,
  pythons: TestPythons,
): Promise<number> {
  return options.watch ? runAndWatch(paths, options, pythons) : runAll(paths, options, pythons);
}

async function runAll(
  paths: readonly string[],
  options: TestCommandOptions,
  pythons: TestPythons,
): Promise<number> {
  const began = performance.now();
  const output = new Output(options);
  const reports: FileReport[] = [];
  for (const file of await readTestFiles(paths)) {
    const report = await runOne(file, options, pythons);
    reports.push(report);
    output.extra(() => printReport(output, report));
  }
  const durationMs = performance.now() - began;
  const coverage = wantsCoverage(options) ? coverageOf(reports) : null;
  const covered = coverage === null ? {} : { coverage: coverageJson(coverage) };
  output.result({ ...resultsOf(reports, durationMs), ...covered }, () => {
    printSummary(output, reports, durationMs);
    if (coverage !== null) printCoverage(output, coverage);
  });
  if (options.junit !== undefined) await writeOutput(options.junit, junitOf(reports));
  const count = reports.reduce(
    (sum, { cases, problems }) => sum + cases.length + problems.length,
    0,
  );
  if (count === 0) {
    const filter = options.filter === '' ? '' : ` whose name contains ${options.filter}`;
    output.note(`stepwright: there are no cases${filter} in ${continued(paths.join(', '))}`);
    return EXIT_CODES.failed;
  }
  const isEnough = coverage === null || (await coverageIsEnough(output, coverage, options));
  return isEnough && !reports.some(hasFailed) ? EXIT_CODES.done : EXIT_CODES.failed;
}

function wantsCoverage({ coverage, coverageHtml, coverageMin }: TestCommandOptions): boolean {
  return coverage === true || coverageHtml !== undefined || coverageMin !== undefined;
}

/** Writes the report if requested, and checks the minimum. */
async function coverageIsEnough(
  output: Output,
  coverage: readonly DefinitionCoverage[],
  { coverageHtml, coverageMin = 0 }: TestCommandOptions,
): Promise<boolean> {
  if (coverageHtml !== undefined) {
    const file = await writeCoverage(coverageHtml, coverageHtmlOf(coverage));
    output.note(`stepwright: coverage report: ${plain(file)}`);
  }
  const percent = percentOf(totalsOfAll(coverage));
  if (percent >= coverageMin) return true;
  output.note(`stepwright: the coverage is ${percent} %, but must be at least ${coverageMin} %`);
  return false;
}

async function runOne(
  file: FoundTests,
  { filter, update }: TestCommandOptions,
  pythons: TestPythons,
): Promise<FileReport> {
  const snapshots = await readSnapshots(file.path);
  const report = await runFile(file, {
    accepts: (name) => name.toLowerCase().includes(filter.toLowerCase()),
    load: (read) => loadProject(file, read),
    pythons,
    snapshots,
    update,
  });
  const written = report.cases.flatMap(({ name, newSnapshot }) =>
    newSnapshot === null ? [] : [[name, newSnapshot] as const],
  );
  if (written.length > 0) {
    await writeSnapshots(file.path, { ...snapshots, ...Object.fromEntries(written) });
  }
  return report;
}

/** Runs all files, and reruns them when one changes, until the process is stopped. @returns the exit code of the last run */
async function runAndWatch(
  paths: readonly string[],
  options: TestCommandOptions,
  pythons: TestPythons,
): Promise<number> {
  // Before watching, so that an invalid path doesn't leave a watch running.
  await readTestFiles(paths);
  const stopped = untilStopped();
  const { watchFolders } = await import('../files/watch-folders.js');
  // Watching starts before the first test run, so changes during it trigger another one.
  const watcher = await watchFolders(paths.map(folderOf));
  await once(watcher, 'ready');
  let work = runAndReport(paths, options, pythons);
  let timer: NodeJS.Timeout | undefined;
  watcher.on('all', (_event, file) => {
    if (!WATCHED.test(file)) return;
    clearTimeout(timer);
    timer = setTimeout(() => {
      work = work.then(() => runAndReport(paths, { ...options, update: false }, pythons));
    }, SETTLE_MS);
  });
  await stopped;
  clearTimeout(timer);
  await watcher.close();
  return work;
}

/** A file that is removed while it is being read doesn't end the watch. */
async function runAndReport(...run: Parameters<typeof runAll>): Promise<number> {
  let exitCode: number = EXIT_CODES.failed;
  try {
    exitCode = await runAll(...run);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    printNote(`stepwright: ${continued(message)}`);
  }
  printNote('stepwright: waiting for changes');
  return exitCode;
}

/** Stopped by a signal, or because the parent process is gone. */
async function untilStopped(): Promise<void> {
  await new Promise<void>((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => resolve());
    process.once('disconnect', resolve);
  });
}

/** Definitions and scripts are in the same folder as the test file. */
function folderOf(given: string): string {
  return /\.ya?ml$/i.test(given) ? path.dirname(given) : given;
}
