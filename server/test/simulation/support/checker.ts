/**
 * The conditions that hold when everything is at rest, and some of them (I5, I7, I8) at any time:
 *
 * I1 Every acknowledged start exists once, with the outcome in its model; its steps ended as often as the model
 * predicts.
 * I2 Its data is what the model predicts.
 * I3 Every effect that counts was called, none that the history does not explain, none twice without a fault.
 * I4 Each activity has one accepted result, and it is the one in the instance.
 * I5 Revisions increase, no commit goes back, the history has no gaps and no duplicates.
 * I6 A wait takes one event, and an instance takes an event once.
 * I7 Nothing stays due, unsettled, undelivered or subscribed; a suspended instance stays so until it is resumed; ends
 * are final.
 * I9 What an acknowledged modification has set stays set; a modification with a key is applied once: the steps that it
 * canceled and started are in the history, and the run is of the version that it was moved to.
 * I8 An instance that ended long ago is purged with its history, and nothing else is.
 */
import type { StepRecord } from '../../../src/engine/model/step-record.js';
import { isJsonObject, type JsonObject } from '../../../src/engine/values/json.js';
import { nameKeyOf } from '../../../src/base/ids.js';
import { FAR_FUTURE_MS } from '../../../src/store/store.js';
import type { InstanceRecord } from '../../../src/store/records/instances.js';
import { HISTORY_MAX, type Removed } from './archive.js';
import { checkCleanUp } from './clean-up-check.js';
import { takesEvents, WORKFLOWS } from './definitions.js';
import { waitingMessage } from './notified.js';
import { DEBOUNCED, DEBOUNCED_LAST, type DebounceClient } from './debounced.js';
import { FAIR, FAIR_WORK, type FairClient } from './fair.js';
import { PLACED, PLACED_OR_REFUSED, type PlaceClient } from './placed.js';
import { hasNoFaults } from './plan.js';
import { QUEUED, QUEUED_DOCUMENT, type QueueClient } from './queued.js';
import { checkRepairs, REPAIRED, ROUNDS } from './repaired.js';
import type { Scenario } from './scenarios.js';
import { LIMITS, SLOTTED, SLOTTED_CALLS, SLOTTED_CHILD, type SlotClient } from './slotted.js';
import { TRIGGERED, triggeredDocument, type TriggerClient } from './triggered.js';
import { hold } from './violation.js';
import { WORK, type AcceptedResults } from './worker.js';
import type { World } from './world.js';

interface Ended {
  readonly record: InstanceRecord;
  readonly data: JsonObject;
  readonly steps: readonly StepRecord[];
  /** The instance was terminated with compensation, and nothing cut that short. */
  readonly isCleanedUp: boolean;
}

/** The reason why the world is not at rest yet; null if it is. */
export async function reasonForUnrest(world: World): Promise<string | null> {
  const { scheduler, store } = world;
  const { instances, undeliveredEvents } = await store.statistics();
  if (instances.Runnable + instances.Suspended > 0) return 'instances that have not ended';
  if (undeliveredEvents > 0) return 'events that were not delivered';
  const due = await store.findDueInstances(FAR_FUTURE_MS, 1);
  if (due.length > 0) return `${due[0]?.id ?? ''} has a wake time`;
  if ((await store.findUnsettledActivities(FAR_FUTURE_MS, 1)).length > 0)
    return 'unsettled results';
  const offered = await store.findAvailableActivities([WORK, FAIR_WORK], FAR_FUTURE_MS);
  if (offered.length > 0) return 'activities without a waiting step';
  const slots = world.hasSlots ? await useOfSlots(world) : null;
  if (slots !== null) return slots;
  const message = world.isNotified ? await waitingMessage(store) : null;
  if (message !== null) return message;
  for (let index = 0; index < world.plan.scenarios; index += 1) {
    const nameKey = nameKeyOf('news', `key ${index}`);
    for (const key of [nameKey, nameKeyOf('never', `key ${index}`)]) {
      const left = await store.findSubscriptions(key, scheduler.now + 1e9, null, 1);
      if (left.length > 0) return `a subscription of ${left[0]?.instanceId ?? ''} is left`;
    }
  }
  return null;
}

