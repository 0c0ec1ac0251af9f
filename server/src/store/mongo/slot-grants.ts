/** Grants of slots to executions that wait for them: see slot-keys.ts. */
import { DEFAULT_PRIORITY } from '../../engine/model/start-options.js';
import { SLOTS_PER_GRANT, type GrantRequest } from '../records/slots.js';
import { sameFairness } from './fairness-fields.js';
import { firstOfKeys } from './first-of-keys.js';
import type { SlotWaitDocument, TakingDocument } from './slot-documents.js';
import type { MongoContext } from './mongo-context.js';
import {
  addTakings,
  ATTEMPTS_MAX,
  behindIn,
  judge,
  onsOf,
  tooManyOthers,
  type Answer,
} from './slot-decisions.js';
import { finishGrants, retryTimeOf } from './slot-holders.js';
import { readKeys, replaceKeys, type KeyState, type KeyStates } from './slot-keys.js';
import {
  inWaitOrder,
  isBehind,
  positionOfItem,
  verifyWaits,
  waitsOn,
  type Asking,
  type WaitingItem,
  type WaitPosition,
} from './slot-waits.js';
import type { LineState } from './turns.js';

export interface Granting extends GrantRequest {
  readonly on: string;
  /** Items that wait for the key, of activities of which none can be claimed. */
  readonly items: readonly WaitingItem[];
  /** All items that wait for the key and have a fairness key. */
  readonly keyed: readonly WaitPosition[];
}

export interface Granted {
  /** The key afterwards. */
  readonly state: KeyState;
  readonly retryAt: number | null;
  /** Those that have got their slots now. */
  readonly waits: readonly SlotWaitDocument[];
  /** Other keys for which some wait from now on. */
  readonly moved: readonly string[];
  readonly isCut: boolean;
}

/** How many pages of waits are searched for those that aren't suspended. */
const PAGES_MAX = 10;

/** `unknown`: there is no such limit. */
export async function grantInOrder(
  context: MongoContext,
  granting: Granting,
): Promise<Granted | 'unknown'> {
  const { on } = granting;
  const waits = new Map<string, SlotWaitDocument>();
  for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt += 1) {
    const round = new GrantRound(context, granting);
    const state = await round.begin();
    if (state.rule === null) return 'unknown';
    const judged = await round.judgeAll();
    const replaced = await replaceKeys(context, round.states);
    if (replaced === null) continue;
    const ids = await finishGrants(context, state.added);
    for (const grant of round.grants) if (ids.has(grant._id)) waits.set(grant._id, grant);
    if (await moveOn(context, granting, round.moves)) continue;
    const moved = round.moves.map((move) => move.on);
    return { state, ...judged, moved, waits: [...waits.values()] };
  }
  throw tooManyOthers([on]);
}

interface Move {
  readonly asking: Asking;
  readonly wait: SlotWaitDocument;
  /** The key that isn't free. */
  readonly on: string;
}

/** One attempt to grant, on the keys as they are read. */
class GrantRound {
  readonly #context: MongoContext;
  readonly #granting: Granting;
  readonly states = new Map<string, KeyState>();
  readonly moves: Move[] = [];
  /** Those that get their slots. */
  readonly grants: SlotWaitDocument[] = [];

  constructor(context: MongoContext, granting: Granting) {
    this.#context = context;
    this.#granting = granting;
  }

  async begin(): Promise<KeyState> {
    const { on } = this.#granting;
    if (!this.states.has(on)) await this.#read([on]);
    const state = this.states.get(on);
    if (state === undefined) throw tooManyOthers([on]);
    return state;
  }

