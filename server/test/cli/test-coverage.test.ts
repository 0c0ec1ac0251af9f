/**
 * Goal: `stepwright test --coverage` tells which steps ran, and which conditions were only true or only false.
 * Method: runs the command in this process on files in an empty folder, with real Python, and reads what it prints and writes.
 */
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { test, type TestCommandOptions } from '../../src/cli/commands/test.js';
import { TestPythons } from '../../src/test-kit/files/pythons.js';

const ORDER = `Id: order
Steps:
  - Id: decide
    StepType: Decide
    SelectNextStep:
      ship: data.amount < 10
      approve: data.amount >= 10
  - Id: approve
    StepType: If
    Inputs: { Condition: "data.who == '<chief>'" }
    Do:
      - - Id: note
          StepType: NoOp
    NextStepId: bill
  - Id: bill
    StepType: SubWorkflow
    Inputs: { DefinitionId: '"billing"' }
    NextStepId: ship
  - Id: ship
    StepType: NoOp
    SelectNextStep: { pack: 'True' }
  - Id: pack
    StepType: While
    Inputs: { Condition: data.boxes > 0 }
    Do:
      - - Id: box
          StepType: NoOp
          Outputs: { boxes: data.boxes - 1 }
`;
const BILLING = `Id: billing
Steps:
  - Id: answer
    StepType: NoOp
`;
const SMALL = '  - { Name: small, Start: { amount: 1, boxes: 2 }, Expect: { Status: Complete } }\n';
const MOCKED = `  - Name: large
    Start: { amount: 10, who: you, boxes: 0 }
    Mocks: { billing: { Result: {} } }
    Expect: { Status: Complete, Steps: [decide, bill, ship] }
`;
const BY_CHIEF =
  '  - { Name: chief, Start: { amount: 10, who: <chief>, boxes: 0 }, Expect: { Status: Complete } }\n';
const SETTINGS: TestCommandOptions = { filter: '', update: false, watch: false, json: false };

let folder: string;
let printed = '';

const pythons = new TestPythons();
afterAll(() => pythons[Symbol.asyncDispose]());

beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'stepwright-coverage-'));
  write('order.yaml', ORDER);
  write('billing.yaml', BILLING);
  const keep = (text: unknown): boolean => {
    printed += String(text);
    return true;
  };
  vi.spyOn(process.stdout, 'write').mockImplementation(keep);
  vi.spyOn(process.stderr, 'write').mockImplementation(keep);
});
afterEach(() => {
  vi.restoreAllMocks();
  rmSync(folder, { recursive: true, force: true });
});

function write(name: string, text: string): void {
  writeFileSync(path.join(folder, name), text);
}

function writeCases(...cases: readonly string[]): void {
  write('order.test.yaml', `Definition: order.yaml\nCases:\n${cases.join('')}`);
}

async function run(options: Partial<TestCommandOptions>): Promise<number> {
  printed = '';
  const code = await test([folder], { ...SETTINGS, ...options }, pythons);
  printed = printed.replaceAll(`${folder}/`, '');
  return code;
}

describe('coverage', () => {
  it('names the steps that no case has run, and the missing values of conditions', async () => {
    writeCases(SMALL);
    expect({ code: await run({ coverage: true }), printed }).toMatchObject({ code: 0 });
    expect(printed.slice(printed.indexOf('order.yaml: '))).toBe(
      `order.yaml: 4 of 7 steps, 4 of 8 branches
  never false: decide → ship: data.amount < 10
  never true: decide → approve: data.amount >= 10
  not run: approve
  not run: note
  not run: bill
Coverage: 53.3 % of steps and branches
`,
    );
  });

  it('adds the cases up, and does not count mocked steps', async () => {
    writeCases(SMALL, MOCKED);
    expect(await run({ coverage: true })).toBe(0);
    expect(printed).toContain('order.yaml: 6 of 7 steps, 7 of 8 branches\n  never true: approve');
    expect(printed).not.toContain('billing.yaml');
  });

  it('knows sub-workflows that ran, and everything in JSON', async () => {
    writeCases(SMALL, MOCKED, BY_CHIEF);
    expect(await run({ coverage: true, json: true })).toBe(0);
    expect(JSON.parse(printed)).toMatchObject({
      coverage: {
        percent: 100,
        steps: { covered: 8, total: 8 },
        branches: { covered: 8, total: 8 },
        definitions: [
          { file: 'billing.yaml', id: 'billing', executions: [{ stepId: 'answer', count: 1 }] },
          {
            file: 'order.yaml',
            executions: [
              {
                stepId: 'decide',
                count: 3,
                conditions: [
                  { member: 'SelectNextStep', target: 'ship', true: 1, false: 2 },
                  { target: 'approve', expression: 'data.amount >= 10', true: 2, false: 1 },
                ],
              },
              { stepId: 'approve', conditions: [{ member: 'Condition', true: 1, false: 1 }] },
              { stepId: 'note', count: 1 },
              { stepId: 'bill', count: 2 },
              { stepId: 'ship', conditions: [] },
              { stepId: 'pack', conditions: [{ true: 2, false: 3 }] },
              { stepId: 'box', count: 2 },
            ],
          },
        ],
      },
    });
  });

  it('draws the graph in colors, and escapes texts from outside', async () => {
    writeCases(SMALL);
    const html = path.join(folder, 'coverage.html');
    expect(await run({ coverageHtml: html })).toBe(0);
    const page = readFileSync(html, 'utf8');
    expect(page).toContain('<h1>Test coverage: 53.3 %</h1>');
    expect(page).toContain('<div class="step part" id="d0-decide">');
    expect(page).toContain('<div class="step none" id="d0-approve">');
    expect(page).toContain('<div class="step full" id="d0-pack">');
    expect(page).toContain(
      '→ <a href="#d0-approve">approve</a> if <code>data.amount &gt;= 10</code>',
    );
    expect(page).toContain("data.who == '&lt;chief&gt;'");
    expect(page.match(/<div class="step /g)).toHaveLength(7);
    const note = page.indexOf('id="d0-note"');
    expect(page.slice(page.indexOf('id="d0-approve"'), note)).toContain('<div class="sequences">');
  });

  it('writes index.html into a folder that it makes', async () => {
    writeCases(SMALL);
    await run({ coverageHtml: path.join(folder, 'out', 'coverage') });
    expect(existsSync(path.join(folder, 'out', 'coverage', 'index.html'))).toBe(true);
  });

  it('fails below the minimum', async () => {
    writeCases(SMALL);
    expect(await run({ coverageMin: 53.4 })).toBe(1);
    expect(printed).toContain('stepwright: the coverage is 53.3 %, but must be at least 53.4 %\n');
    expect(await run({ coverageMin: 53.3 })).toBe(0);
  });
});
