/**
 * Goal: every door reads times in the same way (TM1).
 * Method: one table of texts; at each door, those that are times are accepted, and the others are refused with the text and
 * the reason.
 */
import { describe, expect, it } from 'vitest';
import type { Workflow } from '../../src/api/wire/models/workflow.js';
import { readPastTime, readTimeOption } from '../../src/cli/arguments/values.js';
import { readTestFile } from '../../src/test-kit/files/read-test-file.js';
import { TestFileError } from '../../src/test-kit/files/file.js';
import { READ_TIMES, REFUSED_TIMES } from '../support/times.js';
import { fresh, type Client } from './support/client.js';
import { everyStore } from './support/every-store.js';
import { step } from './support/steps.js';

/** Null if the text is read; else what the door says. */
type Door = (text: string) => Promise<string | null> | string | null;

const PAST = '2020-01-01T00:00:00Z';

async function answerOf(call: Promise<{ status: number; text: string }>): Promise<string | null> {
  const { status, text } = await call;
  return status < 300 ? null : text;
}

/** Other reasons to refuse a time that was read. */
const READ_BUT_REFUSED = /is in the past|is in the future|must be after from/;

function doorsOf(
  client: Client,
  definitionId: string,
  waitId: string,
): Readonly<Record<string, Door>> {
  const query = (path: string, name: string): Door => {
    const mark = path.includes('?') ? '&' : '?';
    return (text) =>
      answerOf(client.call('GET', `${path}${mark}${name}=${encodeURIComponent(text)}`));
  };
  const validated =
    (EffectiveDate: (text: string) => string): Door =>
    async (text) => {
      const Inputs = { EventName: '"e"', EventKey: '"k"', EffectiveDate: EffectiveDate(text) };
      const { body } = await client.post<{ valid: boolean; errors: unknown }>(
        '/api/definition/validate',
        { Id: 'x', Steps: [step('w', 'WaitFor', Inputs)] },
      );
      return body.valid ? null : JSON.stringify(body.errors);
    };
  const lists = [
    'startedFrom',
    'startedTo',
    'endedFrom',
    'endedTo',
    'failedFrom',
    'unchangedSince',
  ];
  return {
    ...Object.fromEntries(
      lists.map((name) => [name, query(`/api/workflow?definitionId=${definitionId}`, name)]),
    ),
    'count startedFrom': query('/api/workflow/count', 'startedFrom'),
    'failures failedFrom': query('/api/workflow/failures', 'failedFrom'),
    'failures failedTo': query('/api/workflow/failures', 'failedTo'),
    'audit from': query('/api/audit', 'from'),
    'audit to': query('/api/audit', 'to'),
    startAt: (text) => {
      const path = `/api/workflow/${definitionId}?startAt=${encodeURIComponent(text)}`;
      return answerOf(client.post(path, {}));
    },
    expires: (text) => {
      const body = { name: fresh('key'), scopes: ['conductor:viewer'], expires: text };
      return answerOf(client.post('/api/key', body));
    },
    'backfill from': (text) =>
      answerOf(
        client.post(`/api/definition/${definitionId}/triggers/t/backfill`, {
          from: text,
          to: PAST,
        }),
      ),
    'backfill to': (text) =>
      answerOf(
        client.post(`/api/definition/${definitionId}/triggers/t/backfill`, {
          from: '2026-01-01',
          to: text,
        }),
      ),
    'bulk filter': (text) => {
      const filter = { definitionId, startedFrom: text };
      return answerOf(
        client.post('/api/bulk', { action: 'purge', filter, reason: 'test', dryRun: true }),
      );
    },
    'computed EffectiveDate': async (text) => {
      const started = await client.post<Workflow>(`/api/workflow/${waitId}?wait=30`, { d: text });
      const { lastError, status } = started.body;
      return status === 'Complete' ? null : `${status} ${lastError?.message ?? ''}`;
    },
    'literal EffectiveDate': validated((text) => JSON.stringify(text)),
  };
}

everyStore(
  'inputs for times',
  (at) => {
    it('reads the same times, and refuses the others with the reason', async () => {
      const { client } = at;
      const definitionId = await client.define({
        Triggers: [{ Name: 't', Cron: '@yearly' }],
        Steps: [step('s', 'NoOp')],
      });
      const wait = { EventName: '"never"', EventKey: '"k"', EffectiveDate: 'data.d', Timeout: 0 };
      const waitId = await client.define({
        DefaultErrorBehavior: 'Terminate',
        Steps: [step('w', 'WaitFor', wait)],
      });
      for (const [name, door] of Object.entries(doorsOf(client, definitionId, waitId))) {
        for (const [text] of READ_TIMES) {
          const answer = (await door(text)) ?? 'is in the past';
          expect([name, text, answer]).toEqual([
            name,
            text,
            expect.stringMatching(READ_BUT_REFUSED),
          ]);
        }
        for (const [text, reason] of REFUSED_TIMES) {
          const answer = await door(text);
          expect([name, text, answer]).toEqual([name, text, expect.stringContaining(reason)]);
          expect(answer).toContain(JSON.stringify(text.slice(0, 20)).slice(1, -1));
        }
      }
    });
  },
  { stores: ['sqlite'], dialects: 'alternating' },
);

describe('the command line and test files', () => {
  const said = (read: () => unknown): string | null => {
    try {
      read();
      return null;
    } catch (error) {
      if (error instanceof TestFileError)
        return error.problems.map(({ message }) => message).join();
      return (error as Error).message;
    }
  };
  const doors: Readonly<Record<string, Door>> = {
    'a past time': (text) => said(() => readPastTime(text)),
    'a time': (text) => said(() => readTimeOption(text)),
    Now: (text) => {
      const now = JSON.stringify(text);
      return said(() => readTestFile(`Definition: a.yaml\nCases:\n  - Name: a\n    Now: ${now}\n`));
    },
  };

  it.each(Object.entries(doors))('reads the same times: %s', async (_, door) => {
    for (const [text] of READ_TIMES) expect([text, await door(text)]).toEqual([text, null]);
    for (const [text, reason] of REFUSED_TIMES) {
      expect([text, await door(text)]).toEqual([text, expect.stringContaining(reason)]);
    }
  });

  it('returns the same time', () => {
    for (const [text, time] of READ_TIMES) {
      expect([readPastTime(text), readTimeOption(text)]).toEqual([time, time]);
    }
  });
});
