/**
 * Goal: runs can be started, listed, shown, followed and exported from a terminal and from scripts.
 * Method: the real command, in a pseudo-terminal and in a pipe, against one server.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../../sdk/test/support/eventually.js';
import { TcpProxy } from '../../sdk/test/support/tcp-proxy.js';
import { CommandLine } from './command-line.js';
import { ENDING, ORDER } from './definitions.js';

const ESCAPE = '\u001b';
/** What a hostile caller could put into the data of a run. */
const HOSTILE = `${ESCAPE}[2J${ESCAPE}]0;owned\u0007\u009b31m\u202e`;

let line: CommandLine;

beforeAll(async () => {
  line = await CommandLine.start();
  await line.client.definitions.register(ORDER);
  await line.client.definitions.register(ENDING);
});
afterAll(() => line.stop());

async function start(...args: readonly string[]): Promise<string> {
  const { code, stderr, stdout } = await line.pipe(['run', 'order', ...args]);
  if (code !== 0) throw new Error(stderr);
  return stdout.trim();
}

describe('stepwright run', () => {
  it('prints only the id to a pipe', async () => {
    const { code, stderr, stdout } = await line.pipe(['run', 'order', '-d', 'order=A1']);
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout: expect.stringMatching(/^\S+\n$/) as string,
    });
    expect(stderr).toBe(`Started order, version 1. Show its progress: stepwright show ${stdout}`);
  });

  it('takes data, reference, tags and version', async () => {
    const file = path.join(line.folder, 'order.json');
    writeFileSync(file, '{"order":"A2","id":12345678901234567890}');
    const data = ['-d', `@${file}`, '-d', 'amount=7', '-d', '{"list":["a"]}'];
    const more = ['--reference', 'ref-2', '--tag', 'team=billing', '--version', '1'];
    const id = await start(...data, ...more);
    const { stdout } = await line.pipe(['show', id, '--json']);
    expect(stdout).toContain('12345678901234567890');
    expect(await line.client.workflows.get(id)).toMatchObject({
      reference: 'ref-2',
      tags: { team: 'billing' },
      data: { order: 'A2', amount: 7, list: ['a'] },
    });
  });

  it('reads data from standard input', async () => {
    const { code, stdout } = await line.pipe(['run', 'order', '-d', '@-'], {
      input: '{"order":"A3"}',
    });
    expect(code).toBe(0);
    expect((await line.client.workflows.get(stdout.trim())).data).toEqual({ order: 'A3' });
  });

  it('starts one run per idempotency key', async () => {
    const args = ['-d', 'order=A4', '--idempotency-key', 'key-1'];
    expect(await start(...args)).toBe(await start(...args));
  });

  it('says that it joined a run, and the outcome of that', async () => {
    const args = ['-d', 'order=A5', '--reference', 'A5', '--on-conflict', 'existing'];
    const id = await start(...args);
    await line.client.workflows.handle(id).terminate();
    const { code, stderr, stdout } = await line.pipe([
      'run',
      'order',
      ...args,
      '--conflict-scope',
      'kept',
    ]);
    expect({ code, stdout }).toEqual({ code: 0, stdout: `${id}\n` });
    expect(stderr).toBe(
      `Joined run ${id} (Terminated) of order, which has the reference A5. Show its progress: stepwright show ${id}\n`,
    );
    expect(await start(...args)).not.toBe(id);
  });

  it('explains the problem with the data', async () => {
    const { code, stderr } = await line.pipe(['run', 'order', '-d', 'amount=1']);
    expect(code).toBe(1);
    expect(stderr).toMatch(/order/);
  });

  it.each([
    { how: 'succeed', code: 0, status: 'Succeeded' },
    { how: 'fail', code: 10, status: 'Failed' },
    { how: 'suspend', code: 13, status: 'Suspended' },
  ])('ends --wait with $code if the run is $status', async ({ code, how, status }) => {
    const args = ['run', 'ending', '--wait', '-d', `how=${how}`, '-d', 'message=broken'];
    const piped = await line.pipe(args);
    expect(piped).toMatchObject({ code, stderr: expect.stringContaining(status) as string });
    if (code !== 13) expect(JSON.parse(piped.stdout)).toEqual({ how, message: 'broken' });
    if (code !== 0) expect(piped.stderr).toContain(': broken');
    expect((await line.terminal(args)).code).toBe(code);
  });

  it('ends the wait with --timeout, not the run', async () => {
    const args = ['run', 'order', '-d', 'order=A5', '--wait', '--timeout', '1s', '--json'];
    const { code, stdout } = await line.pipe(args);
    expect(code).toBe(14);
    expect(JSON.parse(stdout)).toMatchObject({ status: 'Runnable', data: { order: 'A5' } });
  });

  it('prints the steps with --follow as they run, in a terminal and in a pipe', async () => {
    const args = ['run', 'order', '-d', 'order=A6', '--follow'];
    const both = [line.terminal(args), line.pipe(args)] as const;
    await eventually('both runs wait', async () => {
      const { count } = await line.client.workflows.count({ where: 'order=A6' });
      return count === 2;
    });
    const waiting = async (): Promise<boolean> => {
      let found = 0;
      for await (const run of line.client.workflows.list({ where: 'order=A6' })) {
        const { reasons } = await line.client.workflows.explain(run.workflowId);
        if (reasons.some(({ kind }) => kind === 'event')) found += 1;
      }
      return found === 2;
    };
    await eventually('both wait for the event', waiting);
    await line.client.events.publish('approved', 'A6', { by: 'Ada' });
    const [terminal, pipe] = await Promise.all(both);
    expect(terminal.code).toBe(0);
    expect(terminal.screen).toContain(`${ESCAPE}[32m✓${ESCAPE}[39m finish`);
    expect(terminal.screen).toContain('"by": "Ada"');
    expect(pipe.code).toBe(0);
    const lines = pipe.stdout.split('\n');
    expect(lines[0]).toMatch(/^\d\d:\d\d:\d\d ✓ check {2}\d+ ms$/);
    expect(pipe.stdout).toMatch(/✓ ask .*\n(.*\n)*.*✓ finish .*\n\{\n {2}"order": "A6",/);
    expect(pipe.stdout).not.toContain(ESCAPE);
  });

  it('continues --follow after a lost connection', async () => {
    const proxy = await TcpProxy.start(line.url);
    const { id } = await line.client.workflows.start('order', { order: 'A7' });
    let shown = '';
    const following = line.pipe(['steps', id, '--follow', '--url', proxy.url], {
      onOutput: (stdout) => (shown = stdout),
    });
    await eventually('it shows that the run waits', () => shown.includes('… ask'));
    proxy.down();
    await line.client.events.publish('approved', 'A7', null);
    await line.client.workflows.wait(id);
    await eventually('it has tried to connect again', () => proxy.refused > 1);
    proxy.up();
    const { code, stdout } = await following;
    await proxy.close();
    expect(code).toBe(0);
    expect(stdout).toContain('✓ finish');
  });

  it('prints with --follow --json one line per change, and the run', async () => {
    const args = ['run', 'ending', '--follow', '--json', '-d', 'how=succeed'];
    const { code, stdout } = await line.pipe(args);
    expect(code).toBe(0);
    const values = stdout
      .trim()
      .split('\n')
      .map((text): unknown => JSON.parse(text));
    expect(values).toMatchObject([
      { stepId: 'work', status: 'Complete' },
      { outcome: 'Succeeded' },
    ]);
  });
});

