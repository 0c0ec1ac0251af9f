/**
 * The pool with real processes that die, do not start, send invalid replies or are too slow, and with more calls than
 * they can handle.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import {
  InterpreterPool,
  type PoolOptions,
} from '../../../src/scripts/pyodide/interpreter-pool.js';
import { InterpreterProcess } from '../../../src/scripts/pyodide/interpreter-process.js';
import type { PoolCall } from '../../../src/scripts/pyodide/pool-call.js';
import { createPyodideRuntime } from '../../../src/scripts/pyodide/pyodide-script-runtime.js';
import { createLogCollector, startRuntime } from './start-runtime.js';
import { DEFAULT_PYTHON_LIMITS } from '../../support/default-limits.js';

const folder = mkdtempSync(join(tmpdir(), 'stepwright-pool-'));
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

/**
 * A process that speaks the protocol as a test defines: `answer` is code that can read `count`, `reply` and `request`.
 */
function pretender(answer: string, maxReplyBytes = 10_000): InterpreterProcess {
  const source = `
    const header = (outcome, result, heap = 0) => {
      const bytes = Buffer.alloc(24 + result.length);
      bytes.writeUInt32LE(outcome, 0); bytes.writeUInt32LE(result.length, 8); bytes.writeUInt32LE(heap, 20);
      bytes.write(result, 24);
      return bytes;
    };
    const reply = (result, outcome = 0, heap = 0) => process.stdout.write(header(outcome, result, heap));
    let count = 0;
    process.stdin.on('data', (chunk) => { const request = chunk.toString(); ${answer}; count += 1; });
  `;
  return new InterpreterProcess(
    { file: process.execPath, args: ['-e', source], cwd: tmpdir() },
    maxReplyBytes,
  );
}

function startPool(answer: string, options: Partial<PoolOptions> = {}) {
  const { logger, lines } = createLogCollector();
  const processes: InterpreterProcess[] = [];
  const pool = new InterpreterPool({
    interpreters: 1,
    spares: 0,
    queueLimit: 100,
    resultLimitBytes: 1000,
    logger,
    boot: async () => {
      const process = pretender(answer);
      processes.push(process);
      return { process, heapBytes: 0 };
    },
    ...options,
  });
  pool.start();
  onTestFinished(() => pool.stop());
  return { pool, lines, processes };
}

const CALL: PoolCall<string> = {
  lane: 'expressions',
  request: Buffer.from('request'),
  variables: Buffer.alloc(0),
  pure: true,
  isRisky: false,
  timeoutMs: 5000,
  read: (answer) => answer.toString(),
};

