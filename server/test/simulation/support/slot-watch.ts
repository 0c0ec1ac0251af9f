/** Watches the executions of `slotted.ts`: what they hold, what they wait for, and who goes first (I15, I16, I18). */
import type { Pointer } from '../../../src/engine/model/pointer.js';
import { isLive, type InstanceRecord } from '../../../src/store/records/instances.js';
import type { ActivityListItem, ActivityRecord } from '../../../src/store/records/activities.js';
import type { ResourceRecord } from '../../../src/store/records/resources.js';
import { readLimitRule, type LimitRule } from '../../../src/store/records/rates.js';
import type { NeededSlot, SlotGrants, SlotPosition } from '../../../src/store/records/slots.js';
import type { Store } from '../../../src/store/store.js';
import { SLOTTED } from './slotted.js';
import { hold } from './violation.js';

const QUEUE_MAX = 1000;

/** Who has slots, or asks for them. */
interface Asking {
  readonly execution: string;
  readonly instanceId: string;
  readonly needs: readonly NeededSlot[];
  readonly since: number;
}

type LeasedItem = Pick<ActivityRecord, 'id' | 'availableAt' | 'tokenHash'>;

interface Begin {
  readonly at: number;
  readonly units: number;
}

/** What the store has at one moment: all of it is read before anything else is written. */
interface Moment {
  readonly runs: Promise<readonly (InstanceRecord | null)[]>;
  readonly items: Promise<readonly ActivityRecord[]>;
  readonly queue: Promise<readonly Pick<ActivityListItem, 'id' | 'deferred'>[]>;
  readonly positions: Promise<readonly (SlotPosition | null)[]>;
  readonly waiting: readonly string[];
}

interface Seen {
  readonly runs: ReadonlyMap<string, InstanceRecord>;
  readonly held: ReadonlyMap<string, Asking>;
  /** Items that a worker has got, and whose leases have ended. */
  readonly ended: readonly LeasedItem[];
  /** By execution. */
  readonly waits: ReadonlyMap<string, Asking & { readonly on: SlotPosition['on'] }>;
}

export class SlotWatch {
  readonly #rules = new Map<string, LimitRule>();
  readonly #runs = new Set<string>();
  /** What items need, by id. */
  readonly #items = new Map<string, readonly NeededSlot[]>();
  /** Items whose slots others have got since, as they were: the clock of another node may be behind. */
  readonly #lost = new Map<string, LeasedItem>();
  /** Executions that wait, or waited, as effects or children. */
  readonly #limited = new Set<string>();
  /** Executions that were given their slots, and when they may begin. */
  readonly #granted = new Map<string, number>();
  /** By limit and key, since the rule last changed. */
  readonly #begins = new Map<string, Begin[]>();
  /** Executions that have begun. */
  readonly #begun = new Set<string>();

  get isActive(): boolean {
    return this.#runs.size > 0;
  }

  /** Called before an instance is written. */
  expects(id: string, definitionId: string | null): void {
    if (definitionId === SLOTTED) this.#runs.add(id);
  }

  watches(id: string): boolean {
    return this.#runs.has(id);
  }

  offers(items: readonly Pick<ActivityRecord, 'id' | 'needs'>[]): void {
    for (const { id, needs } of items) if (needs !== undefined) this.#items.set(id, needs);
  }

