import { setTimeout as pauseFor } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { assign, definition } from './support/definitions.js';
import { eventually } from './support/eventually.js';
import type { Fleet } from './support/fleet.js';
import { inLanes } from './support/lanes.js';
import { answerOk, type Ledger } from '../../server/test/support/ledger.js';
import { PersistentClient } from './support/persistent-client.js';
import { scaled, type Random } from './support/random.js';
import { withFleet, type Scene } from './support/with-fleet.js';
import type { Instance, Page, WorkItem } from './support/wire.js';

const RUNS = 2000;
const CLIENTS = 8;
const KILLS = 30;
/** Some processes of the storm are killed while they start. */
const EARLY = { share: 0.2, msMax: 1000 };
/**
 * The lifetime of the others after they listen: most until they have started the due work, and some until suspects are
 * on trial. A process must live long enough to claim the instances of a dead node; otherwise the storm would blame no
 * instance.
 */
const LIFE_MS_MAX = 6000;
/** Longer than the lifetime: a run with a call always has it in progress when its node is killed. */
const CALL_MS = 10_000;
/** Runs wait for up to this long, so that some are due at any moment of the storm. */
const WAIT_SECONDS_MAX = 60;
/** One in this many runs makes a call. */
const CALL_EVERY = 50;
/** The default of `instance_crashes_max`. */
const CRASHES_MAX = 5;
const LEASE_SECONDS = 5;
const ENDED_MS_MAX = 600_000;

const pause = { Id: 'pause', StepType: 'Delay', Inputs: { Period: 'data.seconds' } };
const end = assign('end', { ended: true });

const CHILD = definition('child', [pause, end]);
const KINDS: readonly (readonly [name: string, definition: object])[] = [
  ['delay', definition('delay', [pause, end])],
  [
    'loop',
    definition('loop', [
      assign('zero', { turns: '0' }),
      {
        Id: 'while',
        StepType: 'While',
        Inputs: { Condition: 'data.turns < 5' },
        Do: [
          [
            {
              Id: 'wait',
              StepType: 'Delay',
              Inputs: { Period: 'data.seconds / 5' },
              NextStepId: 'turn',
            },
            assign('turn', { turns: 'data.turns + 1' }),
          ],
        ],
      },
      end,
    ]),
  ],
  [
    'event',
    definition('event', [
      {
        Id: 'wait',
        StepType: 'WaitFor',
        Inputs: { EventName: '"go"', EventKey: 'data.name' },
      },
      end,
    ]),
  ],
  [
    'activity',
    definition('activity', [
      pause,
      { Id: 'work', StepType: 'Activity', Inputs: { ActivityName: '"work"' } },
      end,
    ]),
  ],
  [
    'parent',
    definition('parent', [
      {
        Id: 'sub',
        StepType: 'SubWorkflow',
        Inputs: { DefinitionId: '"child"', Data: { '@seconds': 'data.seconds' } },
      },
      end,
    ]),
  ],
  [
    'recur',
    definition('recur', [
      assign('zero', { rounds: '0' }),
      {
        Id: 'again',
        StepType: 'Recur',
        Inputs: { Interval: 2, StopCondition: 'data.rounds >= 5', Background: false },
        Do: [[assign('round', { rounds: 'data.rounds + 1' })]],
      },
      end,
    ]),
  ],
];

const CALL = definition('call', [
  {
    Id: 'call',
    StepType: 'HttpRequest',
    Inputs: { BaseUrl: 'data.ledger', Resource: '"/" + data.name' },
  },
  end,
]);

/** Its last step kills the node that runs it; see crash-on-mark.mjs. */
const POISON = definition('poison', [
  { Id: 'pause', StepType: 'Delay', Inputs: { Period: 2 } },
  assign('bad', { value: '"crash-" + "mark!"' }),
]);
const CRASH_ON_MARK = {
  NODE_OPTIONS: `--import ${new URL('support/crash-on-mark.mjs', import.meta.url).href}`,
};

