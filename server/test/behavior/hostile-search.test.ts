/** Input that is meant to break starts and searches: enormous schemas, odd characters in conditions. */
import { expect, it } from 'vitest';
import type { Problem } from '../../src/api/wire/models/problem.js';
import type { Workflow, WorkflowPage } from '../../src/api/wire/models/workflow.js';
import { fresh } from './support/client.js';
import { everyStore } from './support/every-store.js';
import { compute } from './support/steps.js';

const SCHEMA_LENGTH = 10 * 1024 * 1024;

/** Control characters, everything that some syntax uses, and what sorts, composes or displays in odd ways. */
const ODD: readonly string[] = [
  ...Array.from({ length: 0x2f }, (_, n) => String.fromCharCode(n + 1)),
  ...Array.from({ length: 0x46 }, (_, n) => String.fromCharCode(n + 0x3a)),
  ...[0x85, 0xa0, 0xad, 0xdf, 0xe9, 0x130, 0x301, 0x200b, 0x200d, 0x202e, 0x2028].map(ofCode),
  ...[0xfeff, 0xfffd, 0xffff, 0x1f600, 0x10ffff].map(ofCode),
  'e\u0301',
  '$where',
  '__proto__',
  "' OR '1'='1",
  '%_',
  '.*',
  '\\u0000',
  '<=>',
];

function ofCode(code: number): string {
  return String.fromCodePoint(code);
}

/** As a text in a condition. */
function quoted(text: string): string {
  return `"${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`;
}

everyStore(
  'hostile starts and searches',
  (at) => {
    it('rejects a schema of 10 MB, and continues', async () => {
      const { client } = at;
      const texts = {
        wide: { properties: Object.fromEntries(names(SCHEMA_LENGTH / 20)) },
        long: { description: 'x'.repeat(SCHEMA_LENGTH) },
      };
      for (const [name, Input] of Object.entries(texts)) {
        const Id = fresh(name);
        const body = JSON.stringify({ Id, Input, Steps: [compute('a', {})] });
        for (const type of ['application/json', 'application/yaml']) {
          const refused = await client.call<Problem>('POST', '/api/definition', { body, type });
          expect([400, 413], `${name} ${type}`).toContain(refused.status);
          expect(refused.text).toMatch(/too.large/i);
          expect(refused.text.length).toBeLessThan(10_000);
        }
        expect((await client.get(`/api/definition/${Id}`)).status).toBe(404);
      }
    });

    it('finds every odd text in tags and fields, and nothing else', async () => {
      const { client } = at;
      const id = await client.define({ Index: { Text: 'data.text' }, Steps: [compute('a', {})] });
      const started = await Promise.all(
        ODD.map((text) =>
          client.post<Workflow>(`/api/workflow/${id}?tag=${encodeURIComponent(`t:${text}`)}`, {
            text: `[${text}]`,
          }),
        ),
      );
      const found = async (...where: readonly string[]): Promise<readonly string[]> => {
        const search = where.map((each) => `&where=${encodeURIComponent(each)}`);
        const path = `/api/workflow?definitionId=${id}${search.join('')}`;
        const page = await client.get<WorkflowPage>(path);
        expect(page.status, page.text).toBe(200);
        return page.body.items.map(({ workflowId }) => workflowId);
      };
      for (const [n, text] of ODD.entries()) {
        const { body, status, text: said } = started[n]!;
        const shown = JSON.stringify(text);
        expect(status, `${shown}: ${said}`).toBe(201);
        expect(body.tags, shown).toEqual({ t: text });
        const [tag, field] = [`tag.t=${quoted(text)}`, `Text=${quoted(`[${text}]`)}`];
        expect(await found(tag), shown).toEqual([body.workflowId]);
        expect(await found(field, `Text^=${quoted(`[${text}`)}`), shown).toEqual([body.workflowId]);
        expect(await found(field, `tag.t!=${quoted(text)}`), shown).toEqual([]);
      }
    });

    it('rejects a null character in a tag', async () => {
      const { client } = at;
      const id = await client.define([compute('a', {})]);
      const refused = await client.post<Problem>(`/api/workflow/${id}?tag=t:%00`, {});
      expect(refused.body).toMatchObject({ status: 400, errors: [{ parameter: 'tag' }] });
    });

    it('answers every condition with odd characters with a page or a clear refusal', async () => {
      const { client } = at;
      for (const text of ['\u0000', ...ODD]) {
        for (const where of [text, `a${text}`, `a=${text}`, `tag.${text}=x`, `a="${text}`]) {
          const path = `/api/workflow?limit=1&where=${encodeURIComponent(where)}`;
          const { body, status } = await client.get<Problem>(path);
          expect([200, 400], JSON.stringify(where)).toContain(status);
          if (status === 400) expect(body.code).toBe('invalid_request');
        }
      }
    });
  },
  { dialects: 'alternating' },
);

function names(count: number): readonly (readonly [string, object])[] {
  return Array.from({ length: count }, (_, n) => [`name${n}`, {}] as const);
}
