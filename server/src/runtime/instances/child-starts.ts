/** Starts the child instances that steps request, a few at a time. */
import type { EffectResult } from '../../engine/flow/messages.js';
import { parentLinkOf, rootOf } from '../../engine/model/child-id.js';
import type { InstanceTrace } from '../../engine/model/instance-trace.js';
import type { ParentLink, Instance } from '../../engine/model/instance.js';
import type { Pointer } from '../../engine/model/pointer.js';
import type { Fairness, Priority } from '../../engine/model/start-options.js';
import type { JsonObject } from '../../engine/values/json.js';
import { AppError } from '../../base/errors.js';
import { createTurns } from '../../base/limits/weighted-queue.js';
import type { RuntimeMetrics } from '../fleet/runtime-metrics.js';
import { tooManyDescendants } from '../instance-state/descendants.js';

/** A Foreach may start thousands of children at once: they must not delay other store requests. */
const UNDER_WAY_MAX = 32;

export interface ChildStart {
  readonly workflowId: string;
  readonly parent: ParentLink;
  /** The parent's priority. */
  readonly priority: Priority;
  /** The parent's. */
  readonly fairness: Fairness | null;
  /** The parent's trace. */
  readonly trace?: InstanceTrace;
}

export type ChildStarted =
  | { readonly outcome: 'started' }
  /** Another instance has the reference, and replaces the child. */
  | { readonly outcome: 'joined'; readonly workflowId: string }
  /** The root instance has reached its maximum number of open descendants. */
  | { readonly outcome: 'full' };

export type StartChild = (inputs: JsonObject, start: ChildStart) => Promise<ChildStarted>;

export interface ChildStartsOptions {
  readonly startChild: StartChild;
  readonly metrics: Pick<RuntimeMetrics, 'descendantRefused'>;
  readonly limits: { readonly descendantsMax: number };
}

export class ChildStarts {
  readonly #options: ChildStartsOptions;
  readonly #turns = createTurns(UNDER_WAY_MAX);

  constructor(options: ChildStartsOptions) {
    this.#options = options;
  }

  /** Returns null if this node is stopping; the next node starts the child. */
  async start(
    parent: Instance,
    pointer: Pointer,
    state: Extract<Pointer['state'], { kind: 'child' }>,
  ): Promise<EffectResult | null> {
    const { limits, metrics, startChild } = this.#options;
    const { workflowId } = state;
    const root = rootOf(parent);
    const link = parentLinkOf(parent, pointer, state.wait);
    const turn = await this.#turns.enter(root, 1);
    try {
      const { fairness, priority, trace } = parent;
      const traced = trace === undefined ? {} : { trace };
      const child = { workflowId, parent: link, priority, fairness, ...traced };
      const started = await startChild(state.inputs, child);
      if (started.outcome === 'started') return { ok: true, values: {} };
      if (started.outcome === 'joined')
        return { ok: true, values: { WorkflowId: started.workflowId } };
      metrics.descendantRefused();
      const message = tooManyDescendants(root, limits.descendantsMax);
      return { ok: false, failure: { type: 'TooManyDescendants', message } };
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      if (error.code === 'stopping') return null;
      return { ok: false, failure: { type: typeOf(error), message: error.message } };
    } finally {
      turn.release();
    }
  }
}

function typeOf({ code, parameter }: AppError): string {
  if (code === 'invalid_data') return 'InvalidData';
  return parameter === 'onConflict' ? 'InputError' : 'SubWorkflowFailed';
}
