/**
 * Goal: names, keys and references have the same limits at every door: in calls, and where expressions of steps, webhooks and
 * triggers compute them. Otherwise one part of the server would wait for what no other part can send, or the store would refuse it.
 */
import { createHmac } from 'node:crypto';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { eventually } from '../../../sdk/test/support/eventually.js';
import type { Problem } from '../../src/api/wire/models/problem.js';
import type { Trigger } from '../../src/api/wire/models/trigger.js';
import type { WorkflowPage } from '../../src/api/wire/models/workflow.js';
import type { JsonObject } from '../../src/engine/values/json.js';
import { fresh } from './support/client.js';
import { CAMEL_JSON } from './support/dialects.js';
import { everyStore } from './support/every-store.js';
import { step } from './support/steps.js';

const SECRET = 'a secret of sixteen characters';

/** Values that are no name, with what the message says. */
const INVALID = {
  'an empty text': ['', 'is empty'],
  'a null character': ['a\u0000b', 'contains a control character'],
  'half of a character': ['a\ud800', 'contains an unpaired surrogate'],
  '600 characters': ['x'.repeat(600), 'is longer than'],
  // PostgreSQL cannot index them, and MongoDB keeps them twice.
  '3000 distinct characters': [
    String.fromCodePoint(...Array.from({ length: 3000 }, (_, at) => 0x4e00 + at)),
    'is longer than',
  ],
} as const;

const values = Object.entries(INVALID).map(([what, [value, says]]) => ({ what, value, says }));
/** Unlike a name, a reference may be empty. */
const forReferences = values.filter(({ value }) => value !== '');

everyStore(
  'names that expressions compute',
  (at) => {
    describe('a step', () => {
      const fails = async (
        what: string,
        stepType: string,
        inputs: JsonObject,
        { says, value }: { readonly says: string; readonly value: string },
      ): Promise<void> => {
        const bad = step('bad', stepType, inputs, { ErrorBehavior: 'Terminate' });
        const id = await at.client.defineAndStart([bad], { v: value });
        const { lastError } = await at.client.ended(id);
        expect([lastError?.type, lastError?.message], what).toEqual([
          'InputError',
          expect.stringContaining(says) as string,
        ]);
      };
      const waits = { EventName: "'e'", EventKey: "'k'" };

      it.for(values)('fails when it computes $what as a name', async (invalid) => {
        await fails('event name', 'WaitFor', { ...waits, EventName: 'data.v' }, invalid);
        await fails('event key', 'WaitFor', { ...waits, EventKey: 'data.v' }, invalid);
        await fails('activity', 'Activity', { ActivityName: 'data.v' }, invalid);
        await fails('definition', 'SubWorkflow', { DefinitionId: 'data.v' }, invalid);
      });

      it.for(forReferences)('fails when it computes $what as a reference', async (invalid) => {
        const inputs = { DefinitionId: "'d'", Reference: 'data.v' };
        await fails('reference', 'SubWorkflow', inputs, invalid);
      });

      it('fails when it computes a tag that no start accepts', async () => {
        for (const [value, says] of [
          ['a\u0000', 'null character'],
          ['x'.repeat(300), '256'],
        ] as const) {
          const inputs = { DefinitionId: "'d'", Tags: { '@t': 'data.v' } };
          await fails('tag', 'SubWorkflow', inputs, { value, says });
        }
      });
    });

    describe('a webhook', () => {
      const receives = async (effect: JsonObject, value: string) => {
        const name = fresh('hook');
        const settings = { scheme: 'github', secret: SECRET, ...effect };
        const put = await at.client.call('PUT', `/api/webhook/${name}`, {
          body: JSON.stringify(settings),
          type: 'application/json',
        });
        expect(put.status, put.text).toBe(200);
        const body = JSON.stringify({ v: value });
        const signature = createHmac('sha256', SECRET).update(body).digest('hex');
        return at.client.call<Problem>('POST', `/hooks/${name}`, {
          body,
          headers: {
            'content-type': 'application/json',
            'x-hub-signature-256': `sha256=${signature}`,
          },
        });
      };
      const refuses = async (effect: JsonObject, value: string, detail: RegExp): Promise<void> => {
        const { body, status, text } = await receives(effect, value);
        expect([status, body.code], text).toEqual([400, 'invalid_data']);
        expect(body.detail).toMatch(detail);
      };

      it.for(values)('refuses a delivery that makes $what a name', async ({ value }) => {
        const v = 'hook.body["v"]';
        await refuses({ publish: { name: v, key: "'k'" } }, value, /^publish\.name of the webhook/);
        await refuses({ publish: { name: "'n'", key: v } }, value, /^publish\.key of the webhook/);
      });

      it.for(forReferences)('refuses a delivery that makes $what a reference', async (invalid) => {
        const definitionId = await at.client.define([step('end', 'NoOp')]);
        const start = { definitionId, reference: 'hook.body["v"]' };
        await refuses({ start }, invalid.value, /^start\.reference of the webhook/);
        const { body } = await at.client.get<WorkflowPage>(
          `/api/workflow?definitionId=${definitionId}`,
        );
        expect(body.items).toEqual([]);
      });
    });

    describe('an event trigger', () => {
      it.for(forReferences)('fails with $what as Reference, and continues', async (invalid) => {
        const name = fresh('event');
        const Reference = 'context.Trigger.EventData["v"]';
        const Triggers = [{ Name: 't', Event: { Name: name }, Reference }];
        const id = await at.client.define({ Triggers, Steps: [step('end', 'NoOp')] });
        const last = async () =>
          (await at.client.get<Trigger[]>(`/api/definition/${id}/triggers`)).body[0]?.last;
        await at.client.publish(name, 'k', { v: invalid.value });
        await eventually('an outcome', async () => (await last()) !== null);
        expect(await last()).toMatchObject({
          outcome: 'Failed',
          reason: expect.stringContaining(`Reference: the string ${invalid.says}`) as string,
        });
        await at.client.publish(name, 'k', { v: 'good' });
        await eventually('a start', async () => (await last())?.outcome === 'Started');
      });

      it.for(values)('is refused with $what as the name or key of its event', async ({ value }) => {
        for (const Event of [{ Name: value }, { Name: 'n', Key: value }]) {
          const { body, status, text } = await at.client.post<Problem>('/api/definition', {
            Id: fresh('d'),
            Triggers: [{ Name: 't', Event }],
            Steps: [step('end', 'NoOp')],
          });
          expect(status, text).toBe(400);
          expect(body.errors?.[0]?.pointer).toMatch(/^\/Triggers\/0\/Event\/(?:Name|Key)$/);
        }
      });
    });

    it.for(forReferences)('refuses a call with $what as reference', async ({ value }) => {
      if (/\p{Cs}/u.test(value) || value.length > 1000) return; // No URL can contain it.
      const id = await at.client.define([step('end', 'NoOp')]);
      const answer = await at.client.post<Problem>(
        `/api/workflow/${id}?reference=${encodeURIComponent(value)}`,
        {},
      );
      expect(answer.status, answer.text).toBe(400);
    });
  },
  {
    dialects: [CAMEL_JSON],
    environment: { data_dir: mkdtempSync(join(tmpdir(), 'stepwright-names-')) },
  },
);
