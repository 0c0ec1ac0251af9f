/**
 * Starts instances: runs each one immediately, and stores it with the result of its first pass. Without memory for it, an
 * instance is stored in its initial state and loaded later.
 */
import type { Instance } from '../../engine/model/instance.js';
import { invariant } from '../../engine/model/invariant.js';
import { indexFieldsOf } from '../../engine/values/index-fields.js';
import { collectedFrom } from '../../engine/model/debounce.js';
import { startSession, type StartOptions } from '../../engine/flow/lifecycle.js';
import type { Session } from '../../engine/session/session.js';
import { AppError } from '../../base/errors.js';
import { StoreUnavailableError } from '../../store/store.js';
import type { InsertInstanceResult } from '../../store/records/instances.js';
import {
  FirstInsertion,
  type FirstPass,
  type InsertedChanges,
  type StartResult,
} from './first-insertion.js';
import { InstanceActor, type ActorOwner } from './instance-actor.js';
import { writeInput, writeStored } from '../instance-state/long-states.js';
import { isWindowed, newRecord, type NewInstance } from '../instance-state/new-instance.js';
import type { ResidentSet } from './resident-set.js';
import type { RunnerEnvironment } from './runner-environment.js';
import { admitStart } from './start-memory.js';
import { UnsavedChanges } from '../instance-state/unsaved-changes.js';
import type { UncertainWrites } from './uncertain-writes.js';

/** Maximum time to wait for a first pass; after it, the start is stored in its initial state. */
const FIRST_PASS_MS_MAX = 25;
/** How long an abandoned write may still reach the store. */
const LATE_WRITE_MS = 10_000;

export interface InstanceCreatorOptions {
  readonly environment: RunnerEnvironment;
  /** The owner of the actors created here. */
  readonly owner: ActorOwner;
  readonly nodeId: string;
  readonly residents: ResidentSet;
  readonly uncertain: UncertainWrites;
  readonly isStopping: () => boolean;
  /** Called when the instance may be in the store, and must then be run. */
  readonly check: (instanceId: string) => void;
  /** Called when an instance of this node was stored, but isn't running. */
  readonly storedUnstarted: () => void;
  /** Called when the node stopped, and may have stored an instance that isn't running. */
  readonly maybeUnfinished: () => void;
}

export class InstanceCreator {
  readonly #options: InstanceCreatorOptions;
  /** Starts in progress, by id of the instance. */
  readonly #underWay = new Map<string, Promise<StartResult>>();

  constructor(options: InstanceCreatorOptions) {
    this.#options = options;
  }

  /** Resolves once the start is durable, usually after the first pass. */
  async create(start: NewInstance): Promise<StartResult> {
    const { id } = start;
    // Two concurrent starts of one id would create two actors of one instance (R5).
    for (let other = this.#underWay.get(id); other; other = this.#underWay.get(id)) {
      await other.catch(() => undefined);
    }
    const starting = this.#create(start).finally(() => this.#underWay.delete(id));
    this.#underWay.set(id, starting);
    return starting;
  }

