/**
 * One call of each command, as a person and a program make it. In this order: what one call creates, later ones use. Each
 * place has names of its own, so that the calls of all places can run at the same time.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { StepwrightClient } from '@stepwright/sdk';
import { eventually } from '../../sdk/test/support/eventually.js';
import { RETRYING } from './definitions.js';

/** Where a command runs: `json` is a pipe, with --json. */
export const PLACES = ['terminal', 'pipe', 'json'] as const;
export type Place = (typeof PLACES)[number];

/** What the commands of one place use. */
export interface Scene {
  readonly place: Place;
  readonly client: StepwrightClient;
  readonly url: string;
  /** Of the files of this place. */
  readonly folder: string;
  /** Where notifications go. */
  readonly target: string;
}

export interface Trial {
  /** The command, as in the tree of commands. */
  readonly command: string;
  readonly args?: (scene: Scene) => readonly string[] | Promise<readonly string[]>;
  /** What people see. */
  readonly shows: RegExp;
  readonly code?: number;
  /** There is nothing to emphasize. */
  readonly isPlain?: boolean;
  /** It prints texts of others, addresses or keys, which are not cut. */
  readonly isWide?: boolean;
  /** With --json, it prints one JSON on each line. */
  readonly hasJsonLines?: boolean;
  /** It runs until it is stopped, which is done when it has printed this. */
  readonly stopAfter?: RegExp;
}

const QUICK = 'Id: quick\nSteps: [{ Id: work, StepType: NoOp }]\n';
const REASON = ['--reason', 'a test'];

const orderOf = ({ place }: Scene): string => `order-${place}`;
const fileOf = ({ folder }: Scene, name: string): string => path.join(folder, name);
const flowsOf = (scene: Scene): string => fileOf(scene, 'flows');

export async function registerDefinitions(client: StepwrightClient): Promise<void> {
  for (const definition of [QUICK, RETRYING]) await client.definitions.register(definition);
}

/** A folder of definitions and tests, and one with a mistake. */
export function writeFiles(scene: Scene): void {
  const id = orderOf(scene);
  const files = {
    'flows/order.yaml': `Id: ${id}
Triggers:
  - { Name: yearly, Cron: '@yearly' }
Steps:
  - Id: ask
    StepType: WaitFor
    Inputs: { EventName: '"approved"', EventKey: 'data.order or ""' }
    Outputs: { by: step.EventData.by }
`,
    'flows/order.test.yaml': `Definition: order.yaml
Cases:
  - Name: is approved after three days
    Start: { order: T1 }
    Then:
      - Advance: 3d
      - Publish: { Name: approved, Key: T1, Data: { by: Ada } }
    Expect: { Status: Complete, Data: { by: Ada } }
`,
    'live/live.yaml': QUICK.replace('quick', `live-${scene.place}`),
    'bad/bad.yaml': 'Id: bad\nSteps:\n  - Id: a\n    StepType: missing\n',
    'untidy/a.yaml': 'Steps:\n- {Id: a, StepType: NoOp}\nId: untidy\n',
  };
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(path.dirname(fileOf(scene, name)), { recursive: true });
    writeFileSync(fileOf(scene, name), text);
  }
}

async function waitingRun(scene: Scene): Promise<string> {
  const run = await scene.client.workflows.start(orderOf(scene), { order: 'none' });
  await eventually('it waits', async () => {
    const { reasons } = await scene.client.workflows.explain(run.id);
    return reasons.some(({ kind }) => kind === 'event');
  });
  return run.id;
}

async function retryingRun({ client }: Scene): Promise<string> {
  const { id } = await client.workflows.start('retrying', {});
  await eventually('it waits for a retry', async () => {
    const { reasons } = await client.workflows.explain(id);
    return reasons.some(({ kind }) => kind === 'retry');
  });
  return id;
}

/** The job that `bulk create` has made. */
async function jobOf({ client, place }: Scene): Promise<string> {
  for await (const { id, reason } of client.bulk.list()) if (reason === place) return id;
  throw new Error(`there is no job of ${place}`);
}

const onOrder = (scene: Scene): string[] => [orderOf(scene)];
const onTrigger = (scene: Scene): string[] => [orderOf(scene), 'yearly'];
const onWaiting = async (scene: Scene): Promise<string[]> => [await waitingRun(scene)];
const onPlace = ({ place }: Scene): string[] => [place];

const FILES: readonly Trial[] = [
  {
    command: 'validate',
    args: (scene) => [fileOf(scene, 'bad')],
    code: 1,
    shows: /bad\.yaml:4:\d+: error: .*\n[^]*StepType: missing\n[^]*1 file, 1 error/,
    isWide: true,
  },
  {
    command: 'fmt',
    args: (scene) => [fileOf(scene, 'untidy')],
    shows: /a\.yaml: formatted/,
    isPlain: true,
  },
  { command: 'test', args: (scene) => [flowsOf(scene)], shows: /1 passed/ },
  {
    command: 'diff',
    args: (scene) => [flowsOf(scene)],
    shows: /\+Id: order-\w+\n[^]*1 to create/,
    isWide: true,
  },
  {
    command: 'apply',
    args: (scene) => [flowsOf(scene)],
    shows: /order\.yaml: version 1\n1 to create/,
    isPlain: true,
  },
];

