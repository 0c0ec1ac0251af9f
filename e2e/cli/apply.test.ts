/**
 * Goal: `apply` ends with a server that has the folder, and does what its options say.
 * Method: the real command against a real server. Stopped at each of its requests: server/test/cli/interrupted-apply.test.ts;
 * several at once: server/test/cli/deployment.test.ts.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { text as textOf } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { BIN, CommandLine } from './command-line.js';

let line: CommandLine;

beforeAll(async () => {
  line = await CommandLine.start();
});
afterAll(() => line.stop());

/** Two definitions. */
function writeFolder(name: string, prefix: string, text: string): string {
  const folder = path.join(line.folder, name);
  mkdirSync(folder, { recursive: true });
  for (const id of [`${prefix}-a`, `${prefix}-b`]) {
    const definition = `Id: ${id}\nDescription: ${text}\nSteps:\n  - Id: a\n    StepType: NoOp\n`;
    writeFileSync(path.join(folder, `${id}.yaml`), definition);
  }
  return folder;
}

async function stateOf(prefix: string): Promise<string[]> {
  const texts = ['a', 'b'].map(async (id) => {
    const place = `/api/definition/${prefix}-${id}?source=true`;
    return (await fetch(line.url + place)).text();
  });
  return (await Promise.all(texts)).map((text) => /one|two/.exec(text)?.[0] ?? 'none');
}

async function versionsOf(id: string): Promise<number> {
  const response = await fetch(`${line.url}/api/definition/${id}/versions`);
  const { items = [] } = (await response.json()) as { readonly items?: readonly object[] };
  return items.length;
}