describe('stepwright find', () => {
  it('finds runs by their id, reference and tags, and says why', async () => {
    const id = await start(
      '-d',
      'order=F1',
      '--reference',
      'found-7311',
      '--tag',
      'batch=b-found-7311',
    );
    const { code, stdout } = await line.pipe(['find', 'found-7311']);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^RUN +FOUND +DEFINITION/);
    expect(stdout).toMatch(new RegExp(`^${id} +reference = found-7311 +order v1 `, 'm'));
    const byTag = await line.pipe(['find', 'b-found']);
    expect(byTag.stdout).toContain('tag batch starts with b-found');
    expect(await line.json(['find', id])).toMatchObject({
      items: [{ workflow: { workflowId: id }, matches: [{ of: 'id', relation: 'equal' }] }],
      nextCursor: null,
    });
  });

  it('says that nothing was found, and that the text is a definition', async () => {
    expect(await line.pipe(['find', 'no such text'])).toEqual({
      code: 0,
      stdout: '',
      stderr: 'No runs were found.\n',
    });
    const { stderr } = await line.pipe(['find', 'order']);
    expect(stderr).toContain('order is a definition; its runs: stepwright list --definition order');
  });

  it('takes as many as --limit says', async () => {
    for (let count = 0; count < 3; count += 1) {
      await start('-d', 'order=F2', '--reference', `many-${count}`);
    }
    const page = await line.json(['find', 'many-', '--limit', '2']);
    expect((page as { items: unknown[] }).items).toHaveLength(2);
    expect((await line.pipe(['find', 'many-', '--limit', '2'])).stderr).toContain('--limit');
  });
});

