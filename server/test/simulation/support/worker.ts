/**
 * Workers of all kinds: they finish, fail, vanish, respond late, twice or from two sides, release work or disconnect.
 */
import { AppError } from '../../../src/base/errors.js';
import type { Json } from '../../../src/engine/values/json.js';
import type { WorkItem } from '../../../src/runtime/activities/activity-types.js';
import { readToken } from '../../../src/base/ids.js';
import { hold } from './violation.js';
import { isUnknown, type World } from './world.js';

type Behavior = 'finish' | 'fail' | 'vanish' | 'late' | 'twice' | 'release' | 'extend';

const BEHAVIORS: readonly Behavior[] = [
  'finish',
  'finish',
  'fail',
  'vanish',
  'late',
  'twice',
  'release',
  'extend',
];

/** The activity for which workers also wait. */
export const WORK = 'work';

const STALE: ReadonlySet<string> = new Set(['activity_not_found', 'work_cancelled']);

/** Results that a server has accepted, by activity. */
export class AcceptedResults {
  readonly byActivity = new Map<string, string>();

  add(token: string, succeeded: boolean, data: Json): void {
    const id = activityOf(token);
    const result = JSON.stringify([succeeded, data]);
    const known = this.byActivity.get(id) ?? result;
    hold(known === result, 'I4 one result is accepted', () => `${id}: ${known} and ${result}`);
    this.byActivity.set(id, result);
  }
}

export function activityOf(token: string): string {
  const read = readToken(token);
  if (read === null) throw new Error('invalid token');
  return read.activityId;
}

export class SimulatedWorker {
  readonly #world: World;
  readonly #name: string;
  readonly #activity: string;
  readonly #accepted: AcceptedResults;
  readonly #isOver: () => boolean;
  #answers = 0;

  constructor(
    world: World,
    { activity, name }: { readonly name: string; readonly activity: string },
    accepted: AcceptedResults,
    isOver: () => boolean,
  ) {
    this.#world = world;
    this.#name = name;
    this.#activity = activity;
    this.#accepted = accepted;
    this.#isOver = isOver;
  }

  async work(): Promise<void> {
    const { random, scheduler } = this.#world;
    while (!this.#isOver()) {
      const item = await this.#pull();
      if (item === null) await scheduler.pause(`${this.#name} rests`, random.between(100, 1500));
      else await this.#handle(item);
    }
  }

  async #pull(): Promise<WorkItem | null> {
    const { isCalm, leasesMs, random, scheduler } = this.#world;
    const controller = new AbortController();
    if (!isCalm && random.chance(0.15)) {
      void scheduler.pause('a hang-up', random.below(1500)).then(() => controller.abort());
    }
    const [name, workerId] = [this.#activity, this.#name];
    const timeoutMs = name === WORK ? random.pick([0, 1000, 4000]) : 0;
    const leaseMs = random.pick(leasesMs);
    const { signal } = controller;
    const request = { name, workerId, timeoutMs, leaseMs, signal };
    try {
      return await this.#world.request((host) => host.activities.pull(request));
    } catch (error) {
      if (!isUnknown(error)) throw error;
      return null;
    }
  }

  async #handle(item: WorkItem): Promise<void> {
    const { isCalm, random, scheduler } = this.#world;
    const drawn = isCalm ? 'finish' : random.pick(BEHAVIORS);
    const { token, tokenExpiresAt } = item;
    // Work without a lease is lost with its worker, as documented.
    const deed = drawn === 'vanish' && tokenExpiresAt === null ? 'finish' : drawn;
    scheduler.note(`${this.#name} will ${deed} ${activityOf(token)}`);
    await scheduler.pause(`${this.#name} works`, random.below(800));
    this.#answers += 1;
    const value = `${this.#name} ${this.#answers}`;
    switch (deed) {
      case 'vanish':
        return;
      case 'release':
        await this.#tell(() => this.#world.persist((host) => host.activities.release(token)));
        return;
      case 'extend':
        await this.#tell(() => this.#world.persist((host) => host.activities.extend(token, 3000)));
        await scheduler.pause(`${this.#name} works on`, random.below(4000));
        break;
      case 'late':
        await scheduler.pause(`${this.#name} is late`, random.between(1000, 8000));
        break;
      case 'twice':
        await Promise.all([this.#complete(token, true, value), this.#complete(token, true, value)]);
        await this.#complete(token, false, `${value} again`);
        return;
      case 'finish':
      case 'fail':
        break;
    }
    await this.#complete(token, deed !== 'fail', value);
  }

  async #complete(token: string, succeeded: boolean, data: Json): Promise<void> {
    const isAccepted = await this.#tell(() =>
      this.#world.persist((host) => host.activities.complete(token, { succeeded, data })),
    );
    if (isAccepted) this.#accepted.add(token, succeeded, data);
  }

  /** False if the token is no longer valid. */
  async #tell(act: () => Promise<unknown>): Promise<boolean> {
    try {
      await act();
      return true;
    } catch (error) {
      if (error instanceof AppError && STALE.has(error.code)) return false;
      throw error;
    }
  }
}
