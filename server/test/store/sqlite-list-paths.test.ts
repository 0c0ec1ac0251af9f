/** The paths of a search on SQLite read no more entries than they count (search-plan.ts). */
import { expect, it } from 'vitest';
import { pathsOf } from '../../src/store/sql/list-paths.js';
import { LIST_DIALECT } from '../../src/store/sqlite/statements/instance-lists.js';

const WHERE = { of: 'field', name: 'amount', values: [0] } as const;

it('counts a range without the start time, which follows the value in the index', () => {
  const where = [{ ...WHERE, operator: '>' as const }];
  const [range] = pathsOf(LIST_DIALECT, { where, startedFrom: 5 });
  expect(range?.counted.text).not.toContain('startTime');
  const [equal] = pathsOf(LIST_DIALECT, {
    where: [{ ...WHERE, operator: '=' }],
    startedFrom: 5,
  });
  expect(equal?.counted.text).toContain('startTime >= ?');
});

it('collects ids for another order by the start time under which they were counted', () => {
  const filter = { where: [{ ...WHERE, operator: '=' as const }], startedFrom: 5, failedFrom: 1 };
  const [path] = pathsOf(LIST_DIALECT, filter);
  const { text } = path!.entries({ after: null, until: null }, { limit: 5 });
  expect(text).toMatch(/FROM @terms WHERE .*startTime >= \?::bigint\) AND/);
});