describe('stepwright list', () => {
  it('prints a table that fits the terminal, with colors', async () => {
    const id = await start('-d', 'order=L1', '--reference', `long-${'x'.repeat(180)}`);
    const one = await line.terminal(['list', '--where', 'order=L1'], { columns: 90 });
    expect(one.code).toBe(0);
    expect(one.screen).toContain(`${ESCAPE}[36mRunnable${ESCAPE}[39m`);
    expect(one.screen).toContain(id);
    expect(one.screen).toContain('xxx…');
    // Of the widths that people use: the longest ids and the shortest problems need 80.
    for (const columns of [80, 90, 120]) {
      const { screen } = await line.terminal(['list', '--limit', '50'], { columns });
      const rows = withoutColors(screen).trimEnd().split('\n');
      expect(rows.length).toBeGreaterThan(5);
      expect(rows.filter((row) => row.length > columns)).toEqual([]);
    }
  });

  it('prints everything in plain text to a pipe', async () => {
    const { code, stdout } = await line.pipe(['list', '--where', 'order=L1']);
    expect(code).toBe(0);
    expect(stdout).toContain('x'.repeat(180));
    expect(stdout).not.toContain(ESCAPE);
  });

  it('has no colors with NO_COLOR', async () => {
    const { screen } = await line.terminal(['list'], { environment: { NO_COLOR: '1' } });
    expect(screen).toContain('Runnable');
    expect(screen).not.toContain(ESCAPE);
  });

  it('prints with --json the shape of the API, with as many items as requested', async () => {
    const page = await line.json<{ items: object[]; nextCursor: string | null }>([
      'list',
      '--limit',
      '2',
      '--status',
      'Runnable',
      '--started-from',
      '1h',
    ]);
    expect(page.items).toHaveLength(2);
    expect(page.items[0]).toMatchObject({ status: 'Runnable' });
    expect(page.nextCursor).toEqual(expect.any(String));
  });

  it('reports an empty list, and rejects unknown statuses', async () => {
    const none = await line.pipe(['list', '--definition', 'nothing']);
    expect(none).toEqual({ code: 0, stdout: '', stderr: 'There are no runs.\n' });
    const wrong = await line.pipe(['list', '--status', 'Running']);
    expect(wrong.code).toBe(2);
    expect(wrong.stderr).toContain('Runnable, Suspended, Complete, Terminated');
  });
});

