/** `stepwright test`: runs files of tests on the real engine with real Python, in virtual time. */
import { writeFile } from 'node:fs/promises';
import { watch } from 'chokidar';
import path from 'node:path';
import { runFile, TestPythons, type FileReport } from '../../testing/files/run-file.js';
import type { SourceFile } from '../../testing/files/test-project.js';
import { EXIT_CODES } from '../exit-codes.js';
import { loadProject, readSnapshots, readTestFiles, writeSnapshots } from '../files/test-files.js';
import { isSkipped } from '../files/workflow-files.js';
import { junitOf } from '../output/junit.js';
import { Output } from '../output/output.js';
import { hasFailed, printReport, printSummary, resultsOf } from '../output/test-results.js';

export interface TestCommandOptions {
  readonly filter: string;
  readonly update: boolean;
  readonly watch: boolean;
  readonly json: boolean;
  readonly junit?: string;
}

/** Editors write a file in several steps. */
const SETTLE_MS = 30;
const WATCHED = /\.(ya?ml|json|py|snap)$/i;

/** @returns the exit code: 1 if a case failed, or there is none */
export async function test(paths: readonly string[], options: TestCommandOptions): Promise<number> {
  await using pythons = new TestPythons();
  const exitCode = await runAll(paths, options, pythons);
  if (options.watch) await runAgain(paths, options, pythons);
  return exitCode;
}

async function runAll(
  paths: readonly string[],
  options: TestCommandOptions,
  pythons: TestPythons,
): Promise<number> {
  const began = performance.now();
  const output = new Output();
  const reports: FileReport[] = [];
  for (const file of await readTestFiles(paths)) {
    const report = await runOne(file, options, pythons);
    reports.push(report);
    if (!options.json) printReport(output, report);
  }
  const durationMs = performance.now() - began;
  if (options.json) output.json(resultsOf(reports, durationMs));
  else printSummary(output, reports, durationMs);
  if (options.junit !== undefined) await writeFile(options.junit, junitOf(reports));
  const count = reports.reduce(
    (sum, { cases, problems }) => sum + cases.length + problems.length,
    0,
  );
  if (count === 0) {
    const filter = options.filter === '' ? '' : ` whose name contains ${options.filter}`;
    output.note(`stepwright: there are no cases${filter} in ${paths.join(', ')}`);
    return EXIT_CODES.failed;
  }
  return reports.some(hasFailed) ? EXIT_CODES.failed : EXIT_CODES.done;
}

async function runOne(
  file: SourceFile,
  { filter, update }: TestCommandOptions,
  pythons: TestPythons,
): Promise<FileReport> {
  const snapshots = await readSnapshots(file.path);
  const report = await runFile(file, {
    accepts: (name) => name.toLowerCase().includes(filter.toLowerCase()),
    load: (read) => loadProject(file.path, read),
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

/** Runs all files when one changes, until the process is stopped. */
async function runAgain(
  paths: readonly string[],
  options: TestCommandOptions,
  pythons: TestPythons,
): Promise<void> {
  let work = Promise.resolve();
  const timers = new Set<NodeJS.Timeout>();
  const again = (): void => {
    work = work.then(async () => {
      try {
        await runAll(paths, { ...options, update: false }, pythons);
      } catch (error) {
        process.stderr.write(
          `stepwright: ${error instanceof Error ? error.message : String(error)}\n`,
        );
      }
    });
  };
  const watcher = watch([...new Set(paths.map(folderOf))], {
    ignoreInitial: true,
    ignored: (file) => !paths.includes(file) && isSkipped(path.basename(file)),
  });
  watcher.on('all', (_event, file) => {
    if (!WATCHED.test(file)) return;
    timers.forEach(clearTimeout);
    timers.clear();
    timers.add(setTimeout(again, SETTLE_MS));
  });
  process.stderr.write('stepwright: waiting for changes\n');
  await new Promise<void>((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => resolve());
  });
  timers.forEach(clearTimeout);
  await watcher.close();
  await work;
}

/** Definitions and scripts are beside the file of tests. */
function folderOf(given: string): string {
  return /\.ya?ml$/i.test(given) ? path.dirname(given) : given;
}