  async judgeAll(): Promise<Pick<Granted, 'retryAt' | 'isCut'>> {
    const { now, on } = this.#granting;
    const { line } = await this.begin();
    const waiting = [...(await firstWaiting(this.#context, on, line))];
    line.begin([...waiting, ...this.#granting.keyed]);
    let count = 0;
    for (; count < SLOTS_PER_GRANT; count += 1) {
      // Whose turn it is depends on what those before got.
      const [wait] = line.inOrder(waiting);
      if (wait === undefined) break;
      waiting.splice(waiting.indexOf(wait), 1);
      const asking = askingOf(wait);
      const answer = await this.#judge(asking);
      if (answer.isFree) {
        addTakings(this.states, asking, { at: answer.at, taker: { grant: wait._id } });
        this.grants.push({ ...wait, at: answer.at });
      } else if (answer.on === on) {
        const state = this.states.get(on);
        const other = state === undefined ? null : retryTimeOf(state, now);
        return { retryAt: answer.retryAt ?? other, isCut: false };
      } else this.moves.push({ asking, wait, on: answer.on });
    }
    return { retryAt: null, isCut: count === SLOTS_PER_GRANT };
  }

  async #judge(asking: Asking): Promise<Answer> {
    await this.#read(onsOf([asking]).filter((on) => !this.states.has(on)));
    const { aheadMs, now } = this.#granting;
    const { states } = this;
    return judge(this.#context, asking, {
      states,
      now,
      aheadMs,
      isBehind: (each, on) => this.#isBehind(each, on),
    });
  }

  async #isBehind(asking: Asking, on: string): Promise<boolean> {
    if (on === this.#granting.on) return this.#isBehindItems(asking);
    const granted = new Set(this.grants.map(({ execution }) => execution));
    const isBehindOn = behindIn(this.#context, this.states, {
      freed: { executions: granted, instances: [] },
      behind: async (each) => {
        const isMovedBefore = this.moves.some(
          (move) => move.on === on && inWaitOrder(move.asking, each) < 0,
        );
        return isMovedBefore || isBehind(this.#context, each, on);
      },
    });
    return isBehindOn(asking, on);
  }

  /** Other executions that wait for the same key and were before it have been judged. */
  #isBehindItems(asking: Asking): boolean {
    const { items, on } = this.#granting;
    const line = this.states.get(on)?.line;
    return items.map(positionOfItem).some((item) => {
      const isFair = line?.takesTurns(asking.priority) === true;
      if (!isFair || item.priority !== asking.priority) return inWaitOrder(item, asking) < 0;
      return line.isBefore(item, asking);
    });
  }

  async #read(ons: readonly string[]): Promise<void> {
    if (ons.length === 0) return;
    const read = await readKeys(this.#context, ons, this.#granting.now);
    for (const [on, state] of read) this.states.set(on, state);
  }
}

function askingOf(wait: SlotWaitDocument): Asking {
  const { execution, instanceId, needs, priority, since } = wait;
  return { execution, instanceId, needs, priority, ...sameFairness(wait), since, own: [] };
}

/**
 * Lets these wait for the other key. Who frees it from then on sees them, so it is judged again. True: it was freed in between, and
 * some wait for the first key again.
 */
async function moveOn(
  context: MongoContext,
  { aheadMs, now, on: from }: Granting,
  moves: readonly Move[],
): Promise<boolean> {
  if (moves.length === 0) return false;
  await writeOns(context, moves);
  const states = await readKeys(context, onsOf(moves.map(({ asking }) => asking)), now);
  const back: Move[] = [];
  for (const move of moves) {
    const answer = await judge(context, move.asking, {
      states,
      now,
      aheadMs,
      isBehind: behindIn(context, otherThan(states, from), {
        behind: (asking, on) =>
          on === from ? Promise.resolve(false) : isBehind(context, asking, on),
      }),
    });
    if (answer.isFree) back.push({ ...move, on: from });
  }
  await writeOns(context, back);
  return back.length > 0;
}

function otherThan(states: KeyStates, from: string): KeyStates {
  return new Map([...states].filter(([on]) => on !== from));
}

async function writeOns({ slotWaits }: MongoContext, moves: readonly Move[]): Promise<void> {
  if (moves.length === 0) return;
  await slotWaits.bulkWrite(
    moves.map(({ on, wait }) => ({
      updateOne: { filter: { _id: wait._id, state: 'waiting' }, update: { $set: { on } } },
    })),
    { ordered: false },
  );
}

/** Also the first ones of each fairness key, if there are more. */
async function firstWaiting(
  context: MongoContext,
  on: string,
  line: LineState,
): Promise<readonly SlotWaitDocument[]> {
  const oldest = await waitingOn(context, on);
  if (oldest.length < SLOTS_PER_GRANT) return oldest;
  const found = await firstOfKeys(context.slotWaits, {
    filter: waitsOn(on, 'waiting'),
    sort: { priority: 1, since: 1, execution: 1 },
    keysOf: (keys) => line.nextKeys(oldest[0]?.priority ?? DEFAULT_PRIORITY, keys),
  });
  const verified = await verifyWaits(context, found);
  const others = verified.flatMap(({ isRunnable, state, wait }) =>
    isRunnable && state === 'waiting' ? wait : [],
  );
  const all = new Map([...oldest, ...others].map((wait) => [wait._id, wait]));
  return [...all.values()].sort(inWaitOrder);
}

/** The first that wait for the key and can go on, in order. */
async function waitingOn(context: MongoContext, on: string): Promise<readonly SlotWaitDocument[]> {
  const waiting: SlotWaitDocument[] = [];
  const granted: TakingDocument[] = [];
  let kept = 0;
  for (let page = 0; page < PAGES_MAX && waiting.length < SLOTS_PER_GRANT; page += 1) {
    const found = await context.slotWaits
      .find(waitsOn(on, 'waiting'))
      .sort({ on: 1, state: 1, priority: 1, since: 1, execution: 1 })
      .skip(kept)
      .limit(SLOTS_PER_GRANT)
      .toArray();
    const verified = await verifyWaits(context, found);
    kept += verified.length;
    for (const { isRunnable, state, wait } of verified) {
      if (state === 'granted') granted.push(grantedTaking(wait));
      else if (state === 'waiting' && isRunnable) waiting.push(wait);
    }
    if (found.length < SLOTS_PER_GRANT) break;
  }
  // A process died before it wrote that they are granted.
  await finishGrants(context, granted);
  return waiting.slice(0, SLOTS_PER_GRANT);
}

function grantedTaking({ _id, execution, instanceId }: SlotWaitDocument): TakingDocument {
  return { id: _id, execution, instanceId, units: 0, at: 0, grant: _id };
}
