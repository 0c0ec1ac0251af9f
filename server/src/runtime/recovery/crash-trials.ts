/**
 * Tries instances one at a time that may be what stops the servers: each has the node for itself meanwhile.
 *
 * An instance comes here when two nodes in a row died while it was due or under work. Its claim raises its count of crashes
 * and is the mark: whoever finds it with a dead owner and that count knows that it was the only one at work when that
 * node died. The mark goes with the first commit that clears the instance, or when the trial ends without one.
 *
 *  CT1 Nothing is tried before the node, and every other that is known, has lived for `QUIET_MS`: nodes that are killed
 *     again and again from outside die before a trial begins, so that no instance is blamed for it.
 *  CT2 While an instance is on trial no other has a turn on this node.
 *  CT3 A trial ends with what the instance did, not with the time that it took: a commit, or nothing of it at work. Only an
 *      answer from outside is waited for no longer than `OUTSIDE_MS`, and nothing longer than `TRIAL_MS_MAX`.
 *  CT4 The order differs from node to node: when kills from outside meet the first trial of each, it is not always the same
 *      instance.
 */
import { hash } from 'node:crypto';
import type { InstanceRecord } from '../../store/records/instances.js';
import type { RunnerEnvironment } from '../instances/runner-environment.js';

/** So many deaths in a row are put down to chance; from here on the instance is tried alone. */
export const TRIAL_FROM = 2;
/** A verdict takes so many deaths on trial at least: a single one may be a kill from outside. */
export const ALONE_MIN = 2;
const QUIET_MS = 3000;
/** How long an instance that only waits for an answer from outside keeps the others waiting. */
const OUTSIDE_MS = 250;
/** The longest trial, from when the work of the instance begins. */
const TRIAL_MS_MAX = 10_000;

export interface CrashTrialsOptions {
  readonly environment: Pick<
    RunnerEnvironment,
    'clock' | 'logger' | 'retryStore' | 'takeAllTurns'
  > & {
    readonly evaluator: Pick<RunnerEnvironment['evaluator'], 'ready'>;
    readonly store: Pick<RunnerEnvironment['store'], 'setCrashes'>;
  };
  readonly nodeId: string;
  readonly isStopping: () => boolean;
  /**
   * Claims the instance and gives it its turn. Null: it is not, or no longer, this node's to try.
   * @param suspectEpoch while its epoch is this one, its owner is known to have died at work on it
   */
  readonly begin: (
    instanceId: string,
    suspectEpoch: number | null,
  ) => Promise<InstanceRecord | null>;
  /** The instance has nothing to do until an answer comes from outside. */
  readonly waitsOutside: (instanceId: string) => boolean;
  /** This node stops, and does not know whether it has claimed something. */
  readonly leftUnknown: () => void;
  /** The instance may go on with what it waits for; its deaths so far count as this many. */
  readonly acquitted: (instanceId: string, crashes: number) => void;
}

interface Suspect {
  readonly place: string;
  /** As in `begin`: the record of its owner may be gone by the time of the trial. */
  readonly suspectEpoch: number | null;
}

interface Trial {
  readonly id: string;
  readonly end: (outcome: 'cleared' | 'undecided') => void;
  cancelOutside: () => void;
}

export class CrashTrials {
  readonly #options: CrashTrialsOptions;
  readonly #waiting = new Map<string, Suspect>();
  readonly #stopped: Promise<void>;
  #setStopped: () => void = () => undefined;
  #onTrial: Trial | null = null;
  #quietFrom: number;
  #running: Promise<void> | null = null;
  #cancelPause: () => void = () => undefined;