  /** Called when a limit is stored. */
  changed({ body, name }: ResourceRecord): void {
    const rule = readLimitRule(body);
    if (rule === null) return;
    const known = this.#rules.get(name);
    if (JSON.stringify(known?.rate) !== JSON.stringify(rule.rate)) {
      for (const key of this.#begins.keys())
        if (key.startsWith(`${name}/`)) this.#begins.delete(key);
    }
    this.#rules.set(name, rule);
  }

  /** Reads everything at once. */
  moment(store: Store): Moment {
    const waiting = [...this.#limited];
    return {
      runs: Promise.all([...this.#runs].map((id) => store.getInstance(id))),
      items: store.getActivities([...this.#items.keys()]),
      queue: store.listActivityItems('work', 0, null, QUEUE_MAX),
      // At no time does a rate allow nothing.
      positions: Promise.all(waiting.map((execution) => store.findSlotPosition(execution, 0))),
      waiting,
    };
  }

  async see(moment: Moment, now: number): Promise<Seen> {
    const runs = new Map<string, InstanceRecord>();
    for (const run of await moment.runs) if (run !== null) runs.set(run.id, run);
    const held = new Map<string, Asking>();
    const limited = new Map<string, Asking>();
    for (const run of runs.values()) {
      if (!isLive(run.status)) continue;
      for (const { slots, state } of pointersOf(run)) {
        if (slots === undefined) continue;
        const { execution, needs } = slots;
        const since = state.kind === 'limited' ? state.since : run.lastChangeAt;
        const asking = { execution, instanceId: run.id, needs, since };
        if (state.kind === 'effect' || state.kind === 'child') held.set(execution, asking);
        if (state.kind === 'limited') limited.set(execution, asking);
      }
    }
    const queue = (await moment.queue).filter((item) => item.deferred);
    const deferred = new Set(queue.map(({ id }) => id));
    const ended: LeasedItem[] = [];
    for (const item of await moment.items) {
      const { availableAt, createdAt, done, id, instanceId, tokenHash } = item;
      const needs = this.#items.get(id);
      if (done) this.#items.delete(id);
      const status = runs.get(instanceId)?.status;
      if (done || tokenHash === null || needs === undefined) continue;
      if (status === undefined || !isLive(status)) continue;
      // The lease of a deferred one has ended.
      const hasEnded = deferred.has(id) || availableAt <= now;
      if (hasEnded) ended.push({ id, availableAt, tokenHash });
      else if (!this.#hasLost(item)) {
        held.set(id, { execution: id, instanceId, needs, since: createdAt });
      }
    }
    const waits = new Map<string, Asking & { readonly on: SlotPosition['on'] }>();
    const positions = await moment.positions;
    for (const [at, execution] of moment.waiting.entries()) {
      const [asking, position] = [limited.get(execution), positions[at] ?? null];
      if (asking !== undefined && position !== null) {
        waits.set(execution, { ...asking, on: position.on, since: position.since });
      }
      if (asking !== undefined && position === null && this.#granted.has(execution)) {
        held.set(execution, asking);
      }
      if (asking === undefined) {
        this.#granted.delete(execution);
        this.#limited.delete(execution);
      }
    }
    for (const execution of limited.keys()) this.#limited.add(execution);
    return { runs, held, ended, waits };
  }

  #hasLost({ availableAt, id, tokenHash }: LeasedItem): boolean {
    const lost = this.#lost.get(id);
    return lost?.tokenHash === tokenHash && lost.availableAt === availableAt;
  }

  /** Called when an execution has got slots of this key. */
  #loseEnded({ key, limit }: NeededSlot, { ended }: Seen): void {
    for (const item of ended) {
      const needs = this.#items.get(item.id) ?? [];
      const isOfKey = needs.some((need) => need.limit === limit && need.key === key);
      if (isOfKey) this.#lost.set(item.id, item);
    }
  }

  /** Called with what a grant gives. */
  grants({ begin }: SlotGrants, before: Seen): void {
    for (const { at, execution, unknown } of begin) {
      if (unknown === undefined && !before.held.has(execution)) this.#granted.set(execution, at);
    }
  }

  /** Who has got slots from one moment to the next was entitled to them. */
  compare(what: string, { after, before, now }: { before: Seen; after: Seen; now: number }): void {
    for (const [execution, asking] of after.held) {
      if (before.held.has(execution)) continue;
      for (const need of asking.needs) {
        this.#checkHeld(`${what} for ${execution}`, need, after);
        this.#loseEnded(need, after);
      }
      const begins = !this.#begun.has(execution) || this.#items.has(execution);
      if (begins) this.#checkBegin(what, asking, this.#granted.get(execution) ?? now);
      this.#begun.add(execution);
      for (const wait of before.waits.values()) this.#checkOrder(what, { asking, wait, after });
    }
  }

  #checkHeld(what: string, { key, limit }: NeededSlot, { held }: Seen): void {
    const rule = this.#rules.get(limit);
    const text = (): string => `${what}: ${limit}/${key} ${[...held.keys()].join(' ')}`;
    hold(rule !== undefined, 'I15 slots are of a limit', text);
    let units = 0;
    for (const { needs } of held.values()) {
      for (const need of needs) if (need.limit === limit && need.key === key) units += need.units;
    }
    const most = rule?.concurrency ?? Infinity;
    hold(
      units <= most,
      'I15 no more units are held than the limit allows',
      () => `${units} of ${most}, ${text()}`,
    );
  }

  #checkBegin(what: string, { execution, needs }: Asking, at: number): void {
    for (const { key, limit, units } of needs) {
      const rate = this.#rules.get(limit)?.rate ?? null;
      if (rate === null) continue;
      const id = `${limit}/${key}`;
      const begins = [...(this.#begins.get(id) ?? []), { at, units }].sort((a, b) => a.at - b.at);
      this.#begins.set(id, begins);
      for (const [first, { at: from }] of begins.entries()) {
        let begun = 0;
        for (const { at: to, units: more } of begins.slice(first)) {
          begun += more;
          const most = rate.burst + ((to - from) * rate.count) / rate.perMs + 1e-3;
          const text = (): string =>
            `${what} for ${execution}: ${begun} of ${id} in ${to - from} ms`;
          hold(begun <= most, 'I16 no more units begin than the rate allows', text);
        }
      }
    }
  }

  #checkOrder(
    what: string,
    {
      after,
      asking,
      wait,
    }: {
      readonly asking: Asking;
      readonly wait: Seen['waits'] extends ReadonlyMap<string, infer Wait> ? Wait : never;
      readonly after: Seen;
    },
  ): void {
    const still = after.waits.get(wait.execution);
    if (still === undefined || wait.instanceId === asking.instanceId) return;
    const isSame = (need: NeededSlot): boolean =>
      need.limit === still.on.limit && need.key === still.on.key;
    if (!asking.needs.some(isSame)) return;
    const [run, other] = [after.runs.get(asking.instanceId), after.runs.get(wait.instanceId)];
    if (run === undefined || other?.status !== 'Runnable') return;
    const isSameKey = run.fairness?.key === other.fairness?.key;
    const differences = [
      run.priority - other.priority,
      // Keys take turns: the other one's may have been before.
      isSameKey ? 0 : -1,
      asking.since - still.since,
      asking.execution < wait.execution ? -1 : 1,
    ];
    const isBefore = (differences.find((difference) => difference !== 0) ?? 0) < 0;
    const text = (): string => `${what}: ${asking.execution}, but ${wait.execution} waits`;
    hold(isBefore, 'I18 who comes first gets its slots first', text);
  }
}

type SlotPointer = Pick<Pointer, 'slots' | 'state'>;

/** The memory store replaces records, and never changes them. */
const POINTERS = new WeakMap<InstanceRecord, readonly SlotPointer[]>();

/** The pointers that need slots. */
function pointersOf(record: InstanceRecord): readonly SlotPointer[] {
  let known = POINTERS.get(record);
  if (known === undefined) {
    // `writeState` wrote it.
    const { pointers } = JSON.parse(record.state) as { readonly pointers: readonly SlotPointer[] };
    known = pointers.filter(({ slots }) => slots !== undefined);
    POINTERS.set(record, known);
  }
  return known;
}
