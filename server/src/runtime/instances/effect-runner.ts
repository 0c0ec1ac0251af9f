/** The running effects of one instance: started after a commit, aborted when their step is cancelled. */
import { traitsOf } from '../../engine/definitions/step-types.js';
import type { EffectResult } from '../../engine/flow/messages.js';
import { stepOf, type Run } from '../../engine/flow/run.js';
import type { ActorEnvironment } from './actor-environment.js';

type EffectEnvironment = Pick<ActorEnvironment, 'logger' | 'runBody'>;

interface UnderWay {
  readonly controller: AbortController;
  /** True if the effect waits for an external response. A script or the start of a child is work of this server. */
  readonly isCall: boolean;
}

export class EffectRunner {
  readonly #environment: EffectEnvironment;
  readonly #ended: (pointerId: number, attempt: number, result: EffectResult) => void;
  readonly #underWay = new Map<number, UnderWay>();
  #hasLeftOver = false;
  #waitsForEnd: () => void = () => undefined;

  constructor(
    environment: EffectEnvironment,
    ended: (pointerId: number, attempt: number, result: EffectResult) => void,
  ) {
    this.#environment = environment;
    this.#ended = ended;
  }

  /**
   * True if no effect is running and none was left to the next node. This node must announce the latter before it stops.
   */
  get isAtRest(): boolean {
    return this.#underWay.size === 0 && !this.#hasLeftOver;
  }

  /** True if all running effects are external calls. */
  get areCalls(): boolean {
    return [...this.#underWay.values()].every(({ isCall }) => isCall);
  }

  start(run: Run, pointerIds: readonly number[]): void {
    for (const pointerId of pointerIds) {
      const pointer = run.instance.pointers.get(pointerId);
      const kind = pointer?.state.kind;
      if (pointer === undefined || (kind !== 'effect' && kind !== 'child')) continue;
      if (this.#underWay.has(pointerId)) continue;
      const { attempt } = pointer;
      const controller = new AbortController();
      const isCall = kind === 'effect' && traitsOf(stepOf(run, pointer)).body === 'http';
      this.#underWay.set(pointerId, { controller, isCall });
      void this.#environment
        .runBody(run, pointer, controller.signal)
        .catch((error: unknown): EffectResult => this.#unexpected(run, pointerId, error))
        .then((result) => {
          if (this.#underWay.get(pointerId)?.controller !== controller) return;
          this.#underWay.delete(pointerId);
          if (result === null) this.#hasLeftOver = true;
          else this.#ended(pointerId, attempt, result);
          if (this.#underWay.size === 0) this.#waitsForEnd();
        });
    }
  }

  /** Resolves when no effect is running any more, or when the signal fires. Supports one caller at a time. */
  async end(signal: AbortSignal): Promise<void> {
    if (this.#underWay.size === 0 || signal.aborted) return;
    await new Promise<void>((resolve) => {
      this.#waitsForEnd = resolve;
      signal.addEventListener('abort', () => resolve(), { once: true });
    });
  }

  abort(pointerIds: readonly number[]): void {
    for (const pointerId of pointerIds) {
      this.#underWay.get(pointerId)?.controller.abort();
      this.#underWay.delete(pointerId);
    }
    if (this.#underWay.size === 0) this.#waitsForEnd();
  }

  abortAll(): void {
    this.abort([...this.#underWay.keys()]);
  }

  /** Bodies return their failures as results. A body that throws has a bug, which must not harm more than its step. */
  #unexpected(run: Run, pointerId: number, error: unknown): EffectResult {
    const fields = { workflowId: run.instance.id, pointerId, err: error };
    this.#environment.logger.error(fields, 'a step body failed unexpectedly');
    return { ok: false, failure: { type: 'InternalError', message: 'the step body failed' } };
  }
}