describe('a command for one run', () => {
  it('prints the run with its data for show', async () => {
    const id = await start('-d', 'order=S1', '--tag', 'team=billing');
    const { code, stdout } = await line.pipe(['show', id]);
    expect(code).toBe(0);
    expect(stdout).toMatch(
      new RegExp(`^Run +${id}\nDefinition +order, version 1\nStatus +Runnable\n`),
    );
    expect(stdout).toMatch(/^Started +\d{4}-\d\d-\d\d \d\d:\d\d:\d\d, (now|\d+ seconds? ago)$/m);
    expect(stdout).toContain('Data\n{\n  "order": "S1"\n}\n');
    expect((await line.terminal(['show', id])).screen).toContain(`${ESCAPE}[1mStatus`);
    expect(await line.json(['show', id])).toMatchObject({
      workflowId: id,
      tags: { team: 'billing' },
    });
  });

  it('ends show quietly when its output is no longer read', async () => {
    // More than a pipe holds.
    const list = Array.from({ length: 20_000 }, (_, index) => index);
    const { id } = await line.client.workflows.start('order', { order: 'S5', list });
    const { code, stderr, stdout } = await line.shell(`stepwright show ${id} --json | head -1`);
    expect({ code, stderr, stdout }).toEqual({ code: 0, stderr: '', stdout: '{\n' });
  });

  it('lists the steps for steps, and follows them to the end', async () => {
    const id = await start('-d', 'order=S2');
    const { stdout } = await line.pipe(['steps', id]);
    expect(stdout).toMatch(
      /^#  STEP   TYPE     STATUS    STARTED .*\n1  check  NoOp     Complete /,
    );
    expect(stdout).toMatch(/2 {2}ask .*waits for event approved\/S2$/m);
    const one = await line.json<{ items: object[] }>(['steps', id, '--status', 'Waiting']);
    expect(one.items).toMatchObject([{ stepId: 'ask', status: 'Waiting' }]);
    const following = line.pipe(['steps', id, '--follow']);
    await line.client.events.publish('approved', 'S2', null);
    const followed = await following;
    expect(followed.code).toBe(0);
    expect(followed.stdout).toContain('✓ finish');
    expect((await line.terminal(['steps', id])).screen).toContain('finish');
  });

  it('says for explain why the run waits, and how to repair it', async () => {
    const id = await start('-d', 'order=S3');
    const waiting = await line.pipe(['explain', id]);
    expect(waiting.stdout).toMatch(/^Runnable: ask: has been waiting for event approved\/S3 /);
    expect(await line.json(['explain', id])).toMatchObject({ reasons: [{ kind: 'event' }] });

    const failing = await line.pipe(['run', 'ending', '-d', 'how=suspend', '-d', "message=it's"]);
    const failed = failing.stdout.trim();
    const suspended = async (): Promise<boolean> =>
      (await line.client.workflows.get(failed)).status === 'Suspended';
    await eventually('it is suspended', suspended);
    const { screen } = await line.terminal(['explain', failed]);
    expect(withoutColors(screen)).toMatch(
      new RegExp(`^ {4}stepwright (modify|rerun) ${failed} `, 'm'),
    );
  });

  it('prints everything for export, or writes it to a file', async () => {
    const id = await start('-d', 'order=S4');
    const file = path.join(line.folder, 'export.json');
    const expected = { workflow: { workflowId: id }, input: { order: 'S4' }, steps: [{}, {}] };
    expect(await line.json(['export', id])).toMatchObject(expected);
    expect((await line.terminal(['export', id])).screen).toContain('"order": "S4"');
    expect((await line.pipe(['export', id, '-o', file])).code).toBe(0);
    expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject(expected);
  });

  it('ends with 5 for a run that does not exist', async () => {
    for (const command of ['show', 'steps', 'explain', 'export']) {
      const { code, stderr } = await line.pipe([command, 'nope']);
      expect({ command, code }).toEqual({ command, code: 5 });
      expect(stderr).toContain("There is no run with the id 'nope'");
    }
  });
});

describe('hostile text', () => {
  it('does not reach the terminal', async () => {
    const data = JSON.stringify({ how: 'fail', message: HOSTILE });
    const started = await line.pipe(['run', 'ending', '-d', data, '--reference', 'hostile']);
    const id = started.stdout.trim();
    await line.client.workflows.wait(id);
    const commands = [
      ['list'],
      ['show', id],
      ['show', id, '--json'],
      ['steps', id],
      ['explain', id],
      ['export', id],
    ];
    commands.push(['run', 'ending', '-d', data, '--follow']);
    for (const command of commands) {
      const { screen } = await line.terminal(command, { columns: 400 });
      const shown = withoutColors(screen);
      // The text is there, and nothing of it is more than text.
      expect(shown).toContain('\\u202e');
      expect(shown).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/);
    }
  });
});

/** Without the colors that the command itself sets. */
function withoutColors(text: string): string {
  return text.replaceAll(/\u001b\[\d\d?m/g, '');
}
