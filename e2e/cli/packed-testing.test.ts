/**
 * Goal: `stepwright/testing` works from the tarball, in the test runners that people use, with the handlers of their workers.
 * Method: installs the packages into an empty folder, and runs one test there under vitest, node:test and with the globals of
 * jest; compiles it with strict types.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { Installation } from './packed.js';

const require = createRequire(import.meta.url);
const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const TSC = path.join(path.dirname(require.resolve('typescript/package.json')), 'bin/tsc');

const HANDLERS = `import { ActivityFailure } from '@stepwright/worker-sdk';

export const handlers = {
  'charge-card': ({ amount }: { amount: number }, { attempt, idempotencyKey }: { attempt: number; idempotencyKey: string }) => {
    if (attempt === 1) throw new Error('the bank does not answer');
    if (amount > 100) throw new ActivityFailure('declined', { retryable: false, data: { limit: 100 } });
    return { receipt: \`r-\${amount}\`, key: idempotencyKey.length > 0 };
  },
};
`;

const CASE = `import { handlers } from './handlers.ts';
import { createTestServer } from 'stepwright/testing';

const ORDER = \`
Id: order
Steps:
  - Id: charge
    StepType: Activity
    RetryInterval: PT1H
    Inputs:
      ActivityName: '"charge-card"'
      Parameters: { '@amount': data.amount }
    MaxRetries: 3
    OnRetriesExhausted: Terminate
    Outputs: { receipt: step.Result.receipt, key: step.Result.key }
    NextStepId: pause
  - Id: pause
    StepType: Delay
    Inputs: { Period: '"3.00:00:00"' }
    NextStepId: ship
  - Id: ship
    StepType: WaitFor
    Inputs: { EventName: '"shipped"', EventKey: str(data.order) }
    Outputs: { carrier: step.EventData.carrier }
\`;

/** What a test sees. */
export async function order(amount: number): Promise<unknown> {
  await using server = await createTestServer({ definitions: [ORDER], activities: handlers });
  const { id } = await server.start('order', { order: 4711, amount });
  await server.advance('1h');
  await server.advance('3d');
  await server.publish('shipped', '4711', { carrier: 'A' });
  const { data, lastError, status } = await server.run(id);
  return { status, data, error: lastError?.message ?? null };
}

export const SHIPPED = {
  status: 'Complete',
  data: { order: 4711, amount: 50, receipt: 'r-50', key: true, carrier: 'A' },
  error: null,
};
`;

const NODE_TEST = `import { deepEqual } from 'node:assert/strict';
import { test } from 'node:test';
import { order, SHIPPED } from './order.ts';

test('ships', async () => deepEqual(await order(50), SHIPPED));
`;
const VITEST = `import { expect, it } from 'vitest';
import { order, SHIPPED } from './order.ts';

it('ships', async () => expect(await order(50)).toEqual(SHIPPED));
it('stops at once when the card is declined', async () => {
  expect(await order(500)).toMatchObject({ status: 'Terminated', error: 'declined' });
});
`;
const JEST = `import { order, SHIPPED } from './order.ts';

describe('an order', () => {
  test('ships', async () => {
    expect(await order(50)).toEqual(SHIPPED);
  });
});
`;

let created: Installation | string;
let folder: string;

beforeAll(() => {
  created = Installation.create();
  if (typeof created === 'string') return;
  folder = created.folder;
  // The runner and the types are the repository's own.
  for (const name of ['vitest', '@types/node']) {
    const link = path.join(folder, 'node_modules', name);
    if (existsSync(link)) continue;
    mkdirSync(path.dirname(link), { recursive: true });
    symlinkSync(path.join(ROOT, 'node_modules', name), link);
  }
  const files = {
    'handlers.ts': HANDLERS,
    'order.ts': CASE,
    'node.test.ts': NODE_TEST,
    'vite.test.ts': VITEST,
    'jest.test.ts': JEST,
  };
  for (const [name, text] of Object.entries(files)) writeFileSync(path.join(folder, name), text);
});
afterAll(() => {
  if (typeof created !== 'string') created.remove();
});
beforeEach((test) => {
  if (typeof created === 'string') test.skip(created);
});

function run(...args: readonly string[]): {
  readonly code: number | null;
  readonly output: string;
} {
  const { status, stderr, stdout } = spawnSync(process.execPath, args, {
    cwd: folder,
    encoding: 'utf8',
    // The runner must not believe that it is part of this one.
    env: { PATH: process.env['PATH'], HOME: process.env['HOME'], NO_COLOR: '1' },
  });
  return { code: status, output: stdout + stderr };
}

describe('stepwright/testing from the tarball', () => {
  it('runs under node:test', () => {
    const { code, output } = run('--test', '--experimental-strip-types', 'node.test.ts');
    expect(output).toMatch(/pass 1\n/);
    expect(code).toBe(0);
  });

  it('runs under vitest', () => {
    const { code, output } = run('node_modules/vitest/vitest.mjs', 'run', 'vite.test.ts');
    expect(output).toMatch(/2 passed/);
    expect(code).toBe(0);
  });

  it('runs with describe, test and expect as globals', () => {
    const { code, output } = run(
      'node_modules/vitest/vitest.mjs',
      'run',
      '--globals',
      'jest.test.ts',
    );
    expect(output).toMatch(/1 passed/);
    expect(code).toBe(0);
  });

  it("has types that need only Node's types", () => {
    const options = ['--noEmit', '--strict', '--module', 'nodenext', '--target', 'es2023'];
    const ours = [
      '--lib',
      'es2023,esnext.disposable',
      '--types',
      'node',
      '--allowImportingTsExtensions',
    ];
    const { code, output } = run(TSC, ...options, ...ours, 'order.ts');
    expect(output).toBe('');
    expect(code).toBe(0);
  });
});
