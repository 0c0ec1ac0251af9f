/**
 * Skips tests that would start after the time limit for a full test run: a slow machine runs fewer tests, and `pnpm test` counts
 * the others as skipped and lists their files.
 *
 * Called by: vitest, before each test file (`setupFiles`).
 */
import { beforeEach } from 'vitest';

/** When that time ends, in milliseconds since 1970; set by test.mjs from `TEST_MINUTES`. */
const deadline = Number(process.env.TEST_DEADLINE_MS ?? Infinity);

beforeEach((test) => {
  if (Date.now() <= deadline) return;
  test.task.meta.isLate = true;
  test.skip('TEST_MINUTES are over');
});
