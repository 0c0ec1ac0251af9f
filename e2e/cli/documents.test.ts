/** Goal: the commands in docs/cli.md and in the example of a deployment work as printed. */
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
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
const DEPLOYMENT = new URL('../../examples/deployment/', import.meta.url);
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

/** What the jobs run, one after the other, as bash gets it from GitHub Actions. */
function commandsOfWorkflow(): string[] {
  const text = readFileSync(new URL('definitions.yml', DEPLOYMENT), 'utf8');
  const steps = [...text.matchAll(/^ +(?:- )?run: (?:\|\n((?: {10}.*\n)+)|(.*)\n)/gm)];
  const commands = steps.map(([, lines, line]) => lines?.replaceAll(/^ {10}/gm, '') ?? line);
  // Steps of a shape that the pattern does not know must not be left out silently.
  expect(commands).toHaveLength(text.split('run:').length - 1);
  // The command under test is the one that npm would install.
  return commands
    .filter((command) => command !== 'npm ci')
    .map((command = '') => command.replaceAll('npx stepwright', 'stepwright'));
}

it('deploys a repository as the example does, and disables deleted definitions', async () => {
  const repository = path.join(line.folder, 'shop');
  cpSync(new URL('flows', DEPLOYMENT), path.join(repository, 'flows'), { recursive: true });
  writeFileSync(path.join(repository, 'flows/greet.yaml'), GREETING.replace('greet', 'goodbye'));
  const git = 'git -c user.name=a -c user.email=a@example.com';
  const commit = `cd '${repository}'; git add .; ${git} commit --quiet --message change`;
  const summary = path.join(line.folder, 'summary.md');
  const variables = `export GITHUB_STEP_SUMMARY='${summary}'`;
  const commands = commandsOfWorkflow();
  const remote = 'git remote add origin https://github.com/acme/shop.git';
  const made = `cd '${repository}'; git init --quiet; ${remote}`;
  const first = await line.shell([made, commit, variables, ...commands].join('\n'));
  expect(first.code, first.stderr).toBe(0);
  const { origin } = await line.client.definitions.get('goodbye');
  expect(origin).toMatch(/^github\.com\/acme\/shop\/flows@[0-9a-f]{12}$/);

  rmSync(path.join(repository, 'flows/greet.yaml'));
  const changes = commands.filter((command) => /stepwright (?:diff|apply)/.test(command));
  const second = await line.shell([commit, variables, ...changes].join('\n'));
  expect(second.code, second.stderr).toBe(0);
  expect(readFileSync(summary, 'utf8')).toContain('goodbye: would be disabled');
  expect((await line.client.definitions.get('goodbye')).disabled).toBe(true);
  expect((await line.client.definitions.get('reminder')).disabled).toBe(false);
});
