/**
 * Warns about steps that are questionable because of what encloses them: retry settings without effect, unlimited waits
 * in a saga.
 */
import type { ErrorBehavior, StepDefinition } from '../model/definition.js';
import { label } from './member-reader.js';
import type { ParseState, PostedStep } from './parse-state.js';
import type { StepMember } from './step-members.js';

/** A step and everything that encloses it, innermost first. */
interface Placed {
  readonly step: StepDefinition;
  readonly posted: PostedStep;
  readonly enclosing: readonly StepDefinition[];
  /** True if it is part of a CompensateWith. If so, the reaction to a failure depends on the step being compensated. */
  readonly undoes: boolean;
}

/** Defaults that the definition sets for all its steps. */
export interface DefinitionDefaults {
  readonly errorBehavior: ErrorBehavior;
  readonly retryIntervalPointer: string | null;
}

export function checkSurroundings(defaults: DefinitionDefaults, state: ParseState): void {
  const { errorBehavior: defaultBehavior, retryIntervalPointer } = defaults;
  let usesInterval = false;
  const idByPointer = new Map([...state.stepPointers].map(([id, pointer]) => [pointer, id]));
  for (const [id, posted] of state.postedSteps) {
    const step = state.steps.get(id);
    if (step === undefined) continue;
    const placed = { step, posted, ...surroundingsOf(posted.pointer, idByPointer, state) };
    warnAboutRetries(placed, defaultBehavior, state);
    warnAboutWait(placed, state);
    usesInterval ||= takesDefaultInterval(placed, defaultBehavior);
  }
  if (retryIntervalPointer === null || usesInterval) return;
  const message =
    'DefaultErrorRetryInterval has no effect: every step is either not retried or has its own RetryInterval.';
  state.warnings.add('retry_without_effect', retryIntervalPointer, message);
}

function surroundingsOf(
  pointer: string,
  idByPointer: ReadonlyMap<string, string>,
  state: ParseState,
): Pick<Placed, 'enclosing' | 'undoes'> {
  const enclosing: StepDefinition[] = [];
  let undoes = false;
  for (let end = pointer.lastIndexOf('/'); end > 0; end = pointer.lastIndexOf('/', end - 1)) {
    const step = state.steps.get(idByPointer.get(pointer.slice(0, end)) ?? '');
    if (step === undefined) continue;
    enclosing.push(step);
    undoes ||= pointer
      .slice(end + 1)
      .toLowerCase()
      .startsWith('compensatewith');
  }
  return { enclosing, undoes };
}

const RETRY_MEMBERS = ['retryInterval', 'maxRetries', 'retryBackoff', 'retryJitter'] as const;

function warnAboutRetries(
  { enclosing, posted, step, undoes }: Placed,
  behavior: ErrorBehavior,
  { warnings }: ParseState,
): void {
  const given = retryMembersOf(posted);
  const [first] = given;
  if (first === undefined || undoes) return;
  const why = whyNotRetried(step, given, { enclosing, behavior });
  if (why === null) return;
  const which = given.map(label).join(' and ');
  const verb = given.length === 1 ? 'has' : 'have';
  const message = `${which} ${verb} no effect here: ${why} To retry the step, set ErrorBehavior: Retry.`;
  warnings.add('retry_without_effect', posted.pointerOf(first), message);
}

function retryMembersOf(posted: PostedStep): readonly (typeof RETRY_MEMBERS)[number][] {
  return RETRY_MEMBERS.filter((name) => posted.value(name) !== null);
}

function takesDefaultInterval(placed: Placed, behavior: ErrorBehavior): boolean {
  const { enclosing, posted, step, undoes } = placed;
  const given = retryMembersOf(posted);
  if (given.includes('retryInterval')) return false;
  return undoes || whyNotRetried(step, given, { enclosing, behavior }) === null;
}

/** A sentence, or null if failures of the step are retried. */
function whyNotRetried(
  step: StepDefinition,
  given: readonly StepMember[],
  around: { readonly enclosing: readonly StepDefinition[]; readonly behavior: ErrorBehavior },
): string | null {
  if (step.errorBehavior === 'Retry') return null;
  if (step.errorBehavior !== null) return `ErrorBehavior is ${step.errorBehavior}.`;
  // These two members only make sense for retries, so setting one enables retries.
  if (given.includes('maxRetries') || given.includes('retryBackoff')) return null;
  const undoing = [step, ...around.enclosing].find(
    ({ compensateWith, saga }) => saga || compensateWith !== null,
  );
  if (undoing !== undefined) return 'failures are compensated.';
  return around.behavior === 'Retry' ? null : `DefaultErrorBehavior is ${around.behavior}.`;
}

const ENDLESS_WAITS: ReadonlySet<string> = new Set(['WaitFor', 'Activity']);

/** While a step in a saga waits, the saga's work stays half done. */
function warnAboutWait(
  { enclosing, posted, step, undoes }: Placed,
  { warnings }: ParseState,
): void {
  if (undoes || step.type === null || !ENDLESS_WAITS.has(step.type)) return;
  const saga = enclosing.find((outer) => outer.saga);
  if (saga === undefined) return;
  const inside = [step, ...enclosing.slice(0, enclosing.indexOf(saga) + 1)];
  const ends = inside.some(
    ({ cancelCondition, timeoutMs }) => cancelCondition !== null || timeoutMs !== null,
  );
  if (ends || step.inputs.some(({ name }) => name === 'Timeout')) return;
  const message = `This ${step.type} may wait forever, and the saga around it can neither complete nor compensate in the meantime. Set a Timeout.`;
  warnings.add('wait_without_timeout', posted.pointer, message);
}
