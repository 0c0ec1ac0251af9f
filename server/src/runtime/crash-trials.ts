/**
 * Tries instances one at a time that may be what stops the servers: each has the node for itself meanwhile.
 *
 * An instance comes here when two nodes in a row died while it was due or under work. Its claim raises its count of crashes
 * and is the mark: whoever finds it with a dead owner and that count knows that it was the only one at work when that
 * node died. The mark goes with the first commit, or after `TRIAL_MS` in which the node did not die: what takes longer waits
 * for something outside, and keeps nobody else waiting.
 *
 *  R8 Nothing is tried before the node, and every other that is known, has lived for `QUIET_MS`: nodes that are killed
 *     again and again from outside die before a trial begins, so that no instance is blamed for it.
 *  R9 While an instance is on trial no other has a turn on this node.
 */
import type { InstanceRecord } from '../store/store.js';
import type { ActorEnvironment } from './actor-environment.js';

/** So many deaths in a row are put down to chance; from here on the instance is tried alone. */
export const TRIAL_FROM = 2;
const QUIET_MS = 3000;
const TRIAL_MS = 250;

export interface CrashTrialsOptions {
  readonly environment: Pick<
    ActorEnvironment,
    'clock' | 'logger' | 'retryStore' | 'store' | 'takeAllTurns'
  >;
  readonly isStopping: () => boolean;
  /** Claims the instance and sets it to work. Null: it is not, or no longer, this node's to try. */
  readonly begin: (instanceId: string) => Promise<InstanceRecord | null>;
  /** This node stops, and does not know whether it has claimed something. */
  readonly leftUnknown: () => void;
  /** The instance may go on with what it waits for; its deaths so far count as this many. */
  readonly acquitted: (instanceId: string, crashes: number) => void;
}

export class CrashTrials {
  readonly #options: CrashTrialsOptions;
  readonly #waiting = new Set<string>();
  #onTrial: { readonly id: string; readonly over: () => void } | null = null;
  #quietFrom: number;
  #running: Promise<void> | null = null;
  #cancelPause: () => void = () => undefined;

  constructor(options: CrashTrialsOptions) {
    this.#options = options;
    this.#quietFrom = options.environment.clock.now();
  }

  /** A node has died, or this one begins. */
  unquiet(): void {
    this.#quietFrom = this.#options.environment.clock.now();
  }

  add(instanceId: string): void {
    this.#waiting.add(instanceId);
    this.#running ??= this.#run().finally(() => {
      this.#running = null;
    });
  }

  /** The instance has come as far as to a commit that counts, or to a state in which nothing of it is at work. */
  over(instanceId: string): void {
    if (this.#onTrial?.id === instanceId) this.#onTrial.over();
  }

  async stop(): Promise<void> {
    this.#cancelPause();
    this.#onTrial?.over();
    await this.#running;
  }

  async #run(): Promise<void> {
    const { environment, isStopping } = this.#options;
    while (this.#waiting.size > 0 && !isStopping()) {
      const { clock } = environment;
      if (clock.now() < this.#quietFrom + QUIET_MS) {
        await this.#pause(this.#quietFrom + QUIET_MS);
        continue;
      }
      const [id] = this.#waiting;
      if (id === undefined) return;
      this.#waiting.delete(id);
      const release = await environment.takeAllTurns(id);
      try {
        if (!isStopping()) await this.#try(id);
      } catch (error) {
        // The scan finds it again.
        environment.logger.warn({ workflowId: id, err: error }, 'could not try an instance alone');
      } finally {
        release();
      }
    }
  }

  async #try(id: string): Promise<void> {
    const { acquitted, begin, environment, isStopping, leftUnknown } = this.#options;
    const { clock, store } = environment;
    const verdict = new Promise<'over'>((resolve) => {
      this.#onTrial = { id, over: () => resolve('over') };
    });
    try {
      // What it finds tells whether a claim without an answer was made after all.
      const begun = await environment.retryStore(
        async () => ({ record: await begin(id) }),
        isStopping,
      );
      if (begun === null) leftUnknown();
      const record = begun?.record ?? null;
      if (record === null) return;
      const outcome = await Promise.race([verdict, this.#pause(clock.now() + TRIAL_MS)]);
      if (outcome === 'over') return;
      const crashes = TRIAL_FROM - 1;
      acquitted(id, crashes);
      await environment.retryStore(() => store.setCrashes(id, record.epoch, crashes), isStopping);
    } finally {
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