/** I17: null if no slot is held, and nothing waits for one. */
async function useOfSlots({ scheduler, store }: World): Promise<string | null> {
  const [waited] = await store.findWaitedKeys(null, 1);
  if (waited !== undefined) return `something waits for ${waited.limit}/${waited.key}`;
  const uses = await store.countSlots(LIMITS, scheduler.now);
  const isUsed = uses.some(({ held, waiting }) => held + waiting > 0);
  return isUsed ? `slots are in use: ${JSON.stringify(uses)}` : null;
}

export interface Clients {
  readonly scenarios: readonly Scenario[];
  readonly accepted: AcceptedResults;
  readonly triggers: TriggerClient | null;
  readonly queues: QueueClient | null;
  readonly places: PlaceClient | null;
  readonly slots: SlotClient | null;
  readonly debounced: DebounceClient | null;
  readonly fair: FairClient | null;
}

export async function checkEnd(
  world: World,
  { accepted, debounced, fair, places, queues, scenarios, slots, triggers }: Clients,
): Promise<void> {
  const { store } = world;
  const { items: page } = await store.listInstances({ filter: {}, after: null, limit: 1000 });
  const ended = new Map<string, Ended>();
  for (const { id } of page) ended.set(id, await readEnded(world, id));
  for (const [id, removed] of world.archive.removed) ended.set(id, endedOf(removed));
  for (const scenario of scenarios) {
    for (const id of scenario.started) {
      hold(ended.has(id), 'I1 an acknowledged start exists', () => `${id} of ${scenario.name}`);
    }
  }
  if (world.isNotified) {
    await world.notified.check(
      store,
      [...ended.values()].map(({ record }) => record),
    );
  }
  const triggered = [...ended.values()].filter(isTriggered);
  triggers?.check(triggered);
  queues?.check([...ended.values()].filter(isQueued));
  places?.check([...ended.values()].filter(isPlaced));
  debounced?.check([...ended.values()].filter(isDebounced));
  slots?.check([...ended.values()].filter(isSlotted));
  fair?.check([...ended.values()].filter(isFair));
  for (const instance of ended.values()) {
    if (isSlotted(instance) || isFair(instance)) checkResults(instance, accepted);
    if (!isOfScenario(instance)) {
      checkHistory(instance);
      continue;
    }
    const scenario = scenarios[Number(instance.data['s'])];
    hold(scenario !== undefined, 'I2 data is kept', () => instance.record.id);
    if (scenario !== undefined) {
      checkMarks(instance, scenario);
      if (scenario.name === REPAIRED) checkRepaired(instance, scenario);
      checkInstance(instance, scenario);
    }
    checkHistory(instance);
    if (instance.isCleanedUp) checkCleanUp(instance, world.target);
    checkResults(instance, accepted);
  }
  checkTarget(world, ended);
}

function isTriggered({ record }: Ended): boolean {
  return record.definitionId === TRIGGERED;
}

function isQueued({ record }: Ended): boolean {
  return record.definitionId === QUEUED;
}

function isPlaced({ record }: Ended): boolean {
  return record.definitionId === PLACED || record.definitionId === PLACED_OR_REFUSED;
}

function isDebounced({ record }: Ended): boolean {
  return record.definitionId === DEBOUNCED || record.definitionId === DEBOUNCED_LAST;
}

function isSlotted({ record }: Ended): boolean {
  return record.definitionId === SLOTTED;
}

function isFair({ record }: Ended): boolean {
  return record.definitionId === FAIR;
}

function isOfScenario(instance: Ended): boolean {
  const isOther = isTriggered(instance) || isQueued(instance) || isPlaced(instance);
  const needsSlots = isSlotted(instance) || instance.record.definitionId === SLOTTED_CHILD;
  return !isOther && !needsSlots && !isFair(instance) && !isDebounced(instance);
}

async function readEnded({ store }: World, id: string): Promise<Ended> {
  const record = await store.getInstance(id);
  if (record === null) throw new Error('an instance is missing');
  return endedOf({ record, history: await store.readHistory(id, 0, HISTORY_MAX) });
}

