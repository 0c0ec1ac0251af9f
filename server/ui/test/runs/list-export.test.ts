/** Goal: exported lists are complete, open in any program, and no data becomes a formula in a spreadsheet. */
import type { Page, WorkflowSummary } from '@stepwright/sdk';
import { describe, expect, it } from 'vitest';
import { EXPORT_MAX, exportText, readRuns } from '../../src/pages/runs/list-export.js';

const RUN: WorkflowSummary = {
  workflowId: 'k-1',
  definitionId: 'order',
  version: 2,
  reference: 'order-4711',
  status: 'Complete',
  outcome: 'Failed',
  startTime: '2026-01-02T03:04:05.000Z',
  endTime: '2026-01-02T03:04:06.000Z',
  lastChangeTime: '2026-01-02T03:04:06.000Z',
  failureTime: '2026-01-02T03:04:06.000Z',
  failingSince: '2026-01-02T03:04:05.000Z',
  failure: { key: 'f', stepId: 'ship', type: 'KeyError', message: '\'a, "b"\'\nline 2' },
  parent: null,
  restartOf: null,
  restartedAs: null,
  trigger: null,
  priority: 3,
  fairnessKey: null,
  fairnessWeight: null,
  queued: false,
  tags: { team: 'red' },
  index: { total: -3, name: '=HYPERLINK("x")', list: [1, 2] },
};

async function* pagesOf(counts: readonly number[]): AsyncGenerator<Page<WorkflowSummary>> {
  for (const [index, count] of counts.entries()) {
    const nextCursor = index === counts.length - 1 ? null : String(index);
    yield await Promise.resolve({ items: Array.from({ length: count }, () => RUN), nextCursor });
  }
}

describe('a CSV file', () => {
  const [header, row] = exportText([RUN], 'csv', ['total', 'name', 'list', 'tag.team']).split(
    '\r\n',
  );

  it('has the main columns and the chosen fields', () => {
    expect(header).toBe(
      'Run,Definition,Version,Reference,Status,Outcome,Failure,Started,Ended,Changed,total,name,list,tag.team',
    );
  });

  it('quotes text and keeps it from becoming a formula, but keeps numbers', () => {
    expect(row).toBe(
      `k-1,order,2,order-4711,Complete,Failed,"'a, ""b""'\nline 2",2026-01-02T03:04:05.000Z,` +
        `2026-01-02T03:04:06.000Z,2026-01-02T03:04:06.000Z,-3,"'=HYPERLINK(""x"")","1, 2",red`,
    );
  });

  it.each(['=', '+', '-', '@', '\t', '\r'])('marks text that begins with %j', (first) => {
    const text = exportText([{ ...RUN, reference: `${first}1` }], 'csv', []);
    expect(text).toContain(`'${first}1`);
  });
});

it('exports everything of the list as JSON', () => {
  expect(JSON.parse(exportText([RUN], 'json', []))).toEqual([RUN]);
});

describe('reading the list', () => {
  it('reads all pages and reports the progress', async () => {
    const progress: number[] = [];
    const read = await readRuns(pagesOf([500, 500, 1]), (count) => progress.push(count));
    expect(read).toMatchObject({ isComplete: true, runs: { length: 1001 } });
    expect(progress).toEqual([500, 1000, 1001]);
  });

  it.each([
    { pages: [EXPORT_MAX], isComplete: true },
    { pages: [EXPORT_MAX, 1], isComplete: false },
    { pages: [EXPORT_MAX - 1, 2], isComplete: false },
  ])('stops at the maximum: $pages', async ({ pages, isComplete }) => {
    const read = await readRuns(pagesOf(pages), () => undefined);
    expect(read).toMatchObject({ isComplete, runs: { length: EXPORT_MAX } });
  });
});
