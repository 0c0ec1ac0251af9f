/** The log redacts secrets and contains the fields of child loggers. */
import { describe, expect, it } from 'vitest';
import { createLogger, type LogLevel } from '../src/base/logger.js';

function capture(level: LogLevel = 'info') {
  const lines: Record<string, unknown>[] = [];
  const logger = createLogger({
    level,
    destination: {
      write: (line: string) => void lines.push(JSON.parse(line) as Record<string, unknown>),
    },
  });
  return { logger, lines };
}

describe('createLogger', () => {
  it('writes one JSON object with level, time and message', () => {
    const { logger, lines } = capture();
    logger.info({ workflowId: 'w1' }, 'Started');
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatchObject({ level: 'info', workflowId: 'w1', msg: 'Started' });
    expect(lines[0]!['time']).toMatch(/^\d{4}-\d\d-\d\dT.*Z$/);
  });

  it('omits lines below its level', () => {
    const { logger, lines } = capture('warn');
    logger.info('not this');
    logger.warn('this');
    expect(lines.map((line) => line['msg'])).toEqual(['this']);
  });

  it('adds the fields of a child logger to each line', () => {
    const { logger, lines } = capture();
    logger.child({ nodeId: 'n1' }).error({ err: new Error('broken') }, 'Failed');
    expect(lines[0]).toMatchObject({ nodeId: 'n1', err: { message: 'broken' } });
  });

  it.each([
    [{ token: 'secret' }],
    [{ authorization: 'secret' }],
    [{ cookie: 'secret' }],
    [{ headers: { authorization: 'secret' } }],
    [{ activity: { token: 'secret' } }],
    [{ req: { headers: { authorization: 'secret', cookie: 'secret', 'set-cookie': 'secret' } } }],
  ])('redacts %j', (fields) => {
    const { logger, lines } = capture();
    logger.info(fields, 'Line');
    expect(JSON.stringify(lines)).not.toContain('secret');
    expect(JSON.stringify(lines)).toContain('[redacted]');
  });

  it('writes a message with line breaks as one line', () => {
    const written: string[] = [];
    const logger = createLogger({ level: 'info', destination: { write: (l) => written.push(l) } });
    logger.info('first\nsecond \u001b[31m');
    expect(written).toHaveLength(1);
    expect(written[0]!.trimEnd().split('\n')).toHaveLength(1);
  });
});
