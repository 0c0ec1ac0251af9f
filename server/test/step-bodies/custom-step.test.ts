/** Custom steps on the real Python runtime: which script runs, what it gets, and how it ends. */
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { LogFields, Logger } from '../../src/base/logger.js';
import { createPyodideRuntime } from '../../src/scripts/pyodide/pyodide-script-runtime.js';
import type { ScriptRuntime } from '../../src/scripts/script-runtime.js';
import { CallMemory } from '../../src/step-bodies/call-memory.js';
import { createCustomStepBody } from '../../src/step-bodies/custom-step.js';
import type { StepScriptRecord } from '../../src/store/records/definitions.js';
import { contextOf, failureOf, valuesOf } from './support/call.js';
import { createLogRecorder } from './support/log-recorder.js';
import { DEFAULT_PYTHON_LIMITS } from '../support/default-limits.js';

const runtimeLog = createLogRecorder();
let scripts: ScriptRuntime;

beforeAll(async () => {
  scripts = createPyodideRuntime({
    ...DEFAULT_PYTHON_LIMITS,
    environment: {},
    logger: runtimeLog.logger,
    scriptTimeoutMs: 2000,
  });
  await scripts.start();
});

afterAll(async () => {
  await scripts.stop();
});

/** A store of scripts whose latest versions can be replaced. */
function libraryOf(sources: Readonly<Record<string, string>>) {
  const records = new Map<string, StepScriptRecord>();
  const put = (name: string, source: string): void => {
    const version = (records.get(name)?.version ?? 0) + 1;
    records.set(name, { name, version, source, createdAt: 0 });
  };
  for (const [name, source] of Object.entries(sources)) put(name, source);
  return { put, find: async (name: string) => records.get(name) ?? null };
}

function bodyOf(sources: Readonly<Record<string, string>>, logger?: Logger) {
  const library = libraryOf(sources);
  const options = { scripts, find: library.find };
  const body = createCustomStepBody(logger === undefined ? options : { ...options, logger });
  return { body, put: library.put };
}

describe('a custom step', () => {
  it('gets the inputs as variables and returns all remaining variables', async () => {
    const { body } = bodyOf({ add: 'c = a + b\nparts = [a, b]\ndel b\nimport math' });
    const values = valuesOf(await body.run('add', { a: 1, b: 2 }, contextOf()));
    expect(values).toEqual({ a: 1, c: 3, parts: [1, 2] });
  });

  it('suggests a replacement for a name that only other languages or expressions have', async () => {
    const { body } = bodyOf({
      foreign: 'y = 1\r\nx = JSON.stringify(y)\r\n',
      outside: 'def f():\n  return data.y\nx = f()',
      size: 'n = len(items)\nm = items.length',
      raised: 'raise NameError("no such thing as null")',
    });
    const messageOf = async (name: string): Promise<string> =>
      failureOf(await body.run(name, { items: [] }, contextOf())).message;
    expect(await messageOf('foreign')).toBe(
      `name 'JSON' is not defined. In Python, "JSON.stringify" is written "json.dumps"`,
    );
    expect(await messageOf('outside')).toBe(
      `name 'data' is not defined. A script has the inputs of its step as variables, and nothing else: give it the value as an input`,
    );
    expect(await messageOf('size')).toBe(
      `'list' object has no attribute 'length'. In Python, ".length" is written "len(…)"`,
    );
    expect(await messageOf('raised')).toBe('no such thing as null');
  });

  it('runs the latest script, which it looks up for each run', async () => {
    const { body, put } = bodyOf({ v: 'x = 1' });
    expect(valuesOf(await body.run('v', {}, contextOf()))).toEqual({ x: 1 });
    put('v', 'x = 2');
    expect(valuesOf(await body.run('v', {}, contextOf()))).toEqual({ x: 2 });
  });

  it('keeps no state between runs', async () => {
    const { body } = bodyOf({
      leave: 'import math\nmath.left = 1\nleft = 2',
      look: 'import math\nfound = hasattr(math, "left") or "left" in globals()',
    });
    valuesOf(await body.run('leave', {}, contextOf()));
    expect(valuesOf(await body.run('look', {}, contextOf()))).toEqual({ found: false });
  });

  it('fails if there is no script of its name', async () => {
    const { body } = bodyOf({ add: '' });
    const failure = failureOf(await body.run('Add', {}, contextOf()));
    expect(failure.type).toBe('StepNotFound');
    expect(failure.message).toMatch(/Add/);
  });

  it('fails with the exception of the script, its line and its traceback', async () => {
    const { body } = bodyOf({ bad: 'a = 1\nb = a / zero' });
    const result = await body.run('bad', { zero: 0 }, contextOf());
    if (result.ok) throw new Error('the step did not fail');
    expect(result.failure.type).toBe('ZeroDivisionError');
    expect(result.failure.message).toMatch(/division/);
    expect(result.failure.traceback).toMatch(/line 2/);
  });

  it('fails at the time limit', async () => {
    const { body } = bodyOf({ loop: 'while True: pass' });
    expect(failureOf(await body.run('loop', {}, contextOf())).type).toBe('Timeout');
  });

  it('ends as aborted if its result is no longer needed', async () => {
    const { body } = bodyOf({ loop: 'while True: pass' });
    const controller = new AbortController();
    const running = body.run('loop', {}, contextOf({ signal: controller.signal }));
    controller.abort();
    expect(failureOf(await running).type).toBe('Aborted');
  });

  it('fails if the script cannot be read, and logs the reason', async () => {
    const { lines, logger } = createLogRecorder();
    const find = async () => {
      throw new Error('the database is away');
    };
    const body = createCustomStepBody({ scripts, find, logger });
    const failure = failureOf(await body.run('add', {}, contextOf()));
    expect(failure).toEqual({
      type: 'Unavailable',
      message: 'the script of add could not be read',
    });
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatchObject({ level: 'error', fields: { workflowId: 'w1' } });
  });
});