function endedOf({ history, record }: Removed): Ended {
  const state: unknown = JSON.parse(record.state);
  if (!isJsonObject(state) || !isJsonObject(state['data'])) throw new Error('a state without data');
  hold(
    history.length === state['spilled'],
    'I5 the history has no gap',
    () => `${record.id}: ${history.length}`,
  );
  const spilled = history.map(({ body }) => JSON.parse(body) as StepRecord);
  // `writeState` wrote it.
  const recent = state['recent'] as unknown as readonly StepRecord[];
  const isCleanedUp = isJsonObject(state['cleanUp'] ?? null);
  return { record, data: state['data'], steps: [...spilled, ...recent], isCleanedUp };
}

/** I9: no modification is lost, also not one of a run that had ended. */
function checkMarks({ data, record: { id } }: Ended, { marks }: Scenario): void {
  for (const mark of marks.get(id) ?? []) {
    hold(data[mark] !== undefined, 'I9 a modification is not lost', () => `${id} ${mark}`);
  }
}

function checkRepaired(
  { data, record: { id, version }, steps }: Ended,
  { repairs }: Scenario,
): void {
  const applied = repairs.get(id) ?? [];
  hold(applied.length === ROUNDS.length, 'I9 a run ends by its last modification', () => id);
  checkRepairs({ id, version, data, steps }, applied);
}

/** I1 and I2: the instance ended as its model predicts, with the predicted data. */
function checkInstance({ data, record, steps }: Ended, scenario: Scenario): void {
  const { id, definitionId, outcome, status } = record;
  if (outcome === 'Terminated') {
    hold(status === 'Terminated', 'I1 outcome and status agree', () => `${id} is ${status}`);
    hold(scenario.isTerminated, 'I1 only a client terminates a run', () => `${id} is Terminated`);
    return;
  }
  const workflow = WORKFLOWS[definitionId];
  if (workflow === undefined) throw new Error(`unknown workflow ${definitionId}`);
  const childStart: JsonObject = { i: 0, n: 1, got: '' };
  const start = definitionId === scenario.name ? scenario.data : childStart;
  const model = workflow.expect(start);
  const expected = model.outcome ?? 'Succeeded';
  hold(
    outcome === expected,
    'I1 the run ends as the model predicts',
    () => `${id} ${outcome ?? 'null'}`,
  );
  const isAborted = expected === 'Failed';
  hold(
    status === (isAborted ? 'Terminated' : 'Complete'),
    'I1 outcome and status agree',
    () => `${id} is ${status}, ${outcome ?? 'null'}`,
  );
  checkCounts(id, steps, { Complete: model.completed });
  checkCounts(id, steps, { Failed: model.failed, Cancelled: model.canceled });
  for (const [name, value] of Object.entries(model.data)) {
    // A parent sees the end of its child, which a client may have terminated.
    hold(
      data[name] === value,
      'I2 data is what the model predicts',
      () => `${id} ${name}: ${JSON.stringify(data[name])} instead of ${JSON.stringify(value)}`,
    );
  }
  if (takesEvents(definitionId, data)) checkEvents(record, data, scenario);
}

/** I1: each step ended in each way as often as the model predicts. */
function checkCounts(
  id: string,
  steps: readonly StepRecord[],
  model: Partial<Record<StepRecord['status'], Readonly<Record<string, number>> | undefined>>,
): void {
  for (const [how, counts = {}] of Object.entries(model)) {
    for (const [stepId, count] of Object.entries(counts)) {
      const seen = steps.filter((step) => step.status === how && step.stepId === stepId).length;
      hold(
        seen === count,
        'I1 steps end as often as the model predicts',
        () => `${id} ${stepId}: ${how} ${seen} times instead of ${count}`,
      );
    }
  }
}

/** I6: each wait took one event, no event was taken twice, and none was invented. */
function checkEvents(
  { definitionId, id }: InstanceRecord,
  data: JsonObject,
  scenario: Scenario,
): void {
  if (definitionId === 'parent') return;
  const { got, late } = data;
  const letters = typeof got === 'string' ? got.split('') : [];
  if (definitionId === 'race') {
    const isEither = late === true ? got === null : typeof got === 'string';
    hold(
      isEither,
      'I6 a wait ends with an event or its timeout',
      () => `${id}: ${letters.join('')}`,
    );
    if (got === null) return;
  }
  hold(
    new Set(letters).size === letters.length,
    'I6 an event is taken once',
    () => `${id}: ${letters.join('')}`,
  );
  for (const letter of letters) {
    hold(scenario.published.has(letter), 'I6 an event was published', () => `${id}: ${letter}`);
  }
}

