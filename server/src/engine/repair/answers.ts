/**
 * The results of modifications, kept in the instance for their callers, who may be on another node.
 *
 *  E13 An applied modification whose request has an idempotency key is remembered as long as the instance exists, unless
 *      `KEYS_MAX` later ones follow. A repeated request has no effect and gets the first result.
 */
import type { Session } from '../session/session.js';
import type { Instance } from '../model/instance.js';
import { jsonLength } from '../values/json-length.js';
import type { Json } from '../values/json.js';
import type {
  KeyedRequest,
  ModificationAnswer,
  ModificationResult,
} from '../model/modification.js';

/** No caller waits longer for an answer. */
const ANSWER_KEPT_MS = 60_000;
/** Maximum length of the earlier answers that are kept with a new one, in bytes of JSON. Beyond it, only the key is kept. */
const EARLIER_LENGTH_MAX = 256 * 1024;
/** Maximum number of applied modifications that are remembered by their keys. */
const KEYS_MAX = 100;
/** Maximum length of each list in an answer that no caller waits for any more. */
const LISTED_MAX = 100;

type Answers = Pick<Instance, 'answers'>;

/** The answer to a repeated request, or to another request with the same key. It must not change anything. */
export type KnownAnswer = ModificationAnswer & { readonly result: ModificationResult };

export interface Answered {
  readonly id: string;
  readonly result: ModificationResult;
  readonly keyed?: KeyedRequest | undefined;
}

export function keepAnswer(session: Session, { id, keyed, result }: Answered): void {
  const { instance, now } = session;
  forgetAnswers(instance, now);
  const answer: ModificationAnswer = {
    id,
    at: now,
    ...(keyed !== undefined && { keyed }),
    result,
  };
  const others = instance.answers.filter((each) => each.id !== id || isDropped(each));
  instance.answers = [...newestOf(others), answer];
  session.grown += lengthOf(answer);
  session.dirty = true;
}

/** Drops the answers that no caller waits for any more, except answers with a key. */
export function forgetAnswers(instance: Instance, now: number): void {
  instance.answers = instance.answers.flatMap((answer) => {
    if (now - answer.at < ANSWER_KEPT_MS) return [answer];
    return isKeyed(answer) ? [shortened(answer, LISTED_MAX)] : [];
  });
}

export function answerTo({ answers }: Answers, id: string): KnownAnswer | null {
  return (
    answers.find((answer): answer is KnownAnswer => answer.id === id && !isDropped(answer)) ?? null
  );
}

/** True if the request was answered before, or another request with the same key. */
export function isAnswered(
  answers: Answers,
  { id, requestHash }: { readonly id: string; readonly requestHash: string | undefined },
): boolean {
  const answer = answerTo(answers, id);
  if (answer === null) return false;
  // An impossible modification has changed nothing, so another request may reuse its key.
  return answer.result.outcome === 'applied' || answer.keyed?.requestHash === requestHash;
}

/** The modification is removed from the inbox of an ended instance: its caller must stop waiting. */
export function noteDropped({ instance, now }: Session, id: string): void {
  instance.answers = [...instance.answers, { id, at: now, result: { outcome: 'dropped' } }];
}

export function dropsOf({ answers }: Answers, id: string): number {
  return answers.filter((answer) => answer.id === id && isDropped(answer)).length;
}

function isDropped({ result }: ModificationAnswer): boolean {
  return result.outcome === 'dropped';
}

type KeyedAnswer = ModificationAnswer & {
  readonly keyed: KeyedRequest;
  readonly result: Extract<ModificationResult, { readonly outcome: 'applied' }>;
};

function isKeyed(answer: ModificationAnswer): answer is KeyedAnswer {
  return answer.keyed !== undefined && answer.result.outcome === 'applied';
}

function newestOf(answers: readonly ModificationAnswer[]): readonly ModificationAnswer[] {
  let length = 0;
  // The new answer is one of them.
  let keys = 1;
  return answers
    .toReversed()
    .flatMap((answer) => {
      const keeps = isKeyed(answer);
      if (keeps) keys += 1;
      if (keys > KEYS_MAX && keeps) return [];
      length += lengthOf(answer);
      if (length <= EARLIER_LENGTH_MAX) return [answer];
      return keeps ? [shortened(answer, 0)] : [];
    })
    .toReversed();
}

/** A copy with at most `listedMax` entries in each list, and a warning that says so. */
function shortened(answer: KeyedAnswer, listedMax: number): KeyedAnswer {
  const { keyed, result } = answer;
  const lists = [result.cancelled, result.started, keyed.repeats];
  if (lists.every(({ length }) => length <= listedMax)) return answer;
  const warnings = [...result.warnings.filter(({ code }) => code !== SHORTENED.code), SHORTENED];
  return {
    ...answer,
    keyed: { ...keyed, repeats: keyed.repeats.slice(0, listedMax) },
    result: {
      ...result,
      cancelled: result.cancelled.slice(0, listedMax),
      started: result.started.slice(0, listedMax),
      warnings,
    },
  };
}

const SHORTENED = {
  code: 'result_shortened',
  message:
    'This is the result of an earlier request with the same Idempotency-Key. Its lists were long, and are not complete here',
} as const;

function lengthOf(answer: ModificationAnswer): number {
  // An answer is plain JSON.
  return jsonLength(answer as unknown as Json);
}
