/** The paths of a search on SQLite read no more entries than they count (search-plan.ts). */
import { expect, it } from 'vitest';
import { pathsOf } from '../../src/store/sqlite/statements/list-paths.js';

const WHERE = { of: 'field', name: 'amount', values: [0] } as const;

it('counts a range without the start time, which follows the value in the index', () => {
  const [range] = pathsOf({ where: [{ ...WHERE, operator: '>' }], startedFrom: 5 });
  expect(range?.counted.text).not.toContain('startTime');
  const [equal] = pathsOf({ where: [{ ...WHERE, operator: '=' }], startedFrom: 5 });
  expect(equal?.counted.text).toContain('startTime >= ?');
});

it('collects ids for another order by the start time under which they were counted', () => {
  const filter = { where: [{ ...WHERE, operator: '=' as const }], startedFrom: 5, failedFrom: 1 };
  const { text } = pathsOf(filter)[0]!.entries({ after: null, until: null });
  expect(text).toMatch(/FROM terms {2}WHERE .*startTime >= \?\) AND/);
});