describe('stepwright apply', () => {
  it('applies nothing if one file is wrong, and says where', async () => {
    const folder = writeFolder('wrong', 'wrong', 'one');
    const bad = path.join(folder, 'z.yaml');
    writeFileSync(bad, 'Id: z\nSteps:\n  - Id: a\n    StepType: missing\n');
    const { code, stderr } = await line.pipe(['apply', folder]);
    expect(code).toBe(1);
    expect(stderr).toContain(`${bad}:4:`);
    expect(await stateOf('wrong')).toEqual(['none', 'none']);
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

  it('uploads nothing that a link leads to out of the folder, and names the link', async () => {
    const folder = writeFolder('linked', 'linked', 'one');
    const secret = path.join(line.folder, 'profiles.json');
    writeFileSync(secret, '{"token": "profile-token-1"}');
    symlinkSync('../profiles.json', path.join(folder, 'taken.py'));
    for (const command of ['apply', 'diff', 'validate']) {
      const { code, stderr, stdout } = await line.pipe([command, folder]);
      expect(code, command).toBe(1);
      expect(stderr + stdout, command).toContain(path.join(folder, 'taken.py'));
      expect(stderr + stdout, command).not.toContain('profile-token');
    }
    expect((await fetch(`${line.url}/api/step/taken`)).status).toBe(404);
    expect(await stateOf('linked')).toEqual(['none', 'none']);
  });

  it('forges no line with the name of a file', async () => {
    const { stderr } = await line.pipe(['validate', 'a\n::error::forged\u001b[2J']);
    const [, ...others] = stderr.trimEnd().split('\n');
    expect(others).toEqual([expect.stringMatching(/^ {2}\| ::error::forged\\u001b\[2J/)]);
  });

  it('ends right when it is killed between two files and repeated', async () => {
    const folder = writeFolder('killed', 'killed', 'one');
    expect(await killedAfterFirstWrite(folder)).toBe('SIGKILL');
    expect(await stateOf('killed')).toEqual(['one', 'none']);
    expect((await line.pipe(['apply', folder])).code).toBe(0);
    expect(await stateOf('killed')).toEqual(['one', 'one']);
    expect(await versionsOf('killed-a')).toBe(1);
  });
});

describe('stepwright apply --prune', () => {
  it('disables the definitions that the same source has stored and the folder no longer has, and nothing else', async () => {
    const shop = writeFolder('prune-shop', 'prune', 'one');
    const text = (id: string): string => `Id: ${id}\nSteps: [{ Id: a, StepType: NoOp }]\n`;
    await line.client.definitions.register(text('by-hand'));
    await line.client.definitions.register(text('theirs'), { origin: 'other@1' });
    expect((await line.pipe(['apply', shop, '--origin', 'shop@1'])).code).toBe(0);
    rmSync(path.join(shop, 'prune-b.yaml'));
    const next = [shop, '--prune', '--origin', 'shop@2'];

    const shown = await line.pipe(['diff', '--exit-code', ...next]);
    expect(shown).toMatchObject({
      code: 1,
      stdout: 'prune-b: would be disabled (version 1, from shop@1)\n',
    });
    const dry = await line.json<object>(['apply', '--dry-run', ...next]);
    expect(dry).toMatchObject({ disable: [{ id: 'prune-b', version: 1, origin: 'shop@1' }] });
    const refused = await line.pipe(['apply', ...next]);
    expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining('--yes') as string });
    const prompt = 'Apply the folder, and disable 1 definition? [y/N]';
    const answered = await line.terminal(['apply', ...next], { typed: { prompt, text: 'n\n' } });
    expect(answered.code).toBe(1);
    // Neither does the end of the input agree.
    const ended = await line.terminal(['apply', ...next], { typed: { prompt, text: '\u0004' } });
    expect(ended.code).toBe(1);
    expect(ended.screen).toContain('nothing was applied');
    expect(await disabledIds()).toEqual([]);

    const done = await line.terminal(['apply', ...next], { typed: { prompt, text: 'y\n' } });
    expect(done.code, done.screen).toBe(0);
    expect(done.screen).toContain('prune-b: disabled');
    expect(await disabledIds()).toEqual(['prune-b']);
    const again = await line.pipe(['apply', ...next]);
    expect(again).toMatchObject({ code: 0, stdout: '' });
    expect(again.stderr).toContain('0 to disable');

    // It comes back disabled: nobody but a person knows why it is.
    writeFolder('prune-shop', 'prune', 'one');
    const back = await line.pipe(['apply', ...next]);
    expect(back.stderr).toContain('stepwright definitions enable prune-b');
    expect(await disabledIds()).toEqual(['prune-b']);
    await line.client.definitions.enable('prune-b');
  });

  it('needs to know where the folder comes from', async () => {
    const folder = writeFolder('prune-nowhere', 'nowhere', 'one');
    expect(await line.pipe(['apply', folder, '--prune'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('--origin') as string,
    });
    expect(await stateOf('nowhere')).toEqual(['none', 'none']);
  });
});

// Last: as long as the server has no script, checks need no Python.
describe('stepwright apply, with scripts', () => {
  it('applies once, and then changes nothing', async () => {
    const folder = writeFolder('plain', 'plain', 'one');
    writeFileSync(path.join(folder, 'shout.py'), 'loud = text.upper()\n');
    expect(await line.pipe(['diff', '--exit-code', folder])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('3 to create') as string,
    });
    const first = await line.terminal(['apply', folder]);
    expect(first.screen).toContain('plain-a.yaml: version 1');
    expect(await stateOf('plain')).toEqual(['one', 'one']);
    expect(await line.client.steps.get('shout')).toBe('loud = text.upper()\n');
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

  it('accepts a step that only the server has', async () => {
    await line.client.steps.put('elsewhere', 'a = 1\n');
    const folder = writeFolder('other', 'other', 'one');
    const uses = 'Id: uses\nSteps: [{ Id: a, StepType: elsewhere }]\n';
    writeFileSync(path.join(folder, 'uses.yaml'), uses);
    expect(await line.pipe(['apply', folder])).toMatchObject({ code: 0 });
    expect(await line.client.steps.get('elsewhere')).toBe('a = 1\n');
  });
});

async function disabledIds(): Promise<string[]> {
  const found: string[] = [];
  for await (const { disabled, id } of line.client.definitions.list()) if (disabled) found.push(id);
  return found;
}

/** Through a proxy, which does not pass on the answer. @returns the signal that has ended the command */
async function killedAfterFirstWrite(folder: string): Promise<string | null> {
  let child: ChildProcess | null = null;
  const proxy = createServer((request, response) => {
    void (async () => {
      const { headers, method = 'GET', url = '' } = request;
      const content = { 'content-type': headers['content-type'] ?? '' };
      const body = await textOf(request);
      const write = { method, headers: content, body };
      const answer = await fetch(line.url + url, method === 'POST' ? write : {});
      const answered = await answer.text();
      if (method === 'POST') child?.kill('SIGKILL');
      else response.writeHead(answer.status).end(answered);
    })();
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  const url = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
  child = spawn(process.execPath, [BIN, 'apply', folder, '--url', url], { stdio: 'ignore' });
  const [, signal] = (await once(child, 'exit')) as [number | null, string | null];
  proxy.closeAllConnections();
  proxy.close();
  return signal;
}
