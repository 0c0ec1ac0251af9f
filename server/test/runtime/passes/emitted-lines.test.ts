/** Log lines of EmitLog steps: their format, their maximum length, and how many a definition may write. */
import { describe, expect, it } from 'vitest';
import type { Json } from '../../../src/engine/values/json.js';
import { EmittedLines } from '../../../src/runtime/passes/emitted-lines.js';
import { createLogRecorder } from '../../step-bodies/support/log-recorder.js';
import { ManualClock } from '../support/manual-clock.js';

const IDS = { workflowId: 'w1', stepId: 's', pointerId: 1 };

function linesOf(linesPerSecondMax = 5) {
  const clock = new ManualClock();
  const { lines, logger } = createLogRecorder();
  const emitted = new EmittedLines({ clock, logger, linesPerSecondMax });
  const write = (message: Json, definitionId = 'order'): void =>
    emitted.write({ ...IDS, definitionId, level: 'Information', message });
  return { clock, emitted, lines, write };
}

describe('a line of EmitLog', () => {
  it.each<[Json, string, object]>([
    ['text', 'text', {}],
    [5, '5', {}],
    [{ a: 1 }, '{"a":1}', { value: { a: 1 } }],
  ])('contains %j', (message, text, fields) => {
    const { lines, write } = linesOf();
    write(message);
    expect(lines).toEqual([
      { level: 'info', message: text, fields: { ...IDS, definitionId: 'order', ...fields } },
    ]);
  });

  it.each<[string, Json]>([
    ['a string', 'x'.repeat(100_000)],
    ['a value', { a: 'x'.repeat(100_000) }],
  ])('is truncated if %s is long', (_, message) => {
    const { lines, write } = linesOf();
    write(message);
    expect(lines[0]!.message).toHaveLength(65_536);
    expect(lines[0]!.fields['cutFrom']).toBeGreaterThanOrEqual(100_000);
    expect(JSON.stringify(lines[0]).length).toBeLessThan(70_000);
  });

  it('is only counted beyond the number per definition, in one line', () => {
    const { clock, lines, write } = linesOf();
    for (let index = 0; index < 1000; index += 1) write('again');
    write('of another', 'other');
    expect(lines).toHaveLength(51);
    clock.advance(10_000);
    expect(lines.at(-1)).toEqual({
      level: 'warn',
      message: 'dropped log lines of EmitLog steps, because the definition writes too many',
      fields: { definitionId: 'order', suppressed: 950 },
    });
    clock.advance(10_000);
    expect(lines).toHaveLength(52);
    for (let index = 0; index < 100; index += 1) write('later');
    expect(lines.filter(({ message }) => message === 'later')).toHaveLength(50);
  });

  it('is only counted beyond the amount of text per definition', () => {
    const { clock, emitted, lines, write } = linesOf(1_000_000);
    for (let index = 0; index < 1000; index += 1) write('x'.repeat(65_536));
    expect(lines).toHaveLength(160);
    clock.advance(1000);
    write('x'.repeat(65_536));
    expect(lines).toHaveLength(161);
    emitted.stop();
    expect(lines.at(-1)!.fields).toEqual({ definitionId: 'order', suppressed: 840 });
    expect(clock.pending).toBe(0);
  });
});
