/**
 * The steps of an instance as one list: first the store's history, then the newest records, then the open pointers. It can
 * be read from either end, and filtered. However long it is, a page needs a bounded number of reads.
 */
import { readJson } from '../../engine/values/exact-json.js';
import type { Instance } from '../../engine/model/instance.js';
import type { StepRecord } from '../../engine/model/step-record.js';
import type { Pointer } from '../../engine/model/pointer.js';
import type { StepListRequest, StepView } from '../model/instance-types.js';
import { viewPointer, viewRecord, type ViewContext } from '../instance-state/instance-views.js';
import { decodeCursor, encodeCursor, type Page } from '../model/paging.js';
import { isOpenStatus, matchesFilter } from './step-filter.js';
import {
  ReadBudget,
  type Entries,
  type Entry,
  type StepSource,
  type Walk,
} from './step-entries.js';
import { listIteration } from './loop-iterations.js';

const BLOCK_SIZE = 500;

/** A page may have fewer items than its limit, or none, and still have a next page: the search stops at a limit. */
export async function listSteps(
  source: StepSource,
  request: StepListRequest,
): Promise<Page<StepView>> {
  const list = listName(request);
  const position = decodeCursor(request.cursor, list);
  const walk = {
    ...source,
    position,
    blockSize: hasFilter(request) ? BLOCK_SIZE : request.limit + 1,
  };
  if (request.turn !== null) return listIteration({ walk, request, list, entriesFrom: forwards });
  const items: StepView[] = [];
  const budget = new ReadBudget();
  let last: Entry | null = null;
  for await (const entry of entriesOf(walk, request)) {
    if (last !== null && (items.length === request.limit || budget.isSpent)) {
      return { items, nextCursor: encodeCursor(list, last.position) };
    }
    budget.spend(entry);
    last = entry;
    if (request.stepId !== null && entry.stepId !== request.stepId) continue;
    const view = entry.view();
    if (matchesFilter(view, request)) items.push(view);
  }
  return { items, nextCursor: null };
}

/** Each filter has its own cursors. */
function listName({ item, order, search, status, stepId, turn }: StepListRequest): string {
  const name = ['workflow-steps', order, ...(stepId === null ? [] : [stepId])].join(' ');
  // Cursors of earlier versions of the server stay valid.
  if (status === null && item === null && turn === null && search === null) return name;
  return `${name} ${JSON.stringify([stepId, status, item, turn, search])}`;
}

function hasFilter({ item, search, status, stepId, turn }: StepListRequest): boolean {
  return [item, search, status, stepId, turn].some((value) => value !== null);
}

/** The history has no open executions, so a list of open ones doesn't read it. */
function entriesOf(walk: Walk, { order, status }: StepListRequest): Entries {
  if (!isOpenStatus(status)) return order === 'asc' ? forwards(walk) : backwards(walk);
  if (order === 'desc') return openBackwards(walk);
  const ended = endedCount(walk.instance);
  return forwards({ ...walk, position: [String(Math.max(ended, positionOf(walk)))] });
}

function positionOf({ position }: Walk): number {
  return position === null ? 0 : Number(position[0]);
}

/** Positions are indexes, which don't change for ended steps. */
async function* forwards(walk: Walk): Entries {
  const { context, instance } = walk;
  const ended = endedCount(instance);
  let at = positionOf(walk);
  while (at < ended) {
    const records = await readRecords(walk, at, at + walk.blockSize);
    for (const read of records) {
      at += 1;
      yield entryOf(read, context, [String(at)]);
    }
    if (records.length === 0) return;
  }
  for (const pointer of [...instance.pointers.values()].slice(at - ended)) {
    at += 1;
    yield openEntry(pointer, walk, [String(at)]);
  }
}

async function* backwards(walk: Walk): Entries {
  yield* openBackwards(walk);
  const { context, instance } = walk;
  const [region, number] = walk.position ?? FIRST_OPEN;
  let before = region === 'open' ? endedCount(instance) : Number(number);
  while (before > 0) {
    const records = await readRecords(walk, Math.max(0, before - walk.blockSize), before);
    for (const read of records.toReversed()) {
      before -= 1;
      yield entryOf(read, context, ['ended', String(before)]);
    }
    if (records.length === 0) return;
  }
}

const FIRST_OPEN = ['open', 'Infinity'] as const;

/** The position of an open pointer is its id: pointers that have ended since are found among the records, further down. */
async function* openBackwards(walk: Walk): Entries {
  const [region, number] = walk.position ?? FIRST_OPEN;
  if (region !== 'open') return;
  const open = [...walk.instance.pointers.values()].filter(({ id }) => id < Number(number));
  for (const pointer of open.sort((a, b) => b.id - a.id)) {
    yield openEntry(pointer, walk, ['open', String(pointer.id)]);
  }
}

function openEntry(
  pointer: Pointer,
  { context, instance }: Walk,
  position: readonly string[],
): Entry {
  const { attempt, id, stepId } = pointer;
  const view = (): StepView => viewPointer(pointer, context, instance);
  return { executionId: id, stepId, attempt, position, length: 0, hasFailed: false, view };
}

function entryOf(
  { length, record }: ReadRecord,
  context: ViewContext,
  position: readonly string[],
): Entry {
  const { attempt, pointerId, status, stepId } = record;
  const view = (): StepView => viewRecord(record, context);
  const hasFailed = status === 'Failed';
  return { executionId: pointerId, stepId, attempt, position, length, hasFailed, view };
}

function endedCount({ recent, spilled }: Instance): number {
  return spilled + recent.length;
}

interface ReadRecord {
  readonly record: StepRecord;
  readonly length: number;
}

/** Records from one position up to another, or up to the end of the stored history. */
async function readRecords(
  { instance, store }: Walk,
  from: number,
  to: number,
): Promise<readonly ReadRecord[]> {
  const { id, recent, spilled } = instance;
  const stored =
    from < spilled ? await store.readHistory(id, from, Math.min(to, spilled) - from) : [];
  const records = stored.map(({ body }): ReadRecord => ({
    record: readJson(body) as unknown as StepRecord, // Written by this server.
    length: body.length,
  }));
  if (to <= spilled) return records;
  const unstored = recent.slice(Math.max(0, from - spilled), to - spilled);
  return [...records, ...unstored.map((record) => ({ record, length: 0 }))];
}
