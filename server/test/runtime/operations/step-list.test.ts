/** Goal: the list of steps is the same from both ends and for one step, however long the history is. */
import { beforeAll, describe, expect, it, vi } from 'vitest';
import type { Instance } from '../../../src/engine/model/instance.js';
import type { StepRecord } from '../../../src/engine/model/step-record.js';
import type { Pointer } from '../../../src/engine/model/pointer.js';
import type {
  StepFilter,
  StepListRequest,
  StepView,
} from '../../../src/runtime/model/instance-types.js';
import { listSteps } from '../../../src/runtime/operations/step-list.js';
import type { Page } from '../../../src/runtime/model/paging.js';
import { createMemoryStore } from '../../../src/store/memory/memory-store.js';
import { instanceOf, NO_SIDE } from '../../store/records.js';

const SPILLED = 4500;
const RECENT = 20;
/** The last of the stored records. */
const RARE = SPILLED - 1;

const ALL: StepFilter = { stepId: null, status: null, item: null, turn: null, search: null };

function record(at: number): StepRecord {
  const stepId = at === 0 || at === RARE ? 'rare' : at % 2 === 0 ? 'even' : 'odd';
  return {
    pointerId: at + 1,
    stepId,
    status: 'Complete',
    attempt: 1,
    startTime: at,
    endTime: at + 1,
    inputs: {},
    outputs: null,
    error: null,
  };
}

function pointer(id: number): Pointer {
  return {
    id,
    stepId: 'open',
    parentId: null,
    attempt: 1,
    retries: 0,
    children: 0,
    attemptStartedAt: 9000,
    deadline: null,
    inputs: {},
    error: null,
    memo: null,
    state: { kind: 'ready' },
  } as unknown as Pointer;
}

