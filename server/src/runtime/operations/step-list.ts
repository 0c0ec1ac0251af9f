/**
 * The steps of an instance as one list: first the store's history, then the newest records, then the open pointers. It can
 * be read from either end, and filtered by step. However long it is, a page needs a bounded number of reads.
 */
import { readJson } from '../../engine/values/exact-json.js';
import type { WorkflowInstance } from '../../engine/model/instance.js';
import type { StepRecord } from '../../engine/model/step-record.js';
import type { Store } from '../../store/store.js';
import type { StepListRequest, StepView } from './instance-types.js';
import { viewPointer, viewRecord, type ViewContext } from './instance-views.js';
import { decodeCursor, encodeCursor, type Page } from './paging.js';

/** The only way to search the history for a step is to read it: maximum number of entries per page, and per read. */
const ENTRIES_READ_MAX = 2000;
const BLOCK_SIZE = 500;

interface Entry {
  readonly stepId: string;
  /** The position from which the list continues after this entry. */
  readonly position: readonly string[];
  readonly view: () => StepView;
}

interface Walk {
  readonly store: Pick<Store, 'readHistory'>;
  readonly instance: WorkflowInstance;
  readonly context: ViewContext;
  /** Where the previous page ended; null for the first page. */
  readonly position: readonly string[] | null;
  readonly blockSize: number;
}

/** A page may have fewer items than its limit, or none, and still have a next page: the search stops at a bound. */
export async function listSteps(
  source: Omit<Walk, 'position' | 'blockSize'>,
  { cursor, limit, order, stepId }: StepListRequest,
): Promise<Page<StepView>> {
  const list = ['workflow-steps', order, ...(stepId === null ? [] : [stepId])].join(' ');
  const position = decodeCursor(cursor, list);
  const blockSize = stepId === null ? limit + 1 : BLOCK_SIZE;
  const walk = { ...source, position, blockSize };
  const items: StepView[] = [];
  let last: Entry | null = null;
  let read = 0;
  for await (const entry of order === 'asc' ? forwards(walk) : backwards(walk)) {
    if (last !== null && (items.length === limit || read === ENTRIES_READ_MAX)) {
      return { items, nextCursor: encodeCursor(list, last.position) };
    }
    read += 1;
    last = entry;
    if (stepId === null || entry.stepId === stepId) items.push(entry.view());
  }
  return { items, nextCursor: null };
}

/** Positions are indexes: those of ended steps do not change. */
async function* forwards(walk: Walk): AsyncGenerator<Entry, void, undefined> {
  const { context, instance, position } = walk;
  const ended = endedCount(instance);
  let at = position === null ? 0 : Number(position[0]);
  while (at < ended) {
    const records = await readRecords(walk, at, at + walk.blockSize);
    for (const record of records) {
      at += 1;
      yield entryOf(record, context, [String(at)]);
    }
    if (records.length === 0) return;
  }
  for (const pointer of [...instance.pointers.values()].slice(at - ended)) {
    at += 1;
    const view = (): StepView => viewPointer(pointer, context, instance.endTime);
    yield { stepId: pointer.stepId, position: [String(at)], view };
  }
}

/** The position of an open pointer is its id: pointers that have ended since are found among the records, further down. */
async function* backwards(walk: Walk): AsyncGenerator<Entry, void, undefined> {
  const { context, instance, position } = walk;
  const [region, number] = position ?? ['open', 'Infinity'];
  if (region === 'open') {
    const open = [...instance.pointers.values()].filter(({ id }) => id < Number(number));
    for (const pointer of open.sort((a, b) => b.id - a.id)) {
      const view = (): StepView => viewPointer(pointer, context, instance.endTime);
      yield { stepId: pointer.stepId, position: ['open', String(pointer.id)], view };
    }
  }
  let before = region === 'open' ? endedCount(instance) : Number(number);
  while (before > 0) {
    const records = await readRecords(walk, Math.max(0, before - walk.blockSize), before);
    for (const record of records.toReversed()) {
      before -= 1;
      yield entryOf(record, context, ['ended', String(before)]);
    }
    if (records.length === 0) return;
  }
}

function entryOf(record: StepRecord, context: ViewContext, position: readonly string[]): Entry {
  return { stepId: record.stepId, position, view: () => viewRecord(record, context) };
}

function endedCount({ recent, spilled }: WorkflowInstance): number {
  return spilled + recent.length;
}

/** Records from one position up to another, or up to the end of the stored history. */
async function readRecords(
  { instance, store }: Walk,
  from: number,
  to: number,
): Promise<readonly StepRecord[]> {
  const { id, recent, spilled } = instance;
  const stored =
    from < spilled ? await store.readHistory(id, from, Math.min(to, spilled) - from) : [];
  const records = stored.map(({ body }) => readJson(body) as unknown as StepRecord); // Written by this server.
  if (to <= spilled) return records;
  return [...records, ...recent.slice(Math.max(0, from - spilled), to - spilled)];
}
