/**
 * Goal: limits of a test stand for those of a server: from the options of a test server, and from files beside a definition.
 * Method: test servers in this process, and the command `stepwright test` on a folder.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { test } from '../../src/cli/commands/test.js';
import { TestPythons } from '../../src/test-kit/files/pythons.js';
import { createTestServer } from '../../src/test-kit/index.js';

const FLOW = `Id: buy
Steps:
  - Id: pay
    StepType: Activity
    Inputs: { ActivityName: '"pay"' }
    Limits: [{ Name: shop, Key: data.tenant, Units: 2 }]
    Outputs: { paid: step.Result }
`;
const CASES = `Definition: buy.yaml
Cases:
  - Name: pays
    Start: { tenant: a }
    Mocks: { pay: { Result: true } }
    Expect: { Status: Complete, Data: { paid: true } }
`;

const pythons = new TestPythons();
afterAll(() => pythons[Symbol.asyncDispose]());

describe('a test server', () => {
  const python = pythons.of({});

  it('has the limits that its test gives', async () => {
    const limits = { shop: { concurrency: 2, rate: { count: 5, per: '1m', burst: 2 } } };
    const activities = { pay: () => true };
    await using server = await createTestServer({
      definitions: [FLOW],
      limits,
      activities,
      python,
    });
    const run = await server.start('buy', { tenant: 'a' });
    expect(run.data).toMatchObject({ paid: true });
  });

  it('has no others', async () => {
    const creating = createTestServer({ definitions: [FLOW], limits: {}, python });
    await expect(creating).rejects.toMatchObject({
      code: 'invalid_definition',
      problems: [{ code: 'unknown_limit' }],
    });
  });

  it('refuses a limit that a server would refuse', async () => {
    const creating = createTestServer({ limits: { shop: { concurrency: 0 } }, python });
    await expect(creating).rejects.toThrow('Concurrency must be a whole number from 1 to 100000');
  });
});

describe('stepwright test', () => {
  let folder: string;
  let printed = '';

  beforeEach(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'stepwright-limits-'));
    printed = '';
    const keep = (text: unknown): boolean => {
      printed += String(text);
      return true;
    };
    vi.spyOn(process.stdout, 'write').mockImplementation(keep);
    vi.spyOn(process.stderr, 'write').mockImplementation(keep);
    write('buy.yaml', FLOW);
    write('buy.test.yaml', CASES);
  });
  afterEach(() => {
    vi.restoreAllMocks();
    rmSync(folder, { recursive: true, force: true });
  });

  const write = (name: string, text: string): void => {
    writeFileSync(path.join(folder, name), text);
  };
  const run = () =>
    test([folder], { filter: '', update: false, watch: false, json: false }, pythons);

  it('takes limits from files beside the definition', async () => {
    write('any.limit.yaml', 'Name: shop\nConcurrency: 2\n');
    write('broken.limit.yaml', 'Name: other\nConcurrency: 0\n');
    expect({ code: await run(), printed }).toMatchObject({ code: 0 });
    expect(printed).toContain('1 passed');
  });

  it('shows the place of a limit that is missing, or too small', async () => {
    expect(await run()).toBe(1);
    expect(printed).toMatch(/buy\.yaml:6:\d+: There is no limit named "shop"/);
    write('shop.limit.yaml', 'Name: shop\nConcurrency: 1\n');
    expect(await run()).toBe(1);
    expect(printed).toMatch(/buy\.yaml:6:\d+: Units must be at most 1/);
  });

  it('shows the place of a mistake in a limit that the definition names', async () => {
    write('shop.limit.yaml', 'Name: shop\nConcurrency: 2\nRates: 1\n');
    expect(await run()).toBe(1);
    expect(printed).toMatch(/shop\.limit\.yaml:3:\d+: "Rates" is not a member of a limit/);
  });
});
