/** Goal: the commands in docs/cli.md work as printed. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { CommandLine } from './command-line.js';
import { ORDER } from './definitions.js';

const PAGE = readFileSync(new URL('../../docs/cli.md', import.meta.url), 'utf8');
const GREETING = `Id: greet
Steps:
  - Id: done
    StepType: EmitLog
    Inputs:
      Message: '"hello"'
`;
const blocks = [...PAGE.matchAll(/^```sh\n([^]*?)^```$/gm)].map(([, text = '']) => text);

let line: CommandLine;
beforeAll(async () => {
  line = await CommandLine.start();
  await line.client.definitions.register(ORDER);
});
afterAll(() => line.stop());

function block(first: string): string {
  const found = blocks.find((text) => text.startsWith(first));
  if (found === undefined) throw new Error(`no block begins with ${first}`);
  return found;
}

it('starts, explains and follows a run', async () => {
  const { code, stderr, stdout } = await line.shell(block('id=$(stepwright run'));
  expect(code, stderr).toBe(0);
  expect(stdout).toContain('has been waiting for event approved/4711');
  expect(stdout).toContain('✓ finish');
  expect(stdout).toContain('"by": "Ada"');
});

it('stores a profile, and uses it', async () => {
  const token = path.join(line.folder, 'token.txt');
  writeFileSync(token, 'not-needed-here\n');
  // The server of the tests, and a file of theirs.
  const script = block('stepwright profile set')
    .replace('https://stepwright.shop.example', line.url)
    .replace('token.txt', token);
  const { code, stderr } = await line.shell(`unset STEPWRIGHT_URL\n${script}`);
  expect(code, stderr).toBe(0);
});

it('completes in bash', async () => {
  const [first = ''] = block('eval "$(stepwright completion bash)"').split('\n');
  const { code, stderr, stdout } = await line.shell(`${first}\ncomplete -p stepwright`);
  expect(code, stderr).toBe(0);
  expect(stdout).toContain('-F _stepwright stepwright');
});

it('checks and applies a folder', async () => {
  mkdirSync(path.join(line.folder, 'flows'));
  writeFileSync(path.join(line.folder, 'flows/greet.yaml'), GREETING);
  // The command under test is the one that the first line would install.
  const script = block('npm install')
    .replace('npm install --save-dev stepwright\n', '')
    .replaceAll('npx stepwright', 'stepwright');
  const { code, stderr } = await line.shell(`cd '${line.folder}'\n${script}`);
  expect(code, stderr).toBe(0);
  expect((await line.client.definitions.get('greet')).version).toBe(1);
});

it('has no block that is not tested', () => {
  expect(blocks).toHaveLength(4);
});
