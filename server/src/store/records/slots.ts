/**
 * Slots: shares of limits that executions of steps hold or wait for (`Limits`).
 *
 * A limit has a separate budget for each key. An execution takes all of its slots at once, or none. Whether it may is decided by
 * commits, claims of activities and `grantSlots`, one after the other for each key (rule S15), never by a count in a process: what
 * counts is stored with the execution that holds it, and is gone with the commit that ends it.
 */
import type { Fairness, Priority } from '../../engine/model/start-options.js';
import type { LimitKey, NeededSlot, SlotRequest } from '../../engine/model/slots.js';
import { compareText } from '../text-order.js';
import { beginTimeOf, roomOf, spend, type KeyUse, type LimitRule } from './rates.js';

/** An execution that waits for its slots. */
export interface SlotWait extends SlotRequest {
  readonly instanceId: string;
  readonly priority: Priority;
  readonly fairness: Fairness | null;
  /** Since when it has waited. Kept when it waits for another key. */
  readonly since: number;
  /** The first of its needs that can't be met. */
  readonly on: LimitKey;
}

/** Whether a new item takes its slots with the commit that adds it, because a worker gets it at once. */
export function takesSlots({
  claim,
  needs = [],
}: {
  readonly claim?: unknown;
  readonly needs?: readonly NeededSlot[];
}): boolean {
  return claim !== undefined && needs.length > 0;
}

/** What a commit changes: first it frees, then it takes. What it takes and offers counts for what follows. */
export interface SlotChanges {
  /**
   * Executions that begin with the commit. If one of them, or a new item with a claim, can't have all of its slots, the commit changes
   * nothing.
   */
  readonly take: readonly SlotRequest[];
  /** Executions that wait from now on. */
  readonly wait: readonly Omit<SlotWait, 'instanceId' | 'priority' | 'fairness'>[];
  /** Executions that `grantSlots` has given their slots, and that begin with the commit. */
  readonly begun: readonly string[];
  /** Executions that no longer hold or wait for anything, also items that the commit removes or settles. Missing ones are ignored. */
  readonly free: readonly SlotRequest[];
}

/** An execution that can't have its slots. */
export interface RefusedSlots {
  readonly execution: string;
  readonly on: LimitKey;
  /** There is no limit with this name. */
  readonly isUnknown?: true;
}

/** The outcome of a commit with changes of slots that wasn't lost. */
export type SlotOutcome =
  /** `waits`: freed keys for which others wait, and keys for which new items wait. Call `grantSlots` for them. */
  | { readonly outcome: 'committed'; readonly waits: readonly LimitKey[] }
  | { readonly outcome: 'refused'; readonly refused: readonly RefusedSlots[] };

export interface GrantRequest extends LimitKey {
  readonly now: number;
  /** Grants whose turn by rate comes up to this much later are included, with the time at which they may begin. */
  readonly aheadMs: number;
}

/** An execution that has its slots, and hasn't begun. */
export interface SlotGrant {
  readonly instanceId: string;
  readonly execution: string;
  /** When it may begin. */
  readonly at: number;
  /** Set if there is no limit with this name: it never gets its slots. */
  readonly unknown?: string;
}

export interface SlotGrants {
  /** Those that got their slots now, and others that nobody has told yet. */
  readonly begin: readonly SlotGrant[];
  /** Names of activities with items that can be claimed again. */
  readonly offered: readonly string[];
  /** Other keys for which some wait from now on: call `grantSlots` for them. */
  readonly moved: readonly LimitKey[];
  /** When the rate allows the next; null: the rate isn't what they wait for. */
  readonly retryAt: number | null;
  /** More may be possible: repeat the request. */
  readonly isCut: boolean;
}

/** Maximum number of executions that one request looks at, for each activity name. */
export const SLOTS_PER_GRANT = 100;

/** The use of a limit, for display. */
export interface LimitUse {
  /** Units. */
  readonly held: number;
  /** Executions that lack only a slot. */
  readonly waiting: number;
  /** Those with the most waiting first, at most `LIMIT_KEYS_MAX`. */
  readonly keys: readonly LimitKeyUse[];
}

export interface LimitKeyUse {
  readonly key: string;
  readonly held: number;
  readonly waiting: number;
  readonly oldestWaitSince: number | null;
}

export const LIMIT_KEYS_MAX = 100;

/** Why an execution waits, for display. */
export interface SlotPosition {
  readonly on: LimitKey;
  readonly since: number;
  /** Units of the key that are held. */
  readonly held: number;
  /** Ids of up to `HOLDERS_MAX` instances that hold them. */
  readonly holders: readonly string[];
  /** How many wait before it. */
  readonly ahead: number;
  /** When the rate allows the next unit. 0: at any time. */
  readonly nextAt: number;
}

/** How many of these items, which wait in this order, can be claimed now, and when the rate allows the next. */
export function offersOf<Item extends { readonly needs: readonly NeededSlot[] }>(
  rule: LimitRule,
  use: KeyUse,
  of: { readonly items: readonly Item[]; readonly limit: string; readonly now: number },
): { readonly items: readonly Item[]; readonly retryAt: number | null } {
  const room = roomOf(rule, use, of.now);
  let offered = 0;
  for (const [position, { needs }] of of.items.entries()) {
    const units = needs.find(({ limit }) => limit === of.limit)?.units ?? 1;
    if (offered + units > room) {
      const items = of.items.slice(0, position);
      return { items, retryAt: nextTimeOf(rule, use, { offered, units, now: of.now }) };
    }
    offered += units;
  }
  return { items: of.items, retryAt: null };
}

/** When the rate allows so many units after those that are offered; null: the rate isn't what they wait for. */
function nextTimeOf(
  { rate }: LimitRule,
  { spentUntil }: KeyUse,
  next: { readonly offered: number; readonly units: number; readonly now: number },
): number | null {
  if (rate === null || next.units > rate.burst) return null;
  const spent = spend(rate, spentUntil, { at: next.now, units: next.offered });
  const at = beginTimeOf(rate, spent, next.units);
  return at > next.now ? at : null;
}

type WaitPosition = Pick<SlotWait, 'priority' | 'since' | 'execution'>;

export function inWaitOrder(left: WaitPosition, right: WaitPosition): number {
  return (
    left.priority - right.priority ||
    left.since - right.since ||
    compareText(left.execution, right.execution)
  );
}

export function grantOf({ at, execution, instanceId }: Omit<SlotGrant, 'unknown'>): SlotGrant {
  return { instanceId, execution, at };
}

export function mostWaitingFirst(left: LimitKeyUse, right: LimitKeyUse): number {
  return right.waiting - left.waiting || compareText(left.key, right.key);
}

/** Identifies a key among all limits. */
export function keyIdOf({ key, limit }: LimitKey): string {
  return `${limit.length}:${limit}:${key}`;
}

/** Identifies the slots of a key among the keys of places and references: none of those begins with this. */
export function slotsKeyOf(on: LimitKey): string {
  return `slots/${keyIdOf(on)}`;
}

export function distinctKeys(keys: readonly LimitKey[]): readonly LimitKey[] {
  return [
    ...new Map(keys.map(({ key, limit }) => [keyIdOf({ limit, key }), { limit, key }])).values(),
  ];
}

export function earlier(left: number | null, right: number | null): number | null {
  if (left === null || right === null) return left ?? right;
  return Math.min(left, right);
}

export type { LimitKey, NeededSlot, SlotRequest };
