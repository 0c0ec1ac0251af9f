/**
 * The budgets of limits, one document for each limit and key, by which everything that takes slots of a key takes effect one after
 * another (rule S15), although no operation spans two documents.
 *
 *   read the key --> count what is held, if needed --> replace the key, with a taking --> write the instance or item
 *
 * Invariants:
 *  LB1 What is held is stored with its holder: `slots` of an open instance, or of an item that is not done. So the write that ends the
 *      holder, or takes the slots from it, frees them. Nothing else says that a slot is held.
 *  LB2 Slots get into a document only under a taking: an entry in the documents of all their keys, written before by
 *      compare-and-set on the tokens that were read before the slots were counted. Of several that have read the same token, one
 *      succeeds. A key that has no document gets an empty one first, so that its token is unique.
 *  LB3 While a taking can still have its effect, it counts as held. It can't any more once its document has moved on: the epoch,
 *      `inSeq` and revision that the commit expects, or the `slotTry` that the claim expects, are never there again. Whoever counts
 *      looks, and drops it. So what a dead process has left is known without a timeout.
 *  LB4 A grant is finished by whoever counts. It moves a wait, which has a unique id, to the slots of its instance. A wait is granted
 *      once, so a slow process has no effect any more.
 *  LB5 An insert with slots has effect once `slotStarts` has its document: see slot-starts.ts. Whoever counts finishes it, or makes
 *      sure that it never has effect.
 *  LB6 `heldMax` is at least what is held and being taken. So nothing is counted as long as it allows what is asked for.
 *  LB7 A lease that has ended holds nothing. Before its slots are given to others, its item loses them (`slotsLost`), so no clock
 *      that is behind extends it.
 *  LB8 Conservative answers are possible, never too generous ones. Who is refused waits, and `grantSlots` looks again after a while
 *      as long as something is being taken.
 */
import { randomUUID } from 'node:crypto';
import type { KeyedMutex } from '../../base/limits/keyed-mutex.js';
import { spend, type LimitRule, readLimitRule } from '../records/rates.js';
import type { LimitKey } from '../records/slots.js';
import { decodeText } from '../text-codec.js';
import { DECIDING } from './deciding.js';
import type { LimitKeyDocument, TakingDocument } from './slot-documents.js';
import type { MongoContext } from './mongo-context.js';
import { isDuplicateKey } from './mongo-errors.js';
import { limitKeyOf } from './slot-names.js';
import { unpackText } from './packed-text.js';
import { resourceIdOf } from './resources.js';
import { LineState } from './turns.js';

/** A key while something is decided about it. */
export interface KeyState {
  readonly on: string;
  /** Null: there is no such limit. */
  readonly rule: LimitRule | null;
  /** As it was read, or without the takings that have been dropped since. */
  before: LimitKeyDocument;
  spentUntil: number;
  /** Infinite: unknown. */
  held: number;
  isExact: boolean;
  /** Not counted is what the same write frees. */
  isPartial: boolean;
  hasRevoked: boolean;
  readonly added: TakingDocument[];
  /** The turns of those that wait. */
  readonly line: LineState;
}

export type KeyStates = ReadonlyMap<string, KeyState>;

/** What was written, to be undone. */
export interface ReplacedKey {
  readonly before: LimitKeyDocument;
  readonly token: string;
}

/** Those of this process that decide about the same keys run one after another. All take the keys in this order. */
export function inTurn<Result>(
  mutex: KeyedMutex,
  ons: readonly string[],
  work: () => Promise<Result>,
): Promise<Result> {
  const keys = [...new Set(ons)].sort();
  return keys.reduceRight<() => Promise<Result>>(
    (inner, on) => () => mutex.run(`slots/${on}`, inner),
    work,
  )();
}

export async function readKeys(
  context: MongoContext,
  ons: Iterable<string>,
  now: number,
): Promise<KeyStates> {
  const wanted = [...new Set(ons)].sort();
  const [rules, known] = await Promise.all([
    readRules(context, wanted.map(limitKeyOf)),
    findKeys(context, wanted),
  ]);
  const states = new Map<string, KeyState>();
  for (const on of wanted) {
    const before = known.get(on) ?? (await addKey(context, on, now));
    const { heldMax, spentUntil } = before;
    states.set(on, {
      on,
      rule: rules.get(limitKeyOf(on).limit) ?? null,
      before,
      spentUntil,
      held: heldMax ?? Infinity,
      isExact: false,
      isPartial: false,
      hasRevoked: false,
      added: [],
      line: new LineState(before.turns),
    });
  }
  return states;
}

