/** Random external events as data, so that several drivers can follow the same course. */
import fc from 'fast-check';
import { isEnded } from '../../../src/engine/model/instance.js';
import type { ActivityOffer } from '../../../src/engine/session/session.js';
import type { EventMessage } from '../../../src/engine/flow/messages.js';
import { nextTimer } from '../../../src/engine/flow/timers.js';
import type { EngineDriver } from './engine-driver.js';
import type { Effect } from './outside.js';
import { EVENT_NAMES } from './random-definition.js';

const MODIFICATIONS = ['cancel-one', 'start-anew', 'start-inside'] as const;

const KINDS = [
  'effect',
  'activity',
  'hold',
  'child',
  'event',
  'advance',
  'grant',
  'oversleep',
  'give-back',
  'late-grant',
  'stale-grant',
  'unknown-limit',
  'stale-effect',
  'stale-activity',
  'old-event',
  'event-again',
  'retry-now',
  'suspend',
  'resume',
  ...MODIFICATIONS,
] as const;

/** Only a modification can open an instance again after it has ended. */
export function isModification(kind: string): kind is (typeof MODIFICATIONS)[number] {
  return MODIFICATIONS.some((modification) => modification === kind);
}

export interface ExternalEvent {
  readonly kind: (typeof KINDS)[number];
  /** A random number for the choices that an event of this kind makes, such as which pointer and how long. */
  readonly pick: number;
  readonly succeeds: boolean;
}

export const happenings: fc.Arbitrary<readonly ExternalEvent[]> = fc.array(
  fc.record({
    kind: fc.oneof(
      { weight: 4, arbitrary: fc.constantFrom(...KINDS.slice(0, 7)) },
      { weight: 1, arbitrary: fc.constantFrom(...KINDS) },
    ),
    pick: fc.nat(40),
    succeeds: fc.boolean(),
  }),
  { maxLength: 40, size: 'max' },
);

/** What one driver has seen and may see again. */
export class Course {
  readonly #driver: EngineDriver;
  readonly #effects: Effect[] = [];
  readonly #activities: ActivityOffer[] = [];
  readonly #events: EventMessage[] = [];

  constructor(driver: EngineDriver) {
    this.#driver = driver;
  }

  take({ kind, pick, succeeds }: ExternalEvent): void {
    const driver = this.#driver;
    this.#remember();
    switch (kind) {
      case 'effect': {
        this.#endEffect(pickFrom(driver.effects, pick), succeeds);
        return;
      }
      case 'stale-effect': {
        this.#endEffect(pickFrom(this.#effects, pick), succeeds);
        return;
      }
      case 'activity': {
        this.#answer(pickFrom(driver.activities, pick), succeeds);
        return;
      }
      case 'stale-activity': {
        this.#answer(pickFrom(this.#activities, pick), succeeds);
        return;
      }
      case 'hold': {
        const offer = pickFrom(driver.unheld, pick);
        if (offer !== undefined) driver.hold(offer, driver.now + pick * 500);
        return;
      }
      case 'give-back': {
        const offer = pickFrom(driver.withdrawn, pick);
        if (offer !== undefined) driver.giveBack(offer);
        return;
      }
      case 'grant': {
        grantNext(driver);
        return;
      }
      case 'late-grant': {
        const execution = driver.outside.slots.next();
        if (execution !== null) driver.outside.slots.give(execution);
        return;
      }
      case 'stale-grant': {
        const execution = pickFrom(driver.outside.slots.freed, pick);
        if (execution !== undefined) driver.deliver({ kind: 'slots', execution });
        return;
      }
      case 'unknown-limit': {
        const execution = pickFrom([...driver.outside.slots.waiting.keys()], pick);
        if (execution !== undefined) driver.deliver({ kind: 'slots', execution, unknown: 'a' });
        return;
      }
      case 'child': {
        endChild(driver, pick, succeeds);
        return;
      }
      case 'event':
        this.#events.push(driver.publish(EVENT_NAMES[pick % 2]!, 'k', pick));
        return;
      case 'old-event': {
        const at = driver.now - pick * 100;
        this.#events.push(driver.publish(EVENT_NAMES[pick % 2]!, 'k', pick, { at }));
        return;
      }
      case 'event-again': {
        const event = pickFrom(this.#events, pick);
        if (event !== undefined) driver.deliver(event);
        return;
      }
      case 'advance': {
        driver.advance(pick / 4);
        return;
      }
      case 'oversleep': {
        driver.oversleep(pick);
        return;
      }
      case 'retry-now':
        driver.deliver({ kind: 'retry-now' });
        return;
      case 'suspend':
        if (driver.status === 'Runnable') driver.suspend();
        return;
      case 'resume':
        if (driver.status === 'Suspended') driver.resume();
        return;
      case 'cancel-one':
      case 'start-anew':
      case 'start-inside':
        modify(driver, kind, pick);
    }
  }

  #remember(): void {
    this.#effects.push(...this.#driver.effects);
    this.#activities.push(...this.#driver.activities);
  }

