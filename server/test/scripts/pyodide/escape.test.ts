/**
 * Attacks, each followed by these checks: did anything happen on the host, did a secret leak, does the next call notice
 * anything?
 *
 * Attacks on the host run on an interpreter without any restriction in Python, with ctypes, sockets and the bridge to
 * JavaScript imported: the sandbox boundary does not depend on these restrictions. Attacks on other users run on the
 * runtime.
 */
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import {
  createChildCommand,
  findPyodideFolder,
  RUNNER_PATH,
} from '../../../src/scripts/pyodide/child-command.js';
import { InterpreterProcess } from '../../../src/scripts/pyodide/interpreter-process.js';
import { createBootRequest } from '../../../src/scripts/pyodide/snapshot.js';
import {
  CONTAMINATIONS,
  FORGED_VALUES,
  FORGERIES,
  HOST_ATTACK_NAMES,
  hostAttacks,
  withPrelude,
  type AttackTargets,
} from './attacks.js';
import { startRuntime, type StartedRuntime } from './start-runtime.js';

const SECRET = 'STEPWRIGHT-TEST-SECRET-5c1f';
const TIMEOUT_MS = 1500;
const folder = mkdtempSync(join(tmpdir(), 'stepwright-escape-'));
const targets = {
  file: join(folder, 'created'),
  secretFile: join(folder, 'secret'),
  port: 0,
  pid: process.pid,
};

let listener: Server;
let connections = 0;
const signals: string[] = [];

beforeAll(async () => {
  process.env['STEPWRIGHT_SECRET'] = SECRET;
  writeFileSync(targets.secretFile, SECRET);
  listener = createServer((socket) => {
    connections += 1;
    socket.destroy();
  });
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
  targets.port = (listener.address() as { port: number }).port;
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) {
    process.on(signal, () => signals.push(signal));
  }
});

afterAll(() => {
  listener.close();
  rmSync(folder, { recursive: true });
});

function expectHostUntouched(answer: unknown, { file, secretFile }: AttackTargets = targets): void {
  expect(existsSync(file)).toBe(false);
  expect(readFileSync(secretFile, 'utf8')).toBe(SECRET);
  expect(connections).toBe(0);
  expect(signals).toEqual([]);
  expect(JSON.stringify(answer)).not.toContain(SECRET);
  expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
}

function attackNamed(name: string): string {
  return hostAttacks(targets).find((attack) => attack.name === name)!.source;
}

