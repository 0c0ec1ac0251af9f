/** Interpreter processes that are interrupted: while they work, while they are idle, and when the server is gone. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Writable } from 'node:stream';
import { setTimeout as wait } from 'node:timers/promises';
import { afterEach, describe, expect, it, onTestFinished } from 'vitest';
import {
  createChildCommand,
  findPyodideFolder,
} from '../../../src/scripts/pyodide/child-command.js';
import { encodeRequestHeader, type RequestFrame } from '../../../src/scripts/pyodide/frames.js';
import { InterpreterProcess } from '../../../src/scripts/pyodide/interpreter-process.js';
import {
  createBootRequest,
  defaultSnapshotPath,
  ensureSnapshot,
} from '../../../src/scripts/pyodide/snapshot.js';
import { startRuntime } from './start-runtime.js';

const LIMITS = {
  memoryLimitBytes: 160 << 20,
  resultLimitBytes: 2 << 20,
  outputLimitBytes: 1 << 16,
  recursionMax: 1000,
  environment: {},
};
const running: InterpreterProcess[] = [];
afterEach(async () => {
  for (const process of running.splice(0)) {
    process.kill('done');
    await process.waitForExit();
  }
});

async function start(leaseMs = 60_000): Promise<InterpreterProcess> {
  const snapshotPath = defaultSnapshotPath();
  await ensureSnapshot(snapshotPath, AbortSignal.timeout(60_000));
  const interpreter = new InterpreterProcess(
    createChildCommand(findPyodideFolder(), [snapshotPath]),
    8 << 20,
  );
  running.push(interpreter);
  const request = createBootRequest(LIMITS, { task: 'serve', snapshotPath });
  await interpreter.boot({ ...request, leaseMs }, AbortSignal.timeout(60_000));
  return interpreter;
}

function frame(source: string, timeoutMs: number, pure = true): RequestFrame {
  const request = { kind: 'expressions', sources: [source], targets: [null], pure };
  return {
    request: Buffer.from(JSON.stringify(request)),
    variables: Buffer.from('{}'),
    timeoutMs,
    pure,
  };
}

const ENDLESS = 'sum(1 for x in range(10 ** 12))';
/** Nothing in these tests takes this long. */
const LONG_MS = 30_000;
/** The time in which a process becomes idle, or notices a signal. It cannot be observed from outside. */
const SETTLING_MS = 200;

async function outcomeOf(interpreter: InterpreterProcess, asked: RequestFrame): Promise<string> {
  const end = await interpreter.call(asked);
  return end.kind === 'reply' ? `${end.reply.outcome} ${end.reply.result.toString()}` : end.kind;
}

describe('an interpreter that is interrupted', () => {
  it('ends its call and continues to serve, any number of times', async () => {
    const interpreter = await start();
    for (let round = 0; round < 5; round += 1) {
      expect(await outcomeOf(interpreter, frame(ENDLESS, 50))).toBe('timeout ');
      expect(await outcomeOf(interpreter, frame('1 + 1', LONG_MS))).toBe('answered {}\n2');
    }
  });

  it('ends a call that is not pure and continues to serve', async () => {
    const interpreter = await start();
    expect(await outcomeOf(interpreter, frame('(lambda: sum(iter(int, 1)))()', 50, false))).toBe(
      'timeout ',
    );
    expect(await outcomeOf(interpreter, frame('1 + 1', LONG_MS))).toBe('answered {}\n2');
  });

  it('ignores the interruption while idle, as after Ctrl-C', async () => {
    const interpreter = await start();
    expect(await outcomeOf(interpreter, frame('1 + 1', LONG_MS))).toBe('answered {}\n2');
    for (let round = 0; round < 3; round += 1) {
      await wait(SETTLING_MS);
      process.kill(interpreter.id!, 'SIGINT');
      await wait(SETTLING_MS);
      expect(await outcomeOf(interpreter, frame('2 + 2', LONG_MS))).toBe('answered {}\n4');
    }
  });

  it('continues to serve after its lease has expired while idle', async () => {
    const interpreter = await start(500);
    await wait(500 + SETTLING_MS);
    expect(await outcomeOf(interpreter, frame('2 + 2', LONG_MS))).toBe('answered {}\n4');
    expect(await outcomeOf(interpreter, frame('3 + 3', LONG_MS))).toBe('answered {}\n6');
  });

  it('ends by itself if the server is gone while infinite code is running', async () => {
    const { file, args, cwd } = createChildCommand(findPyodideFolder(), [defaultSnapshotPath()]);
    const orphan = spawn(file, args, { cwd, env: {}, stdio: ['pipe', 'pipe', 'inherit'] });
    const ended = once(orphan, 'exit');
    const task = { task: 'serve', snapshotPath: defaultSnapshotPath() } as const;
    const boot = Buffer.from(JSON.stringify({ ...createBootRequest(LIMITS, task), leaseMs: 100 }));
    send(orphan.stdin, { ...frame('', 0), request: boot });
    await once(orphan.stdout, 'data');
    send(orphan.stdin, frame(ENDLESS, 50));
    orphan.stdin.end();
    orphan.stdout.destroy();
    expect(await ended).toEqual([1, null]);
  });
});

describe('an expression that always times out', () => {
  it('does not delay others once this is known', async () => {
    const started = await startRuntime({ expressionTimeoutMs: 300 });
    onTestFinished(() => started.runtime.stop());
    expect(await started.evaluate(ENDLESS)).toMatchObject({
      ok: false,
      error: { type: 'Timeout' },
    });
    const ended: string[] = [];
    const flood = Array.from({ length: 6 }, async () => {
      const result = await started.evaluate(ENDLESS);
      ended.push(result.ok ? 'endless?' : result.error.type);
    });
    const harmless = Array.from({ length: 6 }, async () => {
      const result = await started.evaluate('abs(data.n)', { n: -1 });
      ended.push(result.ok ? 'served' : result.error.type);
    });
    await Promise.all(harmless);
    // One was running when they arrived, and one more may run before them.
    expect(ended.filter((end) => end === 'Timeout').length).toBeLessThanOrEqual(2);
    expect(ended.filter((end) => end === 'served')).toHaveLength(6);
    await Promise.all(flood);
  });
});

function send(pipe: Writable, asked: RequestFrame): void {
  pipe.write(Buffer.concat([encodeRequestHeader(asked), asked.request, asked.variables]));
}
