/** The clients of a simulation: they start workflows, publish events, suspend, resume, modify and terminate. */
import { AppError } from '../../../src/base/errors.js';
import type { JsonObject } from '../../../src/engine/values/json.js';
import type { Host } from '../../../src/runtime/host.js';
import { canBeCompensated, takesEvents, WORKFLOWS } from './definitions.js';
import type { ModifyRequest } from '../../../src/runtime/operations/repair/repair-types.js';
import { REPAIRED, ROUNDS, type AppliedRound } from './repaired.js';
import { RUNAWAY } from './restless.js';
import { hold } from './violation.js';
import type { Workflow } from './workflow.js';
import { isUnknown, type World } from './world.js';

/** How often one client modifies a run. */
const MODIFICATIONS = 3;

export class Scenario {
  readonly index: number;
  readonly name: string;
  readonly workflow: Workflow;
  readonly data: JsonObject;
  /** The ids that starts returned. */
  readonly started = new Set<string>();
  /** A client requested its end, so it may be Terminated. */
  isTerminated = false;
  /** The data of every event that may have been stored. */
  readonly published = new Set<string>();
  /** The members of the data that acknowledged modifications have set, by run. */
  readonly marks = new Map<string, readonly string[]>();
  /** The acknowledged modifications of repaired runs, in their order. */
  readonly repairs = new Map<string, readonly AppliedRound[]>();
  readonly #world: World;

  constructor(world: World, index: number) {
    this.#world = world;
    this.index = index;
    this.name = world.random.pick(world.workflowNames);
    const workflow = WORKFLOWS[this.name];
    if (workflow === undefined) throw new Error(`unknown workflow ${this.name}`);
    this.workflow = workflow;
    this.data = { ...workflow.data(world.random), s: index, key: `key ${index}` };
  }

  async play(): Promise<void> {
    const { random, scheduler } = this.#world;
    const publishes = takesEvents(this.name, this.data) ? this.#publishAll() : null;
    await scheduler.pause('a client begins', random.below(2000));
    const id = await this.#start();
    const isRepaired = this.name === REPAIRED;
    const isModified = this.#world.modifies && this.index % 2 === 0;
    const modified = isRepaired ? this.#repair(id) : isModified ? this.#modify(id) : null;
    if (random.chance(0.25)) await this.#suspendAndResume(id);
    const compensates = this.#world.compensates && this.index % 2 === 1;
    const isTerminated = random.chance(0.12) || (compensates && canBeCompensated(this.name));
    if (isTerminated && !isRepaired) await this.#terminate(id, compensates);
    if (random.chance(0.2)) await this.#look(id);
    if (this.name === RUNAWAY) await this.#endRunaway(id);
    await publishes;
    await modified;
  }

