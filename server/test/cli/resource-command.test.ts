/** Goal: the commands of a resource follow from its description, and nothing but the output decides between text and JSON. */
import { readdirSync, readFileSync } from 'node:fs';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text as textOf } from 'node:stream/consumers';
import { Command } from 'commander';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { nodesOf } from '../../src/cli/completion/tree.js';
import { resource } from '../../src/cli/resources/resource-command.js';
import { addCommands } from '../../src/cli/resources/server-command.js';

interface Rate {
  readonly name: string;
  readonly perSecond: number;
  readonly changedTime: string;
}

const RATE: Rate = { name: 'mail', perSecond: 5, changedTime: new Date().toISOString() };

const rates = resource<Rate>({
  description: 'manage rates',
  noun: 'rate',
  path: '/api/rate',
  key: ['name', 'the name of a rate'],
  columns: [
    { title: 'RATE', text: ({ name }) => name },
    { title: 'PER SECOND', text: ({ perSecond }) => String(perSecond), alignRight: true },
  ],
  pairs: ({ name, perSecond }) => [
    ['Rate', name],
    ['Per second', String(perSecond)],
  ],
  commands: {
    list: 'list rates',
    put: 'set up a rate, or replace it',
    show: 'show a rate',
    pause: 'pause a rate',
    versions: 'list the versions of a rate',
    remove: 'remove a rate',
  },
});

/** The calls that the server has received: method, path and body. */
let calls: string[] = [];
/** The items of its lists. */
let items: readonly Rate[] = [RATE];

async function callOf(request: IncomingMessage): Promise<string> {
  const { method = '', url = '' } = request;
  return [method, url, await textOf(request)].filter((part) => part !== '').join(' ');
}

const server = createServer((request, response) => {
  void callOf(request).then((call) => {
    calls.push(call);
    const isList = /^GET \/api\/rate(?:$|\?|.*\/versions)/.test(call);
    if (call.startsWith('DELETE')) response.writeHead(204).end();
    else response.end(JSON.stringify(isList ? { items, nextCursor: null } : RATE));
  });
});

beforeAll(() => new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve)));
afterAll(() => new Promise<void>((resolve) => server.close(() => resolve())));
beforeEach(() => {
  calls = [];
  items = [RATE];
});

function program(): Command {
  const root = new Command('stepwright').exitOverride();
  addCommands(root, { rates });
  return root;
}

interface Printed {
  readonly stdout: string;
  readonly stderr: string;
}

async function run(...args: readonly string[]): Promise<Printed> {
  const printed = { stdout: '', stderr: '' };
  const spies = (['stdout', 'stderr'] as const).map((stream) =>
    vi.spyOn(process[stream], 'write').mockImplementation((text) => {
      printed[stream] += String(text);
      return true;
    }),
  );
  const { port } = server.address() as AddressInfo;
  try {
    const url = ['--url', `http://127.0.0.1:${port}`];
    await program().parseAsync(['rates', ...args, ...url], { from: 'user' });
  } finally {
    for (const spy of spies) spy.mockRestore();
  }
  return printed;
}

const PAIRS = 'Rate        mail\nPer second  5\n';
const TABLE = 'RATE  PER SECOND\nmail           5\n';
const BODY = ['--body', 'perSecond=5'];

describe('a resource', () => {
  it.each([
    { args: ['list'], call: 'GET /api/rate', stdout: TABLE },
    { args: ['versions', 'mail'], call: 'GET /api/rate/mail/versions?limit=50', stdout: TABLE },
    { args: ['show', 'mail'], call: 'GET /api/rate/mail', stdout: PAIRS },
    { args: ['put', 'mail', ...BODY], call: 'PUT /api/rate/mail {"perSecond":5}', stdout: PAIRS },
    { args: ['pause', 'mail'], call: 'PUT /api/rate/mail/pause', stdout: PAIRS },
    { args: ['show', 'a/b'], call: 'GET /api/rate/a%2Fb', stdout: PAIRS },
  ])('prints the response to $call', async ({ args, call, stdout }) => {
    expect(await run(...args)).toEqual({ stdout, stderr: '' });
    expect(calls).toEqual([call]);
  });

  it('confirms a removal on standard error', async () => {
    expect(await run('remove', 'mail')).toEqual({ stdout: '', stderr: 'Removed the rate mail.\n' });
    expect(calls).toEqual(['DELETE /api/rate/mail']);
  });

  it('reports an empty list on standard error', async () => {
    items = [];
    expect(await run('list')).toEqual({ stdout: '', stderr: 'There are no rates.\n' });
  });

  it.each([
    { args: ['list'], value: { items: [RATE], nextCursor: null } },
    { args: ['versions', 'mail'], value: { items: [RATE], nextCursor: null } },
    { args: ['show', 'mail'], value: RATE },
    { args: ['put', 'mail', ...BODY], value: RATE },
    { args: ['pause', 'mail'], value: RATE },
    { args: ['remove', 'mail'], value: { name: 'mail', removed: true } },
  ])('prints JSON with --json: $args.0', async ({ args, value }) => {
    const { stderr, stdout } = await run(...args, '--json');
    expect(JSON.parse(stdout)).toEqual(value);
    expect(stderr).toBe('');
  });

  it.each([['..'], ['.'], ['']])(
    'rejects the name %j, which would change the path',
    async (name) => {
      await expect(run('remove', name)).rejects.toMatchObject({ exitCode: 2 });
      expect(calls).toEqual([]);
    },
  );

  it('is completed by shells', () => {
    const [, group, ...commands] = nodesOf(program());
    const names = ['list', 'put', 'show', 'pause', 'versions', 'remove'];
    expect(group?.commands.map(({ name }) => name)).toEqual([...names, 'help']);
    const optionsOf = (name: string): readonly string[] | undefined =>
      commands.find(({ path }) => path === `rates ${name}`)?.options.map((option) => option.name);
    expect(optionsOf('put')).toEqual(expect.arrayContaining(['--body', '--json', '--url']));
    expect(optionsOf('list')).not.toContain('--limit');
    expect(optionsOf('versions')).toContain('--limit');
  });
});

it('leaves the choice between text and JSON to the output', () => {
  const folder = new URL('../../src/cli/', import.meta.url);
  const choosing = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && file !== 'output/output.ts')
    .filter((file) =>
      /\bif \(!?(?:\w+\.)?json\b|\bjson \?/.test(readFileSync(new URL(file, folder), 'utf8')),
    );
  expect(choosing).toEqual([]);
});
