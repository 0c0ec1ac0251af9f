/** Decides whether executions can have their slots, one key after another: see slot-keys.ts. */
import { randomUUID } from 'node:crypto';
import { beginTimeOf } from '../records/rates.js';
import { StoreUnavailableError } from '../store.js';
import type { NeedDocument, TakingDocument } from './slot-documents.js';
import type { MongoContext } from './mongo-context.js';
import { NOTHING_FREED, recount, revokeEnded, type Freed } from './slot-holders.js';
import {
  addTaking,
  inTurn,
  readKeys,
  replaceKeys,
  takingOf,
  type KeyState,
  type KeyStates,
  type ReplacedKey,
} from './slot-keys.js';
import { isBehind, isBehindInTurns, type Asking } from './slot-waits.js';

/** How often others may be faster before a decision is given up. */
export const ATTEMPTS_MAX = 100;
/** So many takings of which nobody has seen the end are looked at, even if nothing needs to be counted. */
const TAKINGS_MAX = 64;

export type Answer =
  | { readonly isFree: true; readonly at: number }
  | {
      readonly isFree: false;
      readonly on: string;
      readonly isUnknown?: true;
      readonly retryAt: number | null;
    };

/** Whether others wait for the key before it. */
export type IsBehind = (asking: Asking, on: string) => Promise<boolean>;

export interface Judging {
  readonly states: KeyStates;
  readonly now: number;
  readonly aheadMs?: number;
  readonly isBehind: IsBehind;
  readonly freed?: Freed;
}

export async function judge(
  context: MongoContext,
  asking: Asking,
  { aheadMs = 0, freed = NOTHING_FREED, now, states, isBehind: behind }: Judging,
): Promise<Answer> {
  let at = now;
  for (const need of asking.needs) {
    const { on, units } = need;
    const state = states.get(on);
    const refusal = { isFree: false, on } as const;
    if (state?.rule == null) return { ...refusal, isUnknown: true, retryAt: null };
    if (await behind(asking, on)) return { ...refusal, retryAt: null };
    if (!(await hasRoom(context, state, { asking, freed, now, units }))) {
      return { ...refusal, retryAt: null };
    }
    if (state.rule.rate === null) continue;
    if (units > state.rule.rate.burst) return { ...refusal, retryAt: null };
    const earliest = beginTimeOf(state.rule.rate, state.spentUntil, units);
    if (earliest > now + aheadMs) return { ...refusal, retryAt: earliest };
    at = Math.max(at, earliest);
  }
  return { isFree: true, at };
}

interface Wanted {
  readonly asking: Asking;
  readonly freed: Freed;
  readonly now: number;
  readonly units: number;
}

/** Counts only if it must. */
async function hasRoom(
  context: MongoContext,
  state: KeyState,
  { asking, freed, now, units }: Wanted,
): Promise<boolean> {
  const concurrency = state.rule?.concurrency ?? null;
  if (!state.isExact && state.before.takings.length > TAKINGS_MAX) {
    await recount(context, state, { freed, now });
  }
  if (concurrency === null) return true;
  const isFree = (): boolean => state.held - ownUnits(state, asking) + units <= concurrency;
  if (isFree()) return true;
  if (!state.isExact) {
    await recount(context, state, { freed, now });
    if (isFree()) return true;
  }
  if (state.hasRevoked || !(await revokeEnded(context, state.on, now))) return false;
  state.hasRevoked = true;
  await recount(context, state, { freed, now });
  return isFree();
}

function ownUnits(state: KeyState, { execution, own }: Asking): number {
  return takingOf(state, execution)?.units ?? own.find(({ on }) => on === state.on)?.units ?? 0;
}

/** By what the slots get into their document. */
export type Taker = Pick<TakingDocument, 'commit' | 'attempt' | 'slotTry' | 'grant'>;

export function addTakings(
  states: KeyStates,
  asking: Asking,
  { at, taker }: { readonly at: number; readonly taker: Taker },
): void {
  const { execution, instanceId } = asking;
  for (const { on, units } of asking.needs) {
    const state = states.get(on);
    if (state === undefined) continue;
    state.line.handOut(asking, at);
    const taking = { id: randomUUID(), execution, instanceId, units, at, ...taker };
    addTaking(state, taking, ownUnits(state, asking));
  }
}

export interface RefusedAsking {
  readonly asking: Asking;
  readonly answer: Extract<Answer, { isFree: false }>;
}

export type TakingOutcome =
  | { readonly isFree: true; readonly replaced: readonly ReplacedKey[] }
  | { readonly isFree: false; readonly refused: readonly RefusedAsking[] };

interface TakeOptions {
  readonly now: number;
  readonly taker: Taker;
  readonly freed?: Freed;
}

/** Takes the slots of all, or none. What gets them is written by the caller, or `restoreKeys` is called. */
export async function takeAll(
  context: MongoContext,
  askings: readonly Asking[],
  { freed = NOTHING_FREED, now, taker }: TakeOptions,
): Promise<TakingOutcome> {
  if (askings.length === 0) return { isFree: true, replaced: [] };
  const ons = onsOf(askings);
  return inTurn(context.references, ons, async () => {
    for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt += 1) {
      const [states, behind] = await Promise.all([
        readKeys(context, ons, now),
        behindNow(context, askings, freed),
      ]);
      const refused: RefusedAsking[] = [];
      for (const asking of askings) {
        const isBehindNow = behindIn(context, states, { behind, freed });
        const answer = await judge(context, asking, { states, now, freed, isBehind: isBehindNow });
        if (answer.isFree) addTakings(states, asking, { at: answer.at, taker });
        else refused.push({ asking, answer });
      }
      if (refused.length > 0) return { isFree: false, refused };
      const replaced = await replaceKeys(context, states);
      if (replaced !== null) return { isFree: true, replaced };
    }
    throw tooManyOthers(ons);
  });
}

export function onsOf(askings: readonly { readonly needs: readonly NeedDocument[] }[]): string[] {
  return [...new Set(askings.flatMap(({ needs }) => needs.map(({ on }) => on)))];
}

/** Looks at the same time as the keys are read. */
export async function behindNow(
  context: MongoContext,
  askings: readonly Asking[],
  { executions }: Freed = NOTHING_FREED,
): Promise<IsBehind> {
  const known = new Map<string, boolean>();
  const idOf = ({ execution }: Asking, on: string): string => `${on}\0${execution}`;
  await Promise.all(
    askings.flatMap((asking) =>
      asking.needs.map(async ({ on }) => {
        known.set(idOf(asking, on), await isBehind(context, asking, on, executions));
      }),
    ),
  );
  return (asking, on) => Promise.resolve(known.get(idOf(asking, on)) ?? false);
}

/** In a line that takes turns, they say who is before. */
export function behindIn(
  context: MongoContext,
  states: KeyStates,
  { behind, freed = NOTHING_FREED }: { readonly behind: IsBehind; readonly freed?: Freed },
): IsBehind {
  return (asking, on) => {
    const line = states.get(on)?.line;
    if (line?.takesTurns(asking.priority) !== true) return behind(asking, on);
    return isBehindInTurns(context, asking, { on, line, except: freed.executions });
  };
}

export function tooManyOthers(ons: readonly string[]): StoreUnavailableError {
  return new StoreUnavailableError(
    `Too many others take slots of ${ons.map((on) => JSON.stringify(on)).join(', ')}`,
  );
}