describe('the script runtime', () => {
  let started: StartedRuntime;

  beforeAll(async () => {
    started = await startRuntime({
      environment: { NAME: 'n1' },
      scriptTimeoutMs: TIMEOUT_MS,
      spares: 2,
    });
  });
  afterAll(() => started.runtime.stop());

  /** What the next call sees, in pure expressions, other expressions, and scripts. */
  async function expectNextUntouched(): Promise<void> {
    const { runtime } = started;
    const data = { a: 1, list: [3, 1, 2], text: 'aa' };
    const pure = await runtime.evaluate(
      [{ source: 'data.a + 1' }, { source: 'len(data.list)' }, { source: 'sorted(data.list)' }],
      { data, context: {} },
    );
    expect(pure).toEqual({ ok: true, values: [2, 3, [1, 2, 3]] });
    const impure = await runtime.evaluate(
      [
        { source: '(lambda: [data.a + 1, len(data.list), str(5), math.floor(2.5)])()' },
        { source: 're.sub("a", "b", data.text)' },
        { source: 'environment.NAME + environment["NAME"]' },
        { source: 'str(Decimal(1) / Decimal(3))' },
        { source: 'datetime(2024, 1, 1)' },
      ],
      { data, context: {} },
    );
    const third = '0.3333333333333333333333333333';
    expect(impure).toEqual({
      ok: true,
      values: [[2, 3, '5', 2], 'bb', 'n1n1', third, '2024-01-01T00:00:00'],
    });
    const script = await runtime.runScript('import json\nb = json.loads(json.dumps(a))\nprint(b)', {
      a: [1],
    });
    expect(script).toEqual({
      ok: true,
      variables: { a: [1], b: [1] },
      memoryBytes: expect.any(Number) as number,
      output: '[1]\n',
    });
  }

  it.each([
    'shell by posix.system',
    'environment',
    'socket',
    'the finder of the js module',
    'end the process',
    'crafted bytecode',
    'write to another descriptor',
  ])('denies access to the host: %s', async (name) => {
    const answer = await started.runtime.runScript(attackNamed(name), {});
    expectHostUntouched(answer);
    await expectNextUntouched();
  });

  it.each(Object.keys(CONTAMINATIONS))('removes every trace of a script: %s', async (name) => {
    const answer = await started.runtime.runScript(withPrelude(CONTAMINATIONS[name]!), {
      r: { a: 1 },
    });
    expectHostUntouched(answer);
    await expectNextUntouched();
    // The same in an expression, which shares its interpreter with other expressions.
    const source = `exec(${JSON.stringify(withPrelude(CONTAMINATIONS[name]!))}, {"r": data, "__builtins__": __builtins__})`;
    expectHostUntouched(await started.evaluate(source, { a: 1 }));
    await expectNextUntouched();
  });

  it.each(Object.keys(FORGERIES))('rejects a forged response to a script: %s', async (name) => {
    const source = withPrelude(`G["_collect"] = lambda *a: ${FORGERIES[name]!}`);
    const answer = await started.runtime.runScript(source, {});
    expectHostUntouched(answer);
    if (answer.ok) expect(Object.getPrototypeOf(answer.variables)).toBe(Object.prototype);
    else expect(answer.error.message.length).toBeLessThanOrEqual(4000);
    await expectNextUntouched();
  });

  it.each(Object.keys(FORGED_VALUES))(
    'rejects a forged value of an expression: %s',
    async (name) => {
      const forge = withPrelude(`G["_encode"] = lambda *a: ${FORGED_VALUES[name]!}`);
      const source = `exec(${JSON.stringify(forge)}, {"__builtins__": __builtins__})`;
      const batch = [{ source }, { source: '1 + 1' }];
      const answer = await started.runtime.evaluate(batch, { data: {}, context: {} });
      expectHostUntouched(answer);
      expect(answer.ok).toBe(false);
      await expectNextUntouched();
    },
  );

  it('sends only framed responses, whatever is written to standard output', async () => {
    const frame = '\\x00'.repeat(24);
    const answer = await started.runtime.runScript(
      withPrelude(`load("posix").write(1, b"${frame}")\nload("posix").write(2, b"error")\nx = 1`),
      {},
    );
    expect(answer.output).toBe('\0'.repeat(24) + 'error');
    await expectNextUntouched();
  });

  describe('an expression that only pretends to be pure', () => {
    it.each([
      '[len for len in [data.update]][0](a=666)',
      '[x for sorted in [1] for x in [data.list.append(666)]]',
      'sum(data.list.append(666) or 0 for max in [1])',
      '[data.list.sort() for data.x in [data]]',
      '[0 for data.a in [666]]',
      'sorted([3, 1, 2], key=data.list.append)',
      'f"{data.list.append(666)}"',
      '"{0.__class__.__init__.__globals__}".format(data)',
      '[c for c in [().__class__.__base__.__subclasses__]][0]()',
      '(x for x in [1]).gi_frame.f_back.f_back.f_globals["_encode"]',
      'data.ｃｌｅａｒ()',
      'data.＿＿class＿＿.__getattr__',
      'max([x for x in [data.clear]], key=lambda f: f())',
      'isinstance(1, data)',
      'json.dumps(data, default=data.clear)',
    ])('changes nothing: %s', async (source) => {
      const data = { a: 1, list: [1] };
      await started.evaluate(source, data);
      expect(data).toEqual({ a: 1, list: [1] });
      await expectNextUntouched();
    });
  });

  it('reveals nothing of other calls', async () => {
    const { runtime } = started;
    const marker = 'TENANT-A-7d0e';
    await runtime.evaluate(
      [{ source: `"${marker}".lower() + data.secret` }, { source: 'data.secret.upper()' }],
      {
        data: { secret: `${marker}-data` },
        context: {},
      },
    );
    await runtime.runScript(`keep = "${marker}" * 3\nprint(keep)`, { secret: `${marker}-input` });
    const search = withPrelude(
      [
        'needle = "TENANT-" + "A-7d0e"',
        'found = [repr(o)[:80] for o in gc.get_objects() if needle in repr(o)]',
        'found += [k for k in [*G["_compiled"], *G["_requests"]] if needle in k]',
        'found = [f for f in found if "needle" not in f]',
      ].join('\n'),
    );
    const answer = await runtime.runScript(search, {});
    if (answer.ok) expect(answer.variables['found']).toEqual([]);
    expect(JSON.stringify(answer)).not.toContain(marker);
    // Memory that was freed but not overwritten.
    const memory = withPrelude(
      'needle = b"TENANT-" + b"A-7d0e"\nblocks = [bytearray.__new__(bytearray, 0) for _ in range(10)]\n' +
        'x = sum(bytes(b).count(needle) for b in gc.get_objects() if isinstance(b, (bytes, bytearray)) and b is not needle)\ndel blocks',
    );
    expect(await runtime.runScript(memory, {})).toMatchObject({ ok: true, variables: { x: 0 } });
  });

  it('does not repeat its random numbers', async () => {
    const draw = async (): Promise<string> =>
      JSON.stringify([
        await started.value('random.random()'),
        await started.value(
          '[random.randint(0, 10 ** 9), str(uuid.uuid4()), random.choice(range(10 ** 6))]',
        ),
        await started.value('str(uuid.uuid4())'),
        await started.runtime.runScript(
          'import random, secrets, uuid\nx = [random.random(), secrets.token_hex(8), str(uuid.uuid1()), random.SystemRandom().random()]',
          {},
        ),
      ]);
    const draws = [];
    for (let index = 0; index < 5; index += 1) draws.push(await draw());
    const numbers = draws.flatMap((text) => text.match(/0\.\d{6,}|[0-9a-f-]{16,}|\d{7,}/g) ?? []);
    expect(new Set(numbers).size).toBe(numbers.length);
    expect(numbers.length).toBeGreaterThanOrEqual(30);
  });

  it('reports the calls that the sandbox boundary denied', () => {
    const messages = started.lines
      .filter(({ level }) => level === 'warn')
      .map(({ message }) => message);
    expect(messages).toContain('stopped Python code that tried to leave its sandbox');
    expect(started.lines.filter(({ level }) => level === 'error')).toEqual([]);
  });
});