  async #start(): Promise<string> {
    const { random } = this.#world;
    // A run that no client knows, and that does not end by itself, would run forever.
    const hasKey = random.chance(0.6) || [RUNAWAY, REPAIRED].includes(this.name);
    const first = hasKey ? this.#startKeyed() : this.#startOnce();
    // The same start again, at the same time and perhaps on another node.
    const second = hasKey && random.chance(0.3) ? this.#startKeyed() : first;
    const [id, again] = await Promise.all([first, second]);
    hold(id === again, 'I1 the same start is the same instance', () => `${id} and ${again}`);
    return id;
  }

  async #startKeyed(): Promise<string> {
    const idempotency = { key: `start ${this.index}`, requestHash: 'hash' };
    const { instance } = await this.#world.persist((host) =>
      host.instances.start({
        definitionId: this.name,
        data: this.data,
        reference: null,
        idempotency,
      }),
    );
    this.started.add(instance.id);
    return instance.id;
  }

  /** Without a key, a client that does not know the result starts another one. */
  async #startOnce(): Promise<string> {
    const { instance } = await this.#world.persist((host) =>
      host.instances.start({
        definitionId: this.name,
        data: this.data,
        reference: null,
        idempotency: null,
      }),
    );
    this.started.add(instance.id);
    return instance.id;
  }

  async #publishAll(): Promise<void> {
    const { random, scheduler } = this.#world;
    const count = Number(this.data['n']) + random.below(2);
    for (let made = 0; made < count; made += 1) {
      await scheduler.pause('a publisher waits', random.below(random.pick([10, 1500, 4000])));
      await this.#publish(String.fromCharCode(97 + made));
    }
  }

  async #publish(letter: string): Promise<void> {
    const { random } = this.#world;
    const request = { name: 'news', key: `key ${this.index}`, data: letter };
    if (random.chance(0.3)) {
      this.published.add(letter.toUpperCase());
      try {
        const data = letter.toUpperCase();
        await this.#world.request((host) =>
          host.events.publish({ ...request, data, idempotency: null }),
        );
        return;
      } catch (error) {
        // The call may or may not have taken effect, so another event with a new name is sent.
        if (!isUnknown(error)) throw error;
      }
    }
    this.published.add(letter);
    const idempotency = { key: `${this.index} ${letter}`, requestHash: 'hash' };
    const send = (): Promise<unknown> =>
      this.#world.persist((host) => host.events.publish({ ...request, idempotency }));
    await Promise.all(random.chance(0.2) ? [send(), send()] : [send()]);
  }

  async #suspendAndResume(id: string): Promise<void> {
    const { random, scheduler } = this.#world;
    await scheduler.pause('a controller waits', random.below(1500));
    await this.#control(() =>
      this.#askFor(id, (host) => host.instances.control(id, 'suspend', 'somebody')),
    );
    await scheduler.pause('a controller waits', random.below(4000));
    await this.#control(() =>
      this.#askFor(id, (host) => host.instances.control(id, 'resume', 'somebody')),
    );
  }

  async #terminate(id: string, compensates: boolean): Promise<void> {
    const { random, scheduler } = this.#world;
    await scheduler.pause('a controller waits', random.below(2500));
    this.isTerminated = true;
    const action = compensates ? 'compensate' : 'terminate';
    const ask = () => this.#askFor(id, (host) => host.instances.control(id, action, 'somebody'));
    const view = await ask();
    if (view === null) return;
    if (compensates) {
      // A repeated request does not start it again.
      await ask();
      return;
    }
    const hasEnded = view.status === 'Terminated' || view.status === 'Complete';
    hold(hasEnded, 'terminated is terminated', () => `${id} is ${view.status}`);
  }

  /** Sets members of the data while everything else happens. */
  async #modify(id: string): Promise<void> {
    for (let round = 1; round <= MODIFICATIONS; round += 1) {
      if ((await this.#modifyOnce(id, round, {})) === null) return;
    }
  }

  /** Cancels and starts steps, moves the run to other versions, and brings it to its end. */
  async #repair(id: string): Promise<void> {
    for (const [at, round] of ROUNDS.entries()) {
      const answer = await this.#modifyOnce(id, at + 1, round);
      if (answer === null) return;
      const { cancelled, started } = answer;
      const applied = { round, reason: `mark ${at + 1}`, cancelled, started };
      this.repairs.set(id, [...(this.repairs.get(id) ?? []), applied]);
    }
  }

  /** Repeats the request, which changes nothing. Null: the run was purged. */
  async #modifyOnce(id: string, round: number, changes: Partial<ModifyRequest>) {
    // Nothing is drawn: that would change the meaning of older seeds.
    await this.#world.scheduler.pause('an operator waits', (this.index * 137 + round * 311) % 1500);
    const mark = `mark ${round}`;
    const idempotency = { key: mark, requestHash: mark };
    const request = { ...changes, reason: mark, data: { [mark]: round }, idempotency };
    const ask = () => this.#askFor(id, (host) => host.instances.modify(id, request, 'somebody'));
    const answer = await ask();
    if (answer === null) return null;
    this.marks.set(id, [...(this.marks.get(id) ?? []), mark]);
    const { data } = answer.instance;
    hold(data[mark] === round, 'I9 a modification is in the answer', () => `${id} ${mark}`);
    if ((await ask()) === null) return answer;
    const actions = await this.#askFor(id, (host) => host.instances.listActions(id));
    if (actions === null) return answer;
    const times = actions.filter(({ detail }) => detail?.startsWith(`reason: ${mark};`)).length;
    hold(
      times === 1,
      'I9 a modification with a key is applied once',
      () => `${id} ${mark} ${times}`,
    );
    return answer;
  }

  /** The server stops the run because of all the steps that it ran without a wait; then its client ends it. */
  async #endRunaway(id: string): Promise<void> {
    for (;;) {
      const { lastError, status } = await this.#world.persist((host) => host.instances.get(id));
      if (status === 'Terminated') return;
      if (status === 'Suspended' && lastError?.type === 'StepLimit') break;
      await this.#world.scheduler.pause('a client looks again', 1000);
    }
    this.isTerminated = true;
    await this.#world.persist((host) => host.instances.control(id, 'terminate', 'somebody'));
  }

  /** An acknowledged start is visible to every client. */
  async #look(id: string): Promise<void> {
    const view = await this.#askFor(id, (host) => host.instances.get(id));
    hold(view === null || view.id === id, 'I1 an acknowledged start exists', () => id);
  }

  /** Null: purged, because its end was long ago. */
  async #askFor<Answer>(id: string, call: (host: Host) => Promise<Answer>): Promise<Answer | null> {
    try {
      return await this.#world.persist(call);
    } catch (error) {
      const isGone = error instanceof AppError && error.code === 'workflow_not_found';
      if (!isGone || !this.#world.archive.removed.has(id)) throw error;
      return null;
    }
  }

  async #control(act: () => Promise<unknown>): Promise<void> {
    try {
      await act();
    } catch (error) {
      // The run had ended, or a repeated request finds that the first one took effect.
      const refusals = ['status_conflict', 'action_conflict'];
      if (!(error instanceof AppError) || !refusals.includes(error.code)) throw error;
    }
  }
}