/** Runs of every kind, whose events and activities are handled until `finish`. */
class HealthyRuns {
  readonly client: PersistentClient;
  readonly #ledger: Ledger;
  readonly #ids: string[] = [];
  readonly #events: string[] = [];
  readonly #random: Random;
  #workers: Promise<unknown> = Promise.resolve();
  #begun = 0;
  #isOver = false;

  constructor({ fleet, ledger, random }: Scene) {
    this.client = new PersistentClient(() => fleet.urls);
    this.#ledger = ledger;
    this.#random = random;
  }

  async begin(): Promise<void> {
    for (const body of [...KINDS.map(([, document]) => document), CALL, CHILD, POISON]) {
      await this.client.call('POST', '/api/definition', { body });
    }
    this.#workers = Promise.all(Array.from({ length: CLIENTS }, (_, at) => this.#work(at)));
  }

  async start(share: number): Promise<void> {
    const begun = this.#begun;
    this.#begun += Math.round(scaled(RUNS) * share);
    const tasks = Array.from({ length: this.#begun - begun }, (_, at) => begun + at);
    await inLanes(CLIENTS, tasks, async (at) => {
      const kind = at % CALL_EVERY === 0 ? 'call' : (KINDS[at % KINDS.length]?.[0] ?? '');
      const name = `run-${at}`;
      const ledger = this.#ledger.url;
      const body = { name, seconds: this.#random() * WAIT_SECONDS_MAX, ledger };
      const started = await this.client.call('POST', `/api/workflow/${kind}`, { body });
      this.#ids.push((started.body as Instance).workflowId);
      if (kind === 'event') this.#events.push(name);
    });
  }

  /** Publishes the events of some of the waiting runs. */
  async publish(count: number): Promise<void> {
    await inLanes(CLIENTS, this.#events.splice(0, count), async (name) => {
      await this.client.call('POST', `/api/event/go/${name}`, { body: {} });
    });
  }

  /** Returns how many runs have ended in each state. */
  async finish(): Promise<Readonly<Record<string, number>>> {
    await this.publish(Infinity);
    const counts: Record<string, number> = {};
    await inLanes(CLIENTS, this.#ids, async (id) => {
      // No client suspends them, so a suspended run was blamed, and will not end.
      const status = await eventually(`${id} ends`, () => this.#endOf(id), ENDED_MS_MAX);
      counts[status] = (counts[status] ?? 0) + 1;
    });
    this.#isOver = true;
    await this.#workers;
    return counts;
  }

  /** The ids of all suspended runs, at most one page. */
  async suspended(): Promise<readonly string[]> {
    const { body } = await this.client.call('GET', '/api/workflow?status=Suspended&limit=200');
    return (body as Page<Instance>).items.map(({ workflowId }) => workflowId);
  }

  async #endOf(id: string): Promise<string | false> {
    const { body } = await this.client.call('GET', `/api/workflow/${id}?wait=5`);
    const { status } = body as Instance;
    return status !== 'Runnable' && status;
  }

  async #work(worker: number): Promise<void> {
    const poll = `/api/activity/work?workerId=worker-${worker}&timeout=1&lease=${LEASE_SECONDS}`;
    while (!this.#isOver) {
      const found = await this.client.call('GET', poll, { expected: [200, 404] });
      if (found.status === 404) continue;
      const { token } = found.body as WorkItem;
      await this.client.call('POST', `/api/activity/success/${token}`, {
        body: {},
        expected: [202, 404],
      });
    }
  }
}