  constructor(options: CrashTrialsOptions) {
    this.#options = options;
    this.#quietFrom = options.environment.clock.now();
    this.#stopped = new Promise((resolve) => {
      this.#setStopped = resolve;
    });
  }

  /** A node has died, or this one begins. */
  unquiet(): void {
    this.#quietFrom = this.#options.environment.clock.now();
  }

  /** @param suspectEpoch as in `begin` */
  add(instanceId: string, suspectEpoch: number | null): void {
    const place = hash('sha1', `${this.#options.nodeId} ${instanceId}`);
    this.#waiting.set(instanceId, { place, suspectEpoch });
    this.#running ??= this.#run().finally(() => {
      this.#running = null;
    });
  }

  /** The instance has come as far as to a commit that clears it, or to a state in which nothing of it is at work. */
  over(instanceId: string): void {
    if (this.#onTrial?.id === instanceId) this.#onTrial.end('cleared');
  }

  /** The instance rests while something that it began goes on. */
  rests(instanceId: string): void {
    const trial = this.#onTrial;
    if (trial?.id !== instanceId) return;
    const { environment, waitsOutside } = this.#options;
    trial.cancelOutside();
    // Work that has begun meanwhile ends with another rest.
    trial.cancelOutside = environment.clock.at(environment.clock.now() + OUTSIDE_MS, () => {
      if (waitsOutside(instanceId)) trial.end('undecided');
    });
  }

  async stop(): Promise<void> {
    this.#setStopped();
    this.#cancelPause();
    this.#onTrial?.end('cleared');
    await this.#running;
  }

  async #run(): Promise<void> {
    const { environment, isStopping } = this.#options;
    while (this.#waiting.size > 0 && !isStopping()) {
      // Waiting for an interpreter to boot is nothing that the instance does.
      await Promise.race([environment.evaluator.ready(), this.#stopped]);
      if (environment.clock.now() < this.#quietFrom + QUIET_MS) {
        await this.#pause(this.#quietFrom + QUIET_MS);
        continue;
      }
      const [id, suspect] = this.#takeNext();
      const release = await environment.takeAllTurns(id);
      try {
        if (!isStopping()) await this.#try(id, suspect);
      } catch (error) {
        // The scan finds it again.
        environment.logger.warn({ workflowId: id, err: error }, 'could not run an instance alone');
      } finally {
        release();
      }
    }
  }

  /** Only while somebody waits. */
  #takeNext(): readonly [string, Suspect] {
    const [id, suspect] = [...this.#waiting].reduce((first, other) =>
      other[1].place < first[1].place ? other : first,
    );
    this.#waiting.delete(id);
    return [id, suspect];
  }

  async #try(id: string, { suspectEpoch }: Suspect): Promise<void> {
    const { acquitted, begin, environment, isStopping, leftUnknown } = this.#options;
    const { clock, store } = environment;
    let cancelLimit = (): void => undefined;
    let end: Trial['end'] = () => undefined;
    const verdict = new Promise<Parameters<Trial['end']>[0]>((resolve) => {
      end = resolve;
    });
    const trial: Trial = { id, end, cancelOutside: () => undefined };
    this.#onTrial = trial;
    try {
      // What it finds tells whether a claim without an answer was made after all.
      const begun = await environment.retryStore(
        async () => ({ record: await begin(id, suspectEpoch) }),
        isStopping,
      );
      if (begun === null) leftUnknown();
      const record = begun?.record ?? null;
      if (record === null) return;
      cancelLimit = clock.at(clock.now() + TRIAL_MS_MAX, () => trial.end('undecided'));
      if ((await verdict) === 'cleared') return;
      const crashes = TRIAL_FROM - 1;
      acquitted(id, crashes);
      await environment.retryStore(() => store.setCrashes(id, record.epoch, crashes), isStopping);
    } finally {
      cancelLimit();
      trial.cancelOutside();
      this.#onTrial = null;
    }
  }

  #pause(until: number): Promise<void> {
    return new Promise((resolve) => {
      const cancel = this.#options.environment.clock.at(until, resolve);
      this.#cancelPause = () => {
        cancel();
        resolve();
      };
    });
  }
}
