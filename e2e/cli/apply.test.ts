/**
 * Goal: `apply` ends with a server that has the folder, whole, whatever happens in between.
 * Method: the real command against a real server; a proxy ends the command at each of its requests, before or after the
 * server has handled it. Several at once: server/test/cli/deployment.test.ts.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { BIN, CommandLine } from './command-line.js';

let line: CommandLine;

beforeAll(async () => {
  line = await CommandLine.start();
});
afterAll(() => line.stop());

/** Two definitions and the script that they use. */
function writeFolder(name: string, prefix: string, text: string): string {
  const folder = path.join(line.folder, name);
  mkdirSync(folder, { recursive: true });
  writeFileSync(path.join(folder, `${prefix}-step.py`), `loud = '${text}'\n`);
  for (const id of [`${prefix}-a`, `${prefix}-b`]) {
    const definition = `Id: ${id}\nDescription: ${text}\nSteps:\n  - Id: a\n    StepType: ${prefix}-step\n`;
    writeFileSync(path.join(folder, `${id}.yaml`), definition);
  }
  return folder;
}

async function stateOf(prefix: string): Promise<string[]> {
  const get = async (place: string): Promise<string> => (await fetch(line.url + place)).text();
  const texts = await Promise.all([
    get(`/api/step/${prefix}-step`),
    get(`/api/definition/${prefix}-a?source=true`),
    get(`/api/definition/${prefix}-b?source=true`),
  ]);
  return texts.map((text) => /one|two/.exec(text)?.[0] ?? 'none');
}

async function versionsOf(id: string): Promise<number> {
  const response = await fetch(`${line.url}/api/definition/${id}/versions`);
  const { items = [] } = (await response.json()) as { readonly items?: readonly object[] };
  return items.length;
}

describe('stepwright apply', () => {
  it('applies once, and then changes nothing', async () => {
    const folder = writeFolder('plain', 'plain', 'one');
    const dry = await line.pipe(['apply', '--dry-run', folder]);
    expect(dry).toMatchObject({
      code: 0,
      stderr: expect.stringContaining('3 to create') as string,
    });
    expect(await stateOf('plain')).toEqual(['none', 'none', 'none']);
    expect(await line.pipe(['diff', '--exit-code', folder])).toMatchObject({ code: 1 });
    const first = await line.terminal(['apply', folder]);
    expect(first.screen).toContain('plain-a.yaml: version 1');
    expect(await stateOf('plain')).toEqual(['one', 'one', 'one']);
    const again = await line.json<{ readonly changes: readonly object[] }>(['apply', folder]);
    expect(again.changes).toHaveLength(3);
    for (const change of again.changes) {
      expect(change).toMatchObject({ action: 'unchanged', version: null });
    }
    expect(await versionsOf('plain-a')).toBe(1);
    expect(await line.pipe(['diff', '--exit-code', folder])).toMatchObject({ code: 0, stdout: '' });
    writeFolder('plain', 'plain', 'two');
    const { stdout } = await line.pipe(['diff', folder]);
    expect(stdout).toContain('-Description: one\n+Description: two\n');
  });

  it('applies nothing if one file is wrong, and says where', async () => {
    const folder = writeFolder('wrong', 'wrong', 'one');
    const bad = path.join(folder, 'z.yaml');
    writeFileSync(bad, 'Id: z\nSteps:\n  - Id: a\n    StepType: missing\n');
    const { code, stderr } = await line.pipe(['apply', folder]);
    expect(code).toBe(1);
    expect(stderr).toContain(`${bad}:4:`);
    expect(await stateOf('wrong')).toEqual(['none', 'none', 'none']);
  });

  it('accepts a step that only the server has', async () => {
    await line.client.steps.put('elsewhere', 'a = 1\n');
    const folder = writeFolder('other', 'other', 'one');
    writeFileSync(
      path.join(folder, 'uses.yaml'),
      'Id: uses\nSteps: [{ Id: a, StepType: elsewhere }]\n',
    );
    expect(await line.pipe(['apply', folder])).toMatchObject({ code: 0 });
    expect(await line.client.steps.get('elsewhere')).toBe('a = 1\n');
  });

  it('rejects two files with one name', async () => {
    const folder = writeFolder('twice', 'twice', 'one');
    writeFileSync(
      path.join(folder, 'again.yaml'),
      'Id: twice-a\nSteps: [{ Id: a, StepType: NoOp }]\n',
    );
    const { code, stderr } = await line.pipe(['apply', folder]);
    expect(code).toBe(1);
    expect(stderr).toContain("are both the definition 'twice-a'");
  });

  it.each(['before', 'after'] as const)(
    'killed %s any of its requests and repeated, ends right',
    async (moment) => {
      const prefix = `killed-${moment}`;
      let wasKilled = true;
      let requests = 0;
      for (let nth = 1; wasKilled; nth += 1) {
        // Each trial begins from the other state, so that there is always work to interrupt.
        const text = nth % 2 === 0 ? 'one' : 'two';
        const folder = writeFolder(prefix, prefix, text);
        wasKilled = await killedAt(nth, moment, folder);
        expect((await line.pipe(['apply', folder])).code).toBe(0);
        expect(await stateOf(prefix)).toEqual([text, text, text]);
        // One version for each trial: nothing was stored twice.
        expect(await versionsOf(`${prefix}-a`)).toBe(nth);
        requests = nth;
      }
      // The list of steps, three reads, and for each file a read and a write; then three reads again.
      expect(requests).toBeGreaterThan(10);
    },
  );
});

/** @returns whether the command had that many requests */
async function killedAt(nth: number, moment: 'before' | 'after', folder: string): Promise<boolean> {
  let count = 0;
  let child: ChildProcess | null = null;
  const proxy = createServer((request, response) => {
    void (async () => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      count += 1;
      const isTheOne = count === nth;
      if (isTheOne && moment === 'before') {
        child?.kill('SIGKILL');
        return;
      }
      const type = request.headers['content-type'];
      const answer = await fetch(`${line.url}${request.url ?? ''}`, {
        method: request.method ?? 'GET',
        ...(type !== undefined && { headers: { 'content-type': type } }),
        ...(chunks.length > 0 && { body: Buffer.concat(chunks) }),
      });
      const text = await answer.text();
      if (isTheOne) child?.kill('SIGKILL');
      else response.writeHead(answer.status).end(text);
    })();
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  try {
    const url = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
    child = spawn(process.execPath, [BIN, 'apply', folder, '--url', url], { stdio: 'ignore' });
    const [, signal] = (await once(child, 'exit')) as [number | null, string | null];
    return signal === 'SIGKILL';
  } finally {
    proxy.closeAllConnections();
    proxy.close();
  }
}
