/**
 * The effects of one instance: started after a commit, aborted when their step is cancelled. The memory that a result takes
 * stays counted until a commit has saved the result: from then on, it is a part of the state.
 */
import { traitsOf } from '../../engine/definitions/step-types.js';
import type { EffectResult } from '../../engine/flow/messages.js';
import { stepOf, type Session } from '../../engine/flow/session.js';
import type { ActorEnvironment } from './actor-environment.js';

type EffectEnvironment = Pick<ActorEnvironment, 'logger' | 'runBody'>;

const NOTHING = (): void => undefined;

interface UnderWay {
  readonly controller: AbortController;
  /** True if the effect waits for an external response. A script or the start of a child is work of this server. */
  readonly isCall: boolean;
}

interface FinishedEffect {
  readonly pointerId: number;
  readonly attempt: number;
  readonly result: EffectResult;
  readonly release: () => void;
}

export class EffectRunner {
  readonly #environment: EffectEnvironment;
  readonly #ended: () => void;
  /** Effects whose results have not been taken. */
  #finished: FinishedEffect[] = [];
  /** Effects whose results were taken, and that no commit has saved. */
  #unsaved: FinishedEffect[] = [];
  readonly #underWay = new Map<number, UnderWay>();
  #hasLeftOver = false;
  #waitsForEnd: () => void = () => undefined;

  /** @param ended there is a result to take */
  constructor(environment: EffectEnvironment, ended: () => void) {
    this.#environment = environment;
    this.#ended = ended;
  }

  /**
   * True if no effect is running and none was left to the next node. This node must announce the latter before it stops.
   */
  get isAtRest(): boolean {
    return this.#underWay.size === 0 && !this.#hasLeftOver;
  }

  get hasResults(): boolean {
    return this.#finished.length > 0;
  }

  /** True if all running effects are external calls. */
  get areCalls(): boolean {
    return [...this.#underWay.values()].every(({ isCall }) => isCall);
  }

  start(session: Session, pointerIds: readonly number[]): void {
    for (const pointerId of pointerIds) {
      const pointer = session.instance.pointers.get(pointerId);
      const kind = pointer?.state.kind;
      if (pointer === undefined || (kind !== 'effect' && kind !== 'child')) continue;
      if (this.#underWay.has(pointerId)) continue;
      const { attempt } = pointer;
      const controller = new AbortController();
      const isCall = kind === 'effect' && traitsOf(stepOf(session, pointer)).body === 'http';
      this.#underWay.set(pointerId, { controller, isCall });
      let release = NOTHING;
      const retain = (releaseMemory: () => void): void => {
        release = releaseMemory;
      };
      void this.#environment
        .runBody(session, pointer, { signal: controller.signal, retain })
        .catch((error: unknown): EffectResult => this.#unexpected(session, pointerId, error))
        .then((result) => {
          if (this.#underWay.get(pointerId)?.controller !== controller) {
            release();
            return;
          }
          this.#underWay.delete(pointerId);
          if (result === null) this.#hasLeftOver = true;
          else {
            this.#finished.push({ pointerId, attempt, result, release });
            this.#ended();
          }
          if (this.#underWay.size === 0) this.#waitsForEnd();
        });
    }
  }

  takeResults(): readonly FinishedEffect[] {
    const taken = this.#finished;
    this.#finished = [];
    if (taken.length > 0) this.#unsaved.push(...taken);
    return taken;
  }

  /** The store has the results that were taken, as far as they are needed. */
  saved(): void {
    if (this.#unsaved.length === 0) return;
    for (const { release } of this.#unsaved) release();
    this.#unsaved = [];
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

  /** Aborts the effects, and forgets all results. */
  abortAll(): void {
    this.abort([...this.#underWay.keys()]);
    this.takeResults();
    this.saved();
  }

  /** Bodies return their failures as results. A body that throws has a bug, which must not harm more than its step. */
  #unexpected(session: Session, pointerId: number, error: unknown): EffectResult {
    const fields = { workflowId: session.instance.id, pointerId, err: error };
    this.#environment.logger.error(fields, 'a step body failed unexpectedly');
    return { ok: false, failure: { type: 'InternalError', message: 'the step body failed' } };
  }
}