describe('InterpreterPool', () => {
  it('distributes calls and returns their results', async () => {
    const { pool, processes } = startPool('reply("answer " + count)');
    const results = await Promise.all([pool.run(CALL), pool.run(CALL), pool.run(CALL)]);
    expect(results.map((result) => result.ok && result.answer)).toEqual([
      'answer 0',
      'answer 1',
      'answer 2',
    ]);
    expect(processes).toHaveLength(1);
  });

  it('repeats a call once if its process dies', async () => {
    const { pool, processes } = startPool('process.exit(3)');
    expect(await pool.run(CALL)).toMatchObject({ ok: false, error: { type: 'InterpreterCrash' } });
    expect(processes.length).toBeGreaterThanOrEqual(2);
    expect(pool.statistics.replaced).toBe(2);
  });

  it.each([
    ['a length beyond the limit', 'process.stdout.write(Buffer.alloc(24, 255))'],
    ['an outcome that does not exist', 'reply("x", 77)'],
    ['two replies', 'process.stdout.write(Buffer.concat([header(0, "x"), header(0, "y")]))'],
    [
      'an incomplete reply and then ends',
      'process.stdout.write(Buffer.alloc(10)); process.exit(0)',
    ],
  ])('discards a process that sends %s', async (_, answer) => {
    const { pool } = startPool(answer);
    const result = await pool.run(CALL);
    expect(result.ok ? '' : result.error.type).toBe('InterpreterCrash');
    expect(pool.statistics.replaced).toBeGreaterThan(0);
  });

  it.each([
    ['too-large', 2, 'ResultTooLarge', 0],
    ['denied', 3, 'SandboxViolation', 1],
    ['overflow', 4, 'RecursionError', 0],
    ['broken', 5, 'InterpreterCrash', 1],
  ])('understands the outcome %s', async (_, outcome, type, replaced) => {
    const { pool } = startPool(`reply("detail", ${outcome})`);
    expect(await pool.run(CALL)).toMatchObject({ ok: false, error: { type } });
    expect(pool.statistics.replaced).toBe(replaced);
  });

  it('discards a process whose response is unreadable', async () => {
    const { pool, lines } = startPool('reply("x")');
    const read = (): string => {
      throw new TypeError('a bug of ours');
    };
    expect(await pool.run({ ...CALL, read })).toMatchObject({
      ok: false,
      error: { type: 'InterpreterCrash' },
    });
    expect(pool.statistics.replaced).toBe(1);
    expect(lines.map(({ level }) => level)).toEqual(['error']);
    expect((await pool.run(CALL)).ok).toBe(true);
  });

  it('kills a process that does not respond, and uses the spare', async () => {
    const { pool } = startPool('if (!request.includes("hang")) reply("served")', { spares: 1 });
    const hang = { request: Buffer.from('hang'), timeoutMs: 50, isRisky: true };
    const hanging = pool.run({ ...CALL, ...hang });
    const waiting = pool.run(CALL);
    expect(await hanging).toMatchObject({ ok: false, error: { type: 'Timeout' } });
    expect(await waiting).toMatchObject({ ok: true, answer: 'served' });
    expect(pool.statistics).toMatchObject({ timeouts: 1, replaced: 1 });
  });

  it('interrupts a call that has timed out, and keeps the process if it confirms the interruption', async () => {
    const { pool, processes } = startPool(
      'if (request.includes("slow")) process.once("SIGINT", () => reply("", 1)); else reply("served")',
    );
    // Started before its time counts.
    expect(await pool.run(CALL)).toMatchObject({ ok: true, answer: 'served' });
    // Even on a busy machine, it has received the request by then.
    const slow = { ...CALL, request: Buffer.from('slow'), timeoutMs: 1000 };
    expect(await pool.run(slow)).toMatchObject({ ok: false, error: { type: 'Timeout' } });
    expect(pool.statistics).toMatchObject({ timeouts: 1, replaced: 0 });
    expect(processes).toHaveLength(1);
  });

  it('uses a response that arrives during the interruption, but discards the process', async () => {
    const { pool } = startPool(
      'if (request.includes("slow")) process.once("SIGINT", () => reply("late")); else reply("served")',
    );
    await pool.run(CALL);
    const slow = { ...CALL, request: Buffer.from('slow'), timeoutMs: 1000 };
    expect(await pool.run(slow)).toMatchObject({ ok: true, answer: 'late' });
    expect(pool.statistics).toMatchObject({ timeouts: 0, replaced: 1 });
    expect(await pool.run(CALL)).toMatchObject({ ok: true, answer: 'served' });
  });

  it('kills a process that ignores the interruption', async () => {
    const { pool, processes } = startPool(
      'process.on("SIGINT", () => {}); if (!request.includes("slow")) reply("served")',
    );
    await pool.run(CALL);
    const slow = { ...CALL, request: Buffer.from('slow'), timeoutMs: 50 };
    expect(await pool.run(slow)).toMatchObject({ ok: false, error: { type: 'Timeout' } });
    expect(processes[0]!.isDead).toBe(true);
    expect(await pool.run(CALL)).toMatchObject({ ok: true, answer: 'served' });
  });

  it('interrupts a canceled call until the process reacts, and keeps the process', async () => {
    // A call that arrives while the process is not listening is like one that has not started.
    const { pool, processes } = startPool(
      `if (!request.includes("slow")) { reply("served"); return; }
       let signals = 0;
       process.on("SIGINT", () => { if ((signals += 1) === 2) reply("", 1); });`,
    );
    expect(await pool.run(CALL)).toMatchObject({ ok: true, answer: 'served' });
    const abort = new AbortController();
    const slow = { ...CALL, request: Buffer.from('slow'), timeoutMs: 600_000 };
    const given = pool.run({ ...slow, signal: abort.signal });
    const waiting = pool.run({ ...slow, signal: abort.signal });
    const next = pool.run(CALL);
    // By then the process has its handler, or the signal kills it: a busy machine needs a while.
    await new Promise((resolve) => setTimeout(resolve, 500));
    abort.abort();
    for (const call of [given, waiting]) {
      expect(await call).toMatchObject({ ok: false, error: { type: 'Aborted' } });
    }
    expect(pool.statistics.queued).toBe(1);
    expect(await next).toMatchObject({ ok: true, answer: 'served' });
    expect(pool.statistics).toMatchObject({ busy: 0, queued: 0, replaced: 0, timeouts: 0 });
    expect(processes).toHaveLength(1);
  });

  it('does not interrupt a canceled call that ends shortly afterwards', async () => {
    const { pool, processes } = startPool('reply("served")');
    await pool.run(CALL);
    const abort = new AbortController();
    const given = pool.run({ ...CALL, signal: abort.signal });
    const next = pool.run(CALL);
    abort.abort();
    expect(await given).toMatchObject({ ok: false, error: { type: 'Aborted' } });
    expect(await next).toMatchObject({ ok: true, answer: 'served' });
    expect(processes.length).toBeLessThanOrEqual(2);
  });

  it('kills a process that continues a canceled call', async () => {
    const { pool, processes } = startPool(
      'process.on("SIGINT", () => {}); if (!request.includes("slow")) reply("served")',
    );
    await pool.run(CALL);
    const abort = new AbortController();
    const slow = { ...CALL, request: Buffer.from('slow'), timeoutMs: 600_000 };
    const given = pool.run({ ...slow, signal: abort.signal });
    abort.abort();
    expect(await given).toMatchObject({ ok: false, error: { type: 'Aborted' } });
    expect(await pool.run(CALL)).toMatchObject({ ok: true, answer: 'served' });
    expect(processes[0]!.isDead).toBe(true);
    expect(pool.statistics).toMatchObject({ replaced: 1, timeouts: 0 });
  });

  it('repeats a call that was interrupted from outside', async () => {
    const { pool, processes } = startPool('reply("", 1)');
    expect(await pool.run(CALL)).toMatchObject({ ok: false, error: { type: 'InterpreterCrash' } });
    expect(processes.length).toBeGreaterThanOrEqual(2);
    expect(pool.statistics).toMatchObject({ timeouts: 0, replaced: 2 });
  });

  it('boots a spare when a call that may need one runs for the first time', async () => {
    const { pool, processes } = startPool('reply("served")', { spares: 1 });
    expect(await pool.run(CALL)).toMatchObject({ ok: true });
    expect(processes).toHaveLength(1);
    expect(await pool.run({ ...CALL, isRisky: true })).toMatchObject({ ok: true });
    await expect.poll(() => pool.statistics.interpreters).toBe(2);
    expect(await pool.run({ ...CALL, isRisky: true })).toMatchObject({ ok: true });
    expect(processes).toHaveLength(2);
  });

  it('ends its spare after a while without risky calls, and boots one for the next risky call', async () => {
    const { pool, processes } = startPool('reply("served")', { spares: 1, spareQuietMs: 50 });
    const risky = { ...CALL, isRisky: true };
    await pool.run(risky);
    await expect.poll(() => processes).toHaveLength(2);
    await expect.poll(() => pool.statistics.interpreters).toBe(1);
    // The working one stays, and nothing was replaced.
    expect(processes.map(({ isDead }) => isDead)).toEqual([false, true]);
    expect(pool.statistics.replaced).toBe(0);
    await pool.run(risky);
    await expect.poll(() => processes).toHaveLength(3);
    expect(processes[0]!.isDead).toBe(false);
  });

  it('keeps its spare as long as risky calls arrive', async () => {
    const { pool, processes } = startPool('reply("served")', { spares: 1, spareQuietMs: 60_000 });
    await pool.run({ ...CALL, isRisky: true });
    await expect.poll(() => pool.statistics.interpreters).toBe(2);
    await pool.run({ ...CALL, isRisky: true });
    expect(processes.map(({ isDead }) => isDead)).toEqual([false, false]);
  });

  it('replaces an interpreter that has grown once another is ready', async () => {
    const { pool } = startPool(`reply("x", 0, ${100 * (1 << 20)})`, { spares: 1 });
    await pool.run({ ...CALL, isRisky: true });
    await expect.poll(() => pool.statistics.interpreters).toBe(2);
    const { replaced } = pool.statistics;
    expect((await pool.run(CALL)).ok).toBe(true);
    expect(pool.statistics.replaced).toBe(replaced + 1);
    await expect.poll(() => pool.statistics.interpreters).toBe(2);
  });

  it('rejects calls beyond its limit', async () => {
    const { pool } = startPool('setTimeout(() => reply("late"), 50)', { queueLimit: 2 });
    await expect.poll(() => pool.isReady).toBe(true);
    const results = await Promise.all([1, 2, 3, 4, 5].map(() => pool.run(CALL)));
    expect(results.map((result) => (result.ok ? 'ok' : result.error.type))).toEqual([
      'ok',
      'ok',
      'ok',
      'Overloaded',
      'Overloaded',
    ]);
  });

  it('reserves one of several interpreters for expressions', async () => {
    const { pool } = startPool('if (!request.includes("script")) reply("quick")', {
      interpreters: 2,
    });
    const abort = new AbortController();
    const script = {
      ...CALL,
      lane: 'scripts',
      request: Buffer.from('script'),
      signal: abort.signal,
      timeoutMs: 30_000,
    } as const;
    const scripts = [pool.run(script), pool.run(script), pool.run(script)];
    await expect.poll(() => pool.statistics.interpreters).toBe(2);
    expect(await pool.run(CALL)).toMatchObject({ ok: true, answer: 'quick' });
    expect(pool.statistics.queued).toBe(2);
    abort.abort();
    for (const result of await Promise.all(scripts)) {
      expect(result).toMatchObject({ ok: false, error: { type: 'Aborted' } });
    }
    expect(await pool.run(CALL)).toMatchObject({ ok: true, answer: 'quick' });
  });

  it('retries if a process fails to start, and reports when it never does', async () => {
    let attempts = 0;
    const { pool, lines } = startPool('', {
      boot: async () => {
        attempts += 1;
        if (attempts < 5) throw new Error(`attempt ${attempts}`);
        return { process: pretender('reply("at last")'), heapBytes: 0 };
      },
    });
    expect(await pool.run(CALL)).toMatchObject({ ok: false, error: { type: 'Unavailable' } });
    expect(attempts).toBe(3);
    // No caller waits for a process that never starts.
    expect(await pool.run(CALL)).toMatchObject({ ok: false, error: { type: 'Unavailable' } });
    await expect.poll(() => pool.isReady).toBe(true);
    expect(await pool.run(CALL)).toMatchObject({ ok: true, answer: 'at last' });
    expect(lines).toHaveLength(4);
  });

  it('replaces a process that dies while idle', async () => {
    const { pool, processes } = startPool('reply("x")');
    await expect.poll(() => pool.isReady).toBe(true);
    processes[0]!.kill('a test');
    await expect.poll(() => processes).toHaveLength(2);
    expect((await pool.run(CALL)).ok).toBe(true);
  });

  it('stops: running calls end, waiting calls are rejected, new calls are not accepted', async () => {
    const { pool, processes } = startPool('setTimeout(() => reply("done"), 100)');
    await expect.poll(() => pool.isReady).toBe(true);
    const running = pool.run(CALL);
    const waiting = pool.run(CALL);
    const stopped = pool.stop();
    expect(await waiting).toMatchObject({ ok: false, error: { type: 'Unavailable' } });
    expect(await running).toMatchObject({ ok: true, answer: 'done' });
    await stopped;
    expect(processes.every(({ isDead }) => isDead)).toBe(true);
    expect(await pool.run(CALL)).toMatchObject({ ok: false, error: { type: 'Unavailable' } });
    await pool.stop();
  });
});

