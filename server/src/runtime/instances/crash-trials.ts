/**
 * Runs instances that are suspected of crashing servers, one at a time: during its trial, an instance runs alone on the node.
 *
 * An instance becomes a suspect when two consecutive nodes have died while it was due or at work. Claiming it increments its
 * crash count, which marks the trial: a node that finds it with this count and a dead owner knows that it was running alone
 * when the owner died. The mark is removed by the first commit that clears the instance, or when the trial ends without one.
 *
 *  CT1 No trial starts before this node and every other known node have been alive for `QUIET_MS`. Nodes that are repeatedly
 *      killed from outside die before a trial starts, so no instance is blamed for it.
 *  CT2 While an instance is on trial, no other instance has a turn on this node.
 *  CT3 A trial ends with a commit of the instance, or when it has no work left, however long that takes. However, a wait for an
 *      external response lasts at most `OUTSIDE_MS`, and the whole trial at most `TRIAL_MS_MAX`.
 *  CT4 The order of trials differs between nodes: if external kills hit the first trial of each node, they don't always hit the
 *      same instance.
 */
import { hash } from 'node:crypto';
import { sleepUntil } from '../../base/clock.js';
import type { InstanceRecord } from '../../store/records/instances.js';
import type { RunnerEnvironment } from './runner-environment.js';

/** Fewer consecutive deaths are considered coincidence; from this number on, the instance runs alone. */
export const TRIAL_FROM = 2;
/** Minimum number of deaths in trials before an instance is quarantined: a single one may be an external kill. */
export const ALONE_MIN = 2;
const QUIET_MS = 3000;
/** How long an instance that only waits for an external response blocks the others. */
const OUTSIDE_MS = 250;
/** Maximum duration of a trial, from the start of the instance's work. */
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
   * Claims the instance and gives it a turn. Returns null if this node may not, or may no longer, run the instance.
   * @param suspectEpoch while the instance has this epoch, its owner is known to have died while working on it
   */
  readonly begin: (
    instanceId: string,
    suspectEpoch: number | null,
  ) => Promise<InstanceRecord | null>;
  /** True if the instance has nothing to do until an external response arrives. */
  readonly waitsForResponse: (instanceId: string) => boolean;
  /** Called when this node stops without knowing whether it has claimed an instance. */
  readonly maybeUnfinished: () => void;
  /** Called when the instance may continue; its crash count becomes `crashes`. */
  readonly cleared: (instanceId: string, crashes: number) => void;
}

interface Suspect {
  readonly place: string;
  /** See `begin`: the owner's record may be gone by the time of the trial. */
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
  readonly #stopped = new AbortController();
  #onTrial: Trial | null = null;
  #quietFrom: number;
  #running: Promise<void> | null = null;

  constructor(options: CrashTrialsOptions) {
    this.#options = options;
    this.#quietFrom = options.environment.clock.now();
  }

  /** Called when a node has died, or this node is starting. */
  unquiet(): void {
    this.#quietFrom = this.#options.environment.clock.now();
  }

  /** @param suspectEpoch see `begin` */
  add(instanceId: string, suspectEpoch: number | null): void {
    const place = hash('sha1', `${this.#options.nodeId} ${instanceId}`);
    this.#waiting.set(instanceId, { place, suspectEpoch });
    this.#running ??= this.#run().finally(() => {
      this.#running = null;
    });
  }

  /** Called when the instance has made a commit that clears it, or has no work left. */
  over(instanceId: string): void {
    if (this.#onTrial?.id === instanceId) this.#onTrial.end('cleared');
  }

  /** Called when the instance rests while its external work is still running. */
  rests(instanceId: string): void {
    const trial = this.#onTrial;
    if (trial?.id !== instanceId) return;
    const { environment, waitsForResponse } = this.#options;
    trial.cancelOutside();
    // Work that has started since ends with another rest.
    trial.cancelOutside = environment.clock.at(environment.clock.now() + OUTSIDE_MS, () => {
      if (waitsForResponse(instanceId)) trial.end('undecided');
    });
  }

  async stop(): Promise<void> {
    this.#stopped.abort();
    this.#onTrial?.end('cleared');
    await this.#running;
  }

  async #run(): Promise<void> {
    const { environment, isStopping } = this.#options;
    while (this.#waiting.size > 0 && !isStopping()) {
      // Waiting for an interpreter to boot doesn't count as the instance's work.
      await Promise.race([environment.evaluator.ready(), aborted(this.#stopped.signal)]);
      if (environment.clock.now() < this.#quietFrom + QUIET_MS) {
        await sleepUntil(environment.clock, this.#quietFrom + QUIET_MS, this.#stopped.signal);
        continue;
      }
      const [id, suspect] = this.#takeNext();
      const release = await environment.takeAllTurns(id);
      try {
        if (!isStopping()) await this.#try(id, suspect);
      } catch (error) {
        // The scan finds the instance again.
        environment.logger.warn({ workflowId: id, err: error }, 'could not run an instance alone');
      } finally {
        release();
      }
    }
  }

  /** Call only while a suspect is waiting. */
  #takeNext(): readonly [string, Suspect] {
    const [id, suspect] = [...this.#waiting].reduce((first, other) =>
      other[1].place < first[1].place ? other : first,
    );
    this.#waiting.delete(id);
    return [id, suspect];
  }

  async #try(id: string, { suspectEpoch }: Suspect): Promise<void> {
    const { cleared, begin, environment, isStopping, maybeUnfinished } = this.#options;
    const { clock, store } = environment;
    let cancelLimit = (): void => undefined;
    let end: Trial['end'] = () => undefined;
    const verdict = new Promise<Parameters<Trial['end']>[0]>((resolve) => {
      end = resolve;
    });
    const trial: Trial = { id, end, cancelOutside: () => undefined };
    this.#onTrial = trial;
    try {
      // The next read shows whether a claim without a response was stored.
      const begun = await environment.retryStore(
        async () => ({ record: await begin(id, suspectEpoch) }),
        isStopping,
      );
      if (begun === null) maybeUnfinished();
      const record = begun?.record ?? null;
      if (record === null) return;
      cancelLimit = clock.at(clock.now() + TRIAL_MS_MAX, () => trial.end('undecided'));
      if ((await verdict) === 'cleared') return;
      const crashes = TRIAL_FROM - 1;
      cleared(id, crashes);
      await environment.retryStore(() => store.setCrashes(id, record.epoch, crashes), isStopping);
    } finally {
      cancelLimit();
      trial.cancelOutside();
      this.#onTrial = null;
    }
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