const ON_SERVER: readonly Trial[] = [
  { command: 'definitions list', shows: /^DEFINITION +VERSION[^]*^order-\w+ +1 +enabled/m },
  { command: 'definitions show', args: onOrder, shows: /^Version +1$[^]*StepType: WaitFor/m },
  { command: 'definitions versions', args: onOrder, shows: /^order-\w+ +1 /m },
  { command: 'definitions disable', args: onOrder, shows: /disabled/, isPlain: true },
  { command: 'definitions enable', args: onOrder, shows: /enabled/, isPlain: true },
  { command: 'triggers list', args: onOrder, shows: /^yearly +active +@yearly/m },
  { command: 'triggers schedule', shows: /No triggers fire|yearly/, isPlain: true },
  { command: 'triggers pause', args: onTrigger, shows: /yearly is paused/, isPlain: true },
  { command: 'triggers resume', args: onTrigger, shows: /yearly is active/, isPlain: true },
  { command: 'triggers fire', args: onTrigger, shows: /^\w{26}$/m, isPlain: true },
  {
    command: 'triggers backfill',
    args: (scene) => [...onTrigger(scene), '--from', '2024-06-01', '--to', '2025-06-01'],
    shows: /^2025-01-01T00:00:00/m,
    isPlain: true,
  },
];