describe('the list of steps of a run with a long history', () => {
  const store = createMemoryStore();
  const instance = {
    id: 'long',
    endTime: null,
    spilled: SPILLED,
    recent: Array.from({ length: RECENT }, (_, at) => record(SPILLED + at)),
    pointers: new Map([9001, 9002, 9003].map((id) => [id, pointer(id)])),
  } as unknown as Instance;
  const context = { workflowId: 'long', definition: null };

  beforeAll(async () => {
    await store.insertInstance({
      record: instanceOf('long'),
      side: {
        ...NO_SIDE,
        // One more than the instance knows: from a commit that was lost.
        history: Array.from({ length: SPILLED + 1 }, (_, sequence) => ({
          instanceId: 'long',
          sequence,
          body: JSON.stringify(record(sequence)),
        })),
      },
    });
  });

  const all = async (
    request: Partial<StepListRequest> & Pick<StepListRequest, 'limit' | 'order'>,
  ): Promise<{ readonly views: StepView[]; readonly pages: number[] }> => {
    const views: StepView[] = [];
    const pages: number[] = [];
    let cursor: string | null = null;
    do {
      const page: Awaited<ReturnType<typeof listSteps>> = await listSteps(
        { store, instance, context },
        { ...ALL, ...request, cursor },
      );
      views.push(...page.items);
      pages.push(page.items.length);
      cursor = page.nextCursor;
    } while (cursor !== null);
    return { views, pages };
  };
  const ids = (views: readonly StepView[]): number[] => views.map(({ executionId }) => executionId);
  const everything = [
    ...Array.from({ length: SPILLED + RECENT }, (_, at) => at + 1),
    9001,
    9002,
    9003,
  ];

  it.each([7, 64, 500])('is complete in both directions, with %i per page', async (limit) => {
    const forwards = await all({ limit, order: 'asc', ...ALL });
    expect(ids(forwards.views)).toEqual(everything);
    expect(forwards.pages.slice(0, -1).every((count) => count === limit)).toBe(true);
    const backwards = await all({ limit, order: 'desc', ...ALL });
    expect(ids(backwards.views)).toEqual(everything.toReversed());
  });

  it.each(['even', 'odd', 'rare', 'open', 'none'])('has all executions of %s', async (stepId) => {
    const { views } = await all({ limit: 500, order: 'asc', ...ALL });
    const wanted = ids(views.filter((view) => view.stepId === stepId));
    for (const limit of [50, 500]) {
      expect(ids((await all({ limit, order: 'asc', stepId })).views)).toEqual(wanted);
      const backwards = await all({ limit, order: 'desc', stepId });
      expect(ids(backwards.views)).toEqual(wanted.toReversed());
    }
  });

  it('returns a page before it has read the whole history', async () => {
    const { pages } = await all({ limit: 50, order: 'asc', stepId: 'rare' });
    expect(pages).toEqual([1, 0, 1]);
  });

  it('does not read the history for open steps', async () => {
    const asked = vi.spyOn(store, 'readHistory');
    for (const order of ['asc', 'desc'] as const) {
      const { pages, views } = await all({ limit: 2, order, status: 'Pending' });
      expect(ids(views)).toEqual(order === 'asc' ? [9001, 9002, 9003] : [9003, 9002, 9001]);
      expect(pages).toEqual([2, 1]);
    }
    expect(asked).not.toHaveBeenCalled();
    asked.mockRestore();
  });

  it('reads large records in small parts', async () => {
    const inputs = { text: 'x'.repeat(1024 * 1024) };
    const spilled = 40;
    const asked = vi.spyOn(store, 'readHistory').mockImplementation(async (_id, from, limit) =>
      Array.from({ length: Math.min(limit, spilled - from) }, (_, at) => ({
        instanceId: 'long',
        sequence: from + at,
        body: JSON.stringify({ ...record(from + at), inputs }),
      })),
    );
    const large = { ...instance, spilled, recent: [], pointers: new Map() };
    const counts: number[] = [];
    let cursor: string | null = null;
    do {
      const request = { ...ALL, limit: 500, order: 'asc' as const, search: 'x'.repeat(9), cursor };
      const page: Page<StepView> = await listSteps({ store, instance: large, context }, request);
      counts.push(page.items.length);
      cursor = page.nextCursor;
    } while (cursor !== null);
    asked.mockRestore();
    expect(counts).toEqual([16, 16, 8]);
  });

  it.each([
    [1, [1]],
    [2, [RARE + 1]],
    [3, []],
  ] as const)('finds execution %i of a step, however many calls it takes', async (turn, found) => {
    const { pages, views } = await all({ limit: 50, order: 'asc', stepId: 'rare', turn });
    expect(ids(views)).toEqual(found);
    expect(pages.length).toBe(turn === 1 ? 1 : 3);
  });

  it('keeps the cursors of filters apart, and those of a step as they were', async () => {
    const request = { ...ALL, limit: 2, order: 'asc' as const, stepId: 'even', cursor: null };
    const source = { store, instance, context };
    const { nextCursor } = await listSteps(source, request);
    const name: unknown = JSON.parse(Buffer.from(nextCursor ?? '', 'base64url').toString());
    expect(name).toEqual(['workflow-steps asc even', '5']);
    const others = [{ status: 'Complete' }, { item: 1 }, { turn: 1 }, { search: 'a' }] as const;
    for (const other of others) {
      const refused = listSteps(source, { ...request, ...other, cursor: nextCursor });
      await expect(refused).rejects.toMatchObject({ code: 'invalid_request' });
    }
  });

  it('continues at the same place if open steps have ended in between', async () => {
    const first = await listSteps(
      { store, instance, context },
      { limit: 2, order: 'desc', ...ALL, cursor: null },
    );
    expect(ids(first.items)).toEqual([9003, 9002]);
    const ended = { ...record(0), pointerId: 9001, stepId: 'open' };
    const later = { ...instance, recent: [...instance.recent, ended], pointers: new Map() };
    const second = await listSteps(
      { store, instance: later, context },
      { limit: 2, order: 'desc', ...ALL, cursor: first.nextCursor },
    );
    expect(ids(second.items)).toEqual([9001, SPILLED + RECENT]);
  });

  it('rejects a cursor of the other order', async () => {
    const { nextCursor } = await listSteps(
      { store, instance, context },
      { limit: 2, order: 'desc', ...ALL, cursor: null },
    );
    await expect(
      listSteps(
        { store, instance, context },
        { limit: 2, order: 'asc', ...ALL, cursor: nextCursor },
      ),
    ).rejects.toMatchObject({ code: 'invalid_request' });
  });
});