describe('the script runtime', () => {
  it('stops before the start, while it boots, and twice', async () => {
    const { logger } = createLogCollector();
    const never = createPyodideRuntime({ ...DEFAULT_PYTHON_LIMITS, environment: {}, logger });
    await never.stop();
    const booting = createPyodideRuntime({ ...DEFAULT_PYTHON_LIMITS, environment: {}, logger });
    await booting.start();
    const waiting = booting.evaluate([{ source: 'sum([1, 1])' }], { data: {}, context: {} });
    await Promise.all([booting.stop(), booting.stop()]);
    expect(await waiting).toMatchObject({ ok: false, error: { type: 'Unavailable' } });
    expect(booting.ready).toBe(false);
    expect(booting.evaluate([{ source: 'data.a' }], { data: { a: 1 }, context: {} })).toEqual({
      ok: true,
      values: [1],
    });
    await expect(booting.checkSyntax('script', ['x'])).rejects.toMatchObject({
      code: 'python_unavailable',
    });
  });

  it('starts without a snapshot if the existing one is broken', async () => {
    const broken = join(folder, 'broken.bin');
    writeFileSync(broken, Buffer.alloc(1000));
    const started = await startRuntime({ snapshotPath: broken, spares: 0 });
    onTestFinished(() => started.runtime.stop());
    expect(await started.value('sum([1, 1])')).toBe(2);
    expect(started.lines.map(({ message }) => message)).toEqual([
      'a Python interpreter did not start',
      'a Python interpreter is ready',
    ]);
  }, 60_000);

  it('starts without a snapshot if none can be created', async () => {
    const started = await startRuntime({ snapshotPath: '/dev/null/snapshot.bin', spares: 0 });
    onTestFinished(() => started.runtime.stop());
    expect(await started.value('sum([1, 1])')).toBe(2);
    const expected = 'could not create a Python snapshot; interpreters will start more slowly';
    expect(started.lines[0]!.message).toBe(expected);
  }, 60_000);
});