const RUNS: readonly Trial[] = [
  {
    command: 'run',
    args: () => ['quick', '--follow', '-d', 'a=1'],
    shows: /✓ work[^]*"a": 1/,
    hasJsonLines: true,
  },
  {
    command: 'find',
    args: onWaiting,
    shows: /^RUN +[^]*order-/m,
  },
  {
    command: 'failures',
    args: async (scene) => {
      await retryingRun(scene);
      return ['--definition', 'retrying'];
    },
    shows: /^KEY +RUNS +FIRST[^]*^[0-9a-f]{32} +\d+ +[^]*retrying\//m,
  },
  { command: 'list', shows: /^RUN +DEFINITION +STATUS[^]*^\w+ +quick v1 +Succeeded/m },
  { command: 'show', args: onWaiting, shows: /^Status +Runnable$[^]*"order": "none"/m },
  { command: 'steps', args: onWaiting, shows: /ask[^]*approved\/none/ },
  {
    command: 'explain',
    args: onWaiting,
    shows: /waiting for event approved\/none/,
    isWide: true,
  },
  { command: 'export', args: onWaiting, shows: /"order": "none"/, isPlain: true, isWide: true },
  { command: 'suspend', args: onWaiting, shows: /^\S+ +Suspended/m },
  {
    command: 'resume',
    args: async (scene) => {
      const id = await waitingRun(scene);
      await scene.client.workflows.suspend(id);
      return [id];
    },
    shows: /^\S+ +Runnable/m,
  },
  {
    command: 'retry',
    args: async (scene) => [await retryingRun(scene)],
    shows: /^\S+ +Runnable/m,
  },
  { command: 'terminate', args: onWaiting, shows: /^\S+ +Terminated/m },
  {
    command: 'rerun',
    args: async (scene) => [await waitingRun(scene), ...REASON],
    shows: /^Started +ask \(#\d+\)/m,
  },
  {
    command: 'modify',
    args: async (scene) => [await waitingRun(scene), ...REASON, '-d', 'order=other'],
    shows: /^Run +\S+$/m,
  },
  {
    command: 'priority',
    args: async (scene) => [await waitingRun(scene), '1'],
    shows: /^\S+ +priority 1$/m,
    isPlain: true,
  },
  {
    command: 'restart',
    args: async (scene) => [await waitingRun(scene), ...REASON],
    shows: /^\w{26}$/m,
    isPlain: true,
  },
  {
    command: 'bulk create',
    args: async (scene) => {
      const run = ['--run', await waitingRun(scene)];
      return ['terminate', ...run, '--reason', scene.place, '--wait'];
    },
    shows: /^State +Done$/m,
  },
  { command: 'bulk list', shows: /terminate +Done/ },
  { command: 'bulk show', args: async (scene) => [await jobOf(scene)], shows: /1 of 1 done/ },
  { command: 'bulk runs', args: async (scene) => [await jobOf(scene)], shows: /Terminated/ },
  { command: 'bulk stop', args: async (scene) => [await jobOf(scene)], shows: /^State +Done$/m },
];

const OUTSIDE: readonly Trial[] = [
  {
    command: 'publish',
    args: ({ place }) => ['approved', place, '-d', 'by=Ada'],
    shows: /\w{26}/,
    isPlain: true,
  },
  { command: 'events', shows: /^\w+ +approved +(?:terminal|pipe|json) /m },
  { command: 'activities', shows: /There are no activities/, isPlain: true },
  { command: 'types', args: onOrder, shows: /export type Input/, isPlain: true, isWide: true },
  {
    command: 'notifications put',
    args: ({ place, target }) => {
      const secret = `whsec_${Buffer.from('a secret of the receiver').toString('base64')}`;
      return [place, '--body', JSON.stringify({ url: target, on: ['suspended'], secret })];
    },
    shows: /^State +active$/m,
  },
  { command: 'notifications list', shows: /active +suspended/ },
  { command: 'notifications show', args: onPlace, shows: /^State +active$/m },
  { command: 'notifications test', args: onPlace, shows: /^Answer +204$/m },
  { command: 'notifications deliveries', args: onPlace, shows: /workflow\.\S+ +delivered/ },
  {
    command: 'notifications redeliver',
    args: async ({ client, place }) => {
      for await (const { id } of client.notifications.deliveries(place)) return [place, id];
      throw new Error('there is no delivery');
    },
    shows: /^State +waiting$/m,
  },
  { command: 'notifications pause', args: onPlace, shows: /^State +paused/m },
  { command: 'notifications resume', args: onPlace, shows: /^State +active$/m },
  { command: 'notifications remove', args: onPlace, shows: /Removed/, isPlain: true },
  {
    command: 'limits put',
    args: ({ place }) => [place, '--body', 'concurrency=5'],
    shows: /^Concurrency +5$/m,
  },
  { command: 'limits list', shows: /\w+ +5 +0 +0/ },
  { command: 'limits show', args: onPlace, shows: /^Concurrency +5$/m },
  { command: 'limits remove', args: onPlace, shows: /Removed/, isPlain: true },
  {
    command: 'webhooks put',
    args: ({ place }) => {
      const body = {
        scheme: 'github',
        secret: 'a secret of 16 or more',
        start: { definitionId: 'quick' },
      };
      return [place, '--body', JSON.stringify(body)];
    },
    shows: /^Path +\/hooks\/\w+$/m,
  },
  { command: 'webhooks list', shows: /github +start quick/ },
  { command: 'webhooks show', args: onPlace, shows: /^Path +\/hooks\/\w+$/m },
  { command: 'webhooks remove', args: onPlace, shows: /Removed/, isPlain: true },
];

const ACCESS: readonly Trial[] = [
  {
    command: 'keys create',
    args: ({ place }) => [place, '--scope', 'conductor:viewer'],
    shows: /sw_\w+/,
    isPlain: true,
  },
  { command: 'keys list', shows: /conductor:viewer +never/ },
  {
    command: 'keys remove',
    args: async ({ client, place }) => {
      const keys = await client.keys.list();
      return [keys.find(({ name }) => name === place)?.id ?? ''];
    },
    shows: /Removed the key/,
    isPlain: true,
  },
  { command: 'secrets', shows: /There are no secrets/, isPlain: true },
  { command: 'audit', shows: /^TIME +ACTOR +ACTION[^]*key\.remove/m },
  {
    command: 'profile set',
    args: ({ place, url }) => [place, '--url', url],
    shows: /is stored in/,
    isPlain: true,
    isWide: true,
  },
  { command: 'profile use', args: onPlace, shows: /Commands now use/, isPlain: true },
  { command: 'profile list', shows: /^\* \w+ +http:/m },
  { command: 'profile remove', args: onPlace, shows: /is removed/, isPlain: true },
  { command: 'token', shows: /private key was not stored/, isPlain: true, isWide: true },
  {
    command: 'completion',
    args: () => ['bash'],
    shows: /complete .*-F _stepwright/,
    isPlain: true,
    isWide: true,
  },
];

/** Last, because from then on servers need Python. */
const SCRIPTS: readonly Trial[] = [
  {
    command: 'scripts list',
    args: async ({ client }) => {
      await client.steps.put('shout', 'loud = text.upper()\n');
      return [];
    },
    shows: /^shout +/m,
  },
  { command: 'scripts show', args: () => ['shout'], shows: /loud = text\.upper/, isPlain: true },
  { command: 'scripts versions', args: () => ['shout'], shows: /^shout +1 /m },
];

const SERVERS: readonly Trial[] = [
  {
    command: 'start',
    shows: /listens on http/,
    stopAfter: /\/swagger[^]*\n\n/,
    isPlain: true,
    isWide: true,
  },
  {
    command: 'dev',
    args: (scene) => ['--memory', fileOf(scene, 'live')],
    shows: /live\.yaml: registered, version 1/,
    stopAfter: /Start a run/,
    isWide: true,
  },
  {
    command: 'migrate-store',
    // The store of `start`.
    args: (scene) => [
      `--from=sqlite:${fileOf(scene, 'data')}`,
      `--to=sqlite:${fileOf(scene, 'copied')}`,
    ],
    shows: /definition/,
    isPlain: true,
    isWide: true,
  },
];

export const TRIALS: readonly Trial[] = [
  ...FILES,
  ...ON_SERVER,
  ...RUNS,
  ...OUTSIDE,
  ...ACCESS,
  ...SCRIPTS,
  ...SERVERS,
];

/** They print what others read, or run until they are stopped. */
export const WITHOUT_JSON: readonly string[] = ['start', 'dev', 'migrate-store', 'completion'];