describe('T-37 the run that is blamed for crashes', () => {
  it('is none if nodes are killed 30 times in a row', { timeout: 1_800_000 }, async () => {
    let lifeMs: number | null = null;
    const settingsOf = (): Readonly<Record<string, string>> => settingsToDieAfter(lifeMs);
    await withFleet({ count: 1, store: 'sqlite', settingsOf }, async (scene) => {
      const { fleet, ledger, random } = scene;
      ledger.respond = (...answer) => void setTimeout(answerOk, CALL_MS, ...answer);
      const healthy = new HealthyRuns(scene);
      await healthy.begin();
      await healthy.start(0.5);
      const meanwhile: Promise<void>[] = [healthy.start(0.5)];
      await fleet.kill(0);
      let kills = 1;
      for (; kills < KILLS; kills += 1) {
        lifeMs = random() < EARLY.share ? random() * EARLY.msMax : null;
        if (!(await hasStarted(fleet))) continue;
        meanwhile.push(healthy.publish(Math.ceil(scaled(RUNS) / KINDS.length / KILLS)));
        await pauseFor(random() ** 2 * LIFE_MS_MAX);
        await fleet.kill(0);
      }
      lifeMs = null;
      await fleet.restart(0);
      await Promise.all(meanwhile);
      expect(await healthy.suspended()).toEqual([]);
      const ended = await healthy.finish();
      const retries = healthy.client.retries;
      console.log('T-37 kills', { kills, ended, callsMadeAgain: retries });
      expect(ended).toEqual({ Complete: scaled(RUNS) });
      expect(await healthy.suspended()).toEqual([]);
      expect(fleet.faults).toEqual([]);
      // The storm must have hit calls; otherwise it has tested nothing.
      expect(retries).toBeGreaterThan(0);
    });
  });

  it('is the one that crashes nodes, within five crashes', { timeout: 1_800_000 }, async () => {
    const options = { count: 1, store: 'sqlite', settings: CRASH_ON_MARK } as const;
    await withFleet(options, async (scene) => {
      const { fleet } = scene;
      const healthy = new HealthyRuns(scene);
      await healthy.begin();
      await healthy.start(1);
      const started = await healthy.client.call('POST', '/api/workflow/poison', { body: {} });
      const { workflowId } = started.body as Instance;
      const crashes = await restartUntil(fleet, async () => {
        const answer = await fetch(`${fleet.urls[0]}/api/workflow/${workflowId}`);
        return ((await answer.json()) as Instance).status === 'Suspended';
      });
      expect(await healthy.suspended()).toEqual([workflowId]);
      const { body } = await healthy.client.call('GET', `/api/workflow/${workflowId}`);
      const ended = await healthy.finish();
      console.log('T-37 poison', { crashes, ended, blamed: (body as Instance).lastError });
      expect((body as Instance).lastError).toMatchObject({ type: 'Poison' });
      expect(crashes).toBeLessThanOrEqual(CRASHES_MAX);
      expect(ended).toEqual({ Complete: scaled(RUNS) });
      expect(await healthy.suspended()).toEqual([workflowId]);
    });
  });
});

/** Restarts the node whenever it has died, as a supervisor would. Returns the number of restarts. */
async function restartUntil(fleet: Fleet, isDone: () => Promise<boolean>): Promise<number> {
  let crashes = 0;
  for (;;) {
    const outcome = await eventually('the node dies, or all is done', async () => {
      if (isDead(fleet.node(0).pid)) return 'dead';
      return (await isDone().catch(() => false)) && 'done';
    });
    if (outcome === 'done') return crashes;
    crashes += 1;
    // The node may die again before it listens.
    await fleet.kill(0);
    for (; crashes <= CRASHES_MAX; crashes += 1) {
      if (await hasStarted(fleet)) break;
    }
    if (crashes > CRASHES_MAX) throw new Error(`the node crashed more than ${CRASHES_MAX} times`);
  }
}

function settingsToDieAfter(lifeMs: number | null): Readonly<Record<string, string>> {
  if (lifeMs === null) return {};
  const preload = new URL('support/die-later.mjs', import.meta.url).href;
  return { NODE_OPTIONS: `--import ${preload}`, DIE_AFTER_MS: String(lifeMs) };
}

/** False if it died before it listened. */
async function hasStarted(fleet: Fleet): Promise<boolean> {
  try {
    await fleet.restart(0);
    return true;
  } catch (error) {
    if (/did not start at all/.test(String(error))) return false;
    throw error;
  }
}

function isDead(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return false;
  } catch {
    return true;
  }
}