describe('the result of a custom step', () => {
  /** Custom steps with a large result, and memory for one of them. */
  function setUp() {
    const memory = new CallMemory(100_000);
    const runScript = vi.fn(scripts.runScript.bind(scripts));
    const { find } = libraryOf({ large: 'text = "x" * 100_000\nprint("done")' });
    const { lines, logger } = createLogRecorder();
    const step = createCustomStepBody({ scripts: { runScript }, find, memory, logger });
    const releases: (() => void)[] = [];
    const start = (signal = new AbortController().signal) =>
      step.run('large', {}, contextOf({ signal, retain: (release) => releases.push(release) }));
    return { lines, memory, releases, runScript, start };
  }

  it('counts until its run has saved it', async () => {
    const { memory, releases, start } = setUp();
    expect(valuesOf(await start())['text']).toHaveLength(100_000);
    expect(memory.used).toBeGreaterThanOrEqual(200_000);
    for (const release of releases) release();
    expect(memory.used).toBe(0);
  });

  it('is computed again if there was no memory for it', async () => {
    const { lines, memory, releases, runScript, start } = setUp();
    await start();
    const { used } = memory;
    const [second, third] = [start(), start()];
    await expect.poll(() => memory.waiting).toBe(2);
    // What does not fit takes no memory.
    expect(memory.used).toBe(used);
    releases[0]!();
    const [first] = await Promise.all([second, expect.poll(() => releases.length).toBe(2)]);
    expect(valuesOf(first)['text']).toHaveLength(100_000);
    releases[1]!();
    valuesOf(await third);
    releases[2]!();
    expect(memory).toMatchObject({ used: 0, waiting: 0 });
    expect(runScript).toHaveBeenCalledTimes(5);
    expect(lines).toHaveLength(3);
  });

  it('is dropped if the step is canceled while it waits for memory', async () => {
    const { memory, releases, start } = setUp();
    await start();
    const controller = new AbortController();
    const running = start(controller.signal);
    await expect.poll(() => memory.waiting).toBe(1);
    controller.abort();
    expect(failureOf(await running).type).toBe('Aborted');
    releases[0]!();
    expect(memory).toMatchObject({ used: 0, waiting: 0 });
  });
});

describe('the output of a custom step', () => {
  const printed = (fields: LogFields) => fields['output'];

  it('is in the log with instance, step and version, even if the script fails', async () => {
    for (const [source, ok] of [
      ['print("hello\\n\\x1b[31mworld")', true],
      ['print("hello\\n\\x1b[31mworld")\nraise ValueError("x")', false],
    ] as const) {
      const { lines, logger } = createLogRecorder();
      const { body } = bodyOf({ talk: source }, logger);
      const result = await body.run('talk', {}, contextOf());
      expect(result.ok).toBe(ok);
      expect(lines).toHaveLength(1);
      expect(lines[0]).toMatchObject({
        level: 'info',
        fields: { workflowId: 'w1', stepId: 'call', attempt: 1, stepType: 'talk', version: 1 },
      });
      expect(printed(lines[0]?.fields ?? {})).toBe('hello\n\x1b[31mworld\n');
    }
  });

  it('is not logged if it is empty', async () => {
    const { lines, logger } = createLogRecorder();
    const { body } = bodyOf({ quiet: 'x = 1' }, logger);
    valuesOf(await body.run('quiet', {}, contextOf()));
    expect(lines).toEqual([]);
  });
});
