/**
 * Goal: `stepwright test` tells what holds and what does not, and where.
 * Method: runs the command in this process on files in an empty folder, with real Python, and reads what it prints.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { test, type TestCommandOptions } from '../../src/cli/commands/test.js';
import { TestPythons } from '../../src/test-kit/files/pythons.js';

const ORDER = `Id: order
Steps:
  - Id: charge
    StepType: Activity
    MaxRetries: 3
    RetryInterval: PT1H
    Inputs: { ActivityName: '"charge-card"', Parameters: { '@order': data.order } }
    Outputs: { payment: step.Result.id }
    NextStepId: pause
  - Id: pause
    StepType: Delay
    Inputs: { Period: '"3.00:00:00"' }
    NextStepId: notify
  - Id: notify
    StepType: HttpRequest
    Inputs: { BaseUrl: '"https://mail.example/"', SucceedOn: [2xx] }
    Outputs: { reminded: 'True' }
    NextStepId: bill
  - Id: bill
    StepType: SubWorkflow
    MaxRetries: 0
    OnRetriesExhausted: Terminate
    Inputs: { DefinitionId: '"billing"', Data: { '@order': data.order } }
    Outputs: { invoice: step.Data.invoice }
    NextStepId: shout
  - Id: shout
    StepType: shout
    Inputs: { text: '"hi"' }
    Outputs: { loud: step.loud }
    NextStepId: ship
  - Id: ship
    StepType: WaitFor
    Inputs: { EventName: '"shipped"', EventKey: str(data.order) }
    Outputs: { carrier: step.EventData.carrier }
`;
const SHIPS = `  - Name: ships
    Start: { order: 4711 }
    Mocks:
      charge-card: [{ Fail: { message: declined } }, { Result: { id: ch_1 } }]
      notify: { Response: { status: 202, body: { ok: true } } }
      billing: { Result: { invoice: { number: "a\\"b", paid: true, note: null } } }
    Then:
      - Advance: 1h
      - Expect: { Waiting: [pause] }
      - Advance: 3d
      - Expect: { Waiting: [ship], Data: { reminded: true, loud: HI, invoice: { paid: true } } }
      - Publish: { Name: shipped, Key: '"4711"', Data: { carrier: A } }
    Expect:
      Status: Complete
      Outcome: Succeeded
      Data: { carrier: A, invoice: { number: 'a"b', paid: true, note: null } }
      Calls: { charge-card: 2, notify: 1, billing: 1 }
      Steps: [charge, pause, notify, bill, shout, ship]
      Waiting: []
`;
const SETTINGS: TestCommandOptions = {
  filter: '',
  update: false,
  watch: false,
  json: false,
};

let folder: string;
let printed = '';

const pythons = new TestPythons();
afterAll(() => pythons[Symbol.asyncDispose]());

beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'stepwright-test-'));
  write('order.yaml', ORDER);
  write('shout.py', 'loud = text.upper()\n');
  printed = '';
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

async function run(options: Partial<TestCommandOptions> = {}): Promise<number> {
  printed = '';
  const code = await test([folder], { ...SETTINGS, ...options }, pythons);
  printed = printed.replaceAll(`${folder}/`, '');
  return code;
}

/** A case that differs from the good one. */
function changed(name: string, from: string, to: string): string {
  expect(SHIPS).toContain(from);
  return SHIPS.replace('Name: ships', `Name: ${name}`).replace(from, to);
}