  #endEffect(effect: Effect | undefined, succeeds: boolean): void {
    if (effect === undefined) return;
    if (succeeds) this.#driver.endEffect(effect);
    else this.#driver.failEffect(effect);
  }

  #answer(offer: ActivityOffer | undefined, succeeds: boolean): void {
    if (offer === undefined) return;
    if (succeeds) this.#driver.succeed(offer);
    else this.#driver.reject(offer);
  }
}

/** One that has its slots begins, or gets them first. Returns false if there is none. */
function grantNext(driver: EngineDriver): boolean {
  const { slots } = driver.outside;
  const [granted] = slots.granted;
  const execution = granted ?? slots.next();
  if (execution === null) return false;
  if (granted === undefined) slots.give(execution);
  driver.deliver({ kind: 'slots', execution });
  return true;
}

/** Cancels an execution, starts any step instead of everything that is open, or starts one beside it. */
function modify(driver: EngineDriver, kind: (typeof MODIFICATIONS)[number], pick: number): void {
  const { id } = pickFrom(driver.pointers, pick) ?? { id: 0 };
  const stepId = pickFrom([...driver.definition.steps.keys()], pick) ?? '';
  const start = [{ stepId, inside: null, item: pick, index: pick }];
  if (kind === 'cancel-one') driver.modify({ cancel: [id], resume: pick % 2 === 0 });
  else if (kind === 'start-anew') driver.modify({ cancel: 'all', start, data: { patched: pick } });
  else driver.modify({ start });
}

/** Responds to everything that the instance is waiting for until it has ended. */
export function answerEverything(driver: EngineDriver): void {
  for (let answers = 0; !isEnded(driver.instance); answers += 1) {
    if (answers > 5000) throw new Error(`the instance never ends: ${driver.open.join(', ')}`);
    answerSomething(driver);
  }
}

function answerSomething(driver: EngineDriver): void {
  const [effect] = driver.effects;
  const [offer] = driver.activities;
  const wait = driver.pointers.find(({ state }) => state.kind === 'event');
  const due = nextTimer(driver.run);
  if (driver.status === 'Suspended') driver.resume();
  else if (effect !== undefined) driver.endEffect(effect);
  else if (offer !== undefined) driver.succeed(offer);
  else if (driver.pointers.some(({ state }) => state.kind === 'child')) endChild(driver, 0, true);
  else if (wait?.state.kind === 'event') driver.publish(wait.state.name, wait.state.key);
  else if (grantNext(driver)) return;
  else if (due !== null) driver.advance((due - driver.now) / 1000);
  else throw new Error(`the instance is waiting for nothing: ${driver.open.join(', ')}`);
}

function endChild(driver: EngineDriver, pick: number, succeeds: boolean): void {
  const children = driver.pointers.filter(({ state }) => state.kind === 'child');
  const pointer = pickFrom(children, pick);
  if (pointer?.state.kind !== 'child') return;
  const { workflowId } = pointer.state;
  driver.deliver({
    kind: 'child',
    pointerId: pointer.id,
    attempt: pointer.attempt,
    workflowId,
    status: succeeds ? 'Complete' : 'Terminated',
    data: {},
  });
}

function pickFrom<Item>(items: readonly Item[], pick: number): Item | undefined {
  return items[pick % Math.max(1, items.length)];
}
