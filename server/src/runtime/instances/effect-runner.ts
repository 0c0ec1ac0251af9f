/**
 * The effects of one instance: started after a commit, aborted when their step is canceled. A result's memory stays counted
 * until a commit has saved the result; then it is part of the state.
 */
import { traitsOf } from '../../engine/definitions/step-types.js';
import type { EffectResult } from '../../engine/flow/messages.js';
import { stepOf, type Session } from '../../engine/session/session.js';
import type { ActorEnvironment } from './actor-environment.js';

type EffectEnvironment = Pick<ActorEnvironment, 'logger' | 'runBody'>;

const NOTHING = (): void => undefined;

interface UnderWay {
  readonly controller: AbortController;
  /** True if the effect waits for an external response. Scripts and starts of children are work of this server. */
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
  /** Effects whose results were taken, but not saved by a commit. */
  #unsaved: FinishedEffect[] = [];
  readonly #underWay = new Map<number, UnderWay>();
  #hasLeftOver = false;
  #waitsForEnd: () => void = () => undefined;

  /** @param ended called when there is a result to take */
  constructor(environment: EffectEnvironment, ended: () => void) {
    this.#environment = environment;
    this.#ended = ended;
  }

  /**
   * True if no effect is running, and none was left to the next node. A node that stops must announce effects that it leaves.
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

  /** Called when the store has all required results that were taken. */
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

  /** Aborts the effects, and drops all results. */
  abortAll(): void {
    this.abort([...this.#underWay.keys()]);
    this.takeResults();
    this.saved();
  }

  /** Bodies return their failures as results. A body that throws has a bug, which must affect only its step. */
  #unexpected(session: Session, pointerId: number, error: unknown): EffectResult {
    const fields = { workflowId: session.instance.id, pointerId, err: error };
    this.#environment.logger.error(fields, 'a step body failed unexpectedly');
    return { ok: false, failure: { type: 'InternalError', message: 'the step body failed' } };
  }
}