describe('stepwright test', () => {
  it('runs a case with retries, three days, a call, a sub-workflow, a script and an event', async () => {
    writeCases(SHIPS);
    expect({ code: await run(), printed }).toMatchObject({ code: 0 });
    expect(printed).toMatch(/^order\.test\.yaml\n {2}✓ ships \(\d+ ms\)\n1 passed in /);
  });

  it('shows the place, the difference, the steps and the wait', async () => {
    writeCases(
      changed('differs', 'Data: { reminded: true, loud: HI', 'Data: { reminded: 5, none: 1'),
    );
    expect(await run()).toBe(1);
    expect(printed).toContain('order.test.yaml:13:36: data is not as expected\n');
    expect(printed).toContain('- data.reminded: 5\n        + data.reminded: true\n');
    expect(printed).toContain('- data.none: 1\n        + data.none: nothing\n');
    expect(printed).toContain('completed steps: charge, pause, notify, bill, shout\n');
    expect(printed).toContain('the run: ship: ');
    expect(printed).toContain('0 passed, 1 failed');
  });

  it.each([
    [
      'an activity',
      'charge-card: [',
      'other: [',
      "the activity charge-card of step charge is not mocked: add 'charge' or 'charge-card' to the mocks",
    ],
    [
      'a call',
      'notify: {',
      'other: {',
      "the HTTP call GET https://mail.example/ of step notify is not mocked: add 'notify' to the mocks",
    ],
    [
      'a sub-workflow',
      'billing: {',
      'other: {',
      "the sub-workflow billing is not mocked: add 'billing' to the mocks",
    ],
    [
      'one call too many',
      '{ Fail: { message: declined } }, { Result: { id: ch_1 } }',
      '{ Fail: no }',
      "the activity charge-card of step charge was called 2 times, but the mock 'charge-card' has 1 answers",
    ],
  ])('names the step to mock: %s', async (_, from, to, message) => {
    writeCases(changed('unmocked', from, to));
    expect(await run()).toBe(1);
    expect(printed).toContain(`: ${message}\n`);
  });

  it('takes a sub-workflow beside the definition, and its failure from a mock', async () => {
    write(
      'billing.yaml',
      'Id: billing\nSteps:\n  - Id: a\n    StepType: NoOp\n    Outputs: { invoice: data.order + 1 }\n',
    );
    const unmocked = SHIPS.replace(/ {6}billing: .*\n/, '')
      .replace('invoice: { paid: true }', 'invoice: 4712')
      .replace(/, invoice: \{ number.*\} \}/, ', invoice: 4712 }')
      .replace(', billing: 1', '');
    const failed = `  - Name: cannot bill
    Start: { order: 1 }
    Mocks:
      charge-card: { Result: { id: x } }
      notify: { Response: {} }
      billing: { Fail: { type: NoCredit, message: too poor } }
    Then: [{ Advance: 3d }]
    Expect: { Status: Terminated, Outcome: Failed, Error: { stepId: bill, type: ChildFailed } }
`;
    writeCases(unmocked, failed);
    expect({ code: await run(), printed }).toMatchObject({ code: 0 });
  });

  it('compares data with snapshots, which it writes when asked to', async () => {
    const withSnapshot = SHIPS.replace('    Expect:\n', '    Expect:\n      Snapshot: true\n');
    writeCases(withSnapshot);
    expect(await run()).toBe(1);
    expect(printed).toContain('there is no snapshot of this case: write it with --update');
    expect(await run({ update: true })).toBe(0);
    const snapshot = path.join(folder, 'order.test.yaml.snap');
    expect(JSON.parse(readFileSync(snapshot, 'utf8'))).toMatchObject({ ships: { carrier: 'A' } });
    expect(await run()).toBe(0);
    writeFileSync(
      snapshot,
      readFileSync(snapshot, 'utf8').replace('"carrier": "A"', '"truck": "A"'),
    );
    expect(await run()).toBe(1);
    expect(printed).toContain('- snapshot.truck: "A"\n        + snapshot.truck: nothing\n');
    expect(printed).toContain('- snapshot.carrier: nothing\n        + snapshot.carrier: "A"\n');
  });

  it('prints JSON and writes JUnit', async () => {
    writeCases(SHIPS, changed('a <b> & "c"', 'Outcome: Succeeded', 'Outcome: Failed'));
    const junit = path.join(folder, 'results.xml');
    expect(await run({ json: true, junit })).toBe(1);
    expect(JSON.parse(printed)).toMatchObject({
      passed: 1,
      failed: 1,
      files: [
        {
          file: 'order.test.yaml',
          cases: [
            {
              name: 'ships',
              passed: true,
              steps: ['charge', 'pause', 'notify', 'bill', 'shout', 'ship'],
            },
            {
              passed: false,
              failures: [
                { differences: [{ path: 'outcome', expected: 'Failed', actual: 'Succeeded' }] },
              ],
            },
          ],
        },
      ],
    });
    const xml = readFileSync(junit, 'utf8');
    expect(xml).toContain('tests="2" failures="1" errors="0"');
    expect(xml).toContain('name="a &lt;b&gt; &amp; &quot;c&quot;"');
  });

  it('runs only the cases that are wanted, and fails if there is none', async () => {
    writeCases(SHIPS, changed('other', 'Outcome: Succeeded', 'Outcome: Failed'));
    expect(await run({ filter: 'SHIP' })).toBe(0);
    expect(printed).toContain('1 passed');
    expect(await run({ filter: 'nothing' })).toBe(1);
    expect(printed).toContain('there are no cases whose name contains nothing');
  });

  it.each([
    [
      'the tests',
      'order.test.yaml',
      'Definition: order.yaml\nCases:\n  - Nam: a\n',
      /order\.test\.yaml:3:10: Nam is not known here/,
    ],
    [
      'the definition',
      'order.yaml',
      'Id: order\nSteps:\n  - Id: a\n    StepType: NoOp\n    NextStepId: b\n',
      /order\.yaml:5:17: .*b/,
    ],
    [
      'an expression',
      'order.yaml',
      'Id: order\nSteps:\n  - Id: a\n    StepType: NoOp\n    Outputs: { x: "1 +" }\n',
      /order\.yaml:5:19: /,
    ],
    ['a script', 'shout.py', 'loud = (\n', /shout\.py:1:\d+: /],
    [
      'a path',
      'order.test.yaml',
      'Definition: none.yaml\nCases: [{ Name: a }]\n',
      /order\.test\.yaml:1:13: none\.yaml cannot be read/,
    ],
  ])('names the place of a problem in %s', async (_, file, text, message) => {
    writeCases(SHIPS);
    write(file, text);
    expect(await run()).toBe(1);
    expect(printed).toMatch(message);
    expect(printed).toMatch(/^0 passed, \d errors? in /m);
  });

  describe('with triggers', () => {
    const REPORT = `Id: report
Triggers:
  - Name: nightly
    Cron: 0 2 * * *
    Data: { '@day': 'context.Trigger.Time[:10]' }
  - Name: paid
    Event: { Name: paid }
    Data: { '@day': 'context.Trigger.EventData["day"]' }
Steps:
  - Id: send
    StepType: Activity
    Inputs: { ActivityName: '"send"', Parameters: { '@day': data.day } }
`;
    const writeReport = (cases: string): void => {
      write('report.yaml', REPORT);
      write('order.test.yaml', `Definition: report.yaml\nCases:\n${cases}`);
    };

    it('runs the triggers with a cron expression and an event, and pauses all others', async () => {
      writeReport(`  - Name: nightly
    Trigger: nightly
    Mocks: { send: { Result: 1 } }
    Then:
      - Advance: 1h
      - Expect: { Runs: 0 }
      - Advance: 2d
      - Publish: { Name: paid, Data: { day: other } }
    Expect: { Runs: 2, Status: Complete, Data: { day: '2030-01-02' }, Calls: { send: 2 } }
  - Name: paid
    Trigger: paid
    Mocks: { send: { Result: 1 } }
    Then:
      - Publish: { Name: paid, Data: { day: today } }
      - Advance: 3d
    Expect: { Runs: 1, Data: { day: today } }
  - Name: by hand
    Start: { day: mine }
    Mocks: { send: { Result: 1 } }
    Then: [{ Advance: 3d }, { Publish: { Name: paid } }]
    Expect: { Runs: 1, Data: { day: mine }, Calls: { send: 1 } }
`);
      expect({ code: await run(), printed }).toMatchObject({ code: 0 });
    });

    it('says why a trigger has started nothing', async () => {
      writeReport(`  - { Name: early, Trigger: nightly, Then: [{ Advance: 1h }] }
  - { Name: wrong, Trigger: paid, Then: [{ Publish: { Name: paid } }] }
  - { Name: none, Trigger: weekly }
`);
      expect(await run()).toBe(1);
      expect(printed).toContain(
        'the trigger nightly has started no run; it is due next at 2030-01-01T02:00:00.000Z',
      );
      expect(printed).toMatch(
        /the trigger paid has started no run; its last outcome is Failed: .+/,
      );
      expect(printed).toContain('the definition report has no trigger weekly');
    });

    it('rejects a start beside a trigger', async () => {
      writeReport('  - { Name: both, Trigger: paid, Start: {}, Reference: a }\n');
      expect(await run()).toBe(1);
      expect(printed).toContain(
        'error: order.test.yaml:3:34: a run that a trigger starts gets no Start here',
      );
      expect(printed).toMatch(/:3:\d+: a run that a trigger starts gets no Reference here/);
    });
  });

  it('starts with a reference and tags, which the definition and Expect see', async () => {
    write(
      'order.yaml',
      'Id: order\nTags: { tenant: acme }\nSteps: [{ Id: a, StepType: NoOp, Outputs: { r: context.Workflow.Reference } }]\n',
    );
    write(
      'order.test.yaml',
      `Definition: order.yaml
Cases:
  - Name: both
    Reference: A1
    Tags: { region: eu }
    Expect: { Reference: A1, Data: { r: A1 }, Tags: { region: eu, tenant: acme } }
  - Name: wrong
    Tags: { tenant: else }
    Expect: { Tags: { tenant: acme } }
`,
    );
    expect(await run()).toBe(1);
    expect(printed).toContain('1 passed, 1 failed');
    expect(printed).toContain('tags is not as expected');
    write('order.test.yaml', 'Definition: order.yaml\nCases: [{ Name: a, Tags: { n: 1 } }]\n');
    expect(await run()).toBe(1);
    expect(printed).toContain('n is a text, not 1');
  });

  it('gives the same ids, times and random numbers again', async () => {
    write(
      'dice.yaml',
      'Id: dice\nSteps:\n  - Id: a\n    StepType: NoOp\n    Outputs: { n: random.random(), u: str(uuid.uuid4()), t: datetime.now(), w: context.Workflow.Id }\n',
    );
    const cases = ['a', 'b']
      .map((name) => `  - { Name: ${name}, Expect: { Snapshot: true } }\n`)
      .join('');
    write('order.test.yaml', `Definition: dice.yaml\nCases:\n${cases}`);
    expect(await run({ update: true })).toBe(0);
    const snapshots = JSON.parse(
      readFileSync(path.join(folder, 'order.test.yaml.snap'), 'utf8'),
    ) as Record<string, unknown>;
    expect(snapshots['a']).toEqual(snapshots['b']);
    expect({ code: await run(), printed }).toMatchObject({ code: 0 });
  });
});