  async ended(): Promise<void> {
    await Promise.allSettled([...this.#underWay.values()]);
  }

  async #create(start: NewInstance): Promise<StartResult> {
    const { environment, isStopping, residents } = this.#options;
    if (isStopping()) {
      throw new AppError('stopping', 'The server is stopping', { retryAfterSeconds: 1 });
    }
    if (residents.has(start.id)) {
      const record = await environment.store.getInstance(start.id);
      if (record !== null) return { outcome: 'exists', record };
    }
    try {
      const isAdmitted = admitStart(start, residents.memory, environment.metrics);
      return await (isAdmitted ? this.#startHere(start) : this.#startLater(start));
    } catch (error) {
      if (error instanceof StoreUnavailableError) this.#expectLateWrite(start);
      throw error;
    }
  }

  async #startHere(start: NewInstance): Promise<StartResult> {
    const { environment, check, owner, residents } = this.#options;
    const { startTime } = start;
    // The pass replaces members of `data`: the caller's object must stay unchanged.
    const known = environment.indexPaths(start.definition);
    const paths = known instanceof Promise ? await known : known;
    const newRun = (): Session => {
      const created = startSession(
        start.definition,
        { ...optionsOf(start), data: { ...start.data } },
        startTime,
      );
      created.instance.index = indexFieldsOf(created.instance.data, paths);
      return created;
    };
    const session = newRun();
    const insertion = new FirstInsertion(async (firstPass, changes) => {
      const { instance } = firstPass === null ? newRun() : firstPass.session;
      if (firstPass !== null) instance.index = indexFieldsOf(instance.data, paths);
      return this.#insert(start, instance, firstPass, changes);
    });
    const actor = new InstanceActor(environment, owner, session, {
      kind: 'new',
      insert: (firstPass, changes) => insertion.withFirstPass(firstPass, changes),
    });
    residents.keep(actor);
    actor.wake();
    const cancel = environment.clock.at(startTime + FIRST_PASS_MS_MAX, () => insertion.early());
    try {
      const result = await insertion.result;
      if (result.outcome !== 'inserted') {
        actor.abandon();
        residents.forget(actor);
        // In the meantime, this actor may have blocked a takeover of the instance.
        if (result.outcome === 'exists') check(start.id);
      }
      return result;
    } catch (error) {
      actor.abandon();
      residents.forget(actor);
      throw error;
    } finally {
      cancel();
    }
  }

  async #startLater(start: NewInstance): Promise<StartResult> {
    const { environment, storedUnstarted, check } = this.#options;
    const { instance } = startSession(start.definition, optionsOf(start), start.startTime);
    instance.index = indexFieldsOf(instance.data, await environment.indexPaths(start.definition));
    const result = await this.#insert(start, instance, null, new UnsavedChanges());
    invariant(result.outcome !== 'no-slots', 'an instance takes no slots before its first pass');
    if (result.outcome === 'inserted') storedUnstarted();
    if (result.outcome === 'exists') check(start.id);
    return result;
  }

  async #insert(
    start: NewInstance,
    instance: Instance,
    firstPass: FirstPass | null,
    { side, slots }: InsertedChanges,
  ): Promise<InsertInstanceResult> {
    const { environment, nodeId } = this.#options;
    const { changeTimes, limits, store } = environment;
    const { deliveries, takeBack, written } = environment.announce(instance);
    const state = await writeStored(instance);
    const given = collectedFrom(start.debounce, start.input ?? start.data);
    const input = await writeInput(given);
    const now = changeTimes.now();
    firstPass?.wrote(state, now);
    const wakeAt = firstPass === null ? (start.startAt ?? start.startTime) : firstPass.wakeAt();
    const place = { owner: nodeId, now, wakeAt, state };
    const record = newRecord(start, instance, place);
    const result = await environment.traced(instance, () =>
      store.insertInstance({
        record,
        side,
        ...(slots !== undefined && { slots }),
        ...(deliveries.length > 0 && { deliveries }),
        input,
        openDescendantsMax: limits.descendantsMax,
        ...(isWindowed(start) && { window: start.debounce.key }),
        ...(start.conflict !== undefined && { conflict: start.conflict }),
        ...(start.concurrency !== undefined &&
          record.place !== 'later' && { places: start.concurrency }),
      }),
    );
    if (result.outcome === 'no-slots') takeBack();
    if (result.outcome !== 'inserted') return result;
    written();
    if (result.noEvents === true) firstPass?.foundNoEvents();
    if (result.waits !== undefined) firstPass?.mustLookAt(result.waits);
    return result;
  }

  /** The instance may be stored although no response came (rule S5). If so, it must be run. */
  #expectLateWrite({ id, startTime }: NewInstance): void {
    const { environment, isStopping, maybeUnfinished, check, uncertain } = this.#options;
    const { clock } = environment;
    if (isStopping()) maybeUnfinished();
    const until = clock.now() + LATE_WRITE_MS;
    uncertain.add(id, startTime, until);
    check(id);
    clock.at(until, () => check(id));
  }
}

function optionsOf(start: NewInstance): StartOptions {
  return { ...start, concurrencyKey: start.concurrency?.key ?? null };
}