describe('the sandbox boundary alone, without restrictions in Python', () => {
  const bareRunner = join(folder, 'bare-runner.py');
  let interpreter: InterpreterProcess;

  async function startBare(): Promise<void> {
    const limits = {
      memoryLimitBytes: 160 << 20,
      resultLimitBytes: 2 << 20,
      outputLimitBytes: 1 << 16,
      recursionMax: 1000,
    };
    interpreter = new InterpreterProcess(
      createChildCommand(findPyodideFolder(), [bareRunner]),
      8 << 20,
    );
    const request = createBootRequest(
      { ...limits, environment: {} },
      { task: 'serve', snapshotPath: null },
    );
    await interpreter.boot({ ...request, runnerPath: bareRunner }, AbortSignal.timeout(60_000));
  }

  async function call(request: object): Promise<{ outcome: string; text: string }> {
    const end = await interpreter.call({
      request: Buffer.from(JSON.stringify(request)),
      variables: Buffer.from('{}'),
      timeoutMs: TIMEOUT_MS,
      pure: false,
    });
    if (end.kind !== 'reply') return { outcome: end.kind, text: '' };
    return {
      outcome: end.reply.outcome,
      text: end.reply.result.toString() + end.reply.output.toString(),
    };
  }

  beforeAll(async () => {
    const imports =
      '\nimport ctypes, threading, asyncio, subprocess, socket, os, pyodide.http, pyodide.code, js, pyodide_js, urllib.request';
    const unrestricted =
      '\n_SCRIPT_BUILTINS.clear()\n_SCRIPT_BUILTINS.update(vars(builtins))\ndef finish():\n    pass\n';
    writeFileSync(bareRunner, readFileSync(RUNNER_PATH, 'utf8') + imports + unrestricted);
    await startBare();
  });
  afterAll(async () => {
    interpreter.kill('done');
    await interpreter.waitForExit();
  });
  afterEach(async () => {
    // The pool never reuses an interpreter that behaved unexpectedly.
    if (interpreter.isDead) await startBare();
  });

  it('is tested without any restriction in Python', async () => {
    const { outcome, text } = await call({
      kind: 'script',
      source: 'import ctypes, os, js\nx = ctypes.sizeof(ctypes.c_int)\ndel js',
    });
    expect({ outcome, text }).toEqual({
      outcome: 'answered',
      text: '{"names":["x"],"unchanged":[]}\n4',
    });
  });

  it.each(HOST_ATTACK_NAMES)('denies %s', async (name) => {
    const answer = await call({ kind: 'script', source: attackNamed(name) });
    expectHostUntouched(answer);
    const next = await call({ kind: 'expressions', sources: ['1 + 1'], targets: [null] });
    // Some attacks break the interpreter beyond repair, which is why the pool discards it.
    if (answer.outcome === 'answered') {
      expect(next).toEqual({ outcome: 'answered', text: '{}\n2' });
    } else if (next.text !== '{}\n2') {
      interpreter.kill('broken');
    }
  });

  it.each([
    'import js\njs.process.env',
    'import js\njs.fetch("http://127.0.0.1:PORT")',
    'from pyodide.code import run_js\nrun_js("process.mainModule")',
    'from js import eval as e\ne("process")',
    'import os\nos.system("touch FILE")',
    'import subprocess\nsubprocess.run(["touch", "FILE"])',
    'import socket\nsocket.create_connection(("127.0.0.1", PORT))',
    'import urllib.request\nurllib.request.urlopen("http://127.0.0.1:PORT")',
    'import pyodide.http\npyodide.http.open_url("http://127.0.0.1:PORT")',
    'import asyncio\nasyncio.run(asyncio.sleep(1))',
    'import threading\nt = threading.Thread(target=print)\nt.start()',
    'import pyodide_js\npyodide_js.loadPackage("x")',
    'import pyodide_js\npyodide_js._api.initializeNodeSockFS()',
    'import ctypes\nctypes.CDLL(None).emscripten_run_script(b"1")',
    'import ctypes\nctypes.pythonapi.emscripten_asm_const_int(1, 1, 1)',
    'import ctypes, sys\nfor i in range(1, 12000):\n  ctypes.memmove(id(type("T", (), {})) + 4 * (i % 40), ctypes.byref(ctypes.c_int(i)), 4)',
  ])('denies %s', async (source) => {
    const answer = await call({
      kind: 'script',
      source: source.replaceAll('PORT', String(targets.port)).replaceAll('FILE', targets.file),
    });
    expectHostUntouched(answer);
    const next = await call({ kind: 'expressions', sources: ['1 + 1'], targets: [null] });
    if (next.text !== '{}\n2') interpreter.kill('broken');
  });
});