/** Those that exist. */
export async function readRules(
  { resources }: Pick<MongoContext, 'resources'>,
  keys: readonly Pick<LimitKey, 'limit'>[],
): Promise<ReadonlyMap<string, LimitRule | null>> {
  const ids = [...new Set(keys.map(({ limit }) => resourceIdOf('limit', limit)))];
  const found = await resources.find({ _id: { $in: ids } }, DECIDING).toArray();
  return new Map(
    found.map(({ body, name }) => [decodeText(name), readLimitRule(unpackText(body))]),
  );
}

async function findKeys(
  { limitKeys }: MongoContext,
  ons: readonly string[],
): Promise<ReadonlyMap<string, LimitKeyDocument>> {
  const found = await limitKeys.find({ _id: { $in: [...ons] } }, DECIDING).toArray();
  return new Map(found.map((document) => [document._id, document]));
}

async function addKey(context: MongoContext, on: string, at: number): Promise<LimitKeyDocument> {
  const empty = { token: randomUUID(), at, spentUntil: 0, heldMax: null, takings: [] };
  for (;;) {
    const document = { _id: on, ...empty };
    try {
      await context.limitKeys.insertOne(document);
      return document;
    } catch (error) {
      if (!isDuplicateKey(error)) throw error;
    }
    const known = (await findKeys(context, [on])).get(on);
    if (known !== undefined) return known;
  }
}

/** Units of the execution that are being taken now, or were by an attempt that has not ended. */
export function takingOf(state: KeyState, execution: string): TakingDocument | undefined {
  const isMine = (taking: TakingDocument): boolean => taking.execution === execution;
  return state.added.find(isMine) ?? state.before.takings.find(isMine);
}

/** @param own units of the execution that it has already */
export function addTaking(state: KeyState, taking: TakingDocument, own: number): void {
  const { at, execution, units } = taking;
  const known = takingOf(state, execution)?.units ?? own;
  state.added.splice(0, Infinity, ...state.added.filter((each) => each.execution !== execution));
  state.added.push(taking);
  state.held += Math.max(known, units) - known;
  const rate = state.rule?.rate ?? null;
  if (rate !== null) state.spentUntil = spend(rate, state.spentUntil, { at, units });
}

/** Null: another one was faster, and nothing has changed. */
export async function replaceKeys(
  context: MongoContext,
  states: KeyStates,
): Promise<readonly ReplacedKey[] | null> {
  const replaced: ReplacedKey[] = [];
  for (const { added, before, held, isPartial, line, spentUntil } of states.values()) {
    if (added.length === 0 && line.changed.turns === undefined) continue;
    const token = randomUUID();
    const isAdded = new Set(added.map(({ execution }) => execution));
    const takings = [
      ...before.takings.filter(({ execution }) => !isAdded.has(execution)),
      ...added,
    ];
    const heldMax = Number.isFinite(held) && !isPartial ? held : null;
    const at = Math.max(before.at, ...added.map((taking) => taking.at));
    const { matchedCount } = await context.limitKeys.updateOne(
      { _id: before._id, token: before.token },
      { $set: { token, at, spentUntil, heldMax, takings, ...line.changed } },
    );
    if (matchedCount === 0) {
      await restoreKeys(context, replaced);
      return null;
    }
    replaced.push({ before, token });
  }
  return replaced;
}

/** What was taken won't be used. If somebody has decided since, the takings are dropped later. */
export async function restoreKeys(
  { limitKeys }: Pick<MongoContext, 'limitKeys'>,
  replaced: readonly ReplacedKey[],
): Promise<void> {
  for (const { before, token } of replaced) {
    const { _id, heldMax, spentUntil, takings, turns } = before;
    const line = turns === undefined ? {} : { turns };
    await limitKeys.updateOne(
      { _id, token },
      { $set: { token: randomUUID(), spentUntil, heldMax, takings, ...line } },
    );
  }
}
