/**
 * Goal: limits are set up, seen and removed in the terminal, and deployed from files.
 * Method: the real command in a pipe, against one server; `dev` with a server of its own.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { BIN, CommandLine } from './command-line.js';

const LIMIT = `# From the contract
Name: shop
Concurrency: 5
Rate: { Count: 100, Per: 1m, Burst: 10 }
`;
const FLOW = `Id: buy
Steps:
  - Id: pay
    StepType: Activity
    Inputs: { ActivityName: '"pay"' }
    Limits: [{ Name: shop, Units: 5 }]
`;

let line: CommandLine;

beforeAll(async () => {
  line = await CommandLine.start();
});
afterAll(() => line.stop());

function write(folder: string, name: string, text: string): string {
  const file = path.join(line.folder, folder, name);
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, text);
  return path.dirname(file);
}

describe('stepwright limits', () => {
  const call = (...args: readonly string[]) => line.pipe(['limits', ...args]);

  it('sets up, lists, shows and removes limits', async () => {
    const body = { description: 'contract', rate: { count: 100, per: '1m', burst: 10 } };
    const put = await call('put', 'pay api', '--body', JSON.stringify(body));
    expect([put.code, put.stderr]).toEqual([0, '']);
    expect(put.stdout).toMatch(/^Rate +100 per 1m, burst 10$/m);
    expect((await call('list')).stdout).toMatch(/^pay api +100 per 1m, burst 10 +0 +0/m);
    const shown = await call('show', 'pay api', '--json');
    expect(JSON.parse(shown.stdout)).toMatchObject({ name: 'pay api', concurrency: null, held: 0 });
    expect((await call('remove', 'pay api')).stderr).toBe('Removed the limit pay api.\n');
    expect((await call('show', 'pay api')).code).toBe(5);
    const refused = await call('put', 'pay', '--body', '{"concurrency": 0}');
    expect(refused.code).toBe(1);
    expect(refused.stderr).toContain('Concurrency must be a whole number from 1 to 100000, not 0.');
  });
});

describe('a folder with limits', () => {
  it('is applied once, limits first, and compared by what the limits mean', async () => {
    const folder = write('applied', 'a.yaml', FLOW);
    write('applied', 'z.limit.yaml', LIMIT);
    expect((await line.pipe(['validate', '--strict', folder])).code).toBe(0);
    const before = await line.pipe(['diff', '--exit-code', folder]);
    expect(before.code).toBe(1);
    expect(before.stdout).toContain('+Name: shop\n+Concurrency: 5\n+Rate:\n+  Count: 100\n');

    const applied = await line.pipe(['apply', folder]);
    expect([applied.code, applied.stderr]).toEqual([0, expect.stringContaining('2 to create')]);
    expect(applied.stdout).toBe(`${folder}/z.limit.yaml: set up\n${folder}/a.yaml: version 1\n`);
    expect(await line.client.limits.get('shop')).toMatchObject({ concurrency: 5 });
    expect((await line.pipe(['diff', '--exit-code', folder])).code).toBe(0);

    // Another notation of the same limit changes nothing.
    write(
      'applied',
      'z.limit.yaml',
      '{"name": "shop", "concurrency": 5, "rate": {"count": 100, "per": "1m", "burst": 10}}',
    );
    expect((await line.pipe(['diff', '--exit-code', folder])).code).toBe(0);
    write('applied', 'z.limit.yaml', LIMIT.replace('5', '6'));
    const after = await line.pipe(['diff', folder]);
    expect(after.stdout).toContain('-Concurrency: 5\n+Concurrency: 6\n');
    const { changes } = await line.json<{ changes: object[] }>(['apply', folder]);
    expect(changes).toMatchObject([
      { kind: 'limit', id: 'shop', action: 'update', version: null },
      { kind: 'definition', id: 'buy', action: 'unchanged' },
    ]);
    expect(await line.client.limits.get('shop')).toMatchObject({ concurrency: 6 });
  });

  it('is refused with the line and column of each mistake, and a suggestion', async () => {
    const folder = write(
      'wrong',
      'a.limit.yaml',
      'Name: wrong\nConcurency: 5\nRate:\n  Count: 0\n',
    );
    for (const command of ['validate', 'apply']) {
      const { code, stderr, stdout } = await line.pipe([command, folder]);
      const shown = stdout + stderr;
      expect(code, command).toBe(1);
      expect(shown, command).toMatch(/a\.limit\.yaml:2:\d+: error: .*mean "Concurrency"\?/);
      expect(shown, command).toMatch(/a\.limit\.yaml:3:\d+: error: Rate requires a Per/);
      expect(shown, command).toMatch(/a\.limit\.yaml:4:\d+: error: Count must be a whole number/);
    }
    await expect(line.client.limits.get('wrong')).rejects.toThrow("no limit with the name 'wrong'");
  });

  it('is refused with steps whose limits are neither there nor on the server', async () => {
    const name = 'not-in-the-folder';
    const folder = write('unknown', 'a.yaml', FLOW.replace('shop', name).replace('buy', 'unknown'));
    const validated = await line.pipe(['validate', folder]);
    expect(validated.code).toBe(1);
    expect(validated.stdout).toMatch(/a\.yaml:6:\d+: error: There is no limit named/);
    expect((await line.pipe(['apply', folder])).code).toBe(1);

    await line.client.limits.put(name, { concurrency: 4 });
    const tooMany = await line.pipe(['apply', folder]);
    expect(tooMany.stderr).toMatch(/a\.yaml:6:\d+: error: Units must be at most 4/);
    await line.client.limits.put(name, { concurrency: 5 });
    expect((await line.pipe(['apply', folder])).code).toBe(0);
  });

  it('needs a name in each limit, which no other limit has', async () => {
    const nameless = write('nameless', 'a.limit.yaml', 'Concurrency: 1\n');
    expect((await line.pipe(['validate', nameless])).stdout).toContain('requires a Name');
    const twice = write('twice', 'a.limit.yaml', LIMIT);
    write('twice', 'b.limit.yml', LIMIT);
    expect((await line.pipe(['apply', twice])).stderr).toContain("are both the limit 'shop'");
  });
});

describe('stepwright dev', () => {
  let child: ChildProcess | null = null;
  afterEach(() => void child?.kill('SIGKILL'));

  it('sets up limits, and the definitions that wait for them', async () => {
    const folder = write('dev', 'a.yaml', FLOW);
    const { HOME = '', PATH = '' } = process.env;
    const env = { HOME, PATH, PORT: '0', DATA_DIR: path.join(line.folder, 'data') };
    let printed = '';
    child = spawn(process.execPath, [BIN, 'dev', '--memory', folder], { env });
    for (const stream of [child.stdout, child.stderr]) {
      stream?.setEncoding('utf8').on('data', (text: string) => (printed += text));
    }
    const until = (text: string, again = (): unknown => null) =>
      vi.waitFor(
        () => {
          // A file that is written before the folder is watched isn't noticed.
          if (!printed.includes(text)) again();
          expect(printed).toContain(text);
        },
        { timeout: 40_000, interval: 500 },
      );
    const change = (text: string) => () => write('dev', 'shop.limit.yaml', text);
    await until('There is no limit named "shop"');
    await until('shop.limit.yaml: set up', change(LIMIT));
    await until('a.yaml: registered, version 1');
    await until('Did you mean "Rate"?', change(LIMIT.replace('Rate', 'Rat')));
    await until('shop.limit.yaml: not registered; the last valid version stays');
  });
});
