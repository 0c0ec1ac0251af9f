/** Goal: what a server has can be listed, shown, and taken out of use. Method: the real command, in a pipe and in a pseudo-terminal. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CommandLine } from './command-line.js';

const TEXT =
  '# Says hello \u202e\nId: hello\nDescription: Says hello\nSteps: [{ Id: a, StepType: NoOp }]\n';
const ORIGIN = 'github.com/acme/shop/flows@3f2c1a9';
let line: CommandLine;

beforeAll(async () => {
  line = await CommandLine.start();
  await line.client.definitions.register('Id: hello\nSteps: [{ Id: a, StepType: NoOp }]\n');
  await line.client.definitions.register(TEXT, { origin: ORIGIN });
  await line.client.steps.put('shout', 'loud = 1\n');
  await line.client.steps.put('shout', 'loud = 2\n');
});
afterAll(() => line.stop());

describe('stepwright definitions', () => {
  it('lists definitions and versions, with their origin', async () => {
    const row = new RegExp(`^hello +2 +enabled +.* ${ORIGIN} +Says hello$`, 'm');
    expect((await line.pipe(['definitions', 'list'])).stdout).toMatch(row);
    expect((await line.terminal(['definitions', 'list'])).screen).toContain('hello');
    const { stdout } = await line.pipe(['definitions', 'versions', 'hello']);
    expect(stdout).toMatch(new RegExp(`^hello +2 [^]*\nhello +1 `, 'm'));
    expect((await line.terminal(['definitions', 'versions', 'hello'])).screen).toContain(ORIGIN);
    expect(await line.json(['definitions', 'list'])).toMatchObject({
      items: [{ id: 'hello', version: 2, origin: ORIGIN, disabled: false }],
    });
    expect(await line.json(['definitions', 'versions', 'hello'])).toMatchObject({
      items: [{ origin: ORIGIN }, { origin: null }],
    });
    const first = await line.pipe(['definitions', 'versions', 'hello', '--limit', '1']);
    expect(first.stderr).toContain('--limit shows more');
  });

  it('shows one definition with its text', async () => {
    const { stdout } = await line.pipe(['definitions', 'show', 'hello']);
    expect(stdout).toMatch(new RegExp(`^Version +2\nOrigin +${ORIGIN}\nState +enabled\n`, 'm'));
    expect(stdout.endsWith(TEXT)).toBe(true);
    // Exact for programs, and harmless for people.
    const source = ['definitions', 'show', 'hello', '--source'];
    expect((await line.pipe(source)).stdout).toBe(TEXT);
    expect((await line.terminal(source)).screen).toContain('hello \\u202e\n');
    expect((await line.pipe([...source, '--version', '1'])).stdout).toMatch(/^Id: hello\nSteps/);
    expect(await line.json(['definitions', 'show', 'hello'])).toMatchObject({ origin: ORIGIN });
    expect((await line.pipe(['definitions', 'show', 'none'])).code).toBe(5);
  });

  it('disables and enables', async () => {
    expect(await line.pipe(['definitions', 'disable', 'hello'])).toMatchObject({
      code: 0,
      stdout: 'hello: disabled\n',
    });
    expect((await line.pipe(['run', 'hello'])).stderr).toContain("'hello' is disabled");
    expect((await line.terminal(['definitions', 'enable', 'hello'])).screen).toBe(
      'hello: enabled\n',
    );
    expect((await line.pipe(['run', 'hello', '--wait'])).code).toBe(0);
    expect((await line.pipe(['definitions', 'disable', 'none'])).code).toBe(5);
  });
});

describe('stepwright scripts', () => {
  it('lists and shows scripts', async () => {
    expect((await line.pipe(['scripts', 'list'])).stdout).toMatch(/^shout +2 /m);
    expect((await line.terminal(['scripts', 'list'])).screen).toContain('shout');
    expect((await line.pipe(['scripts', 'versions', 'shout'])).stdout).toMatch(
      /^shout +2 [^]*\nshout +1 /m,
    );
    expect((await line.terminal(['scripts', 'versions', 'shout'])).screen).toContain('shout');
    expect((await line.pipe(['scripts', 'show', 'shout'])).stdout).toBe('loud = 2\n');
    const first = await line.terminal(['scripts', 'show', 'shout', '--version', '1']);
    expect(first.screen).toBe('loud = 1\n');
    expect(await line.json(['scripts', 'show', 'shout'])).toMatchObject({ source: 'loud = 2\n' });
    expect((await line.pipe(['scripts', 'show', 'none'])).code).toBe(5);
  });
});
