// One project for each package. A missing package is left out, because vitest fails on a project without a folder.
import { existsSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import {
  defineConfig,
  type TestProjectConfiguration,
  type TestProjectInlineConfiguration,
} from 'vitest/config';
import { IS_NIGHTLY } from './sdk/test/support/nightly.js';

// Vitest reserves one core for itself. On a machine with two cores, it would run one file at a time, although most tests
// spend most of their time waiting.
const PARALLEL = { maxWorkers: Math.max(3, availableParallelism() - 1) };

// Without TEST_MINUTES, all tests run, however long they take.
const TIME_LIMIT = {
  setupFiles: [fileURLToPath(import.meta.resolve('./scripts/check/time-limit.mjs'))],
};

// On a busy machine, a test may wait in vain for what comes a moment later. Only such tests are repeated, once: one that has
// seen something wrong fails. `pnpm test` lists what passed only at the second attempt.
const WAITED_IN_VAIN = { retry: { count: 1, condition: /not within \d+ ms|timed out in \d+ ?ms/ } };

/** `pnpm unit` builds nothing: packages use each other's sources. All other commands test what would be published. */
const FROM_SOURCES = process.env['FROM_SOURCES'] === '1' && {
  alias: Object.fromEntries(
    ['sdk', 'worker-sdk'].map((name) => [
      `@stepwright/${name}`,
      fileURLToPath(import.meta.resolve(`./${name}/src/index.ts`)),
    ]),
  ),
};

const UNIT = {
  ...FROM_SOURCES,
  ...WAITED_IN_VAIN,
  // By night also what takes long, measures how fast a server responds under attack, or seldom finds what no shorter test finds.
  include: ['test/**/*.test.ts', ...(IS_NIGHTLY ? ['test/**/*.nightly.ts'] : [])],
  // By night, random properties draw ten times as many examples.
  testTimeout: IS_NIGHTLY ? 600_000 : 60_000,
  // The default is one second, in which a busy machine may do nothing. Less than a test has, so that the failure tells what
  // was awaited.
  expect: { poll: { timeout: 40_000 } },
  hookTimeout: 120_000,
  ...PARALLEL,
};

// These tests use whole servers, databases and the machine's ports: one file at a time, after everything else.
const END_TO_END = {
  ...WAITED_IN_VAIN,
  include: ['**/*.test.ts'],
  // Tests wait for conditions, which take longer on a busy machine.
  testTimeout: 600_000,
  hookTimeout: 300_000,
  expect: { poll: { timeout: 60_000 } },
  fileParallelism: false,
  sequence: { groupOrder: 2 },
};

// Each file has its own server and browser.
const PAGE = {
  include: UNIT.include,
  testTimeout: END_TO_END.testTimeout,
  hookTimeout: END_TO_END.hookTimeout,
  expect: END_TO_END.expect,
  // A browser on a busy machine may also lose a frame or a click.
  retry: 1,
  sequence: { groupOrder: 1 },
  ...PARALLEL,
};

// Of the long ones, the fault tests have a command of their own: `pnpm test:faults`.
const END_TO_END_NIGHTLY = [
  ...(process.env['FAULTS'] === 'all' ? ['faults/*.nightly.ts'] : []),
  ...(IS_NIGHTLY ? ['cli/*.nightly.ts', 'clients/*.nightly.ts'] : []),
];

type ProjectOptions = NonNullable<TestProjectInlineConfiguration['test']>;

function project(
  name: string,
  test: ProjectOptions,
  folder: string = name,
): TestProjectConfiguration[] {
  return existsSync(folder) ? [{ test: { name, root: folder, ...TIME_LIMIT, ...test } }] : [];
}

export default defineConfig({
  test: {
    projects: [
      ...project('server', {
        ...UNIT,
        globalSetup: ['test/support/mongo-container.ts', 'test/support/postgres-container.ts'],
      }),
      ...project('sdk', UNIT),
      ...project('worker-sdk', UNIT),
      ...project('ui', PAGE, 'server/ui'),
      ...project('e2e', {
        ...END_TO_END,
        include: [...END_TO_END.include, ...END_TO_END_NIGHTLY],
        globalSetup: ['environment/global-setup.ts'],
      }),
      ...project('examples', {
        ...END_TO_END,
        include: [...END_TO_END.include, ...(IS_NIGHTLY ? ['test/*.nightly.ts'] : [])],
      }),
    ],
  },
});