/**
 * I5: an ended execution is in the history once. A failed step ends once more with its compensation, completed or cut
 * short.
 */
function checkHistory({ record, steps }: Ended): void {
  const seen = new Set<string>();
  const failed = new Set<string>();
  for (const { attempt, pointerId, status, stepId } of steps) {
    const execution = `${pointerId}/${attempt}`;
    const isOfCompensation =
      status === 'Compensated' || (status === 'Cancelled' && failed.has(execution));
    if (status === 'Failed') failed.add(execution);
    const key = `${execution}/${isOfCompensation ? 'compensation' : ''}`;
    hold(!seen.has(key), 'I5 an execution ends once', () => `${record.id} ${stepId} ${key}`);
    seen.add(key);
  }
}

/** I4: the accepted result is the one in the instance. */
function checkResults({ record, steps }: Ended, accepted: AcceptedResults): void {
  for (const { attempt, outputs, pointerId, status, stepId } of steps) {
    const id = `${record.id}/${pointerId}/${attempt}`;
    const result = accepted.byActivity.get(id);
    if (result === undefined || status === 'Cancelled') continue;
    const [succeeded, value] = JSON.parse(result) as [boolean, string];
    const expected = succeeded ? 'Complete' : 'Failed';
    hold(status === expected, 'I4 an accepted result counts', () => `${id} ${stepId}: ${status}`);
    if (!succeeded) continue;
    const kept = isJsonObject(outputs) ? Object.values(outputs) : [];
    hold(kept.includes(value), 'I4 an accepted result is kept', () => `${id}: ${result}`);
  }
}

/** I3: every effect that counts was called, and no call is unexplained by the state. */
function checkTarget(world: World, ended: ReadonlyMap<string, Ended>): void {
  const { entries } = world.target;
  const records = new Map<string, StepRecord>();
  for (const { record, steps } of ended.values()) {
    for (const step of steps) records.set(`${record.id}/${step.pointerId}/${step.attempt}`, step);
  }
  for (const [key, { calls, stepId, succeeds }] of entries) {
    const step = records.get(key);
    hold(
      step?.stepId === stepId,
      'I3 a call is explained by the history',
      () => `${key} ${stepId}`,
    );
    if (step?.status === 'Complete' || step?.status === 'Failed') {
      // Its time may be over before the response.
      if (SLOTTED_CALLS.has(stepId) && step.status === 'Failed') continue;
      const status = succeeds ? 'Complete' : 'Failed';
      hold(step.status === status, 'I3 the response counts', () => `${key} ${step.status}`);
    }
    hold(
      calls === 1 || !hasNoFaults(world.plan),
      'I3 no call is repeated without a fault',
      () => key,
    );
  }
  for (const [key, { status, stepId }] of records) {
    // A step may fail while it waits for its slots.
    const isCounted = status === 'Complete' || (status === 'Failed' && !SLOTTED_CALLS.has(stepId));
    const isCall = CALLS.has(stepId) && isCounted;
    hold(
      !isCall || entries.has(key),
      'I3 an effect that counts was called',
      () => `${key} ${stepId}`,
    );
  }
}

const CALLS = new Set<string>();
for (const { document } of Object.values(WORKFLOWS)) collectCalls(document);
collectCalls(triggeredDocument('any'));
collectCalls(QUEUED_DOCUMENT);
for (const stepId of SLOTTED_CALLS) CALLS.add(stepId);

function collectCalls(value: unknown): void {
  if (Array.isArray(value)) for (const item of value) collectCalls(item);
  else if (typeof value === 'object' && value !== null) {
    const { StepType, Id } = value as { readonly StepType?: unknown; readonly Id?: unknown };
    if (StepType === 'HttpRequest') CALLS.add(String(Id));
    for (const inner of Object.values(value)) collectCalls(inner);
  }
}
