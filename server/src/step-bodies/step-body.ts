/**
 * A step body: what a step does outside the engine. It gets evaluated inputs and returns the variables of `step`.
 *
 * A body runs at least once: after a crash, the same execution may run again, with the same `idempotencyKey`.
 */
import type { JsonObject } from '../engine/values/json.js';
import type { EffectResult } from '../engine/flow/messages.js';

export interface StepBodyContext {
  readonly workflowId: string;
  /** Scarce resources are shared between definitions. */
  readonly definitionId?: string;
  readonly stepId: string;
  readonly attempt: number;
  /** The same for all attempts of this execution, different for every other execution. */
  readonly idempotencyKey: string;
  /** Fires when the result is no longer needed, or the server stops. */
  readonly signal: AbortSignal;
  /** Takes the values of secrets out of texts that leave the body by another way than its result. */
  readonly mask?: (text: string) => string;
  /** The inputs with the names of secrets instead of their values, for messages. Omitted: there are no secrets in them. */
  readonly shownInputs?: JsonObject;
  /** Keeps memory counted that the result takes, until the result is saved or no longer needed: then calls `release`. */
  readonly retain?: (release: () => void) => void;
  /** Omitted: the call belongs to no trace. */
  readonly trace?: CallTrace;
}

export interface CallTrace {
  /** Of the span of this call, for the callee. */
  readonly traceparent: string;
  /** What tracing systems before this call have added; omitted: nothing. */
  readonly tracestate?: string;
  /** Told once, when the call has ended. Omitted: nobody wants to know. */
  readonly sent?: (request: SentRequest) => void;
}

/** What a trace shows of a request. */
export interface SentRequest {
  readonly method: string;
  /** Scheme, host and port. */
  readonly origin: string;
  /** 0: there was no response. */
  readonly statusCode: number;
}

export interface StepBody {
  /** Never rejects because of inputs or external failures: those give a result with `ok: false`. */
  run(inputs: JsonObject, context: StepBodyContext): Promise<EffectResult>;
}
