/** docs/http-request.md is correct: its example is a valid definition, and its defaults are those of the code. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { parseDefinition } from '../../src/engine/definitions/parse-definition.js';
import { contextOf, useCalls } from './support/call.js';

const page = readFileSync(new URL('../../../docs/http-request.md', import.meta.url), 'utf8');
const { serve, body } = useCalls();

describe('the documentation of HttpRequest', () => {
  it('has a valid example', () => {
    const example = /^```yaml\n(.*?)^```$/ms.exec(page)?.[1] ?? '';
    const parsed = parseDefinition(parse(example));
    expect(parsed.errors).toEqual([]);
    expect(parsed.warnings).toEqual([]);
  });

  it('lists the default headers', async () => {
    const server = await serve((_request, response) => response.end());
    for (const Format of ['Json', 'Xml', 'None']) {
      const inputs = { BaseUrl: server.url, Method: 'POST', Body: 'x', Format };
      await body().run(inputs, contextOf());
    }
    for (const { headers } of server.requests) {
      for (const name of ['accept', 'content-type', 'accept-encoding', 'user-agent'] as const) {
        const value = headers[name];
        if (value !== undefined) expect(page).toContain(`\`${value}\``);
      }
    }
    expect(server.requests).toHaveLength(3);
  });
});
